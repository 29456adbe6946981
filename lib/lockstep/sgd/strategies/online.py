"""Online schedules and hybrids: host side of `online.cu`."""

import time
from dataclasses import dataclass, fields, replace

import numpy as np

from .. import oracle
from ..ratings import Ratings, mix
from .offline import BlockOptions, SubGraph
from .shared import DeviceOptions, DevicePlan


@dataclass(frozen=True)
class ShuffleOptions(DeviceOptions):
    """Options of schedules of single edges.

    Attributes
    ----------
    shuffle : bool
        Take the edges in a random order, by the problem's seed; else in that of the ratings.
    """

    shuffle: bool = True


@dataclass(frozen=True)
class HubOptions(DeviceOptions):
    """Options of `edge-hubs`.

    Attributes
    ----------
    degree : int, optional
        The smallest degree that counts as high; by default a sixteenth of the largest degree, at least 2.
    """

    degree: int | None = None


@dataclass(frozen=True)
class HybridOptions(DeviceOptions):
    """Options of `node-then-edge`.

    Attributes
    ----------
    edge_blocks : int, optional
        Blocks of a pass over edges, where `blocks` are those of the pass over nodes alone.
    """

    edge_blocks: int | None = None


# Number of concurrent groups: on average IN_FLIGHT of them hold an edge of the most contended node, but at least FEWEST
# blocks run. With more groups, all but one of that node's edges fail at its lock in every pass; with fewer, the GPU
# idles on graphs without hubs. Tuned over 4 to 512 blocks on random graphs used for no claim, parts `tuning` and
# `tuning-skewed` (H200, 2026-11-30): no fixed number is faster than this rule over all of them. On single graphs none
# is for edge-locked beyond 6 %, by which equal numbers differ too; for node-locked 16 blocks are 1.26 times as fast on
# one of three (on the twin of WIKI a sweep fell from 70 s to 1.8 s on an H100).
IN_FLIGHT, FEWEST = 0.5, 4


class Online(DevicePlan):
    """What locking schedules share: the locks, and the passes of the edge-locked one."""

    file = "online.cu"
    storages = ("float32", "float16")

    def locks(self):
        executor, ratings = self.executor, self.problem.ratings
        self.user_locks = executor.zeros(max(ratings.n_users, 1), np.int32)
        self.item_locks = executor.zeros(max(ratings.n_items, 1), np.int32)

    def lists(self):
        executor, m = self.executor, max(self.problem.ratings.m, 1)
        self.work = [executor.empty(m, np.int32) for _ in range(2)]
        self.length = executor.zeros(1, np.int32)
        self.by_edge = self.kernel("edge_locked", "online.cu")
        self.edge_pass = self.by_edge.loop(
            self.threads, next_count=self.length, users=self.users, items=self.items, values=self.values,
            user_locks=self.user_locks, item_locks=self.item_locks, user_vectors=self.user_vectors,
            item_vectors=self.item_vectors, **self.record,
        )  # fmt: skip
        self.edge_step = executor.step(self.edge_pass, self.length, self.length)
        self.few = self.blocks_for(self.problem.ratings.largest_degree(), IN_FLIGHT)

    def blocks_for(self, degree, in_flight):
        """Blocks with which, on average, `in_flight` groups hold an edge of a node of that degree."""
        groups = in_flight * self.problem.ratings.m / max(degree, 1)
        return max(FEWEST, round(groups * self.lanes / self.threads))

    def place_shuffled(self):
        """Put the edges on the device, in a random order if that is asked for."""
        edges = self.bring()
        with self.phase("shuffle"):
            if self.options.shuffle:
                order = self.shuffled()
                edges = [end[order] for end in edges]
        self.place(*edges)

    def shuffled(self):
        """A random order of the edges, on the device."""
        m = self.problem.ratings.m
        if self.executor.name == "cuda":
            keys = self.xp.random.default_rng(self.problem.seed).random(m, dtype=np.float32)
            return self.xp.argsort(keys)
        return np.random.default_rng(self.problem.seed).permutation(m)

    def edge_blocks(self, count):
        """Blocks of a pass over so many edges."""
        blocks = self.grid(self.by_edge, work=count)
        return blocks if self.options.blocks else min(blocks, self.few)

    def passes(self, work, count):
        """Edge-locked passes over a list of edges (the first `count` of all if `work` is None) until none is
        deferred."""
        passes = 0
        while count:
            following = self.work[0] if work is not self.work[0] else self.work[1]
            left = self.edge_step(self.edge_blocks(count), work, np.int32(count), following, self.rate, self.decay)
            work, count = following, int(left[0])
            passes += 1
        self.stats["passes"] = self.stats.get("passes", 0) + passes


