"""Baselines on the CPU: Kahn's algorithm with two kinds of queue, and the libraries that people would pick.

All of them get the graph in the form they want, and the in-degrees, beforehand; what is timed is the sorting.
"""

import ctypes
import functools

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

SAMPLES = 64  # vertices looked at by `mostly_links`
OTHERS = 8  # of them that lie within no run are too many: of runs of fewer than 16 vertices others are as fast


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


@intrinsic
def peek(typing, address):
    """The 8-byte integer at an address that somebody else may write to: loaded whenever asked for, never kept."""

    def code(context, builder, signature, arguments):
        return builder.load_atomic(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), "monotonic", 8)

    return types.int64(types.int64), code


@intrinsic
def pointer(typing, address):
    """An address as what `carray` takes."""

    def code(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), code


@intrinsic
def call(typing, address, arguments):
    """Call the C function at an address with a tuple of 8-byte integers; its answer's upper half may be anything.

    Parameters of 4 bytes take an 8-byte integer's lower half: so the calling conventions of 64-bit Linux have it.
    """
    eight = ir.IntType(64)

    def code(context, builder, signature, values):
        function = ir.FunctionType(eight, [eight] * signature.args[1].count).as_pointer()
        given = cgutils.unpack_tuple(builder, values[1], signature.args[1].count)
        return builder.call(builder.inttoptr(values[0], function), given)

    return types.int64(types.int64, arguments), code


@njit(cache=True, nogil=True)
def mostly_links(offsets, in_degrees):
    """Whether of some vertices drawn by a hash nearly all lie within a run: one arc enters, one leaves."""
    others = 0
    for i in range(SAMPLES):
        v = (i * 0x9E3779B1 + 0x7F4A7C15) % in_degrees.size
        others += in_degrees[v] != 1 or offsets[v + 1] - offsets[v] != 1
        if others == OTHERS:
            return False
    return True


@njit(cache=True, nogil=True)
def kahn_narrow(offsets, targets, in_degrees, order, roots, width, slack, rest):
    """Kahn's algorithm for as long as there is little for a GPU to do.

    Does not begin where more than about `roots` vertices have arcs that leave and none that enter. Ends before the
    level with which more than `width` vertices to a level, and `slack` besides, would have been sorted behind the
    sources, unless no more than `rest` are left by then. Returns how many were sorted, and how many were queued.
    """
    one = np.uint64(1)
    n, lanes, drawn = np.uint64(in_degrees.size), np.uint64(16), np.uint64(64)
    head = tail = v = found = np.uint64(0)
    for i in range(drawn):
        u = (i * np.uint64(0x9E3779B1) + np.uint64(0x7F4A7C15)) % n
        if in_degrees[u] == 0 and offsets[u + one] != offsets[u]:
            found += one
            if found * n > np.uint64(roots) * drawn:
                return 0, 0
    while v < n:  # few are sources, so sixteen are looked at together
        until = min(v + lanes, n)
        some = True
        if until == v + lanes:
            least = np.int32(1)
            for lane in range(lanes):
                least = min(least, in_degrees[v + lane])
            some = least == 0
        if some:
            for u in range(v, until):
                if in_degrees[u] == 0:
                    order[tail] = u
                    tail += one
        v = until
    end, most = tail, tail + np.uint64(slack)
    while head < tail:
        if head == end:
            end, most = tail, most + np.uint64(width)
            if tail > most and n - head > np.uint64(rest):
                break
        u = np.uint64(order[head])
        head += one
        for k in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
            x = np.uint64(targets[k])
            left = in_degrees[x] - 1
            in_degrees[x] = left
            if left == 0:
                order[tail] = x
                tail += one
    return np.int64(head), np.int64(tail)


@njit(cache=True, nogil=True)
def kahn_racing(offsets, targets, in_degrees, order, head, tail, done, often, until):
    """Kahn's algorithm while somebody else sorts too; gives up when it finds the 8-byte word at address `done` set.

    It looks every `often` vertices, and then ends too if `until` vertices are sorted. `head` vertices are sorted
    already, and `tail` queued; if none is, sources are looked for. Returns the same two numbers: equal ones, if that
    was all.

    Indices are unsigned: an index that may be negative is looked at for that, and the loop runs out of registers. So it
    looks at `done` and is still no slower than `kahn`.
    """
    one, often, until = np.uint64(1), np.uint64(often), np.uint64(until)
    head, tail, look = np.uint64(head), np.uint64(tail), np.uint64(0)
    if tail == 0:
        for u in range(np.uint64(in_degrees.size)):
            if u >= look:
                if peek(done):
                    return 0, 1
                look = u + np.uint64(1024)
            if in_degrees[u] == 0:
                order[tail] = u
                tail += one
    look = head
    while head < tail:
        if head >= look:
            if head >= until or peek(done):
                break
            look = head + often
        u = np.uint64(order[head])
        head += one
        for k in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
            x = np.uint64(targets[k])
            left = in_degrees[x] - 1
            in_degrees[x] = left
            if left == 0:
                order[tail] = x
                tail += one
    return np.int64(head), np.int64(tail)


@functools.cache
def kahn_with_list():
    """Kahn's algorithm with a linked list as its queue: one malloc a vertex queued, one free a vertex taken.

    The thesis suspects that this is why its CPU time follows the vertices more than the arcs. malloc and free are the
    C library's own. Compiled on first use, in each process: a C function's address cannot be cached.
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
