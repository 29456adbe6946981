"""Patches: host side of `patches.cu`. Levels of patches that share no node, in one sequence; the vectors in their
order."""

import functools
from dataclasses import dataclass

import numpy as np

from . import growth
from .growth import MATCHINGS
from .shared import DeviceOptions, DevicePlan

LARGEST = 16 * MATCHINGS  # largest degree for which patches are used
LEAST = 32  # nodes of a patch of the later levels, at least


@dataclass(frozen=True)
class PatchOptions(DeviceOptions):
    """Options of `patches`.

    Attributes
    ----------
    room : int, optional
        Nodes a patch holds.
    chunk : int, optional
        Items over which patches are grown together.
    resident : int
        Blocks that share a multiprocessor.
    """

    room: int | None = None
    chunk: int | None = None
    resident: int = 2


class Patches(DevicePlan):
    """Patches of a graph of small degrees, both sides in shared memory; one kernel call a sweep.

    Vectors of users and items lie in one array, those of a patch of the first level side by side. `reset` puts them
    there, `vectors` takes them from there.
    """

    Options = PatchOptions
    file = "patches.cu"
    edge_bytes = 96
    storages = ("float32", "float16")
    bound = None  # the launch by rate and decay, once the arrays are there

    @classmethod
    def skip(cls, problem, executor, options):
        known, largest = super().skip(problem, executor, options), problem.ratings.largest_degree()
        if known is None and largest > LARGEST:
            return (
                f"patches are for graphs without hubs: the largest degree here is {largest:,}, at most {LARGEST:,} is "
                "worth trying; take tiles"
            )
        return known

    def load(self):
        problem, executor, xp = self.problem, self.executor, self.xp
        ratings, width = problem.ratings, problem.width
        resident, chunk = self.options.resident, self.options.chunk or growth.CHUNK
        # A block's share of shared memory (1 KB per block is reserved): a vector per node, and double-buffered lists
        # with 1.25 edges per node, slightly more than in patches of roads.
        share = (executor.max_shared + 1024) // resident - 1024 - 8 * (MATCHINGS + 1) - 4
        if executor.name == "cuda" and not self.options.threads:
            self.threads = 512
        self.room = self.options.room or min(int(share / (width * 4 + 1.25 * 16)), 1 << 15)
        self.list_room = max((share - self.room * width * 4) // 16, -(-self.room // 2))
        self.shared = self.room * width * 4 + self.list_room * 16 + 8 * (MATCHINGS + 1) + 4
        launch = self.kernel("patches", THREADS=self.threads, RESIDENT=resident)
        if self.room < 2 or not launch.max_blocks(self.threads, self.shared):
            most = executor.max_shared // (width * 4 + 8)
            raise ValueError(f"room={self.room}: a block's shared memory holds 2 to {most} vectors")
        self.blocks = self.grid(launch, self.shared)
        users, items, values = self.bring()
        order, lists, patch_list, after, pairs, steps = self.find(ratings, users, items, chunk)
        with self.phase("order"):
            users, items, values = self.user_rows[users[order]], self.item_rows[items[order]], values[order]
            packed = xp.empty((max(ratings.m, 1), 2), np.int32)
            packed[: ratings.m, 0] = pairs.view(np.int32)
            packed[: ratings.m, 1] = values.view(np.int32)
        self.place(users, items, values)
        with self.phase("transfer"):
            self.user_vectors = self.item_vectors = self.first_device = None
            rows = ratings.n_users + ratings.n_items
            self.user_vectors = self.item_vectors = executor.empty((rows, width), np.dtype(problem.storage))
            if self.log:
                self.history[:2] = (executor.zeros(rows, np.int32) for _ in range(2))
            at = executor.array(np.full(self.blocks, 2**31 - 1, np.int32))  # no block has drawn a number
            common = executor.zeros(3, np.uint64)
        user_clock, item_clock, user_rank, item_rank = self.history
        # Not `self`: avoids a reference cycle.
        self.bound = functools.cache(
            functools.partial(
                launch.bind, self.blocks, self.threads, shared=self.shared,
                patches_in_all=np.int32(self.stats["patches"]), patch_list=patch_list, after=after, at=at, all=common,
                list_rows=lists, steps=steps, matchings=np.int32(steps.shape[1] - 1), edges=packed,
                room=np.int32(self.room), list_room=np.int32(self.list_room), all_vectors=self.user_vectors,
                user_clock=user_clock, item_clock=item_clock, user_rank=user_rank, item_rank=item_rank,
                applied=self.applied,
            )  # fmt: skip
        )
        self.set_step(self.rate, self.decay)

    def set_step(self, rate, decay):
        super().set_step(rate, decay)
        if self.bound is not None:
            self.launch = self.bound(rate=self.rate, decay=self.decay)

    def find(self, ratings, users, items, chunk):
        """Levels until no edge is left: each removes at least one (see `growth`).

        Parameters
        ----------
        ratings : Ratings
        users, items : arrays
            Ends of its edges on the device.
        chunk : int
            Items over which patches are grown together.

        Returns
        -------
        order : of the edges
        lists : rows of the nodes of patches of the later levels
        patch_list, after, steps : a row a patch, in sequence; see `patches.cu`
        pairs : places in its patch of each edge's ends, in their order
            All on the device. Beside them come `user_rows` and `item_rows`, where each node's vector lies.
        """
        executor, xp = self.executor, self.xp
        self.user_rows = xp.arange(ratings.n_users, dtype=np.int32)
        self.item_rows = xp.arange(ratings.n_items, dtype=np.int32) + np.int32(ratings.n_users)
        here, offsets, degrees = ratings.users, ratings.offsets, ratings.degrees()[0]  # `users`, on the host
        edges = user_ids = item_ids = None  # numbers of the edges and nodes that are left: all of them at first
        parts, sizes, done, listed = [], [], 0, 0
        while here.size:
            room = self.room
            if parts:  # so small that all blocks have one of them
                room = min(room, max(-(-(degrees.size + offsets.size - 1) // self.blocks), LEAST))
            with self.phase("growth"):
                nodes, starts, ends, user_at, item_at = growth.grow(
                    here, offsets, degrees, room, (users, items), xp, chunk
                )
            with self.phase("matchings"):
                order, pairs, counts, left = growth.match(here, offsets, nodes, starts, ends, user_at, room)
            with self.phase("levels"):
                inside = counts.sum(axis=1)
                begin = done + np.cumsum(inside) - inside
                rows = ~(listed + starts) if parts else starts
                patch_list = np.stack([rows, ends - starts, begin, inside], axis=1).astype(np.int32)
                steps = np.zeros((starts.size, MATCHINGS + 1), np.int32)
                np.cumsum(counts, axis=1, out=steps[:, 1:])
                order, pairs, patch_list, steps, left = (
                    executor.array(a) for a in (order, pairs, patch_list, steps, left)
                )
                if parts:
                    lists = self.rows_of(executor.array(nodes), user_ids, item_ids)
                    after = self.after(lists, starts, ends, sum(sizes))
                else:
                    self.lay_out(user_at, item_at)
                    lists, after = xp.zeros(0, np.int32), self.after(None, starts, ends, 0)
                parts.append((order if edges is None else edges[order], lists, patch_list, after, pairs, steps))
                sizes.append(starts.size)
                done, listed = done + order.size, listed + lists.size
                edges = left if edges is None else edges[left]
                # What is left, with new numbers for the nodes that it touches.
                users, user_ids = self.compact(users[left], user_ids, degrees.size)
                items, item_ids = self.compact(items[left], item_ids, offsets.size - 1)
                here, there = executor.get(users), executor.get(items)
                offsets = np.concatenate([[0], np.cumsum(np.bincount(there, minlength=item_ids.size))])
                degrees = np.bincount(here, minlength=user_ids.size)
        self.stats.update(levels=len(sizes), patches=sum(sizes), room=self.room)
        if not parts:
            return [executor.zeros(shape, np.int32) for shape in ((0,), (1,), (1, 4), (1,), (0,), (1, 1))]
        with self.phase("levels"):
            order, lists, patch_list, after, pairs, steps = (
                xp.concatenate(part) if len(part) > 1 else part[0] for part in zip(*parts, strict=True)
            )
            most = int((steps < steps[:, -1:]).sum(axis=1).max())  # matchings that any patch needs
            steps = xp.ascontiguousarray(steps[:, : most + 1])
            del self.last
        self.blocks = min(self.blocks, sum(sizes))
        self.stats.update(matchings=most, edges_after_first_level=ratings.m - parts[0][0].size)
        return order, lists, patch_list, after, pairs, steps

    def compact(self, ends, ids, count):
        """New numbers 0, 1, ... of those of `count` nodes that occur, in their order, and the ids by new number."""
        there = self.xp.zeros(count, bool)
        there[ends] = True
        new = self.xp.cumsum(there, dtype=np.int32) - np.int32(1)
        old = self.xp.flatnonzero(there)
        return new[ends], old if ids is None else ids[old]

    def lay_out(self, user_at, item_at):
        """Rows of the vectors: as in the patches of the first level, and nodes that are in none where there is room
        between them."""
        rows = self.xp.concatenate([self.executor.array(a) for a in (user_at, item_at)])
        there = self.xp.zeros(rows.size, bool)
        there[rows[rows >= 0]] = True
        rows[rows < 0] = self.xp.flatnonzero(~there)
        self.user_rows, self.item_rows = rows[: user_at.size], rows[user_at.size :]

    def rows_of(self, nodes, user_ids, item_ids):
        """Rows of the nodes of a later level; the ids are those of its users and items."""
        users, items = self.user_rows[user_ids], self.item_rows[item_ids]
        return self.xp.where(nodes < 0, items[self.xp.maximum(~nodes, 0)], users[self.xp.maximum(nodes, 0)])

    def after(self, lists, starts, ends, first):
        """How many patches have to be done before each of a level, whose numbers begin with `first`: all up to the last
        one that it shares a node with."""
        executor, xp = self.executor, self.xp
        starts, ends = executor.array(starts), executor.array(ends)
        if lists is None:
            rows = xp.arange(self.user_rows.size + self.item_rows.size)
            self.last = xp.maximum(xp.searchsorted(starts, rows, side="right") - 1, 0).astype(np.int32)
            return xp.zeros(starts.size, np.int32)
        places = xp.minimum(starts[:, None] + xp.arange(int((ends - starts).max())), ends[:, None] - 1)
        mine = lists[places]
        found = self.last[mine].max(axis=1) + np.int32(1)
        self.last[mine] = xp.arange(first, first + starts.size, dtype=np.int32)[:, None]
        return found

    def start_from(self, users, items):
        self.user_vectors[self.user_rows], self.user_vectors[self.item_rows] = users, items

    def reset(self):
        self.start_from(*self.problem.on(self.executor)[0])

    def run(self):
        for array in self.history if self.log else ():
            array.fill(0)
        self.launch()
        return self

    def present(self):
        return self.user_vectors[self.user_rows], self.user_vectors[self.item_rows]

    def edges(self):
        ids = np.empty(self.user_vectors.shape[0], np.int32)
        for rows in (self.user_rows, self.item_rows):
            ids[self.executor.get(rows)] = np.arange(rows.size)
        users, items, values = super().edges()
        return ids[users], ids[items], values

    def scorer(self, ratings):
        users, items, values = (self.executor.array(a) for a in (ratings.users, ratings.items, ratings.values))
        users, items = self.user_rows[users], self.item_rows[items]
        return lambda: self._error(users, items, values)