class EdgeLocked(Online):
    """EL: try both locks of an edge, defer it if one is taken; passes until nothing is left."""

    Options = ShuffleOptions

    def load(self):
        self.place_shuffled()
        self.locks()
        self.lists()

    def run(self):
        self.begin()
        self.stats["passes"] = 0
        begin = time.perf_counter()
        self.passes(None, self.problem.ratings.m)  # its last step synchronizes with the device
        self.stats["ms_an_edge"] = (time.perf_counter() - begin) * 1e3 / max(self.problem.ratings.m, 1)
        return self


class NodeLocked(Online):
    """NL: an item to a group; lock the user, mark the edge; passes over all marks until nothing is left."""

    Options = BlockOptions

    def load(self):
        executor, ratings = self.executor, self.problem.ratings
        self.place(*self.bring())
        self.locks()
        self.few_nodes = self.blocks_for(ratings.degrees()[0].max(initial=0), IN_FLIGHT)
        with self.phase("transfer"):
            self.offsets = executor.array(ratings.offsets.astype(np.int32))
        self.done = executor.empty(max(ratings.m, 1), np.uint8)
        self.left = executor.zeros(1, np.int32)
        self.by_node = self.kernel("node_locked", "online.cu")
        self.shared = self.threads // self.lanes * self.problem.width * 4
        self.stats["resident_blocks"] = self.by_node.max_blocks(self.threads, self.shared)
        self.node_pass = self.by_node.loop(
            self.threads, shared=self.shared, offsets=self.offsets, users=self.users, values=self.values,
            done=self.done, left=self.left, user_locks=self.user_locks, user_vectors=self.user_vectors,
            item_vectors=self.item_vectors, **self.record,
        )  # fmt: skip
        self.node_step = executor.step(self.node_pass, self.left, self.left)

    def one_pass(self, first, last):
        """A pass over items first to last - 1; returns how many edges it left over."""
        blocks = self.grid(self.by_node, self.shared, last - first)
        blocks = blocks if self.options.blocks else min(blocks, self.few_nodes)
        left = self.node_step(blocks, np.int32(first), np.int32(last), self.rate, self.decay)
        self.stats["node_passes"] = self.stats.get("node_passes", 0) + 1
        return int(left[0])

    def run(self):
        self.begin()
        self.done.fill(0)
        self.stats["node_passes"] = 0
        items = self.problem.ratings.n_items
        block = self.options.block or max(items, 1)
        for first in range(0, items, block):
            while self.one_pass(first, min(first + block, items)):
                pass
        return self


