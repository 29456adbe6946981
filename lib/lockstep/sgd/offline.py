"""Offline schedules: host side of `offline.cu`."""

import numpy as np

from . import matchings, oracle
from .plans import DevicePlan


class Matchings(DevicePlan):
    """Supersteps over all groups of the machine; subclasses find the schedule."""

    file = "offline.cu"

    def build(self):
        ratings = self.problem.ratings
        users, items, values = self.bring()
        with self.phase("schedule"):
            self.schedule = self.find(ratings, users, items)
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

    def find(self, ratings, users, items):
        raise NotImplementedError

    @property
    def span(self):
        """First and last superstep of a sweep: all, unless `limit` asks for that many around the middle."""
        steps, limit = self.schedule.supersteps, self.given.get("limit")
        if not limit or limit >= steps:
            return 0, steps
        return (steps - limit) // 2, (steps - limit) // 2 + limit

    def expected(self):
        first, last = self.span
        places = (
            self.schedule.steps if self.schedule.units is None else self.executor.get(self.units)[self.schedule.steps]
        )
        return oracle.checksum(int(places[last]), int(places[first]))

    def sweep(self):
        self.begin()
        first, last = self.span
        self.launch(
            self.blocks,
            self.threads,
            (
                *(
                    self.steps,
                    np.int32(first),
                    np.int32(last),
                    self.units,
                    self.users,
                    self.items,
                    self.values,
                ),
                *(*self.state, self.barrier, *self.history, self.applied),
            ),
            cooperative=True,
        )


class AllGraphEdge(Matchings):
    """AGM-E: maximal matchings of the whole graph, their edges handed to threads as they come."""

    name = "agm-edge"

    def find(self, ratings, users, items):
        return matchings.by_time(*matchings.first_fit(ratings), self.xp)


class Diagonal(Matchings):
    """Diagonals of the matrix; threads share an edge, four features each (one each in the study).

    `limit` measures that many supersteps around the middle instead of a whole sweep.
    """

    name = "diagonal"
    options = {"limit": None}

    def find(self, ratings, users, items):
        if ratings.has_duplicates():  # ratings of one cell lie on one diagonal and must follow one another
            return matchings.block_diagonals(users, items, ratings.n_items, 1, 1, self.xp)
        return matchings.diagonals(users, items, ratings.n_items, self.xp)


class BlockDiagonal(Matchings):
    """Diagonals of blocks of `rows` items by `columns` users, a block to a worker."""

    name = "block-diagonal"
    options = {"rows": 16, "columns": 16}

    def find(self, ratings, users, items):
        return matchings.block_diagonals(
            users, items, ratings.n_items, self.given["rows"], self.given["columns"], self.xp
        )


class NodeBlocks(DevicePlan):
    """AGM-N and SGM: an item to a group, its vector in shared memory, a kernel call for each block of
    items."""

    file = "offline.cu"
    options = {"block": None}

    def build(self):
        problem, executor, xp = self.problem, self.executor, self.xp
        ratings = problem.ratings
        self.launch = self.kernel("node_blocks")
        self.shared = self.threads // self.lanes * problem.width * 4
        self.blocks = self.grid(self.launch, self.shared, ratings.n_items)
        self.block = min(int(self.given["block"] or 2**31), self.blocks * (self.threads // self.lanes))
        with self.phase("schedule"):
            nodes, times = self.find(ratings)
        users, items, values = self.bring()
        with self.phase("order"):
            # Edges in the order of their items' places; an item's edges in the order of their matchings.
            place = np.empty(ratings.n_items, np.int64)
            place[nodes] = np.arange(ratings.n_items)
            times = xp.asarray(times)
            count = int(times.max()) + 1 if ratings.m else 0
            order = xp.argsort(xp.asarray(place)[items] * max(count, 1) + times, kind="stable")
            starts = np.concatenate([[0], np.cumsum(np.diff(ratings.offsets)[nodes])])
            self.place(users[order], items[order], values[order])
            times = times[order]
            # A block column runs from its first matching to its last one.
            self.columns = []
            for first in range(0, ratings.n_items, self.block):
                last = min(first + self.block, ratings.n_items)
                mine = times[int(starts[first]) : int(starts[last])]
                if mine.size:
                    low, high = int(mine.min()), int(mine.max())
                    mine -= low
                    self.columns.append((first, last - first, high - low + 1))
            self.times = times
        with self.phase("transfer"):
            self.nodes, self.starts = (
                executor.array(nodes.astype(np.int32)),
                executor.array(starts.astype(np.int32)),
            )
            self.barrier = executor.zeros(2, np.uint32)
        self.order = order
        self.stats.update(supersteps=sum(c[2] for c in self.columns), calls=len(self.columns))

    def sweep(self):
        self.begin()
        self.columns_in_turn()

    def columns_in_turn(self):
        """A kernel call for each block column."""
        for first, count, rounds in self.columns:
            blocks = min(self.blocks, -(-count * self.lanes // self.threads))
            self.launch(
                blocks,
                self.threads,
                (
                    self.nodes,
                    self.starts,
                    np.int32(first),
                    np.int32(count),
                    np.int32(rounds),
                    self.times,
                    self.users,
                    self.values,
                    *self.state,
                    self.barrier,
                    *self.history,
                    self.applied,
                ),
                shared=self.shared,
                cooperative=True,
            )

    def find(self, ratings):
        raise NotImplementedError


class AllGraphNode(NodeBlocks):
    """AGM-N: the matchings of the whole graph, walked through by each block of items in turn."""

    name = "agm-node"

    def find(self, ratings):
        return np.arange(ratings.n_items), matchings.first_fit(ratings)[0]


class SubGraph(NodeBlocks):
    """SGM: items by falling degree, matchings for each block of items by itself."""

    name = "sgm"

    def find(self, ratings):
        nodes = np.argsort(-np.diff(ratings.offsets), kind="stable")
        return nodes, matchings.first_fit(ratings, nodes, self.block)[0]
