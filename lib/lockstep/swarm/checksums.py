"""Checksums of graphs by the CPU, fast enough for a million: many sources in the lanes of one vector.

`oracle` searches from one source at a time, which takes 0.1 s on one core for the betweenness of a
thousand vertices. This module computes the same checksums in about a twentieth of that, so that every graph
of a batch is checked:

`distances`     a bit for each of 512 sources: the sources that reach a vertex within d arcs are those that reach one
                of its in-neighbors within d - 1.
`betweenness`   from these sets Brandes' two sweeps, level by level, 32 sources in parallel in float64. The rows of all
                neighbors of a vertex are added; lanes of other levels are 0, and adding 0 is exact, so the
                sums equal those of single-source sweeps.

SciPy and igraph take longer for the distances alone than this for betweenness. The strategy `cpu-lanes` calls the same
searches for the values.

Numba's cache is invalidated only by changes of this file, not of `vectors`, `oracle` and `lockstep.graphs.search`,
whose functions it calls.
"""

import numpy as np
from numba import njit, prange

from . import oracle
from .vectors import LANES, WORDS, counted, given, lowest, ones, reached

GROUPS = 64 // LANES  # of sources that Brandes takes at once, in a word
LEVELS = 100  # beyond which one source after the other takes less than 512 at once
ROOM = 2**24  # words of the sets of all levels; a graph that needs more is searched one source after the other