class NodeThenEdge(NodeLocked):
    """The hybrid of both: one node-locked pass, then edge-locked passes over its deferred edges.

    The node-locked pass uses all blocks, even with hubs: an edge whose lock is taken is deferred to the edge-locked
    passes and not rescanned. Part `tuning-hybrid` measured 4 to 512 blocks for either pass on six graphs (H200,
    2026-11-30): no pair of numbers is faster than the default over all of them; on one graph 32 blocks for the first
    pass and 16 for the others are 1.47 times as fast.
    """

    Options = HybridOptions

    def load(self):
        super().load()
        self.few_nodes = self.grid(self.by_node, self.shared)
        self.lists()
        self.collect = self.kernel("unmarked", "online.cu")

    def edge_blocks(self, count):
        told = self.options.edge_blocks
        return min(told, self._most(self.by_edge, self.threads, 0)) if told else super().edge_blocks(count)

    def run(self):
        self.begin()
        self.done.fill(0)
        self.stats.update(node_passes=0, passes=0)
        m = self.problem.ratings.m
        if m and self.one_pass(0, self.problem.ratings.n_items):
            self.length.fill(0)
            blocks = self.grid(self.collect, work=-(-m // self.lanes))
            self.collect(blocks, self.threads, count=np.int32(m), done=self.done, list=self.work[0], length=self.length)
            count = self.executor.read(self.length)
            self.stats["left_by_nodes"] = count
            self.passes(self.work[0], count)
        return self


class EdgeHubs(Online):
    """Edge-locked for the edges of high-degree nodes, sub-graph matchings for the rest."""

    Options = HubOptions
    storages = ("float32",)  # as the matchings of its other part

    def load(self):
        problem, executor, xp = self.problem, self.executor, self.xp
        ratings = problem.ratings
        self.degree = self.options.degree or max(ratings.largest_degree() // 16, 2)
        edges = self.bring()
        with self.phase("schedule"):
            high = (executor.array(degrees >= self.degree) for degrees in ratings.degrees())
            hub = next(high)[edges[0]] | next(high)[edges[1]]
            hub_edges, rest = xp.flatnonzero(hub), xp.flatnonzero(~hub)
            others = [a[rest] for a in edges]
            some = Ratings._trusted(*(executor.get(a) for a in others), ratings.shape)
        shared = {field.name: getattr(self.options, field.name) for field in fields(DeviceOptions)}
        part = replace(problem, ratings=some)
        # First vectors are drawn once, and what is on the device already does not go there again.
        part._cache |= {"first": problem.first_vectors(), id(executor): (problem.on(executor)[0], others, executor)}
        self.rest = SubGraph.make(self.strategy, part, executor, SubGraph.Options(**shared))
        for key, value in self.rest.preparation.items():
            self.preparation[key] = self.preparation.get(key, 0.0) + value
        with self.phase("shuffle"):
            numbers = hub_edges.astype(np.uint64) + np.uint64(problem.seed % 2**24 << 40)
            hub_edges = hub_edges[xp.argsort((mix(numbers, xp) >> np.uint64(32)).astype(np.uint32))]
        # Edges are numbered hubs first; both parts share vectors, tally and
        # histories.
        self.hubs = hub_edges.size
        with self.phase("order"):
            mine = (self.rest.users, self.rest.items, self.rest.values)
            arrays = [xp.concatenate([a[hub_edges], b]) for a, b in zip(edges, mine, strict=True)]
        self.place(*arrays)
        self.rest.user_vectors, self.rest.item_vectors = self.user_vectors, self.item_vectors
        self.rest.applied = self.applied
        if self.log:
            self.rest.history = [
                *self.history[:2],
                self.history[2][self.hubs :],
                self.history[3][self.hubs :],
            ]
        self.locks()
        self.lists()
        self.stats.update(degree=self.degree, hub_edges=self.hubs)

    def set_step(self, rate, decay):
        super().set_step(rate, decay)
        self.rest.set_step(rate, decay)

    def expected(self):
        parts = oracle.checksum(self.hubs), oracle.checksum(self.problem.ratings.m - self.hubs)
        return tuple(a + b for a, b in zip(*parts, strict=True))

    def run(self):
        self.begin()
        self.stats["passes"] = 0
        begin = time.perf_counter()
        self.passes(None, self.hubs)
        self.stats["ms_an_edge"] = (time.perf_counter() - begin) * 1e3 / max(self.hubs, 1)  # of the locked part
        self.rest.columns_in_turn()
        return self


class Hogwild(EdgeLocked):
    """No locks: every edge is applied even while another group updates its nodes. Racy by design."""

    def load(self):
        self.place_shuffled()
        self.launch = self.kernel("hogwild")
        self.blocks = self.grid(self.launch, work=max(self.problem.ratings.m, 1))

    def run(self):
        self.begin()
        self.launch(
            self.blocks, self.threads, count=np.int32(self.problem.ratings.m), users=self.users, items=self.items,
            values=self.values, applied=self.applied, **self.state,
        )  # fmt: skip
        return self
