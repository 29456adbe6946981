"""Tiles: host side of `tiles.cu`. Which block and group owns an item, which range a user is in, edges in that
order."""

import numpy as np
from numba import njit

from .resident import WIDEST, Resident, sort_keys

LOCKS = 1 << 17  # bits of shared memory, 16 KB; users of a range that share one exclude each other
HOST_LOCKS = 1 << 10  # so that a launch on the host executor does not spend its time clearing them


@njit(cache=True)
def _deal(weights, order, bins, chosen):
    """Longest first to the bin with the least: a heap of (load, bin) in two arrays."""
    load = np.zeros(bins, np.int64)
    which = np.arange(bins)
    for k in order:
        load[0] += weights[k]
        chosen[k] = which[0]
        here = 0
        while True:
            least = here
            for child in (2 * here + 1, 2 * here + 2):
                if child < bins and load[child] < load[least]:
                    least = child
            if least == here:
                break
            load[here], load[least] = load[least], load[here]
            which[here], which[least] = which[least], which[here]
            here = least


def deal(weights, bins):
    """Bin of each item, largest weights first, each to the bin that has least so far; int32."""
    chosen = np.zeros(weights.size, np.int32)
    _deal(weights.astype(np.int64), np.argsort(-weights, kind="stable"), bins, chosen)
    return chosen


@njit(cache=True)
def _cut(weights, bins, chosen):
    """The middle of each node in the running sum of all weights says in which of as many equal pieces it is."""
    total = 0.0
    for weight in weights:
        total += weight
    end = 0.0
    for k in range(weights.size):
        end += weights[k]
        chosen[k] = min(int((end - weights[k] / 2) * bins / max(total, 1)), bins - 1)


def cut(weights, bins):
    """Bin of each node, in order of the ids, with about the same weight in each; int32, not falling."""
    chosen = np.empty(weights.size, np.int32)
    _cut(weights, bins, chosen)
    return chosen


