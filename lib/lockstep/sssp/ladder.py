"""The ladder to the fastest exact solver: the host side of near_far.cu and asynchronous.cu."""

import numpy as np

from lockstep.graphs import GraphError

from .plans import DevicePlan, road_delta

_int = np.int32


class NearFar(DevicePlan):
    """Options: ``group`` lanes an entry, ``blocks``, ``count`` relaxations."""

    name = "near-far"
    files = ("near_far.cu",)
    threads = 1024
    cluster = 0

    def load(self):
        ex, graph = self.executor, self.problem.graph
        self.counting = bool(self.options.get("count"))
        self.words = 24 if self.problem.wide else 16
        buffer = self.options.get("buffer", 4096 if ex.name == "cuda" else 64)
        self.shared = buffer * self.words + 16
        defines = {
            "GROUP": self.group(),
            "CLUSTER": self.cluster,
            "BUFFER": buffer,
            "COUNT": int(self.counting),
        }
        self.kernel = self.kernels(**defines)["near_far"]
        blocks = self.options.get("blocks", self.cluster or ex.multiprocessors)
        self.blocks = (
            self.resident(self.kernel, blocks, self.shared) if not self.cluster or ex.name == "host" else self.cluster
        )
        self.reserve(graph.n + graph.m + graph.m // 32 + 1024)

    def group(self):
        """Lanes an entry: about half the mean degree, so that few lanes idle and hubs are spread."""
        if "group" in self.options:
            return self.options["group"]
        degree = self.problem.graph.m / max(self.problem.graph.n, 1)
        return 4 if degree < 8 else 8 if degree < 24 else 32

    def reserve(self, capacity):
        if capacity > 2**31 - 2**20:  # kernels add the number of their threads to an int
            raise GraphError(
                f"{self.problem.graph.name or 'the graph'} has {self.problem.graph.n:,} vertices and "
                f"{self.problem.graph.m:,} arcs; {self.name} needs lists of {capacity:,} entries, and takes at most "
                f"{2**31 - 2**20:,}: use strategy='dijkstra'"
            )
        self.capacity = min(capacity, 2**31 - 1)
        self.queue = self.executor.empty(4 * self.capacity * self.words, np.uint8)

    def default_delta(self):
        graph = self.problem.graph
        return road_delta(self.problem) if graph.m < 8 * graph.n else np.inf

    def run(self, source):
        while True:
            self.kernel(
                self.blocks,
                self.threads,
                (
                    self.offsets,
                    self.arcs,
                    self.n,
                    _int(source),
                    self.width,
                    self.limit,
                    self.dist,
                    self.queue,
                    _int(self.capacity),
                    self.control,
                    self.lowest,
                    self.barrier,
                ),
                shared=self.shared,
                cooperative=not self.cluster or self.executor.name == "host",
            )
            control = self.executor.get(self.control)
            if not control[6]:
                break
            self.reserve(2 * self.capacity)  # stale entries piled up beyond any graph seen so far
        self.overflowed(control[7])
        counted = {"relaxations": int(control[10:12].view(np.int64)[0])} if self.counting else {}
        return self.result(source, self.raw(), rounds=int(control[8]), buckets=int(control[9]), **counted)


class Cluster(NearFar):
    name = "cluster"
    cluster = 8


class Asynchronous(DevicePlan):
    """Options: ``blocks``, ``threads``, ``group``, ``local`` (arcs in shared memory), ``count``."""

    name = "asynchronous"
    files = ("asynchronous.cu",)
    threads = 512

    def load(self):
        ex, graph = self.executor, self.problem.graph
        n = max(graph.n, 1)
        self.size_up(self.options.get("blocks"))
        if ex.name == "cuda" and "threads" not in self.options and self.range > 8192:
            self.threads = 1024  # larger ranges have wider fronts
        self.counting = bool(self.options.get("count"))
        defines = {
            "GROUP": self.options.get("group", 4),
            "THREADS": self.threads,
            "LOCAL": int(self.local),
            "COUNT": int(self.counting),
            "OUTSIDE": int(not self.inside),
        }
        self.kernel = self.kernels(**defines)["asynchronous"]
        self.mail = ex.empty(n, self.problem.dtype)
        self.border = ex.empty(n, _int)
        self.lows = ex.empty(self.blocks, self.problem.dtype)
        self.vote = ex.zeros(2, np.uint32)

    @staticmethod
    def ranges(problem, executor, blocks=None):
        """Vertices of a block; NotFitting if their distances and short lists exceed its shared memory."""
        n, word = max(problem.graph.n, 1), problem.dtype.itemsize
        size = -(-n // (blocks or min(executor.multiprocessors, -(-n // 64))))
        room = executor.max_shared - 2048
        if size > 65535 or size * word + size // 8 + 4 * min(size, 1024) > room:
            raise NotFitting(
                f"{n:,} vertices are more than the shared memories of {executor.multiprocessors} multiprocessors hold"
            )
        return size

    def size_up(self, blocks):
        """What fits into shared memory: all arcs of a range if they do, else its distances and lists."""
        graph, word = self.problem.graph, self.problem.dtype.itemsize
        room = self.executor.max_shared - 1024
        try:
            self.range, self.inside = self.ranges(self.problem, self.executor, blocks), True
        except NotFitting:  # in global memory: slower, and no reason to choose this strategy, but right
            resident = self.executor.multiprocessors * (2 if self.executor.name == "cuda" else 16)
            self.range, self.inside = -(-graph.n // resident), False
            if self.range > 65535:
                raise
            room = 2**31
        self.blocks = max(1, -(-graph.n // self.range))
        ends = np.minimum(np.arange(self.blocks + 1) * self.range, graph.n)
        most_arcs = int(np.diff(graph.offsets[ends]).max(initial=0))
        # As the kernel carves it: distances, arcs, counters, offsets, pending bits (wide), two lists of ids.
        fixed = self.range * word + 16 + 8 * word + 8 * 4 + (-(-self.range // 32) * 4 if self.problem.wide else 0)
        arcs = most_arcs * (16 if self.problem.wide else 8) + (self.range + 1) * 4
        fits = self.inside and fixed + arcs + 4 * min(self.range, 1024) <= room
        self.local = self.options.get("local", fits)
        used = fixed + (arcs if self.local else 0)
        self.list_capacity = min(self.options.get("list", 8192), self.range, (room - used) // 4)
        self.local_arcs = most_arcs if self.local else 0
        needed = used + 4 * self.list_capacity + 16
        self.shared, self.stride = (needed, 0) if self.inside else (0, -(-needed // 16) * 16)
        self.outside = None if self.inside else self.executor.empty(self.blocks * self.stride, np.uint8)

    def default_delta(self):
        return road_delta(self.problem)

    def run(self, source):
        self.kernel(
            self.blocks,
            self.threads,
            (
                self.offsets,
                self.arcs,
                self.n,
                _int(source),
                _int(self.range),
                _int(self.local_arcs),
                _int(self.list_capacity),
                self.width,
                self.limit,
                self.mail,
                self.border,
                self.lows,
                self.vote,
                self.control,
                self.dist,
                self.barrier,
                self.outside,
                np.int64(self.stride),
            ),
            shared=self.shared,
            cooperative=True,
        )
        control = self.executor.get(self.control)
        self.overflowed(control[0])
        counted = {"relaxations": int(control[2:4].view(np.int64)[0])} if self.counting else {}
        return self.result(source, self.raw(), steps=int(control[1]), blocks=self.blocks, **counted)


class NotFitting(ValueError):
    """The graph is too large for a strategy that keeps it in shared memory."""
