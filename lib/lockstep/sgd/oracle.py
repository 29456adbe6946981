"""Reference: stochastic gradient descent by one thread in a given order, and the proof that a schedule
equals it.

Every schedule except `hogwild` is serializable: it computes what one thread computes in some order of the edges.
A logged run records each edge's position in the history of its user and of its item. If all histories are
complete and their union is acyclic, a topological order of the edges is such an order, and
its replay must be bitwise equal.
"""

import functools

import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.extending import intrinsic


class NotSerializable(AssertionError):
    """A logged run is no serial run in any order; the text names the node or the edges."""


@intrinsic
def _fma(typingctx, a, b, c):
    """a * b + c in float32 with one rounding, as the kernels do it."""
    signature = types.float32(types.float32, types.float32, types.float32)

    def generate(context, builder, signature, arguments):
        single = ir.FloatType()
        function = builder.module.declare_intrinsic("llvm.fma", [single], ir.FunctionType(single, [single] * 3))
        return builder.call(function, arguments)

    return signature, generate


@njit(cache=True, inline="always")
def _dot(a, b, sums):
    """Inner product in the kernels' order, hence bitwise equal: a chain of multiply-adds for each four features, then
    a binary-tree sum, second half onto first."""
    chunks = a.size // 4
    for c in range(chunks):
        k = 4 * c
        sums[c] = _fma(a[k + 3], b[k + 3], _fma(a[k + 2], b[k + 2], _fma(a[k + 1], b[k + 1], a[k] * b[k])))
    width = chunks // 2
    while width:
        for c in range(width):
            sums[c] = sums[c] + sums[c + width]
        width //= 2
    return sums[0]


@njit(cache=True, inline="always")
def _update(user, item, rating, rate, decay, nonnegative, sums):
    gain = _fma(-rate, _dot(user, item, sums), rate * rating)
    zero = np.float32(0)
    for k in range(user.size):
        a, b = user[k], item[k]
        new_a, new_b = _fma(gain, b, a * decay), _fma(gain, a, b * decay)
        if nonnegative:
            new_a, new_b = max(new_a, zero), max(new_b, zero)
        user[k], item[k] = new_a, new_b


@njit(cache=True)
def sweep(users, items, values, order, user_vectors, item_vectors, rate, decay, nonnegative):
    """One serial sweep over the edges in the given order; the vectors (float32, one row a node) are changed
    in place."""
    sums = np.empty(max(user_vectors.shape[1] // 4, 1), np.float32)
    for e in order:
        _update(user_vectors[users[e]], item_vectors[items[e]], values[e], rate, decay, nonnegative, sums)


@njit(cache=True, parallel=True)
def tiled_sweep(offsets, threads, users, items, values, user_vectors, item_vectors, rate, decay, nonnegative):
    """One sweep by several threads: tile (b, (b + r) % threads) by thread b in round r, so that no two
    threads ever share a node. `offsets[b * threads + t]` is the first edge of tile (b, t)."""
    for r in range(threads):
        for b in prange(threads):
            sums = np.empty(max(user_vectors.shape[1] // 4, 1), np.float32)
            tile = b * threads + (b + r) % threads
            for e in range(offsets[tile], offsets[tile + 1]):
                _update(user_vectors[users[e]], item_vectors[items[e]], values[e], rate, decay, nonnegative, sums)


@njit(cache=True, parallel=True)
def _squared_error(users, items, values, user_vectors, item_vectors):
    total = 0.0
    for e in prange(users.size):
        dot = 0.0
        for k in range(user_vectors.shape[1]):
            dot += np.float64(user_vectors[users[e], k]) * np.float64(item_vectors[items[e], k])
        total += (np.float64(values[e]) - dot) ** 2
    return total


def rmse(ratings, user_vectors, item_vectors):
    """Root mean square error of the product against the ratings; NaN without ratings."""
    if not ratings.m:
        return float("nan")
    total = _squared_error(ratings.users, ratings.items, ratings.values, user_vectors, item_vectors)
    return float(np.sqrt(total / ratings.m))


@functools.lru_cache(maxsize=64)
def checksum(m, first=0):
    """Expected kernel tally of the edges first <= e < m: their number and the sum of their
    hashes."""
    e = np.arange(first, m, dtype=np.uint32)
    hashes = (e ^ (e >> np.uint32(15))) * np.uint32(0x9E3779B1)
    return e.size, int(hashes.sum(dtype=np.uint64))


def serial_order(users, items, user_rank, item_rank):
    """An order of the edges in which one thread would have made the same history.

    Parameters
    ----------
    users, items : int arrays, shape (m,)
        Ends of each edge.
    user_rank, item_rank : int arrays, shape (m,)
        How many updates its user, and its item, had seen when the edge was applied.

    Returns
    -------
    int64 array, shape (m,)

    Raises
    ------
    NotSerializable
        A node's history has a gap or a position twice (an edge was applied not exactly once, or two threads
        held the node together), or the histories contradict each other.
    """
    m = users.size
    after = []
    for nodes, rank, side in ((users, user_rank, "user"), (items, item_rank, "item")):
        order = np.lexsort((rank, nodes))
        node, place = nodes[order], rank[order]
        start = np.concatenate([[True], node[1:] != node[:-1]])
        first = np.maximum.accumulate(np.where(start, np.arange(m), 0))
        wrong = np.flatnonzero(place != np.arange(m) - first)
        if wrong.size:
            k = int(wrong[0])
            raise NotSerializable(
                f"{side} {node[k]}: update {k - first[k]} of its history is missing or there twice "
                f"(edge {order[k]} says {place[k]})"
            )
        successor = np.full(m, -1, np.int64)
        successor[order[:-1][~start[1:]]] = order[1:][~start[1:]]
        after.append(successor)
    order = _kahn(*after)
    if order.size < m:
        raise NotSerializable(
            f"the histories of the nodes contradict each other: {m - order.size} edges wait in a circle"
        )
    return order


@njit(cache=True)
def _kahn(after_user, after_item):
    m = after_user.size
    waits = np.zeros(m, np.int8)
    for e in range(m):
        for n in (after_user[e], after_item[e]):
            if n >= 0:
                waits[n] += 1
    order = np.empty(m, np.int64)
    filled = 0
    for e in range(m):
        if waits[e] == 0:
            order[filled] = e
            filled += 1
    head = 0
    while head < filled:
        e = order[head]
        head += 1
        for n in (after_user[e], after_item[e]):
            if n >= 0:
                waits[n] -= 1
                if waits[n] == 0:
                    order[filled] = n
                    filled += 1
    return order[:filled]