class Tiles(Resident):
    """Items stay in a multiprocessor for a sweep, ranges of users go round; locks in shared memory inside a
    tile.

    Options: `users`: "resident" brings whole ranges of users into shared memory (resident.cu), "fetched" each user for
    its edge; by default the faster one by estimate. `stride` ranges between two blocks' first ones. What is not given
    is chosen by `shape` or `build_resident`.
    Of fetched users: `stages` batches in flight, `each` edges a lane in a batch, `order`: "degree" deals items out by
    falling degree, "ids" gives each block neighbouring items (graphs whose ids are spatial).
    Of resident users: `alone`, the degree from which an item has a block for itself (0: never), by default by
    estimate; `batch` edges that a group locks at once.
    """

    name = "tiles"
    file = "tiles.cu"
    edge_bytes = 72
    options = {"stages": None, "each": None, "stride": None, "order": None, "users": None, "alone": None, "batch": None}
    storages = ("float32", "float16")

    def shape(self, degrees):
        """Batches, threads and order of the items, by the largest item and by whether a block's items fit in
        it.

        With hubs in a table that fits, the largest item's chain is all that counts: few threads, large
        batches (what a batch costs is shared by its edges). With many small items the latency of their
        vectors counts: many threads, and short batches, since a user's lock is held for as long as a batch is
        under way.
        """
        given, width = self.given, self.problem.width
        by_ids = self.spatial(degrees)
        if given["order"] is not None:
            by_ids = given["order"] == "ids"
        few = degrees.size / self.executor.multiprocessors * width * 4 < 48 * 1024
        each = int(given["each"] or (max(1, 16 // self.lanes) if few and not by_ids else 1))
        stages = int(given["stages"] or (3 if by_ids else 2))
        stride = int(given["stride"] or (1 if by_ids else 2))
        threads = self.threads
        if self.executor.name == "cuda" and not given.get("threads"):
            threads = 256 if few and not by_ids else 512
        while self._bytes(threads, stages, each) > self.executor.max_shared and (threads > 32 or each > 1):
            threads, each = (threads // 2, each) if threads > 32 else (threads, each // 2)
        return by_ids, each, stages, stride, threads

    def spatial(self, degrees):
        """Whether items are so small that each block may take neighbouring ones, without a look at their degrees."""
        return degrees.max(initial=0) < degrees.sum() / (self.executor.multiprocessors * 256)

    def _bytes(self, threads, stages, each):
        """Shared memory of a block without its items: locks, and a vector and an edge for each slot."""
        return self.locks // 8 + threads * stages * each * (self.problem.width * 4 + 16)

    def build(self):
        if self.given["users"] not in (None, "resident", "fetched"):
            raise ValueError(f"users={self.given['users']!r}: choose resident, fetched or None")
        lanes, threads = self.lanes, self.threads
        fits = self.problem.width <= WIDEST or self.given["users"] == "resident"
        self.resident = fits and self.given["users"] != "fetched" and self.build_resident(deal, cut)
        if not self.resident:
            self.lanes, self.threads = lanes, threads
            self.build_fetched()

    def build_fetched(self):
        problem, executor, xp, given = self.problem, self.executor, self.xp, self.given
        ratings, width = problem.ratings, problem.width
        user_degrees, item_degrees = ratings.degrees()
        self.locks = HOST_LOCKS if executor.name == "host" else LOCKS
        by_ids, each, stages, stride, self.threads = self.shape(item_degrees)
        self.stride = stride
        groups = self.threads // self.lanes
        fixed = self._bytes(self.threads, stages, each)
        self.launch = self.kernel("tiles", THREADS=self.threads, STAGES=stages, EACH=each)
        blocks = int(given.get("blocks") or executor.multiprocessors)
        self.blocks = max(1, min(blocks, self.launch.max_blocks(self.threads, fixed)))
        rounds = self.rounds = self.blocks * stride
        with self.phase("schedule"):
            if by_ids:
                block, slot = np.divmod(cut(item_degrees, self.blocks * groups), groups)
            else:
                block = deal(item_degrees, self.blocks)
            table = np.argsort(block, kind="stable")
            sizes = np.bincount(block, minlength=self.blocks)
            table_starts = np.concatenate([[0], np.cumsum(sizes)])
            if not by_ids:
                slot = np.empty(ratings.n_items, np.int32)
                for mine in np.split(table, table_starts[1:-1]):
                    slot[mine] = deal(item_degrees[mine], groups)
            place = np.empty(ratings.n_items, np.int32)
            place[table] = np.arange(ratings.n_items) - np.repeat(table_starts[:-1], sizes)
            fits = int(sizes.max(initial=0)) * width * 4
            self.fits = fixed + fits <= executor.max_shared
            self.shared = fixed + (fits if self.fits else 0)
            self.shared = -(-self.shared // 16) * 16
        users, items, values = self.bring()
        with self.phase("order"):
            block, slot, place, user_range = (
                executor.array(a)
                for a in (block.astype(np.int64), slot.astype(np.int64), place, cut(user_degrees, rounds))
            )
            turn = (user_range[users] - block[items] * stride) % rounds
            segment = (block[items] * rounds + turn) * groups + slot[items]
            del turn
            segments = self.blocks * rounds * groups
            order = xp.argsort(sort_keys(segment, segments, place[items], users, xp), kind="stable")
            starts = xp.zeros(segments + 1, np.int32)
            starts[1:] = xp.cumsum(xp.bincount(segment, minlength=segments))
            del segment
            self.starts = starts
            users, items, values = users[order], items[order], values[order]
            del order
            self.packed = xp.empty((max(ratings.m, 1), 4), np.int32)
            self.packed[: ratings.m, 0] = users
            self.packed[: ratings.m, 1] = values.view(np.int32)
            self.packed[: ratings.m, 2] = items
            self.packed[: ratings.m, 3] = place[items]
            # Which tiles hold edges: the others are skipped, and a range is passed on by those that are not.
            full = (self.starts[groups::groups] > self.starts[:-1:groups]).reshape(self.blocks, rounds)
            self.turns = self.waits(full, stride)
        self.place(users, items, values)
        with self.phase("transfer"):
            self.table = executor.array(table.astype(np.int32))
            self.table_starts = executor.array(table_starts.astype(np.int32))
            self.turn = executor.zeros(rounds, np.uint32)
        self.stats.update(
            blocks=self.blocks,
            rounds=rounds,
            groups=groups,
            stages=stages,
            each=each,
            table_in_shared=bool(self.fits),
            users="fetched",
            items_by="ids" if by_ids else "degree",
        )

    def waits(self, full, stride):
        """For each block and round: how many blocks must be done with the round's range before, -1 if there
        is nothing to do in that tile. Shape (blocks, rounds), int32, on the device."""
        executor, blocks = self.executor, self.blocks
        full = executor.get(full)
        b, r = np.divmod(np.arange(full.size), self.rounds)
        turn = np.full(full.size, -1, np.int64)
        ranges = (b * stride + r) % self.rounds
        used = np.flatnonzero(full.ravel())
        order = used[np.lexsort((r[used], ranges[used]))]
        first = np.concatenate([[True], ranges[order][1:] != ranges[order][:-1]]) if order.size else np.zeros(0, bool)
        begin = np.maximum.accumulate(np.where(first, np.arange(order.size), 0))
        turn[order] = np.arange(order.size) - begin
        return executor.array(turn.reshape(blocks, self.rounds).astype(np.int32))

    def sweep(self):
        self.begin()
        self.turn.fill(0)
        if self.resident:
            self.sweep_resident()
            return
        self.launch(
            self.blocks,
            self.threads,
            (
                self.starts,
                self.turns,
                np.int32(self.rounds),
                np.int32(self.stride),
                np.int32(self.locks),
                self.packed,
                self.table,
                self.table_starts,
                np.int32(self.fits),
                self.turn,
                *self.state,
                *self.history,
                self.applied,
            ),
            shared=self.shared,
            cooperative=True,
        )
