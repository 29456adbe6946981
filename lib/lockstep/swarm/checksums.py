"""Checksums of graphs by the CPU, fast enough for a million: many sources in the lanes of one vector.

`oracle` searches from one source at a time, which takes 0.1 s on one core for the betweenness of a
thousand vertices. This module computes the same checksums in about a twentieth of that, so that every graph
of a batch is checked:

`distances`     a bit for each of 512 sources: the sources that reach a vertex within d arcs are those that reach one
                of its in-neighbors within d - 1.
`betweenness`   from these sets Brandes' two sweeps, level by level, 32 sources in parallel in float64. The rows of all
                neighbors of a vertex are added; lanes of other levels are 0, and adding 0 is exact, so the
                sums equal those of single-source sweeps.

SciPy and igraph take longer for the distances alone than this for betweenness. The main reason is that the sum over a
row's arcs stays in registers, which Numba's own loops over lanes do not achieve: it uses portable LLVM vector
types.

Numba's cache is invalidated only by changes of this file, not of `oracle` and `lockstep.graphs.search`, whose functions
it calls.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from . import oracle

WORDS = 8  # of 64 sources each that a search takes at once
LANES = 32  # sources that Brandes takes at once
GROUPS = 64 // LANES  # of them in a word
_I64 = ir.IntType(64)
_SETS = ir.VectorType(_I64, WORDS)
_REALS, _WHOLES = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(_I64, LANES)


# -- a row's arcs, in vectors


def _rows(context, builder, kind, array, vector):
    """The data of an array of which each row is a vector."""
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, vector.as_pointer())


def _gathered(context, builder, rows, heads, begin, end, start, add):
    """``start`` and the rows that the heads of arcs ``begin`` to ``end - 1`` name, added up in a register."""
    kind, array = heads
    data = context.make_array(kind)(context, builder, array).data
    entry, loop = builder.block, builder.append_basic_block("arc")
    done = builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed("<", begin, end), loop, done)
    builder.position_at_end(loop)
    arc, total = builder.phi(_I64), builder.phi(start.type)
    head = builder.zext(builder.load(builder.gep(data, [arc])), _I64)
    after = add(total, builder.load(builder.gep(rows, [head]), align=8))
    following = builder.add(arc, _I64(1))
    for phi, first, next_ in ((arc, begin, following), (total, start, after)):
        phi.add_incoming(first, entry)
        phi.add_incoming(next_, loop)
    builder.cbranch(builder.icmp_signed("<", following, end), loop, done)
    builder.position_at_end(done)
    found = builder.phi(start.type)
    found.add_incoming(start, entry)
    found.add_incoming(after, loop)
    return found


@intrinsic
def _reached(typing, now, heads, begin, end, full, following, fresh, v):
    """following[v]: sources that reach v, one arc further than in `now`; fresh[v]: the new ones. Returns whether any.

    Rows whose set is `full` are skipped.
    """

    def codegen(context, builder, signature, args):
        now, full, following, fresh = (_rows(context, builder, signature.args[i], args[i], _SETS) for i in (0, 4, 5, 6))
        heads, begin, end, v = (signature.args[1], args[1]), args[2], args[3], args[7]
        bits = ir.IntType(64 * WORDS)
        before = builder.load(builder.gep(now, [v]), align=8)
        whole = builder.icmp_unsigned(
            "==", builder.bitcast(before, bits), builder.bitcast(builder.load(full, align=8), bits)
        )
        end = builder.select(whole, begin, end)
        after = _gathered(context, builder, now, heads, begin, end, before, builder.or_)
        new = builder.xor(after, before)
        builder.store(after, builder.gep(following, [v]), align=8)
        builder.store(new, builder.gep(fresh, [v]), align=8)
        return builder.icmp_unsigned("!=", builder.bitcast(new, bits), bits(0))

    return types.boolean(now, heads, types.int64, types.int64, full, following, fresh, types.int64), codegen


@intrinsic
def _counted(typing, now, heads, begin, end, mask, following, sigma, v):
    """following[v], sigma[v]: shortest paths to v in the lanes of `mask`; following[v] is 0 in the others."""

    def codegen(context, builder, signature, args):
        now, following, sigma = (_rows(context, builder, signature.args[i], args[i], _REALS) for i in (0, 5, 6))
        heads, begin, end, v = (signature.args[1], args[1]), args[2], args[3], args[7]
        zero = _REALS([0.0] * LANES)
        total = _gathered(context, builder, now, heads, begin, end, zero, builder.fadd)
        mask = builder.bitcast(args[4], ir.VectorType(ir.IntType(1), LANES))
        own = builder.gep(sigma, [v])
        builder.store(builder.select(mask, total, zero), builder.gep(following, [v]), align=8)
        builder.store(builder.select(mask, total, builder.load(own, align=8)), own, align=8)
        return context.get_dummy_value()

    arrays = (now, heads, types.int64, types.int64, types.uint32, following, sigma, types.int64)
    return types.void(*arrays), codegen


@intrinsic
def _given(typing, now, heads, begin, end, mask, following, sigma, v, scale):
    """Fixed-point sum of the dependencies on v in the lanes of `mask`; following[v]: v's term for predecessors."""

    def codegen(context, builder, signature, args):
        now, following, sigma = (_rows(context, builder, signature.args[i], args[i], _REALS) for i in (0, 5, 6))
        heads, begin, end, v = (signature.args[1], args[1]), args[2], args[3], args[7]
        zero, one, index = _REALS([0.0] * LANES), _REALS([1.0] * LANES), ir.IntType(32)
        total = _gathered(context, builder, now, heads, begin, end, zero, builder.fadd)
        mask = builder.bitcast(args[4], ir.VectorType(ir.IntType(1), LANES))
        own = builder.select(mask, builder.load(builder.gep(sigma, [v]), align=8), one)
        delta = builder.select(mask, builder.fmul(own, total), zero)
        given = builder.fdiv(builder.fadd(one, delta), own)
        builder.store(builder.select(mask, given, zero), builder.gep(following, [v]), align=8)
        scale = builder.insert_element(zero, args[8], index(0))
        scale = builder.shuffle_vector(scale, scale, ir.VectorType(index, LANES)([0] * LANES))
        whole = builder.fptosi(builder.fmul(delta, scale), _WHOLES)
        found = _I64(0)
        for lane in range(LANES):
            found = builder.add(found, builder.extract_element(whole, index(lane)))
        return found

    arrays = (now, heads, types.int64, types.int64, types.uint32, following, sigma, types.int64, types.float64)
    return types.int64(*arrays), codegen


