"""Offline schedules: host side of `offline.cu`."""

import time
from dataclasses import dataclass

import numpy as np

from . import first_fit, matchings
from .shared import DeviceOptions, DevicePlan


@dataclass(frozen=True)
class DiagonalOptions(DeviceOptions):
    """Options of `diagonal`.

    Attributes
    ----------
    limit : int, optional
        Apply only this many supersteps around the middle.
    """

    limit: int | None = None


@dataclass(frozen=True)
class BlockDiagonalOptions(DeviceOptions):
    """Options of `block-diagonal`.

    Attributes
    ----------
    rows, columns : int
        Items and users of a block.
    """

    rows: int = 16
    columns: int = 16


@dataclass(frozen=True)
class BlockOptions(DeviceOptions):
    """Options of schedules of items to groups.

    Attributes
    ----------
    block : int, optional
        Items per launch or per sequence of passes; by default one per group, or all.
    """

    block: int | None = None


class Offline(DevicePlan):
    """What offline schedules share: the kernels' file, and first-fit where it is fastest."""

    file = "offline.cu"

    def figures(self, swept):
        """The base figures, and barrier arrivals of blocks per edge."""
        arrivals = self.blocks * self.stats["supersteps"] / max(self.problem.ratings.m, 1)
        on_gpu = {"barrier_arrivals_an_edge": (arrivals, "1")} if self.executor.name == "cuda" else {}
        return super().figures(swept) | on_gpu

    def on_device(self):
        """Whether matchings are found on the device: on GPUs, if bit sets fit shared memory."""
        return self.executor.name == "cuda" and first_fit.fits(self.executor, self.problem.ratings)

    def compiled(self):
        """Compile what `first_fit` needs: that is no part of the preprocessing."""
        if self.on_device():
            self.executor.load(first_fit.FILE)

    def first_fit(self, edges, block=None):
        """(items in the order in which they were taken, matching of each edge, number of matchings).

        Matchings of the whole graph are found once a problem; each strategy that uses them is charged their time.

        Parameters
        ----------
        edges : (users, items, values)
            The ratings on the device.
        block : int, optional
            Start afresh after so many items, which are then taken by falling degree.
        """
        ratings, executor = self.problem.ratings, self.executor
        known, key = self.problem._cache, ("first fit", id(executor))
        if block is None and key in known:
            found, seconds = known[key]
            self.preparation["schedule"] = self.preparation.get("schedule", 0.0) + seconds
            return found
        begin = time.perf_counter()
        if self.on_device():
            found = first_fit.first_fit(executor, ratings, executor.array(ratings.offsets), *edges[:2], block)
        else:
            nodes = np.arange(ratings.n_items)
            if block is not None:
                nodes = np.argsort(-np.diff(ratings.offsets), kind="stable")
            times, count = matchings.first_fit(ratings, nodes, block)
            found = self.xp.asarray(nodes), self.xp.asarray(times), count
        if block is None:
            executor.synchronize()
            known[key] = found, time.perf_counter() - begin
        return found


class Matchings(Offline):
    """Supersteps over all groups of the machine; subclasses find the schedule."""

    limit = None

    def load(self):
        ratings = self.problem.ratings
        users, items, values = self.bring()
        self.compiled()
        with self.phase("schedule"):
            self.schedule = self.find(ratings, (users, items, values))
        with self.phase("order"):
            order = self.schedule.order
            self.place(users[order], items[order], values[order])
        executor = self.executor
        with self.phase("transfer"):
            self.steps = executor.array(self.schedule.steps)
            self.units = None if self.schedule.units is None else executor.array(self.schedule.units)
            self.barrier = executor.zeros(2, np.uint32)
        self.launch = self.kernel("matchings")
        widest = int(np.diff(self.schedule.steps).max(initial=1))
        self.blocks = self.grid(self.launch, work=widest)
        self.stats.update(supersteps=self.schedule.supersteps, widest=widest)

    def find(self, ratings, edges):
        raise NotImplementedError

    @property
    def span(self):
        """First and last superstep of a sweep: all, unless `limit` asks for that many around the middle."""
        steps, limit = self.schedule.supersteps, self.limit
        if not limit or limit >= steps:
            return 0, steps
        return (steps - limit) // 2, (steps - limit) // 2 + limit

    def figures(self, swept):
        """Base figures, and the share of supersteps applied."""
        known = super().figures(swept)
        if self.problem.ratings.m:
            first, last = self.span
            known["measured_share"] = ((last - first) / max(self.schedule.supersteps, 1), "1")
        return known

    def swept(self):
        first, last = self.span
        places = (
            self.schedule.steps if self.schedule.units is None else self.executor.get(self.units)[self.schedule.steps]
        )
        return int(places[first]), int(places[last])

    def run(self):
        self.begin()
        first, last = self.span
        self.launch(
            self.blocks, self.threads, cooperative=True, steps=self.steps, first=np.int32(first), last=np.int32(last),
            units=self.units, users=self.users, items=self.items, values=self.values, barrier=self.barrier,
            **self.state, **self.record,
        )  # fmt: skip
        return self


