"""First-fit matchings on a device: host side of `first_fit.cu`.

Many threads place edges concurrently, so which edges share a matching depends on timing; that
each matching is maximal in the edges left by earlier ones does not.
"""

from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "first_fit.cu"
SMALL = 64  # items of fewer edges: one thread each


def fits(executor, ratings):
    """Whether an item's bit set fits in a block's shared memory; if not, first-fit runs on the CPU."""
    users, items = ratings.degrees()
    return bool(ratings.m) and _shared(int(items.max()), int(users.max())) <= executor.max_shared


def _shared(item_degree, user_degree):
    return 4 * (2 + (item_degree + user_degree) // 32 + 1)


def first_fit(executor, ratings, offsets, users, items, block=None, threads=None):
    """The matching of each edge, items taken by falling degree.

    Parameters
    ----------
    executor : Executor
    ratings : Ratings
    offsets, users, items : device arrays
        Of the ratings: int64, shape (items + 1,), and int32, shape (m,).
    block : int, optional
        Start afresh, in later matchings, after every `block` items (sub-graph matchings).
    threads : int, optional
        Of a block of the kernels.

    Returns
    -------
    nodes : device int32 array, shape (items,)
        The items by falling degree.
    times : device int32 array, shape (m,)
        Number of the matching of each edge, in the ratings' order.
    count : int
    """
    xp = executor.xp
    threads = int(threads or (32 if executor.name == "host" else 256))
    user_degrees, item_degrees = ratings.degrees()
    longest, span = int(item_degrees.max()), int(user_degrees.max())
    word_offsets, words, table_offsets, table = _taken(executor, xp.asarray(user_degrees), longest + span)
    lows, locks = (executor.zeros(ratings.n_users, np.int32) for _ in range(2))
    device_degrees = xp.asarray(item_degrees)
    nodes = xp.argsort(-device_degrees, kind="stable").astype(xp.int32)
    large = int((device_degrees >= SMALL).sum())
    rest = int((device_degrees > 0).sum())
    block = max(int(block or ratings.n_items), 1)
    columns = -(-ratings.n_items // block)
    tickets, most = executor.zeros(columns, np.int32), executor.zeros(columns, np.int32)
    times = executor.empty(ratings.m, np.int32)
    kernels = executor.load(FILE)
    shared = _shared(longest, span)
    by_block, by_thread = kernels["large_items"], kernels["small_items"]
    most_blocks, most_small = by_block.max_blocks(threads, shared), by_thread.max_blocks(threads, 0)
    state = dict(
        offsets=offsets, users=users, locks=locks, word_offsets=word_offsets, words=words, lows=lows,
        table_offsets=table_offsets, table=table, matchings=times,
    )  # fmt: skip
    for k in range(columns):
        first, last = k * block, min((k + 1) * block, rest)
        if first >= last:
            break
        table.fill(-1)
        if k:
            words.fill(0)
            lows.fill(0)
        middle = min(max(first, large), last)
        top = most[k : k + 1]
        if middle > first:
            blocks = max(min(most_blocks, middle - first), 1)
            by_block(
                blocks, threads, shared=shared, nodes=nodes, first=np.int32(first), last=np.int32(middle),
                ticket=tickets[k : k + 1], span=np.int32(span), most=top, **state,
            )  # fmt: skip
        if last > middle:
            blocks = max(min(most_small, -(-(last - middle) // threads)), 1)
            by_thread(blocks, threads, nodes=nodes, first=np.int32(middle), last=np.int32(last), most=top, **state)
    tops = executor.get(most)
    if columns > 1:  # later blocks come in later matchings
        before = np.concatenate([[0], np.cumsum(tops)[:-1]]).astype(np.int32)
        shift = xp.empty(ratings.n_items, xp.int32)
        shift[nodes] = xp.asarray(np.repeat(before, block)[: ratings.n_items])
        times += shift[items]
    return nodes, times, int(tops.sum())


def _taken(executor, degrees, reach):
    """Storage for the users' used matchings, numbered below `reach`: bit sets, and hash tables beyond them.

    Returns
    -------
    word_offsets, words, table_offsets, table : device arrays
    """
    xp = executor.xp
    dense = -(-degrees // 16)  # words of 32 matchings: twice the degree
    # A table where matchings can lie beyond: a power of two, at least twice the degree.
    beyond = (dense * 32 < reach) & (degrees > 0)
    size = xp.where(beyond, 2 ** xp.ceil(xp.log2(2 * xp.maximum(degrees, 1))).astype(xp.int64), 0)
    word_offsets, table_offsets = (_offsets(counts, xp) for counts in (dense, size))
    words = executor.zeros(max(int(word_offsets[-1]), 1), np.uint32)
    return word_offsets, words, table_offsets, executor.empty(max(int(table_offsets[-1]), 1), np.int32)


def _offsets(counts, xp):
    offsets = xp.zeros(counts.size + 1, xp.int64)
    offsets[1:] = xp.cumsum(counts)
    return offsets
