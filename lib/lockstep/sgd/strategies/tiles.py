"""Tiles: host side of `tiles.cu`. Which block and group owns an item, which range a user is in, edges in that
order."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from lockstep.options import Natural

from .resident import WIDEST, Resident, segment_offsets, sort_keys
from .shared import DeviceOptions, whole

LOCKS = 1 << 17  # bits of shared memory, 16 KB; users of a range that share one exclude each other
HOST_LOCKS = 1 << 10  # so that a launch on the emulator does not spend its time clearing them


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


def balance(weights, bins):
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


@dataclass(frozen=True)
class TileOptions(DeviceOptions):
    """Options of `tiles`; what is not given is chosen by `shape` or `build_resident`.

    Attributes
    ----------
    users : 'resident' or 'fetched', optional
        Bring whole ranges of users into shared memory (resident.cu), or each user for its edge; by default the faster
        one by estimate.
    stride : int, optional
        Ranges between two blocks' first ones.
    stages, each : int, optional
        Of fetched users: batches in flight, and edges a lane in a batch.
    order : 'degree' or 'ids', optional
        Of fetched users: assign items to blocks by falling degree, or give each block neighbouring ones (graphs whose
        ids are spatial).
    alone : int, optional
        Of resident users: the degree from which an item has a block for itself (0: never), by default by estimate.
    batch : int, optional
        Of resident users: edges that a group locks at once.
    """

    users: str | None = None
    stride: int | None = None
    stages: int | None = None
    each: int | None = None
    order: str | None = None
    alone: Natural | None = None
    batch: int | None = None

    def __post_init__(self):
        whole(self, zero="alone")
        for name, known in (("users", ("resident", "fetched")), ("order", ("degree", "ids"))):
            if getattr(self, name) not in (None, *known):
                raise ValueError(f"{name}={getattr(self, name)!r}: choose {' or '.join(known)}")


class Tiles(Resident):
    """Items stay in a multiprocessor for a sweep, ranges of users go round; locks in shared memory inside a
    tile.
    """

    Options = TileOptions
    file = "tiles.cu"
    edge_bytes = 72
    storages = ("float32", "float16")

    def shape(self, degrees):
        """Batches, threads and order of the items, by the largest item and by whether a block's items fit in
        it.

        With hubs in a table that fits, the largest item's chain is all that counts: few threads, large
        batches (what a batch costs is shared by its edges). With many small items the latency of their
        vectors counts: many threads, and short batches, since a user's lock is held for as long as a batch is
        under way.
        """
        given, width = self.options, self.problem.width
        by_ids = self.spatial(degrees)
        if given.order is not None:
            by_ids = given.order == "ids"
        few = degrees.size / self.executor.multiprocessors * width * 4 < 48 * 1024
        each = given.each or (max(1, 16 // self.lanes) if few and not by_ids else 1)
        stages = given.stages or (3 if by_ids else 2)
        stride = given.stride or (1 if by_ids else 2)
        threads = self.threads
        if self.executor.name == "cuda" and not given.threads:
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

    def load(self):
        lanes, threads = self.lanes, self.threads
        fits = self.problem.width <= WIDEST or self.options.users == "resident"
        self.resident = fits and self.options.users != "fetched" and self.build_resident(balance, cut)
        if not self.resident:
            self.lanes, self.threads = lanes, threads
            self.build_fetched()

    def build_fetched(self):
        problem, executor, given = self.problem, self.executor, self.options
        item_degrees = problem.ratings.degrees()[1]
        self.locks = HOST_LOCKS if executor.name == "host" else LOCKS
        by_ids, each, stages, stride, self.threads = self.shape(item_degrees)
        groups = self.threads // self.lanes
        fixed = self._bytes(self.threads, stages, each)
        self.launch = self.kernel("tiles", THREADS=self.threads, STAGES=stages, EACH=each)
        blocks = given.blocks or executor.multiprocessors
        self.blocks = max(1, min(blocks, self.launch.max_blocks(self.threads, fixed)))
        self.stride, self.rounds = stride, self.blocks * stride
        with self.phase("schedule"):
            block, slot, table, sizes = self.own(item_degrees, groups, by_ids)
            table_offsets = np.concatenate([[0], np.cumsum(sizes)])
            place = np.empty(item_degrees.size, np.int32)
            place[table] = np.arange(item_degrees.size) - np.repeat(table_offsets[:-1], sizes)
            fits = int(sizes.max(initial=0)) * problem.width * 4
            self.fits = fixed + fits <= executor.max_shared
            self.shared = -(-(fixed + (fits if self.fits else 0)) // 16) * 16
        users, items, values = self.bring()
        with self.phase("order"):
            edges = self.order_fetched(users, items, values, groups, block.astype(np.int64), slot, place)
        self.place(*edges)
        with self.phase("transfer"):
            self.table = executor.array(table.astype(np.int32))
            self.table_offsets = executor.array(table_offsets.astype(np.int32))
            self.blocks_done = executor.zeros(self.rounds, np.uint32)
        self.stats.update(blocks=self.blocks, rounds=self.rounds, groups=groups, stages=stages, each=each,
                          table_in_shared=bool(self.fits), users="fetched",
                          items_by="ids" if by_ids else "degree")  # fmt: skip

    def own(self, item_degrees, groups, by_ids):
        """(block and group that own each item, items by block, how many a block has)."""
        if by_ids:
            block, slot = np.divmod(cut(item_degrees, self.blocks * groups), groups)
        else:
            block, slot = balance(item_degrees, self.blocks), np.empty(item_degrees.size, np.int32)
        table, sizes = np.argsort(block, kind="stable"), np.bincount(block, minlength=self.blocks)
        if not by_ids:
            for mine in np.split(table, np.cumsum(sizes)[:-1]):
                slot[mine] = balance(item_degrees[mine], groups)
        return block, slot.astype(np.int64), table, sizes

    def order_fetched(self, users, items, values, groups, *where):
        """The edges by block, round and group; `packed` as the kernel reads them, and `turns`."""
        executor, xp, ratings = self.executor, self.xp, self.problem.ratings
        user_range = executor.array(cut(ratings.degrees()[0], self.rounds))
        block, slot, place = (executor.array(a) for a in where)
        edge_round = (user_range[users] - block[items] * self.stride) % self.rounds
        segment = (block[items] * self.rounds + edge_round) * groups + slot[items]
        del edge_round
        segments = self.blocks * self.rounds * groups
        order = xp.argsort(sort_keys(segment, segments, place[items], users, xp), kind="stable")
        self.offsets = segment_offsets(segment, segments, xp)
        del segment
        users, items, values = users[order], items[order], values[order]
        del order
        self.packed = xp.empty((max(ratings.m, 1), 4), np.int32)
        for column, words in enumerate((users, values.view(np.int32), items, place[items])):
            self.packed[: ratings.m, column] = words
        # Which tiles hold edges: the others are skipped, and a range is passed on by those that are not.
        full = (self.offsets[groups::groups] > self.offsets[:-1:groups]).reshape(self.blocks, self.rounds)
        self.turns = self.waits(full, self.stride)
        return users, items, values

    def waits(self, full, stride):
        """For each block and round: how many blocks must be done with the round's range before, -1 if there
        is nothing to do in that tile. Shape (blocks, rounds), int32, on the device."""
        executor, blocks = self.executor, self.blocks
        full = executor.get(full)
        b, r = np.divmod(np.arange(full.size), self.rounds)
        rank = np.full(full.size, -1, np.int64)
        ranges = (b * stride + r) % self.rounds
        used = np.flatnonzero(full.ravel())
        order = used[np.lexsort((r[used], ranges[used]))]
        first = np.concatenate([[True], ranges[order][1:] != ranges[order][:-1]]) if order.size else np.zeros(0, bool)
        begin = np.maximum.accumulate(np.where(first, np.arange(order.size), 0))
        rank[order] = np.arange(order.size) - begin
        return executor.array(rank.reshape(blocks, self.rounds).astype(np.int32))

    def run(self):
        self.begin()
        self.blocks_done.fill(0)
        if self.resident:
            return self.run_resident()
        self.launch(
            self.blocks, self.threads, shared=self.shared, cooperative=True, offsets=self.offsets, waits=self.turns,
            rounds=np.int32(self.rounds), stride=np.int32(self.stride), locks=np.int32(self.locks), edges=self.packed,
            table=self.table, table_offsets=self.table_offsets, table_fits=np.int32(self.fits),
            blocks_done=self.blocks_done, **self.state, **self.record,
        )  # fmt: skip
        return self
