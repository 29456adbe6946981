"""Offline schedules: cutting the edges into sets that have no node in common.

A schedule gives each edge a superstep. In a *matching* no two edges share a node. First-fit takes the edges
in order and puts each into the first matching that has neither of its ends: the matchings are then the ones
that greedy maximal matching finds one after the other (Algorithm 1 of the published study), each maximal in
what the earlier ones left.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ..ratings import RatingsError


@dataclass
class Schedule:
    """Edges in the order of their supersteps.

    Attributes
    ----------
    order : int array, shape (m,)
        Edge of the ratings at each place.
    times : int32 array, shape (m,)
        Superstep of each place, ascending (within each slot, if there are slots).
    steps : int32 array, shape (supersteps + 1,)
        Places (or units, if there are units) of superstep s are steps[s] to steps[s + 1] - 1.
    units : int32 array or None
        Unit t holds the places units[t] to units[t + 1] - 1, run by one worker (blocks of a block diagonal).
    """

    order: np.ndarray
    times: np.ndarray
    steps: np.ndarray
    units: np.ndarray | None = None

    @property
    def supersteps(self):
        return self.steps.size - 1


@njit(cache=True)
def _few(item_order, offsets, users, block, times, used):
    """First-fit where no two ends have more than 64 edges together: the used matchings of a node are one
    word."""
    base = top = 0
    for k in range(item_order.size):
        if k % block == 0:
            base, top = base + top, 0
            if k:
                used[:] = 0
        mine = np.uint64(0)
        i = item_order[k]
        for e in range(offsets[i], offsets[i + 1]):
            free = ~(mine | used[users[e]])
            bit = free & (~free + np.uint64(1))
            c = 0
            while bit >> np.uint64(c) != np.uint64(1):
                c += 1
            mine |= bit
            used[users[e]] |= bit
            times[e] = base + c
            top = max(top, c + 1)
    return base + top


@njit(cache=True)
def _many(item_order, offsets, users, block, widest, words, word_offsets, table, table_offsets, times):
    """First-fit in general. An item's used matchings are a bit set, fresh for each item. A user's are a bit
    set over the first 64 ceil(degree / 32) matchings of the block, where a busy user has nearly all of its
    edges, and a hash table for those beyond (a user of few edges has them anywhere up to the degree of its
    items)."""
    mine = np.zeros(widest // 64 + 2, np.uint64)
    full, one = ~np.uint64(0), np.uint64(1)
    base = top = 0
    for k in range(item_order.size):
        if k % block == 0:
            base, top = base + top, 0
            if k:
                words[:] = 0
        i = item_order[k]
        low = reach = 0  # words before `low` are full, words from `reach` on are empty
        for e in range(offsets[i], offsets[i + 1]):
            u = users[e]
            first, dense = word_offsets[u], word_offsets[u + 1] - word_offsets[u]
            start, size = table_offsets[u], table_offsets[u + 1] - table_offsets[u]
            w = low
            c = -1
            while c < 0:
                free = ~mine[w]
                if w < dense:
                    free &= ~words[first + w]
                while free:
                    bit = free & (~free + one)
                    b = 0
                    half = bit
                    while half > one:  # number of the lowest free bit, by halves
                        if half >= np.uint64(1 << 32):
                            half >>= np.uint64(32)
                            b += 32
                        elif half >= np.uint64(1 << 16):
                            half >>= np.uint64(16)
                            b += 16
                        elif half >= np.uint64(1 << 8):
                            half >>= np.uint64(8)
                            b += 8
                        else:
                            half >>= one
                            b += 1
                    c = w * 64 + b
                    if w < dense:
                        words[first + w] |= bit
                        break
                    slot = ((base + c) * 40503) & (size - 1)
                    while table[start + slot] >= 0 and table[start + slot] != base + c:
                        slot = (slot + 1) & (size - 1)
                    if table[start + slot] < 0:
                        table[start + slot] = base + c
                        break
                    c = -1
                    free ^= bit
                w += 1
            w = c // 64
            mine[w] |= one << np.uint64(c % 64)
            reach = max(reach, w + 1)
            while mine[low] == full:
                low += 1
            times[e] = base + c
            top = max(top, c + 1)
        mine[:reach] = 0
    return base + top


def first_fit(ratings, item_order=None, block=None):
    """The matching of each edge by first-fit, items one after the other.

    Parameters
    ----------
    ratings : Ratings
    item_order : int array, optional
        Items in the order in which they are taken; ascending by default.
    block : int, optional
        Start afresh, in later matchings, after every `block` items (sub-graph matchings).

    Returns
    -------
    times : int32 array, shape (m,)
        Number of the matching of each edge, in the ratings' order.
    count : int
    """
    users_degree, items_degree = ratings.degrees()
    times = np.empty(ratings.m, np.int32)
    if not ratings.m:
        return times, 0
    if item_order is None:
        item_order = np.arange(ratings.n_items)
    block = max(int(block or item_order.size), 1)
    widest = int(users_degree.max() + items_degree.max())
    if widest <= 64:
        used = np.zeros(ratings.n_users, np.uint64)
        count = _few(item_order, ratings.offsets, ratings.users, block, times, used)
    else:
        dense = np.where(users_degree > 0, -(-users_degree // 32), 0)
        word_offsets = np.concatenate([[0], np.cumsum(dense)])
        size = np.where(users_degree > 0, 2 ** np.ceil(np.log2(2 * np.maximum(users_degree, 1))).astype(np.int64), 0)
        table_offsets = np.concatenate([[0], np.cumsum(size)])
        count = _many(
            item_order,
            ratings.offsets,
            ratings.users,
            block,
            widest,
            np.zeros(word_offsets[-1], np.uint64),
            word_offsets,
            np.full(table_offsets[-1], -1, np.int32),
            table_offsets,
            times,
        )
    return times, int(count)


def _group(key, count, xp):
    """Stable order by key, and where each key from 0 to count - 1 begins (int32)."""
    order = xp.argsort(key, kind="stable")
    sizes = xp.bincount(key, minlength=count)
    steps = np.zeros(count + 1, np.int32)
    steps[1:] = np.cumsum(sizes if xp is np else sizes.get())
    return order, steps


def _compact(key, xp):
    """Keys renumbered 0, 1, ... without the unused ones, and how many there are."""
    sizes = xp.bincount(key)
    number = xp.cumsum(sizes > 0) - 1
    return number[key].astype(xp.int32), int(number[-1]) + 1 if key.size else 0


def by_time(times, count, xp=np):
    """The schedule of edges whose supersteps are given."""
    times = xp.asarray(times)
    order, steps = _group(times, count, xp)
    return Schedule(order, times[order], steps)


def diagonals(users, items, n_items, xp=np):
    """Non-empty diagonals of the matrix, from its top right corner; at most users + items - 1.

    Two entries of one diagonal differ in row and in column, so a diagonal is a matching.
    """
    times, count = _compact(users - items + np.int32(n_items - 1), xp)
    return by_time(times, count, xp)


def block_diagonals(users, items, n_items, rows, columns, xp=np):
    """Diagonals of blocks of `rows` items by `columns` users (R and C of the study), a unit for each
    non-empty block.

    Edges of a block are in the order of the items, so that an item's vector is loaded once a block.
    """
    if rows < 1 or columns < 1:
        raise RatingsError(f"blocks of {rows} x {columns}; expected at least 1 x 1")
    block_item, block_user = items // np.int32(rows), users // np.int32(columns)
    across = -(-n_items // rows)
    times, count = _compact(block_user - block_item + np.int32(across - 1), xp)
    block = times.astype(xp.int64) * across + block_item
    order = xp.argsort(block, kind="stable")
    block, times = block[order], times[order]
    first = xp.concatenate([xp.ones(1, bool), block[1:] != block[:-1]]) if block.size else xp.zeros(0, bool)
    units = xp.concatenate([xp.flatnonzero(first), xp.array([block.size])]).astype(xp.int32)
    sizes = xp.bincount(times[first], minlength=count)
    steps = np.concatenate([[0], np.cumsum(sizes if xp is np else sizes.get())]).astype(np.int32)
    return Schedule(order, times, steps, units)


def check(ratings, schedule, blocks=None):
    """Raise AssertionError unless the schedule is a partition of the edges whose supersteps share no node.

    With `blocks` (rows, columns) it is the blocks of a superstep that must share no row and no column of
    blocks.
    """
    order, times = (part if isinstance(part, np.ndarray) else part.get() for part in (schedule.order, schedule.times))
    if order.size != ratings.m or np.bincount(order, minlength=ratings.m).max(initial=1) != 1:
        raise AssertionError(f"the schedule holds {order.size} edges of {ratings.m}, or one of them twice")
    rows, columns = blocks or (1, 1)
    users = ratings.users[order].astype(np.int64) // columns
    items = ratings.items[order].astype(np.int64) // rows
    times = times.astype(np.int64)
    n_users, n_items = int(users.max(initial=0)) + 1, int(items.max(initial=0)) + 1
    if blocks:
        units = np.unique((times * n_items + items) * n_users + users)
        users, items, times = units % n_users, units // n_users % n_items, units // n_users // n_items
    for nodes, count, what in ((users, n_users, "user"), (items, n_items, "item")):
        if np.unique(times * count + nodes).size < nodes.size:
            raise AssertionError(f"two {'blocks' if blocks else 'edges'} of one superstep share a {what}")