@intrinsic
def _ones(typing, word):
    """How many bits are set."""
    return types.uint64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


# -- a graph


@njit(nogil=True, cache=True)
def _vectors(count, width):
    """Cache-line-aligned storage for `count` float64 vectors."""
    room = np.empty((count + 1) * width)
    skip = (-(room.ctypes.data // 8)) % 8
    return room[skip : skip + count * width].reshape(count, width)


@njit(nogil=True, cache=True)
def _search(rows, heads, first, now, following, full, fresh):
    """fresh[d, v]: which of the 512 sources from `first` on are d arcs before v; how many levels, and `fresh`.

    rows, heads: the graph transposed.
    """
    n = rows.size - 1
    now[:], full[:] = 0, 0
    for s in range(first, min(n, first + 64 * WORDS)):
        bit = np.uint64(1) << np.uint64((s - first) % 64)
        now[s, (s - first) // 64] = bit
        full[0, (s - first) // 64] |= bit
    fresh[0] = now
    depth, grew = 1, True
    while grew:
        if depth == fresh.shape[0]:
            more = _vectors(2 * depth * n, WORDS).view(np.uint64).reshape(2 * depth, n, WORDS)
            more[:depth] = fresh
            fresh = more
        grew, new = False, fresh[depth]
        for v in range(n):
            grew |= _reached(now, heads, np.int64(rows[v]), np.int64(rows[v + 1]), full, following, new, np.int64(v))
        now, following = following, now
        depth += grew
    return depth, fresh


@njit(nogil=True, cache=True)
def _room(n):
    """Work arrays of a search: now, following, full, fresh."""
    sets = _vectors(2 * n + 1, WORDS).view(np.uint64)
    fresh = _vectors(8 * n, WORDS).view(np.uint64).reshape(8, n, WORDS)
    return sets[:n], sets[n : 2 * n], sets[2 * n :], fresh


@njit(nogil=True, cache=True)
def distances(offsets, targets, vertex_start, arc_start, directed, of_closeness, of_apsp):
    """The checksums of closeness and of all distances, of every graph of a pack."""
    for g in range(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        rows, heads = offsets[v0 + g : v0 + n + g + 1], targets[arc_start[g] : arc_start[g + 1]]
        if directed:
            rows, heads = oracle.transposed(rows, heads)
        now, following, full, fresh = _room(n)
        total, parts, reach = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
        level, new = np.empty((64, n), np.int32), np.empty((8, n), np.uint64)
        check = np.uint64(0)
        for first in range(0, n, 64 * WORDS):
            depth, fresh = _search(rows, heads, first, now, following, full, fresh)
            for d in range(1, depth):
                part = (np.uint64(1) << np.uint64(oracle.RECIPROCAL)) // np.uint64(d)
                for v in range(n):
                    found = np.uint64(0)
                    for word in range(WORDS):
                        found += _ones(fresh[d, v, word])
                    total[v] += found * np.uint64(d)
                    parts[v] += found * part
                    reach[v] += found
            for begin in range(first, min(n, first + 64 * WORDS), 64):
                if new.shape[0] < depth:
                    new = np.empty((fresh.shape[0], n), np.uint64)
                new[:depth] = fresh[:depth, :, (begin - first) // 64]
                level[:] = -1
                for s in range(min(64, n - begin)):
                    place, bit = np.uint64((begin + s) * n), np.uint64(s)
                    for d in range(depth):
                        for v in range(n):
                            level[s, v] = d if (new[d, v] >> bit) & np.uint64(1) else level[s, v]
                    for v in range(n):
                        check += oracle.mixed(place + np.uint64(v), np.uint64(np.int64(level[s, v])))
        of_apsp[g], check = check, np.uint64(0)
        for v in range(n):
            place = np.uint64(v)
            check += oracle.mixed(place, total[v]) + oracle.mixed(place, parts[v] ^ np.uint64(0x5555555555555555))
            check += oracle.mixed(place, ~reach[v])
        of_closeness[g] = check


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
                _counted(now, in_heads, np.int64(in_rows[v]), np.int64(in_rows[v + 1]), mask, following, sigma,
                         np.int64(v))  # fmt: skip
            else:
                following[v] = 0.0
        now, following = following, now
    for d in range(depth - 1, 0, -1):  # none lies beyond the last level
        for v in range(n):
            mask = _lanes_of(new[d, v], group)
            if mask:
                end = np.int64(rows[v + 1]) if d < depth - 1 else np.int64(rows[v])
                found = _given(now, heads, np.int64(rows[v]), end, mask, following, sigma, np.int64(v), scale)
                own[v] += np.uint64(found)
            else:
                following[v] = 0.0
        now, following = following, now


@njit(nogil=True, cache=True)
def betweenness(offsets, targets, vertex_start, arc_start, directed, checksums):
    """The checksums of betweenness (no endpoints, in double precision), of every graph of a pack."""
    for g in range(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        rows, heads = oracle.once(offsets[v0 + g : v0 + n + g + 1], targets[arc_start[g] : arc_start[g + 1]])
        in_rows, in_heads = rows, heads
        if directed:
            in_rows, in_heads = oracle.transposed(rows, heads)
        own, scale = np.zeros(n, np.uint64), np.float64(np.int64(1) << oracle.fraction_bits(n))
        now, following, full, fresh = _room(n)
        reals = _vectors(3 * n, LANES)
        new = np.empty((8, n), np.uint64)
        most = 1
        for v in range(n):
            most = max(most, np.int64(in_rows[v + 1] - in_rows[v]))
        for first in range(0, n, 64 * WORDS):
            depth, fresh = _search(in_rows, in_heads, first, now, following, full, fresh)
            if depth * np.log2(most) > 990:  # there may be more shortest paths than a float64 counts
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
        check = np.uint64(0)
        for v in range(n):
            check += oracle.mixed(np.uint64(v), own[v])
        checksums[g] = check