@njit(nogil=True, cache=True)
def _vectors(count, width):
    """Cache-line-aligned storage for `count` float64 vectors."""
    room = np.empty((count + 1) * width)
    skip = (-(room.ctypes.data // 8)) % 8
    return room[skip : skip + count * width].reshape(count, width)


@njit(nogil=True, cache=True)
def _graph(g, offsets, targets, vertex_start, arc_start):
    """Where the vertices of graph g begin and end in a pack, and its CSR."""
    v0, v1 = vertex_start[g], vertex_start[g + 1]
    return v0, v1, offsets[v0 + g : v1 + g + 1], targets[arc_start[g] : arc_start[g + 1]]


@njit(nogil=True, cache=True)
def _largest_first(vertex_start):
    """The order of the graphs in which cores that take them in turn have about the same work."""
    return np.argsort(vertex_start[:-1] - vertex_start[1:])


@njit(nogil=True, cache=True)
def _start(first, now, full):
    """The sources from `first` on reach themselves."""
    now[:], full[:] = 0, 0
    for s in range(first, min(now.shape[0], first + 64 * WORDS)):
        bit = np.uint64(1) << np.uint64((s - first) % 64)
        now[s, (s - first) // 64] = bit
        full[0, (s - first) // 64] |= bit


@njit(nogil=True, cache=True)
def _step(rows, heads, now, full, following, new):
    """following[v], new[v]: the sources that reach v by one arc more than in `now`, and those of them that did not
    before; whether there are any.
    """
    grew = False
    for v in range(rows.size - 1):
        grew |= reached(now, heads, np.int64(rows[v]), np.int64(rows[v + 1]), full, following, new, np.int64(v))
    return grew


@njit(nogil=True, cache=True)
def _search(rows, heads, first, most, room, level, total, parts, reach):
    """Distances from the 512 sources from `first` on, and their sums; whether there are no more than `most` levels.

    rows, heads: the graph transposed. level: `_levels_from`'s, or empty; total, parts, reach: `_add_nearness`'s, or
    empty.
    """
    n = rows.size - 1
    now, following, new, full = room[:n], room[n : 2 * n], room[2 * n : 3 * n], room[3 * n :]
    _start(first, now, full)
    level[:] = -1
    _levels_from(now, 0, level)
    for d in range(1, most + 2):
        if not _step(rows, heads, now, full, following, new):
            return True
        now, following = following, now
        _levels_from(new, d, level)
        _add_nearness(new, d, n - first, total, parts, reach)
    return False


@njit(nogil=True, cache=True)
def _levels_from(new, d, level):
    """level[s, v] = d for every source s, counted from the first one, that is new at v."""
    for v in range(level.shape[1]):
        for word in range(WORDS):
            bits = new[v, word]
            while bits:
                level[64 * word + lowest(bits), v] = d
                bits &= bits - np.uint64(1)


@njit(nogil=True, cache=True)
def _add_nearness(new, d, sources, total, parts, reach):
    """Add a level's distances to their sums and to the sums of reciprocals, and count the sources."""
    words, part = min(WORDS, (sources + 63) // 64), (np.uint64(1) << np.uint64(oracle.RECIPROCAL)) // np.uint64(d)
    for v in range(total.size):
        found = np.uint64(0)
        for word in range(words):
            found += ones(new[v, word])
        total[v] += found * np.uint64(d)
        parts[v] += found * part
        reach[v] += found


@njit(nogil=True, cache=True)
def _room(n):
    """The sets of a search."""
    return _vectors(3 * n + 1, WORDS).view(np.uint64)


@njit(nogil=True, cache=True)
def _most_levels(n):
    """Levels up to which a graph of n vertices is searched from many sources at once."""
    return min(LEVELS, ROOM // max(n * WORDS, 1))


@njit(nogil=True, cache=True)
def distances(offsets, targets, vertex_start, arc_start, directed, of_closeness, of_apsp):
    """The checksums of closeness and of all distances, of every graph of a pack."""
    for g in range(vertex_start.size - 1):
        v0, v1, rows, heads = _graph(g, offsets, targets, vertex_start, arc_start)
        n = v1 - v0
        if directed:
            rows, heads = oracle.transposed(rows, heads)
        own = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
        room, level, check = _room(n), np.empty((64 * WORDS, n), np.int32), np.uint64(0)
        for first in range(0, n, 64 * WORDS):
            _search(rows, heads, first, n, room, level, *own)
            for s in range(first, min(n, first + 64 * WORDS)):
                check += _check_of_row(level[s - first], s)
        of_apsp[g], of_closeness[g] = check, _check_of_nearness(*own)


@njit(nogil=True, cache=True)
def _check_of_row(level, s):
    """The part of the checksum of all distances that the row of source s has."""
    check, place = np.uint64(0), np.uint64(s) * np.uint64(level.size)
    for v in range(level.size):
        check += oracle.mixed(place + np.uint64(v), np.uint64(np.int64(level[v])))
    return check


@njit(parallel=True, cache=True)
def matrices(
    cores, offsets, targets, vertex_start, arc_start, directed, matrix_start, matrix, total, largest, reach, checks
):
    """What `oracle.matrices` gives, of every graph of a pack."""
    order = _largest_first(vertex_start)
    for core in prange(cores):
        for g in order[core::cores]:
            v0, v1, rows, heads = _graph(g, offsets, targets, vertex_start, arc_start)
            own = total[v0:v1], largest[v0:v1], reach[v0:v1]
            checks[g] = _matrix(rows, heads, directed, matrix_start[g], matrix, *own)


@njit(nogil=True, cache=True)
def _matrix(rows, heads, directed, start, matrix, total, largest, reach):
    n = total.size
    in_rows, in_heads = oracle.transposed(rows, heads) if directed else (rows, heads)
    room, level, check = _room(n), np.empty((64 * WORDS, n), np.int8), np.uint64(0)
    none = np.empty(0, np.uint64)
    for first in range(0, n, 64 * WORDS):
        if not _search(in_rows, in_heads, first, _most_levels(n), room, level, none, none, none):
            return oracle.distances(rows, heads, np.arange(n), start, matrix, total, largest, reach)
        for s in range(first, min(n, first + 64 * WORDS)):
            own = level[s - first]
            check += _check_of_row(own, s)
            far, last, count = 0, 0, 0
            for v in range(n):
                far += max(own[v], 0)
                last = max(last, own[v])
                count += own[v] > 0
            total[s], largest[s], reach[s] = far, last, count
            if matrix.size:
                matrix[start + s * n : start + s * n + n] = own
    return check


@njit(parallel=True, cache=True)
def closeness(cores, offsets, targets, vertex_start, arc_start, directed, total, parts, reach, checks):
    """What `oracle.closeness` gives, of every graph of a pack."""
    order = _largest_first(vertex_start)
    for core in prange(cores):
        for g in order[core::cores]:
            v0, v1, rows, heads = _graph(g, offsets, targets, vertex_start, arc_start)
            own = total[v0:v1], parts[v0:v1], reach[v0:v1]
            checks[g] = _nearness(rows, heads, directed, *own)


@njit(nogil=True, cache=True)
def _nearness(rows, heads, directed, total, parts, reach):
    n = total.size
    if directed:
        rows, heads = oracle.transposed(rows, heads)
    total[:], parts[:], reach[:] = 0, 0, 0
    room, level = _room(n), np.empty((0, 0), np.int8)
    for first in range(0, n, 64 * WORDS):
        if not _search(rows, heads, first, _most_levels(n), room, level, total, parts, reach):
            return oracle.nearness(rows, heads, np.arange(n), total, parts, reach)
    return _check_of_nearness(total, parts, reach)


@njit(nogil=True, cache=True)
def _check_of_nearness(total, parts, reach):
    check = np.uint64(0)
    for v in range(total.size):
        place = np.uint64(v)
        check += oracle.mixed(place, total[v]) + oracle.mixed(place, parts[v] ^ np.uint64(0x5555555555555555))
        check += oracle.mixed(place, ~np.uint64(reach[v]))
    return check


@njit(nogil=True, cache=True)
def _lanes_of(word, group):
    """The bits of a group of sources."""
    return np.uint32((word >> np.uint64(group * LANES)) & np.uint64(2**LANES - 1))


@njit(nogil=True, cache=True)
def _sweeps(rows, heads, in_rows, in_heads, new, depth, group, own, scale, sigma, now, following):
    """Brandes from a group of 32 of a word's sources; adds their dependencies to `own`.

    new[d, v]: which sources are d arcs before v.
    """
    n = rows.size - 1
    now[:] = 0
    for v in range(n):
        mask = _lanes_of(new[0, v], group)
        for lane in range(LANES):
            if (mask >> np.uint32(lane)) & np.uint32(1):
                now[v, lane] = 1.0
    for d in range(1, depth):
        for v in range(n):
            mask = _lanes_of(new[d, v], group)
            if mask:
                counted(now, in_heads, np.int64(in_rows[v]), np.int64(in_rows[v + 1]), mask, following, sigma,
                         np.int64(v))  # fmt: skip
            else:
                following[v] = 0.0
        now, following = following, now
    for d in range(depth - 1, 0, -1):  # none lies beyond the last level
        for v in range(n):
            mask = _lanes_of(new[d, v], group)
            if mask:
                end = np.int64(rows[v + 1]) if d < depth - 1 else np.int64(rows[v])
                found = given(now, heads, np.int64(rows[v]), end, mask, following, sigma, np.int64(v), scale)
                own[v] += np.uint64(found)
            else:
                following[v] = 0.0
        now, following = following, now


@njit(nogil=True, cache=True)
def betweenness(offsets, targets, vertex_start, arc_start, directed, checksums):
    """The checksums of betweenness (no endpoints, in double precision), of every graph of a pack."""
    for g in range(vertex_start.size - 1):
        v0, v1, rows, heads = _graph(g, offsets, targets, vertex_start, arc_start)
        checksums[g] = _dependencies(rows, heads, directed, False, np.empty(v1 - v0, np.uint64))


@njit(parallel=True, cache=True)
def dependencies(cores, offsets, targets, vertex_start, arc_start, directed, fixed, checksums):
    """What `oracle.betweenness` gives, of every graph of a pack."""
    order = _largest_first(vertex_start)
    for core in prange(cores):
        for g in order[core::cores]:
            v0, v1, rows, heads = _graph(g, offsets, targets, vertex_start, arc_start)
            checksums[g] = _dependencies(rows, heads, directed, True, fixed[v0:v1])


@njit(nogil=True, cache=True)
def _search_all(rows, heads, first, most, room, fresh):
    """fresh[d, v]: which of the 512 sources from `first` on are d arcs before v; how many levels, and `fresh`.

    rows, heads: the graph transposed. With more than `most` levels the search ends there.
    """
    n = rows.size - 1
    now, following, full = room[:n], room[n : 2 * n], room[3 * n :]
    _start(first, now, full)
    fresh[0] = now
    depth, grew = 1, True
    while grew and depth <= most:
        if depth == fresh.shape[0]:
            more = _vectors(2 * depth * n, WORDS).view(np.uint64).reshape(2 * depth, n, WORDS)
            more[:depth] = fresh
            fresh = more
        grew = _step(rows, heads, now, full, following, fresh[depth])
        now, following = following, now
        depth += grew
    return depth, fresh


@njit(nogil=True, cache=True)
def _dependencies(rows, heads, directed, limited, own):
    """If `limited`, a graph of many levels is left to one source after the other."""
    n = own.size
    rows, heads = oracle.once(rows, heads)
    in_rows, in_heads = rows, heads
    if directed:
        in_rows, in_heads = oracle.transposed(rows, heads)
    scale = np.float64(np.int64(1) << oracle.fraction_bits(n))
    own[:] = 0
    room, fresh = _room(n), _vectors(8 * n, WORDS).view(np.uint64).reshape(8, n, WORDS)
    reals = _vectors(3 * n, LANES)
    new = np.empty((8, n), np.uint64)
    levels = _most_levels(n) if limited else n
    most = 1
    for v in range(n):
        most = max(most, np.int64(in_rows[v + 1] - in_rows[v]))
    for first in range(0, n, 64 * WORDS):
        depth, fresh = _search_all(in_rows, in_heads, first, levels, room, fresh)
        if depth > levels or depth * np.log2(most) > 990:  # or more shortest paths than a float64 counts
            own[:] = 0
            oracle.dependencies(rows, heads, in_rows, in_heads, False, np.ones(1), own, np.arange(n))
            break
        if new.shape[0] < depth:
            new = np.empty((fresh.shape[0], n), np.uint64)
        for begin in range(first, min(n, first + 64 * WORDS), 64):
            new[:depth] = fresh[:depth, :, (begin - first) // 64]
            for group in range(GROUPS):
                if begin + group * LANES < n:
                    _sweeps(rows, heads, in_rows, in_heads, new, depth, group, own, scale, reals[:n],
                            reals[n : 2 * n], reals[2 * n :])  # fmt: skip
    return oracle.check_of(own)
