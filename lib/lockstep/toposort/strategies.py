"""The strategies: what each is, and the host side of those that run kernels.

A plan is a strategy made ready for one graph on one machine. `prepare` puts the input back as it was (in-degrees are
destroyed by sorting, counters must be zero); `run` sorts. Timing covers `run` alone, for CPU and GPU alike: the graph,
its in-degrees and the memory are there before, as in the published study; results stay on the device.
"""

import hashlib
import inspect
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lockstep.graphs import GraphError
from lockstep.machine import source_digest

from . import serial
from .result import TopologicalOrder

KERNELS = Path(__file__).parent / "kernels"
BUFFER_SLOTS = 160  # of expand.cuh

_int = np.int32


class Plan:
    """A strategy made ready for one graph.

    Parameters
    ----------
    graph : Graph
    executor : Executor or None
        None for strategies of the CPU.
    """

    name = ""
    files: tuple = ()

    def __init__(self, graph, executor=None):
        self.graph, self.executor = graph, executor

    def prepare(self):
        """Put the input back as it was; not timed."""

    def run(self):
        """Sort; returns a TopologicalOrder of the vertices that could be sorted (all of them, unless there is a cycle)."""
        raise NotImplementedError

    @classmethod
    def digest(cls):
        """Digest of the device text and of the host code that decide this strategy's result and time."""
        host = "".join(inspect.getsource(c) for c in cls.__mro__ if c is not object)
        if not cls.files:
            return hashlib.sha256(" ".join(host.split()).encode()).hexdigest()[:16]
        return source_digest(KERNELS / cls.files[0], extra=(host, *(source_digest(KERNELS / f) for f in cls.files[1:])))


# -- CPU -------------------------------------------------------------------------------------------------------------------


class Serial(Plan):
    name = "serial"
    sort = staticmethod(serial.kahn)

    def __init__(self, graph, executor=None):
        super().__init__(graph)
        self.degrees = graph.in_degrees()
        self.left = self.degrees.copy()
        self.order = np.empty(graph.n, graph.targets.dtype)

    def prepare(self):
        self.left[:] = self.degrees

    def run(self):
        count = self.sort(self.graph.offsets, self.graph.targets, self.left, self.order)
        return TopologicalOrder(self.graph, self.order[:count], self.name)


class SerialList(Serial):
    name = "serial-list"

    def __init__(self, graph, executor=None):
        super().__init__(graph)
        self.sort = serial.kahn_with_list()


class NetworkX(Plan):
    name = "networkx"

    def __init__(self, graph, executor=None):
        super().__init__(graph)
        self.converted = graph.to_networkx()

    def run(self):
        import networkx as nx

        order = []
        try:
            order.extend(nx.topological_sort(self.converted))
        except nx.NetworkXUnfeasible:
            order = order[:0]
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)


class RustworkX(Plan):
    name = "rustworkx"

    def __init__(self, graph, executor=None):
        import rustworkx

        super().__init__(graph)
        self.converted = rustworkx.PyDiGraph()
        self.converted.add_nodes_from(range(graph.n))
        self.converted.extend_from_edge_list(list(zip(*(ends.tolist() for ends in graph.edges()), strict=True)))

    def run(self):
        import rustworkx

        try:
            order = rustworkx.topological_sort(self.converted)
        except rustworkx.DAGHasCycle:
            order = []
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)


class Igraph(Plan):
    name = "igraph"

    def __init__(self, graph, executor=None):
        import igraph

        super().__init__(graph)
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack(graph.edges()), directed=True)

    def run(self):
        import igraph

        try:
            order = self.converted.topological_sorting()
        except igraph.InternalError:
            order = []
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)


# -- GPU -------------------------------------------------------------------------------------------------------------------


