"""Compressed sparse rows by counting sort: linear in vertices and arcs, and stable.

Stable means that the arcs of a vertex stay in the order in which they were given, so parallel arcs stay apart
(a library that sorts and sums them would change the graph) and equal inputs give equal arrays on every
machine.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def _count(keys, n):
    offsets = np.zeros(n + 1, np.int64)
    for key in keys:
        offsets[key + 1] += 1
    for v in range(n):
        offsets[v + 1] += offsets[v]
    return offsets


@njit(cache=True)
def _place(keys, offsets):
    """Position of every arc once the arcs are grouped by key."""
    cursor = offsets[:-1].copy()
    position = np.empty(keys.size, np.int64)
    for arc in range(keys.size):
        key = keys[arc]
        position[arc] = cursor[key]
        cursor[key] += 1
    return position


@njit(cache=True)
def _scatter(values, position, out):
    for arc in range(values.size):
        out[position[arc]] = values[arc]


@njit(cache=True)
def _scatter_by_key(keys, values, offsets, out):
    """Counting sort without the permutation array (8 bytes an arc), which only weights need."""
    cursor = offsets[:-1].copy()
    for arc in range(keys.size):
        key = keys[arc]
        out[cursor[key]] = values[arc]
        cursor[key] += 1


@njit(cache=True)
def _rows(offsets, out):
    for v in range(offsets.size - 1):
        for arc in range(offsets[v], offsets[v + 1]):
            out[arc] = v


def index_type(n):
    """The dtype of ids below ``n``: int32, which kernels read, if ``n`` < 2^31, else int64."""
    return np.int32 if n < 2**31 else np.int64


def group(keys, values, n, payload=None):
    """Group ``values`` and ``payload`` by ``keys`` in ``0..n-1``: (offsets, values, payload)."""
    offsets = _count(keys, n)
    out = np.empty(keys.size, index_type(n))
    if payload is None:
        _scatter_by_key(keys, values, offsets, out)
        return offsets, out, None
    position = _place(keys, offsets)
    _scatter(values, position, out)
    moved = np.empty_like(payload)
    _scatter(payload, position, moved)
    return offsets, out, moved


def rows(offsets):
    """The source of every stored arc, int32 or int64, shape (m,)."""
    out = np.empty(int(offsets[-1]), index_type(offsets.size - 1))
    _rows(offsets, out)
    return out
