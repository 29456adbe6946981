"""Reference results of a graph's structure, compiled: components, triangles, PageRank, random walks; see `oracle`.

Numba's cache is invalidated only by changes of this file, not of `oracle` and `lockstep.graphs.search`, whose functions
it calls.
"""

import numpy as np
from numba import njit, prange, uint64

from lockstep.graphs.search import visit

from .oracle import mixed, once, transposed


@njit(cache=True)
def _sum_labels(labels):
    check = np.uint64(0)
    for v in range(labels.size):
        check += mixed(np.uint64(v), np.uint64(labels[v]))
    return check


@njit(parallel=True, cache=True)
def components(offsets, targets, vertex_start, arc_start, out, checksums):
    """Smallest vertex of every component, directions left aside (union and find)."""
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        label = np.arange(n).astype(np.int32)
        for v in range(n):
            for a in range(offsets[v0 + g + v], offsets[v0 + g + v + 1]):
                x, y = v, np.int64(targets[arc_start[g] + a])
                while label[x] != x:
                    label[x] = label[label[x]]
                    x = label[x]
                while label[y] != y:
                    label[y] = label[label[y]]
                    y = label[y]
                label[max(x, y)] = min(x, y)
        for v in range(n):
            label[v] = label[label[v]]  # smaller vertices have theirs already
            out[v0 + v] = label[v]
        checksums[g] = _sum_labels(out[v0 : v0 + n])


@njit(cache=True)
def finish_order(offsets, targets):
    """Vertices in depth-first postorder."""
    n = offsets.size - 1
    order, stack, at = np.empty(n, np.int32), np.empty(n, np.int32), offsets[:-1].copy()
    seen = np.zeros(n, np.bool_)
    count = 0
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        stack[0], depth = root, 1
        while depth:
            v = stack[depth - 1]
            if at[v] == offsets[v + 1]:
                order[count] = v
                count += 1
                depth -= 1
                continue
            w = targets[at[v]]
            at[v] += 1
            if not seen[w]:
                seen[w] = True
                stack[depth] = w
                depth += 1
    return order


@njit(parallel=True, cache=True)
def strong(offsets, targets, vertex_start, arc_start, out, checksums):
    """Smallest vertex of every strongly connected component (Kosaraju)."""
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        rows, heads = offsets[v0 + g : v0 + n + g + 1], targets[arc_start[g] : arc_start[g + 1]]
        order = finish_order(rows, heads)
        rows, heads = transposed(rows, heads)
        label, group = np.full(n, -1, np.int32), np.empty(n, np.int32)
        for i in range(n - 1, -1, -1):
            if label[order[i]] >= 0:
                continue
            count = visit(rows, heads, order[i], label, group)
            least = group[:count].min()
            for j in range(count):
                label[group[j]] = least
        out[v0 : v0 + n] = label
        checksums[g] = _sum_labels(label)


@njit(parallel=True, cache=True)
def triangles(offsets, targets, vertex_start, arc_start, out, checksums):
    """Triangles at every vertex, without directions, parallel arcs and loops."""
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        near = np.zeros((n, n), np.bool_)
        for v in range(n):
            for a in range(offsets[v0 + g + v], offsets[v0 + g + v + 1]):
                u = targets[arc_start[g] + a]
                if u != v:
                    near[v, u] = near[u, v] = True
        for v in range(n):
            count = 0
            for u in range(n):
                if near[v, u]:
                    for w in range(u):
                        count += near[v, w] and near[u, w]
            out[v0 + v] = count
        checksums[g] = _sum_labels(out[v0 : v0 + n])


@njit(parallel=True, cache=True)
def pagerank(offsets, targets, vertex_start, arc_start, directed, damping, tolerance, limit, out, rounds, checksums):
    """rank.cu's iteration, bit for bit."""
    unit = 2.0**60
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        rows, heads = once(offsets[v0 + g : v0 + n + g + 1], targets[arc_start[g] : arc_start[g + 1]])
        in_rows, in_heads = rows, heads
        if directed:
            in_rows, in_heads = transposed(rows, heads)
        rank, share = np.full(n, 1.0 / max(n, 1)), np.zeros(n)
        step, moving = 0, True
        while moving and step < limit and n:
            held, moved = np.uint64(0), np.uint64(0)
            for v in range(n):
                outs = rows[v + 1] - rows[v]
                share[v] = rank[v] / outs if outs else 0.0
                if not outs:
                    held += np.uint64(rank[v] * unit)
            dangling, rest = np.float64(held) / unit / n, (1.0 - damping) / n
            for v in range(n):
                total = 0.0
                for a in range(in_rows[v], in_rows[v + 1]):
                    total += share[in_heads[a]]
                now = damping * (total + dangling) + rest
                moved += np.uint64(abs(now - rank[v]) * unit)
                rank[v] = now
            moving = np.float64(moved) / unit >= n * tolerance
            step += 1
        out[v0 : v0 + n] = rank
        rounds[g] = step
        check, words = np.uint64(0), rank.view(np.uint64)
        for v in range(n):
            check += mixed(np.uint64(v), words[v])
        checksums[g] = check


@njit(uint64(uint64), cache=True)
def _scrambled(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(parallel=True, cache=True)
def walks(offsets, targets, vertex_start, arc_start, each, length, seed, out, checksums):
    """walks.cu's walks; out has the shape (vertices, each, length + 1)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    for g in prange(vertex_start.size - 1):
        v0, n = vertex_start[g], vertex_start[g + 1] - vertex_start[g]
        check = np.uint64(0)
        for v in range(n):
            for walk in range(each):
                key = _scrambled(_scrambled(seed + golden) + ((np.uint64(v) << np.uint64(32)) | np.uint64(walk)))
                at = np.int64(v)
                for step in range(length + 1):
                    out[v0 + v, walk, step] = at
                    check += mixed(np.uint64((v * each + walk) * (length + 1) + step), np.uint64(at))
                    if at >= 0 and step < length:
                        first = offsets[v0 + g + at]
                        degree = np.uint64(offsets[v0 + g + at + 1] - first)
                        word = _scrambled(key + np.uint64(step + 1) * golden) >> np.uint64(32)
                        if degree:
                            at = np.int64(targets[arc_start[g] + first + np.int64((word * degree) >> np.uint64(32))])
                        else:
                            at = np.int64(-1)
        checksums[g] = check
