"""Patches: host side of `patches.cu`. Grows patches over both sides of a graph, and cuts a patch's edges into
matchings. What is cheap to do by several threads of the host is done there (Numba), sorting where the GPU is."""

import numpy as np
from numba import njit, prange

from .plans import DevicePlan
from .ratings import RatingsError

CHUNK = 1 << 17  # items that one thread grows patches over; fixed, so that the result does not depend on the threads
MATCHINGS = 64  # of a patch in one level; what does not fit in waits for the next
LARGEST = 16 * MATCHINGS  # degree up to which this is worth anything
LEFT = 255


@njit(cache=True, parallel=True)
def _grow(
    offsets, users, user_offsets, items_by_user, user_chunk, chunk, region, room, nodes, user_at, item_at, filled
):
    """Breadth-first growth over the items of each chunk and the users that belong to it. The list of a chunk's nodes
    is its queue; whenever `room` nodes have come together a patch ends, and what it has reached but not taken is
    left to the following ones."""
    for c in prange(region.size - 1):
        first = c * chunk
        last = min(first + chunk, offsets.size - 1)
        fill = start = head = region[c]
        seed = first
        while True:
            if head == fill:
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
        filled[c] = fill - region[c]


@njit(cache=True)
def _belong(user_degrees, items_by_user, chunk, user_offsets, user_chunk, sizes):
    """A user belongs to the chunk of the middle one of its items (-1: it has none); counts the users of each."""
    at = 0
    for u in range(user_degrees.size):
        user_offsets[u] = at
        count = user_degrees[u]
        if count:
            user_chunk[u] = items_by_user[at + count // 2] // chunk
            sizes[user_chunk[u]] += 1
        at += count
    user_offsets[user_degrees.size] = at


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


@njit(cache=True)
def _compact(ends):
    """New numbers 0, 1, ... of the ids that occur, in their order, and the ids by new number."""
    new = np.full(ends.max() + 1, -1, np.int32)
    for v in ends:
        new[v] = 0
    old = np.empty(ends.size, np.int32)
    count = 0
    for v in range(new.size):
        if new[v] == 0:
            new[v] = count
            old[count] = v
            count += 1
    result = np.empty(ends.size, np.int32)
    for k in range(ends.size):
        result[k] = new[ends[k]]
    return result, old[:count].copy()


def grow(users, items, offsets, user_degrees, room, xp=np, chunk=CHUNK, brought=None):
    """Patches of a graph.

    Parameters
    ----------
    users, items : int32 arrays, shape (m,)
        Ends of the edges, sorted by item.
    offsets : int64 array, shape (items + 1,)
        Where each item's edges begin.
    user_degrees : int array, shape (users,)
    room : int
        Nodes that a patch can hold, users and items together.
    xp : module
        numpy or cupy: where edges are sorted by user.
    chunk : int
        Items over which patches are grown together.
    brought : (array, array), optional
        `users` and `items` where `xp` is.

    Returns
    -------
    nodes : int32 array
        Of all patches, one after another; items as ~item.
    starts, ends : int64 arrays, shape (patches,)
        Of each patch in `nodes`.
    user_at : int32 array, shape (users,)
        Where a user stands in `nodes`, -1: in no patch.
    """
    n_users, n_items = user_degrees.size, offsets.size - 1
    by_user, by_item = brought or (xp.asarray(users), xp.asarray(items))
    items_by_user = by_item[xp.argsort(by_user, kind="stable")]
    items_by_user = items_by_user if xp is np else items_by_user.get()
    chunks = -(-n_items // chunk)
    user_offsets, user_chunk = np.empty(n_users + 1, np.int64), np.full(n_users, -1, np.int32)
    sizes = np.minimum(chunk, n_items - np.arange(chunks) * chunk)
    _belong(user_degrees, items_by_user, chunk, user_offsets, user_chunk, sizes)
    region = np.concatenate([[0], np.cumsum(sizes)])
    nodes, filled = np.zeros(region[-1], np.int32), np.zeros(chunks, np.int64)
    user_at, item_at = np.full(n_users, -1, np.int32), np.full(n_items, -1, np.int32)
    _grow(offsets, users, user_offsets, items_by_user, user_chunk, chunk, region, room, nodes, user_at, item_at, filled)
    several = -(-filled // room)
    number = np.arange(several.sum()) - np.repeat(np.cumsum(several) - several, several)  # of a patch in its chunk
    starts = np.repeat(region[:-1], several) + room * number
    ends = np.minimum(starts + room, np.repeat(region[:-1] + filled, several))
    return nodes, starts, ends, user_at


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


class Patches(DevicePlan):
    """Patches of a graph of small degrees, both sides in shared memory; one kernel call a level.

    Options: `room`, nodes a patch holds; `chunk`, items over which patches are grown together; `resident`, blocks
    that share a multiprocessor.
    """

    name = "patches"
    file = "patches.cu"
    edge_bytes = 96
    options = {"room": None, "chunk": None, "resident": 3}
    storages = ("float32", "float16")

    def build(self):
        problem, executor, xp = self.problem, self.executor, self.xp
        ratings, width = problem.ratings, problem.width
        if ratings.largest_degree() > LARGEST:
            raise RatingsError(
                f"patches are for graphs without hubs: the largest degree here is {ratings.largest_degree():,}, at "
                f"most {LARGEST:,} is worth trying; take tiles"
            )
        # A block's share of shared memory (1 KB of each is the system's): a vector a node, and twice its lists, with
        # 1.2 edges a node, which is what a patch of a road has.
        share = (executor.max_shared + 1024) // int(self.given["resident"]) - 1024 - 8 * (MATCHINGS + 1)
        if executor.name == "cuda" and not self.given.get("threads"):
            self.threads = 512
        self.room = int(self.given["room"] or min(int(share / (width * 4 + 8 + 1.2 * 16)), 1 << 15))
        self.edge_room = max((share - self.room * (width * 4 + 8)) // 16, 0)
        self.shared = self.room * (width * 4 + 8) + self.edge_room * 16 + 8 * (MATCHINGS + 1)
        self.launch = self.kernel("patches", THREADS=self.threads, RESIDENT=int(self.given["resident"]))
        if self.room < 2 or not self.launch.max_blocks(self.threads, self.shared):
            most = executor.max_shared // (width * 4)
            raise ValueError(f"room={self.room}: a block's shared memory holds 2 to {most} vectors")
        users, items, values = self.bring()
        order, nodes, patch_list, pairs, steps = self.find(ratings, (users, items))
        with self.phase("order"):
            users, items, values = users[order], items[order], values[order]
            self.packed = xp.empty((max(ratings.m, 1), 2), np.int32)
            self.packed[: ratings.m, 0] = pairs.view(np.int32)
            self.packed[: ratings.m, 1] = values.view(np.int32)
        self.place(users, items, values)
        self.nodes, self.patch_list, self.steps = nodes, patch_list, steps
        self.grids = [self.grid_of(last - first) for first, last in self.levels]

    def grid_of(self, patches):
        return max(min(self.grid(self.launch, self.shared), patches), 1)

    def find(self, ratings, brought):
        """Levels until no edge is left: the edges' order, all nodes, patches, places and matchings, on the device.

        `brought` are the edges' ends there.
        """
        chunk = int(self.given["chunk"] or CHUNK)
        users, items, offsets, user_degrees = ratings.users, ratings.items, ratings.offsets, ratings.degrees()[0]
        numbers = user_ids = item_ids = None  # of the edges and nodes that are left: all of them at first
        parts = []
        self.levels, done, node_base, patch_base = [], 0, 0, 0
        while users.size:
            with self.phase("growth"):
                nodes, starts, ends, user_at = grow(
                    users, items, offsets, user_degrees, self.room, self.xp, chunk, brought
                )
            with self.phase("matchings"):
                order, pairs, counts, left = match(users, offsets, nodes, starts, ends, user_at, self.room)
            with self.phase("levels"):
                if user_ids is not None:
                    nodes = np.where(nodes < 0, ~item_ids[np.maximum(~nodes, 0)], user_ids[np.maximum(nodes, 0)])
                inside = counts.sum(axis=1)
                begin = done + np.cumsum(inside) - inside
                patch_list = np.stack([node_base + starts, ends - starts, begin, inside], axis=1).astype(np.int32)
                steps = np.zeros((starts.size, MATCHINGS + 1), np.int32)
                np.cumsum(counts, axis=1, out=steps[:, 1:])
                new = order if numbers is None else numbers[order], nodes, patch_list, pairs, steps
                parts.append([self.executor.array(a) for a in new])
                self.levels.append((patch_base, patch_base + starts.size))
                done, node_base, patch_base = done + order.size, node_base + nodes.size, patch_base + starts.size
                numbers = left if numbers is None else numbers[left]
                users = left
                if left.size:
                    # What is left, with new numbers for the nodes that it touches.
                    users, user_ids = _compact(ratings.users[numbers])
                    items, item_ids = _compact(ratings.items[numbers])
                    offsets = np.concatenate([[0], np.cumsum(np.bincount(items, minlength=item_ids.size))])
                    user_degrees = np.bincount(users, minlength=user_ids.size)
                    brought = None
        self.stats.update(levels=len(self.levels), patches=patch_base, room=self.room)
        if not parts:
            empty = (0,), (1,), (1, 4), (0,), (1, 1)
            return [self.executor.zeros(shape, np.int32) for shape in empty]
        self.stats["edges_after_first_level"] = ratings.m - parts[0][0].size
        with self.phase("levels"):
            order, nodes, patch_list, pairs, steps = (self.xp.concatenate(part) for part in zip(*parts, strict=True))
            most = int((steps < steps[:, -1:]).sum(axis=1).max())  # matchings that any patch needs
            steps = self.xp.ascontiguousarray(steps[:, : most + 1])
        self.stats["matchings"] = most
        return order, nodes, patch_list, pairs, steps

    def sweep(self):
        self.begin()
        for (first, last), blocks in zip(self.levels, self.grids, strict=True):
            self.launch(
                blocks,
                self.threads,
                (
                    np.int32(first),
                    np.int32(last),
                    self.patch_list,
                    self.nodes,
                    self.steps,
                    np.int32(self.steps.shape[1] - 1),
                    self.packed,
                    np.int32(self.room),
                    np.int32(self.edge_room),
                    *self.state,
                    *self.history,
                    self.applied,
                ),
                shared=self.shared,
            )
