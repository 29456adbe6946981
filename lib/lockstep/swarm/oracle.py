"""Reference results, at two speeds.

`reference` is slow and simple (see `references`). The functions here, compiled by Numba, run one graph per core, fast
enough for a hundred thousand graphs: they perform the kernels' operations in the same order, so that betweenness is
bitwise equal and one checksum per graph suffices. The tests verify them against `reference`, and they are the parallel
CPU baseline.

Measures of distances and paths are here, those of a graph's structure in `oracle_structure`. Functions are in one file
with what they call, except the search, because Numba recompiles a cached function only when its own file changes.
"""

import numpy as np
from numba import njit, prange, uint64

from lockstep.graphs.search import visit

from .references import REFERENCES, reference  # noqa: F401 (both speeds under one name)

OVERFLOWED = np.uint64(1 << 63)  # pack.cuh: a vertex with more shortest paths than a number can count
RECIPROCAL = 40  # bits.cu: fraction bits of the sum of reciprocals


@njit(uint64(uint64, uint64), cache=True)
def mixed(place, value):
    """pack.cuh's `checksum_term`."""
    z = value + (place + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def fraction_bits(n):
    """pack.cuh's `fraction_bits`."""
    length = 0
    while n >> length:
        length += 1
    return min(61 - 2 * length, 40)


@njit(cache=True)
def once(offsets, targets):
    """The rows without repetitions of an arc; the first stays."""
    n = offsets.size - 1
    ascending = True
    for v in range(n):
        for a in range(offsets[v] + 1, offsets[v + 1]):
            ascending &= targets[a - 1] < targets[a]
    if ascending:
        return offsets, targets
    starts = np.zeros(n + 1, np.int32)
    kept = np.empty(targets.size, targets.dtype)
    last = np.full(n, -1, np.int32)
    count = 0
    for v in range(n):
        for a in range(offsets[v], offsets[v + 1]):
            if last[targets[a]] != v:
                last[targets[a]] = v
                kept[count] = targets[a]
                count += 1
        starts[v + 1] = count
    return starts, kept[:count]


@njit(cache=True)
def transposed(offsets, targets):
    """The graph transposed; rows in ascending order of the sources."""
    n = offsets.size - 1
    starts = np.zeros(n + 1, np.int32)
    for t in targets:
        starts[t + 1] += 1
    for v in range(n):
        starts[v + 1] += starts[v]
    at = starts[:-1].copy()
    found = np.empty(targets.size, targets.dtype)
    for v in range(n):
        for a in range(offsets[v], offsets[v + 1]):
            found[at[targets[a]]] = v
            at[targets[a]] += 1
    return starts, found


@njit(cache=True)
def dependencies(offsets, targets, in_offsets, in_targets, endpoints, unit, fixed, sources):
    """Brandes from some sources, in the kernels' order; `unit` holds a 1 of the type to compute in."""
    n = offsets.size - 1
    level, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
    sigma, given = np.empty(n, unit.dtype), np.empty(n, unit.dtype)
    one = unit[0]
    most = 1e37 if unit.itemsize == 4 else 1e300  # pack.cuh's `dependency_term`
    fraction = fraction_bits(n)
    scale = np.float64(np.int64(1) << fraction)
    for s in sources:
        count = visit(offsets, targets, s, level, queue)
        sigma[s] = one
        for i in range(1, count):
            v = queue[i]
            total = one - one
            for a in range(in_offsets[v], in_offsets[v + 1]):
                u = in_targets[a]
                if level[u] >= 0 and level[u] == level[v] - 1:
                    total += sigma[u]
            sigma[v] = total
        for i in range(count - 1, 0, -1):
            v = queue[i]
            total = one - one
            for a in range(offsets[v], offsets[v + 1]):
                w = targets[a]
                if level[w] == level[v] + 1:
                    total += given[w]
            delta = sigma[v] * total
            given[v] = (one + delta) / sigma[v] if sigma[v] < most else np.nan
            if not np.isnan(given[v]):
                fixed[v] += np.uint64(np.int64(np.float64(delta) * scale))
            else:
                fixed[v] |= OVERFLOWED
            if endpoints:
                fixed[v] += np.uint64(np.int64(1) << fraction)
        if endpoints:
            fixed[s] += np.uint64(np.int64(count - 1) << fraction)
        for i in range(count):
            level[queue[i]] = -1


@njit(parallel=True, cache=True)
def betweenness(offsets, targets, vertex_start, arc_start, directed, endpoints, unit, fixed, checksums):
    """Fixed-point betweenness of every graph of a pack, and the checksums."""
    for g in prange(vertex_start.size - 1):
        v0, v1 = vertex_start[g], vertex_start[g + 1]
        rows, heads = once(offsets[v0 + g : v1 + g + 1], targets[arc_start[g] : arc_start[g + 1]])
        in_rows, in_heads = rows, heads
        if directed:
            in_rows, in_heads = transposed(rows, heads)
        own = fixed[v0:v1]
        own[:] = 0
        dependencies(rows, heads, in_rows, in_heads, endpoints, unit, own, np.arange(v1 - v0))
        checksums[g] = check_of(own)


@njit  # kept with its callers
def check_of(own):
    """The checksum of a graph's fixed-point betweenness."""
    check = np.uint64(0)
    for v in range(own.size):
        check += mixed(np.uint64(v), own[v])
    return check


@njit  # kept with its callers
def nearness(rows, heads, sources, total, reciprocal, reach):
    """From some sources of a graph the sums of distances and of reciprocals, and how many are reached; a checksum."""
    level, queue = np.full(total.size, -1, np.int32), np.empty(total.size, np.int32)
    check = np.uint64(0)
    for v in sources:
        count = visit(rows, heads, v, level, queue)
        far, parts = np.uint64(0), np.uint64(0)
        for i in range(count):
            d = level[queue[i]]
            level[queue[i]] = -1
            if d > 0:
                far += np.uint64(d)
                parts += (np.uint64(1) << np.uint64(RECIPROCAL)) // np.uint64(d)
        total[v], reciprocal[v], reach[v] = far, parts, count - 1
        place = np.uint64(v)
        check += mixed(place, far) + mixed(place, parts ^ np.uint64(0x5555555555555555))
        check += mixed(place, ~np.uint64(count - 1))
    return check


@njit(parallel=True, cache=True)
def closeness(offsets, targets, vertex_start, arc_start, directed, total, reciprocal, reach, checksums):
    """Sum of distances towards every vertex, sum of reciprocals, number of vertices that reach it; checksums."""
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        rows, heads = offsets[v0 + g : v0 + n + g + 1], targets[arc_start[g] : arc_start[g + 1]]
        if directed:
            rows, heads = transposed(rows, heads)
        own = total[v0 : v0 + n], reciprocal[v0 : v0 + n], reach[v0 : v0 + n]
        checksums[g] = nearness(rows, heads, np.arange(n), *own)


@njit  # kept with its callers
def distances(rows, heads, sources, start, matrix, total, largest, reach):
    """From some sources of a graph its matrix's rows (-1: no path), sums, largest and finite entries; a checksum."""
    n = total.size
    level, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
    check = np.uint64(0)
    for v in sources:
        count = visit(rows, heads, v, level, queue)
        far = 0
        for i in range(count):
            far += level[queue[i]]
        total[v], largest[v], reach[v] = far, level[queue[count - 1]], count - 1
        for t in range(n):
            check += mixed(np.uint64(v) * np.uint64(n) + np.uint64(t), np.uint64(np.int64(level[t])))
            if matrix.size:
                matrix[start + np.int64(v) * n + t] = level[t]
        for i in range(count):
            level[queue[i]] = -1
    return check


@njit(parallel=True, cache=True)
def matrices(offsets, targets, vertex_start, arc_start, matrix_start, matrix, total, largest, reach, checksums):
    """The distance matrix of every graph (-1: no path), its rows' sums, largest entries, finite entries, and the
    checksums of the matrices. With an empty `matrix` the entries are not kept."""
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        rows, heads = offsets[v0 + g : v0 + n + g + 1], targets[arc_start[g] : arc_start[g + 1]]
        own = total[v0 : v0 + n], largest[v0 : v0 + n], reach[v0 : v0 + n]
        checksums[g] = distances(rows, heads, np.arange(n), matrix_start[g], matrix, *own)


@njit(cache=True)
def _lengths(rows, heads, weights, target, far, heap_key, heap_vertex):
    """Dijkstra backwards from `target`; rows are those of the graph transposed. Sums begin at the target's end."""
    far[:] = np.inf
    far[target] = 0.0
    heap_key[0], heap_vertex[0] = 0.0, target
    size = 1
    while size:
        key, u = heap_key[0], heap_vertex[0]
        size -= 1
        last_key, last = heap_key[size], heap_vertex[size]
        i = 0
        while 2 * i + 1 < size:
            child = 2 * i + 1
            if child + 1 < size and heap_key[child + 1] < heap_key[child]:
                child += 1
            if heap_key[child] >= last_key:
                break
            heap_key[i], heap_vertex[i] = heap_key[child], heap_vertex[child]
            i = child
        heap_key[i], heap_vertex[i] = last_key, last
        if key > far[u]:
            continue
        for a in range(rows[u], rows[u + 1]):
            v = heads[a]
            way = np.float64(weights[a]) + key
            if way < far[v]:
                far[v] = way
                i = size
                size += 1
                while i and heap_key[(i - 1) // 2] > way:
                    heap_key[i], heap_vertex[i] = heap_key[(i - 1) // 2], heap_vertex[(i - 1) // 2]
                    i = (i - 1) // 2
                heap_key[i], heap_vertex[i] = way, v


@njit(cache=True)
def _transposed_lengths(offsets, targets, weights):
    """`transposed` with weights."""
    starts, found = transposed(offsets, targets)
    at = starts[:-1].copy()
    lengths = np.empty(weights.size, weights.dtype)
    for a in range(targets.size):
        lengths[at[targets[a]]] = weights[a]
        at[targets[a]] += 1
    return starts, found, lengths


@njit(parallel=True, cache=True)
def lengths(offsets, targets, weights, vertex_start, arc_start, transpose, matrix_start, matrix, total, largest, reach,
            parts, checksums):  # fmt: skip
    """`matrices` along weights, in float64; with `transpose` of the graph transposed. parts: sums of reciprocals."""
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        rows, heads = offsets[v0 + g : v0 + n + g + 1], targets[arc_start[g] : arc_start[g + 1]]
        own = weights[arc_start[g] : arc_start[g + 1]]
        if not transpose:
            rows, heads, own = _transposed_lengths(rows, heads, own)
        far = np.empty((n, n), np.float64)
        keys, vertices = np.empty(heads.size + 1, np.float64), np.empty(heads.size + 1, np.int32)
        for t in range(n):
            _lengths(rows, heads, own, t, far[t], keys, vertices)
        check = np.uint64(0)
        for v in range(n):
            summed, most, count, part = 0.0, 0.0, 0, 0.0
            for t in range(n):
                d = far[t, v]
                if d < np.inf and t != v:
                    summed += d
                    most = max(most, d)
                    part += 1.0 / d
                    count += 1
                entry = d if d < np.inf else -1.0
                if matrix.size:
                    matrix[matrix_start[g] + np.int64(v) * n + t] = entry
                far[t, v] = entry
            total[v0 + v], largest[v0 + v], reach[v0 + v], parts[v0 + v] = summed, most, count, part
        words = far.view(np.uint64)
        for v in range(n):
            for t in range(n):
                check += mixed(np.uint64(v) * np.uint64(n) + np.uint64(t), words[t, v])
        checksums[g] = check
