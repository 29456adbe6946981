"""Kahn's algorithm on one core, with two kinds of queue."""

import ctypes
import functools

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from ..result import TopologicalOrder
from .shared import SortPlan


@njit(cache=True, nogil=True)
def kahn(offsets, targets, in_degrees, order):
    """Kahn's algorithm; the order itself is the queue. Destroys ``in_degrees``; returns how many were sorted."""
    tail = 0
    for v in range(in_degrees.size):
        if in_degrees[v] == 0:
            order[tail] = v
            tail += 1
    head = 0
    while head < tail:
        v = order[head]
        head += 1
        for arc in range(offsets[v], offsets[v + 1]):
            w = targets[arc]
            in_degrees[w] -= 1
            if in_degrees[w] == 0:
                order[tail] = w
                tail += 1
    return tail


@intrinsic
def _load(typing, address):
    """The 8-byte integer at an address."""

    def code(context, builder, signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.int64(types.int64), code


@intrinsic
def _store(typing, address, value):
    """Write an 8-byte integer to an address."""

    def code(context, builder, signature, arguments):
        builder.store(arguments[1], builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@functools.cache
def kahn_with_list():
    """Kahn's algorithm with a linked list as its queue: one malloc a vertex queued, one free a vertex taken.

    The thesis names this as the likely reason why its CPU time depends on the vertices more than on the arcs. malloc
    and free are the C library's. Compiled on first use, in each process: a C function's address cannot be cached.
    """
    library = ctypes.CDLL(None)
    malloc, free = library.malloc, library.free
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_ssize_t
    free.argtypes, free.restype = [ctypes.c_ssize_t], None

    @njit
    def sort(offsets, targets, in_degrees, order):
        # A node is 16 bytes: the vertex, then the address of the next node.
        front = back = np.int64(0)
        count = 0
        for v in range(in_degrees.size):
            if in_degrees[v] == 0:
                node = malloc(16)
                _store(node, np.int64(v))
                _store(node + 8, np.int64(0))
                if back == 0:
                    front = node
                else:
                    _store(back + 8, node)
                back = node
        while front != 0:
            v = _load(front)
            after = _load(front + 8)
            free(front)
            front = after
            if front == 0:
                back = np.int64(0)
            order[count] = v
            count += 1
            for arc in range(offsets[v], offsets[v + 1]):
                w = targets[arc]
                in_degrees[w] -= 1
                if in_degrees[w] == 0:
                    node = malloc(16)
                    _store(node, np.int64(w))
                    _store(node + 8, np.int64(0))
                    if back == 0:
                        front = node
                    else:
                        _store(back + 8, node)
                    back = node
        return count

    return sort


class Serial(SortPlan):
    gpu = False
    name = "serial"
    sort = staticmethod(kahn)

    def build(self):
        graph = self.graph
        self.degrees = graph.in_degrees()
        self.left = self.degrees.copy()
        self.order = np.empty(graph.n, graph.targets.dtype)

    def reset(self):
        self.left[:] = self.degrees

    def run(self):
        count = self.sort(self.graph.offsets, self.graph.targets, self.left, self.order)
        return TopologicalOrder(self.graph, self.order[:count], self.name)


class SerialList(Serial):
    name = "serial-list"

    def build(self):
        super().build()
        self.sort = kahn_with_list()
