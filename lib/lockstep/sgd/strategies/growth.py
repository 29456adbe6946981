"""Growing patches over both sides of a graph, and cutting a patch's edges into matchings: what `patches` makes ready on
the host, by several threads (Numba), beside a sort where the edges are."""

import numpy as np
from numba import njit, prange

CHUNK = 1 << 17  # items that one thread grows patches over; fixed, so that the result does not depend on the threads
MATCHINGS = 64  # of a patch in one level; further edges go to the next level
LEFT = 255
SLICES = 64  # of the users, distributed over threads


@njit(cache=True, parallel=True)
def _fill(array, value):
    for k in prange(array.size):
        array[k] = value


@njit(cache=True, parallel=True)
def _grow(
    offsets, users, user_offsets, items_by_user, user_chunk, chunk, region, room, nodes, user_at, item_at,
    bounds, counts,
):  # fmt: skip
    """Breadth-first growth over the items of each chunk and the users assigned to it. The chunk's node list
    is the queue; a patch ends at `room` nodes, and its unplaced neighbors remain for the following patches. A patch
    ends one node earlier where the last node would be a seed, which could add no neighbor.

    Hence at least one edge, if any, lies inside a patch: a user is assigned to a chunk that holds one of its items.
    Consider the first placed item of such a chunk with a user assigned to it. No user of the chunk is placed yet, since
    users are reached only from such items; so the item is a seed, not the last of its patch, and dequeued next, and
    the first of its users in the chunk joins its patch.
    """
    for c in prange(region.size - 1):
        first = c * chunk
        last = min(first + chunk, offsets.size - 1)
        fill = start = head = bounds[c, 0] = region[c]
        seed = first
        while True:
            if head == fill:
                if fill == start + room - 1:
                    start = fill
                    counts[c] += 1
                    bounds[c, counts[c]] = fill
                while seed < last and (item_at[seed] >= 0 or offsets[seed] == offsets[seed + 1]):
                    seed += 1
                if seed == last:
                    break
                nodes[fill] = ~seed
                item_at[seed] = fill
                fill += 1
            node = nodes[head]
            head += 1
            if node < 0:
                for e in range(offsets[~node], offsets[~node + 1]):
                    u = users[e]
                    if fill < start + room and user_at[u] < 0 and user_chunk[u] == c:
                        nodes[fill] = u
                        user_at[u] = fill
                        fill += 1
            else:
                for e in range(user_offsets[node], user_offsets[node + 1]):
                    i = items_by_user[e]
                    if fill < start + room and first <= i < last and item_at[i] < 0:
                        nodes[fill] = ~i
                        item_at[i] = fill
                        fill += 1
            if fill == start + room:
                start = head = fill
                counts[c] += 1
                bounds[c, counts[c]] = fill
        if fill > start:
            counts[c] += 1
            bounds[c, counts[c]] = fill