class AllGraphEdge(Matchings):
    """AGM-E: maximal matchings of the whole graph, their edges distributed over threads."""

    def find(self, ratings, edges):
        _, times, count = self.first_fit(edges)
        return matchings.by_time(times, count, self.xp)


class Diagonal(Matchings):
    """Diagonals of the matrix; threads share an edge, four features each (one each in the study).

    With `limit` a run is that many supersteps around the middle.
    """

    Options = DiagonalOptions

    def load(self):
        self.limit = self.options.limit
        super().load()

    def find(self, ratings, edges):
        users, items, _ = edges
        if ratings.has_duplicates():  # ratings of one cell lie on one diagonal and must follow one another
            return matchings.block_diagonals(users, items, ratings.n_items, 1, 1, self.xp)
        return matchings.diagonals(users, items, ratings.n_items, self.xp)


class BlockDiagonal(Matchings):
    """Diagonals of blocks of `rows` items by `columns` users, a block to a worker."""

    Options = BlockDiagonalOptions

    def find(self, ratings, edges):
        users, items, _ = edges
        return matchings.block_diagonals(
            users, items, ratings.n_items, self.options.rows, self.options.columns, self.xp
        )


class NodeBlocks(Offline):
    """AGM-N and SGM: an item to a group, its vector in shared memory, a kernel call for each block of
    items."""

    Options = BlockOptions

    def load(self):
        problem, executor, xp = self.problem, self.executor, self.xp
        ratings = problem.ratings
        self.launch = self.kernel("node_blocks")
        self.shared = self.threads // self.lanes * problem.width * 4
        self.blocks = self.grid(self.launch, self.shared, ratings.n_items)
        self.block = min(self.options.block or 2**31, self.blocks * (self.threads // self.lanes))
        users, items, values = self.bring()
        self.compiled()
        with self.phase("schedule"):
            nodes, times, count = self.find(ratings, (users, items, values))
        with self.phase("order"):
            # Edges in the order of their items' places; an item's edges in the order of their matchings.
            place = xp.empty(ratings.n_items, np.int64)
            place[nodes] = xp.arange(ratings.n_items)
            order = xp.argsort(place[items] * max(count, 1) + times, kind="stable")
            del place
            degrees = xp.asarray(np.diff(ratings.offsets))
            offsets = xp.zeros(ratings.n_items + 1, np.int64)
            offsets[1:] = xp.cumsum(degrees[nodes])
            self.place(users[order], items[order], values[order])
            times = times[order]
            # A block column runs from its first matching to its last one.
            self.columns = []
            ends = [*range(0, ratings.n_items, self.block), ratings.n_items]
            cuts = offsets[xp.asarray(np.array(ends))]
            cuts = (cuts if xp is np else cuts.get()).tolist()
            for k, first in enumerate(ends[:-1]):
                mine = times[cuts[k] : cuts[k + 1]]
                if mine.size:
                    low, high = int(mine.min()), int(mine.max())
                    mine -= low
                    self.columns.append((first, ends[k + 1] - first, high - low + 1))
            self.times = times
        with self.phase("transfer"):
            self.nodes, self.offsets = nodes.astype(np.int32), offsets.astype(np.int32)
            self.barrier = executor.zeros(2, np.uint32)
        self.order = order
        self.stats.update(supersteps=sum(c[2] for c in self.columns), calls=len(self.columns))

    def run(self):
        self.begin()
        self.columns_in_turn()
        return self

    def columns_in_turn(self):
        """A kernel call for each block column."""
        call = self.launch.loop(
            self.threads, shared=self.shared, cooperative=True, nodes=self.nodes, offsets=self.offsets,
            times=self.times, users=self.users, values=self.values, barrier=self.barrier, **self.state, **self.record,
        )  # fmt: skip
        for first, count, rounds in self.columns:
            blocks = min(self.blocks, -(-count * self.lanes // self.threads))
            call(blocks, np.int32(first), np.int32(count), np.int32(rounds))

    def find(self, ratings, edges):
        raise NotImplementedError


class AllGraphNode(NodeBlocks):
    """AGM-N: the matchings of the whole graph, walked through by each block of items in turn."""

    def find(self, ratings, edges):
        return self.xp.arange(ratings.n_items), *self.first_fit(edges)[1:]


class SubGraph(NodeBlocks):
    """SGM: items by falling degree, matchings for each block of items by itself."""

    def find(self, ratings, edges):
        return self.first_fit(edges, self.block)