class DevicePlan(Plan):
    """What the strategies on the GPU share: the graph there, and how the result comes back."""

    layered = True
    per_block = 1024  # threads; on the hypothetical GPU two warps, for threads there are no faster than one

    def __init__(self, graph, executor):
        super().__init__(graph, executor)
        if max(graph.n, graph.m) >= 2**31 - 2**20:
            raise GraphError(f"{graph.name or 'the graph'} has {graph.n:,} vertices and {graph.m:,} arcs; the GPU strategies "
                             "take fewer than 2^31 of each: use strategy='serial'")  # fmt: skip
        ex = executor
        self.threads = self.per_block if ex.name == "cuda" else 64
        self.offsets = ex.array(graph.offsets.astype(_int))
        self.first, self.last = self.offsets[:-1], self.offsets[1:]
        self.targets = ex.array(graph.targets.astype(_int, copy=False))
        degrees = np.ones(-(-max(graph.n, 1) // 4) * 4, _int)  # kernels read four at once
        degrees[: graph.n] = graph.in_degrees()
        self.degrees = ex.array(degrees)
        self.left = ex.empty(degrees.size, _int)
        self.order = ex.empty(max(graph.n, 1), _int)
        # {layers, vertices sorted, size of layer 0, of layer 1, ...}
        self.levels = ex.zeros(graph.n + 4, _int)
        self.nothing = ex.zeros(64, _int)
        self.state = ex.zeros(64, _int)  # what else must be zero at first
        self.barrier = ex.zeros(2, np.uint32)
        self.load()

    def load(self):
        """Load kernels, allocate work arrays."""

    def prepare(self):
        self.executor.copy(self.left, self.degrees)
        self.executor.copy(self.state, self.nothing)
        self.executor.copy(self.levels[:4], self.nothing[:4])

    @property
    def warps(self):
        return self.threads // 32

    @property
    def buffers(self):
        """Bytes of shared memory for the warps' buffers."""
        return self.warps * BUFFER_SLOTS * 4

    def resident(self, kernel, shared):
        """Blocks of a cooperative launch: one for each multiprocessor, since a barrier's price grows with the blocks."""
        return max(1, min(self.executor.multiprocessors, kernel.max_blocks(self.threads, shared)))

    def result(self, count, depth=None, **stats):
        """The outcome; the order stays on the device until somebody asks for it."""
        order, levels, get = self.order, self.levels, self.executor.get
        sizes = None
        if depth is not None:
            def sizes():
                return get(levels[2 : 2 + depth]) if depth else np.zeros(0, _int)
        return TopologicalOrder(self.graph, lambda: get(order[:count]) if count else np.zeros(0, _int), self.name, sizes,
                                {"sorted": count, **stats})  # fmt: skip


class Naive(DevicePlan):
    name, files = "naive", ("naive.cu",)

    def load(self):
        kernels = self.executor.load(KERNELS / "naive.cu")
        self.enqueue, self.dequeue, self.reset = kernels["enqueue"], kernels["dequeue"], kernels["reset"]
        self.queue = self.executor.empty(max(self.graph.n, 1), _int)
        self.queue_size, self.count = self.state[0:1], self.state[1:2]

    def launches(self):
        """The three launches of a layer; a generator, so that a stopwatch can be held between them."""
        n, threads, read = self.graph.n, self.threads, self.executor.read
        enqueue = (self.left, self.queue, self.queue_size, _int(n))
        dequeue = (self.offsets, self.targets, self.left, self.queue, self.queue_size, self.order, self.count)
        while True:
            self.enqueue(n // threads + 1, threads, enqueue)
            size = read(self.queue_size)
            yield "enqueue", size
            if size == 0:
                return
            self.dequeue(size // threads + 1, threads, dequeue)
            yield "dequeue", size
            self.reset(1, 1, (self.queue_size,))
            yield "reset", size

    def run(self):
        sizes = [size for kernel, size in self.launches() if kernel == "enqueue"][:-1]
        result = self.result(sum(sizes), None)
        result._sizes, result.layered = np.array(sizes, _int), True
        return result

    def shares(self):
        """Milliseconds spent in each of the three kernels, every launch waited for; for their shares, not their sum."""
        spent = {"enqueue": 0.0, "dequeue": 0.0, "reset": 0.0}
        launches, kernel = self.launches(), ""
        while kernel != "enqueue" or size:  # noqa: F821 (set in the first turn)
            with self.executor.timer() as timer:
                kernel, size = next(launches)
            spent[kernel] += timer.wall_ms
        return spent


class Frontier(DevicePlan):
    name, files = "frontier", ("frontier.cu",)
    per_block = 256

    def load(self):
        kernels = self.executor.load(KERNELS / "frontier.cu")
        self.sources, self.expand = kernels["sources"], kernels["frontier"]

    def run(self):
        n, read, most = self.graph.n, self.executor.read, 8 * self.executor.multiprocessors
        blocks = min(most, n // (4 * self.threads) + 1)
        self.sources(blocks, self.threads, (self.left, self.order, self.levels, _int(n)), shared=self.buffers)
        begin = level = 0
        while size := read(self.levels, 2 + level):
            self.expand(min(most, -(-size // self.warps)), self.threads,
                        (self.first, self.last, self.targets, self.left, self.order, self.levels, _int(level), _int(begin),
                         _int(begin + size)), shared=self.buffers)  # fmt: skip
            begin, level = begin + size, level + 1
        return self.result(begin, level)


class Graph(DevicePlan):
    name, files = "graph", ("graph.cu",)
    per_block = 512
    replays = (12, 48, 192)  # steps of the first, second and all further replays; multiples of three

    def load(self):
        kernels = self.executor.load(KERNELS / "graph.cu")
        self.sources, self.step = kernels["sources"], kernels["step"]
        self.records = self.state[:12]
        arguments = (self.first, self.last, self.targets, self.left, self.order, self.levels, self.records)
        most = 2 * self.executor.multiprocessors
        self.graphs = []
        self.step.max_blocks(self.threads, self.buffers)  # loads the kernel, which a capture must not
        for steps in self.replays if self.graph.n else ():
            with self.executor.capture() as graph:
                for k in range(steps):
                    self.step(most, self.threads, (*arguments, _int(k % 3)), shared=self.buffers)
            self.graphs.append(graph)

    def run(self):
        n, replay = self.graph.n, 0
        blocks = min(8 * self.executor.multiprocessors, n // (4 * self.threads) + 1)
        self.sources(blocks, self.threads, (self.left, self.order, self.records, _int(n)), shared=self.buffers)
        while True:
            self.graphs[min(replay, len(self.graphs) - 1)].launch()
            replay += 1
            sorted_, size, depth = self.executor.get(self.records[:3]).tolist()
            if size == 0:
                return self.result(sorted_, depth, replays=replay)


class Persistent(DevicePlan):
    name, files = "persistent", ("persistent.cu",)

    def load(self):
        self.kernel = self.executor.load(KERNELS / "persistent.cu")["persistent"]
        self.blocks = self.resident(self.kernel, self.buffers)

    def run(self):
        self.kernel(self.blocks, self.threads, (self.first, self.last, self.targets, self.left, self.order, self.levels,
                                                self.barrier, _int(self.graph.n)), shared=self.buffers, cooperative=True)
        depth, count = self.executor.get(self.levels[:2]).tolist()
        return self.result(count, depth)


class Narrow(DevicePlan):
    name, files = "narrow", ("narrow.cu",)
    capacity = 1024  # vertices that a ring holds
    patience = 48  # narrow levels before all rows are packed

    def load(self):
        ex, graph = self.executor, self.graph
        self.kernel = ex.load(KERNELS / "narrow.cu")["narrow"]
        degree = graph.m / max(graph.n, 1)
        # A block gets through about 2,000 arcs in the time of a grid barrier; a warp has 32 lanes.
        self.width = int(np.clip(2048 / (1 + degree), 32, self.capacity // 2))
        self.warp_width = int(np.clip(16 / max(degree, 1), 1, 16))
        rings = -(-max(2 * self.capacity * 16, self.buffers) // 16) * 16
        self.hot_offset = rings + 64
        bytes_each = -(-max(graph.n, 1) // 4) * 4
        room = ex.max_shared - self.hot_offset
        self.hot_bytes = 2 * bytes_each if 2 * bytes_each <= 2**16 else bytes_each if bytes_each <= room else 0
        self.shared = self.hot_offset + self.hot_bytes
        self.rows = ex.empty((max(graph.n, 1), 4), _int)
        self.blocks = self.resident(self.kernel, self.shared)

    def launch(self, first, last):
        arguments = (first, last, self.targets, self.left, self.order, self.levels, self.rows, self.state, self.barrier,
                     *map(_int, (self.graph.n, self.width, self.warp_width, self.capacity, self.patience, self.hot_offset,
                                 self.hot_bytes)))  # fmt: skip
        self.kernel(self.blocks, self.threads, arguments, shared=self.shared, cooperative=True)

    def run(self):
        self.launch(self.first, self.last)
        depth, count = self.executor.get(self.levels[:2]).tolist()
        return self.result(count, depth)


class Asynchronous(DevicePlan):
    name, files = "asynchronous", ("asynchronous.cu",)
    layered = False
    per_block = 256

    def load(self):
        self.kernel = self.executor.load(KERNELS / "asynchronous.cu")["asynchronous"]
        self.queue = self.executor.empty(max(self.graph.n, 1), _int)
        self.blocks = self.resident(self.kernel, self.buffers)

    def run(self):
        self.kernel(self.blocks, self.threads, (self.first, self.last, self.targets, self.left, self.order, self.queue,
                                                self.state, self.barrier, _int(self.graph.n)),
                    shared=self.buffers, cooperative=True)  # fmt: skip
        return self.result(self.executor.read(self.state))


class Chains(Narrow):
    name, files = "chains", ("chains.cu", "narrow.cu")
    layered = False
    gap = 8  # one vertex of so many is a splitter

    def load(self):
        super().load()
        ex, n = self.executor, max(self.graph.n, 1)
        kernels = ex.load(KERNELS / "chains.cu")
        self.contract, self.unfold = kernels["contract"], kernels["unfold"]
        (self.next, self.linked, self.splitters, self.number, self.run_of, self.place, self.run_first, self.run_last,
         self.length, self.starts, self.unfolded) = (ex.empty(n, _int) for _ in range(11))  # fmt: skip
        self.jumps = ex.empty(n, np.uint64)
        self.counts = self.state[8:9]
        self.placed = self.state[9:10]
        self.parts = ex.empty(1024, _int)
        self.wide = min(self.resident(self.contract, 0), self.resident(self.unfold, self.buffers))

    def run(self):
        n = _int(self.graph.n)
        self.contract(self.wide, self.threads, (
            self.first, self.last, self.targets, self.left, self.next, self.linked, self.splitters, self.number, self.jumps,
            self.run_of, self.place, self.run_first, self.run_last, self.length, self.counts, self.barrier, n,
            _int(self.gap)), cooperative=True)  # fmt: skip
        self.launch(self.run_first, self.run_last)
        self.unfold(self.wide, self.threads, (
            self.order, self.levels, self.length, self.run_of, self.place, self.starts, self.parts, self.unfolded,
            self.placed, self.barrier, n), shared=self.buffers, cooperative=True)  # fmt: skip
        count = self.executor.read(self.placed)
        order, get = self.unfolded, self.executor.get
        return TopologicalOrder(self.graph, lambda: get(order[:count]) if count else np.zeros(0, _int), self.name,
                                stats={"sorted": count})  # fmt: skip


# -- the table -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strategy:
    """What a strategy is.

    Attributes
    ----------
    name, what : str
        Its name and, in a sentence, what it does.
    family : {'cpu', 'published', 'ladder', 'choice'}
    published : str
        Where it comes from.
    exact : bool
        Always right. True for all of this study.
    layered : bool
        Whether its order lists layer after layer.
    plan : type
    """

    name: str
    what: str
    family: str
    published: str
    layered: bool
    plan: type
    exact: bool = True

    @property
    def gpu(self):
        return issubclass(self.plan, DevicePlan)


STRATEGIES = {
    s.name: s
    for s in (
        Strategy("serial", "Kahn on one core; the order is the queue, in one array", "cpu",
                 "Kahn 1962; the thesis's CPU side", True, Serial),
        Strategy("serial-list", "Kahn on one core with a linked list as queue, a node allocated for each vertex", "cpu",
                 "the thesis's CPU side, as it describes its queue", True, SerialList),
        Strategy("networkx", "networkx.topological_sort", "cpu", "NetworkX", False, NetworkX),
        Strategy("rustworkx", "rustworkx.topological_sort", "cpu", "rustworkx", False, RustworkX),
        Strategy("igraph", "igraph.Graph.topological_sorting", "cpu", "igraph", False, Igraph),
        Strategy("naive", "three kernels a layer, a scan of all in-degrees, the queue's size read by the host", "published",
                 "the thesis, appendix", True, Naive),
        Strategy("frontier", "no scan: who takes the last predecessor away queues the vertex; the host reads each size",
                 "ladder", "this study", True, Frontier),
        Strategy("graph", "many levels in one CUDA graph; the host looks once a replay", "ladder", "this study", True, Graph),
        Strategy("persistent", "one cooperative kernel with a grid barrier between levels", "ladder", "this study", True,
                 Persistent),
        Strategy("narrow", "the grid for wide levels, one block or warp with everything in shared memory for narrow ones",
                 "ladder", "this study", True, Narrow),
        Strategy("asynchronous", "no levels: a vertex is ready when its last predecessor is done", "ladder", "this study",
                 False, Asynchronous),
        Strategy("chains", "runs of 1-1 vertices contracted by list ranking, the rest sorted by narrow", "ladder",
                 "this study", False, Chains),
    )
}  # fmt: skip