@njit(cache=True, parallel=True)
def _belong(user_degrees, items_by_user, chunk, user_offsets, user_chunk, sizes):
    """Assign each user to the chunk of its median item (-1: no items); count the users of each chunk."""
    n = user_degrees.size
    width = n // SLICES + 1
    ends, found = np.zeros(SLICES + 1, np.int64), np.zeros((SLICES, sizes.size), np.int64)
    for s in prange(SLICES):
        ends[s + 1] = user_degrees[s * width : (s + 1) * width].sum()
    ends = np.cumsum(ends)
    for s in prange(SLICES):
        at = ends[s]
        for u in range(s * width, min((s + 1) * width, n)):
            user_offsets[u], user_chunk[u] = at, -1
            count = user_degrees[u]
            if count:
                user_chunk[u] = items_by_user[at + count // 2] // chunk
                found[s, user_chunk[u]] += 1
            at += count
    user_offsets[n] = ends[SLICES]
    sizes += found.sum(axis=0)


@njit(cache=True, parallel=True)
def _color(starts, ends, nodes, offsets, users, user_at, room, colors, counts):
    """The matching of each edge inside a patch, first fit; LEFT for edges between patches and those that find none."""
    for p in prange(starts.size):
        taken = np.zeros(room, np.uint64)
        for k in range(starts[p], ends[p]):
            if nodes[k] >= 0:
                continue
            for e in range(offsets[~nodes[k]], offsets[~nodes[k] + 1]):
                at = user_at[users[e]]
                if at < starts[p] or at >= ends[p]:
                    continue
                used = taken[k - starts[p]] | taken[at - starts[p]]
                color = 0
                while color < MATCHINGS and (used >> np.uint64(color)) & np.uint64(1):
                    color += 1
                if color < MATCHINGS:
                    colors[e] = color
                    counts[p, color] += 1
                    taken[k - starts[p]] |= np.uint64(1) << np.uint64(color)
                    taken[at - starts[p]] |= np.uint64(1) << np.uint64(color)


@njit(cache=True, parallel=True)
def _order(starts, ends, nodes, offsets, users, user_at, colors, places, order, pairs):
    """Edges by patch and matching: their numbers, and the places of their ends in the patch."""
    for p in prange(starts.size):
        place = places[p].copy()
        for k in range(starts[p], ends[p]):
            if nodes[k] >= 0:
                continue
            for e in range(offsets[~nodes[k]], offsets[~nodes[k] + 1]):
                color = colors[e]
                if color != LEFT:
                    order[place[color]] = e
                    pairs[place[color]] = np.uint32(user_at[users[e]] - starts[p]) | np.uint32((k - starts[p]) << 16)
                    place[color] += 1


def grow(users, offsets, user_degrees, room, brought, xp=np, chunk=CHUNK):
    """Patches of a graph.

    Parameters
    ----------
    users : int32 array, shape (m,)
        Ends of the edges, which are sorted by item.
    offsets : int64 array, shape (items + 1,)
        Where each item's edges begin.
    user_degrees : int array, shape (users,)
    room : int
        Nodes that a patch can hold, users and items together; at least 2.
    brought : (array, array)
        Both ends of the edges where `xp` is.
    xp : module
        numpy or cupy: where edges are sorted by user.
    chunk : int
        Items over which patches are grown together.

    Returns
    -------
    nodes : int32 array
        Of all patches, one after another, with gaps where a chunk's nodes end; items as ~item.
    starts, ends : int64 arrays, shape (patches,)
        Of each patch in `nodes`.
    user_at, item_at : int32 arrays, shapes (users,) and (items,)
        Where a node stands in `nodes`, -1: in no patch.
    """
    n_users, n_items = user_degrees.size, offsets.size - 1
    items_by_user = brought[1][xp.argsort(brought[0], kind="stable")]
    items_by_user = items_by_user if xp is np else items_by_user.get()
    chunks = -(-n_items // chunk)
    user_offsets, user_chunk = np.empty(n_users + 1, np.int64), np.empty(n_users, np.int32)
    sizes = np.minimum(chunk, n_items - np.arange(chunks) * chunk)
    _belong(user_degrees, items_by_user, chunk, user_offsets, user_chunk, sizes)
    region = np.concatenate([[0], np.cumsum(sizes)])
    nodes, counts = np.zeros(region[-1], np.int32), np.zeros(chunks, np.int64)
    bounds = np.empty((chunks, sizes.max() // (room - 1) + 2), np.int64)  # of the patches of each chunk
    user_at, item_at = np.empty(n_users, np.int32), np.empty(n_items, np.int32)
    _fill(user_at, -1)
    _fill(item_at, -1)
    _grow(
        offsets, users, user_offsets, items_by_user, user_chunk, chunk, region, room, nodes, user_at, item_at,
        bounds, counts,
    )  # fmt: skip
    there = np.arange(bounds.shape[1] - 1) < counts[:, None]
    starts, ends = bounds[:, :-1][there], bounds[:, 1:][there]
    return nodes, starts, ends, user_at, item_at


def match(users, offsets, nodes, starts, ends, user_at, room):
    """Matchings of the edges inside patches, those of each patch by themselves.

    Parameters
    ----------
    users, offsets, nodes, starts, ends, user_at, room
        As of `grow`.

    Returns
    -------
    order : int32 array
        Edges inside patches, by patch and matching.
    pairs : uint32 array
        Places in the patch of those edges' ends: user | item << 16.
    counts : int32 array, shape (patches, MATCHINGS)
        Edges of each matching.
    left : int32 array
        The other edges, in their order.
    """
    colors, counts = np.full(users.size, LEFT, np.uint8), np.zeros((starts.size, MATCHINGS), np.int32)
    _color(starts, ends, nodes, offsets, users, user_at, room, colors, counts)
    places = np.cumsum(counts, dtype=np.int64) - counts.ravel()
    total = int(counts.sum())
    order, pairs = np.empty(total, np.int32), np.empty(total, np.uint32)
    _order(starts, ends, nodes, offsets, users, user_at, colors, places.reshape(counts.shape), order, pairs)
    return order, pairs, counts, np.flatnonzero(colors == LEFT).astype(np.int32)
