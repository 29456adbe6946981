"""The host side of the strategies that run kernels; their ideas stand in the kernel files."""

import functools

import numpy as np

from lockstep.graphs import GraphError

from .plan import KERNELS, Plan
from .result import TopologicalOrder

BUFFER_SLOTS = 160  # of expand.cuh

_int = np.int32


class DevicePlan(Plan):
    """What the strategies on the GPU share: the graph there, and how the result comes back."""

    layered = True
    per_block = 1024  # threads; on the hypothetical GPU two warps, for threads there are no faster than one

    def __init__(self, graph, executor):
        super().__init__(graph, executor)
        if max(graph.n, graph.m) >= 2**31 - 2**20:
            raise GraphError(
                f"{graph.name or 'the graph'} has {graph.n:,} vertices and {graph.m:,} arcs; the GPU strategies "
                "take fewer than 2^31 of each: use strategy='serial'"
            )
        ex, n = executor, max(graph.n, 1)
        self.threads = self.per_block if ex.name == "cuda" else min(64, self.per_block)
        self.offsets = ex.array(graph.offsets.astype(_int))
        self.first, self.last = self.offsets[:-1], self.offsets[1:]
        self.targets = ex.array(graph.targets.astype(_int, copy=False))
        degrees = np.ones(-(-n // 4) * 4, _int)  # kernels read four at once
        degrees[: graph.n] = self.degrees_on_host = graph.in_degrees()
        self.degrees = ex.array(degrees)
        self.left = ex.empty(degrees.size, _int)
        self.order = ex.empty(n, _int)
        self.queue = ex.empty(n, np.uint64)
        self.levels = ex.zeros(n + 4, _int)  # {layers, vertices sorted, size of layer 0, of layer 1, ...}
        # What must be zero at first: gates 0-4, a barrier 6, and what else a strategy counts in, from 16 on.
        self.words, self.zeros = ex.zeros(80, np.uint64), ex.zeros(80, np.uint64)
        self.gates, self.barrier = self.words[:5], self.words[6:7].view(np.uint32)
        self.counters = self.words[16:].view(_int)
        self.load()

    def load(self):
        """Load kernels, allocate work arrays, bind launches."""

    def prepare(self):
        self.executor.copy(self.left, self.degrees)
        self.executor.copy(self.words, self.zeros)

    @property
    def warps(self):
        return self.threads // 32

    @property
    def buffers(self):
        """Bytes of shared memory for the warps' buffers."""
        return self.warps * BUFFER_SLOTS * 4

    def resident(self, kernel, shared, threads=None):
        """Blocks of a cooperative launch: one for each multiprocessor, since a barrier's price grows with the
        blocks.
        """
        return min(self.executor.multiprocessors, kernel.max_blocks(threads or self.threads, shared))

    def result(self, summary, sizes=None, order=None):
        """The outcome; all of it stays on the device until somebody asks for it.

        Parameters
        ----------
        summary : callable
            Gives (number of layers or None, number of vertices sorted).
        sizes : array, optional
            Sizes of the layers on the device; None if the strategy makes no layers.
        """
        get, order, n = self.executor.get, self.order if order is None else order, self.graph.n
        empty = np.zeros(0, _int)

        def bring_order():
            count = summary()[1]
            return get(order[:count]) if n and count else empty

        def bring_sizes():
            depth = summary()[0]
            return get(sizes[:depth]) if depth else empty

        return TopologicalOrder(self.graph, bring_order, self.name, None if sizes is None else bring_sizes)


class Naive(DevicePlan):
    name, files = "naive", ("naive.cu",)

    def load(self):
        kernels = self.executor.load(KERNELS / "naive.cu")
        n, threads = self.graph.n, self.threads
        self.waiting = self.executor.empty(max(n, 1), _int)
        self.waiting_size, self.count = self.counters[0:1], self.counters[1:2]
        self.enqueue = kernels["enqueue"].bind(
            n // threads + 1, threads, (self.left, self.waiting, self.waiting_size, _int(n))
        )
        dequeue = (self.offsets, self.targets, self.left, self.waiting, self.waiting_size, self.order, self.count)
        self.dequeue = _by_grid(kernels["dequeue"], threads, dequeue)
        self.reset = kernels["reset"].bind(1, 1, (self.waiting_size,))

    def launches(self):
        """The three launches of a layer, one after another, so that a stopwatch can be held between them."""
        while True:
            self.enqueue()
            size = self.executor.read(self.waiting_size)
            yield "enqueue", size
            if size == 0:
                return
            self.dequeue(size // self.threads + 1)
            yield "dequeue", size
            self.reset()
            yield "reset", size

    def run(self):
        sizes = np.array([size for kernel, size in self.launches() if kernel == "enqueue"][:-1], _int)
        result = self.result(lambda: (sizes.size, int(sizes.sum())), self.levels)
        result._sizes = sizes
        return result

    def shares(self):
        """Milliseconds in each of the three kernels, every launch waited for: for their shares, not for their sum."""
        spent = {"enqueue": 0.0, "dequeue": 0.0, "reset": 0.0}
        launches = self.launches()
        while True:
            with self.executor.timer() as timer:
                kernel, size = next(launches)
            spent[kernel] += timer.wall_ms
            if kernel == "enqueue" and size == 0:
                return spent


def _by_grid(kernel, threads, arguments, shared=0):
    """Launches of one kernel that differ in their grid alone; each grid is bound when it first occurs."""
    bound = functools.cache(lambda blocks: kernel.bind(blocks, threads, arguments, shared=shared))
    return lambda blocks: bound(blocks)()


class Frontier(DevicePlan):
    name, files = "frontier", ("frontier.cu",)
    per_block = 256

    def load(self):
        kernels = self.executor.load(KERNELS / "frontier.cu")
        n = self.graph.n
        self.most = 8 * self.executor.multiprocessors
        self.sizes = self.words[:2].view(_int)[1::2]  # the gates' upper halves
        halves = self.words[:2].view(_int)
        self.sources = kernels["sources"].bind(
            min(self.most, n // (4 * self.threads) + 1),
            self.threads,
            (self.left, self.order, halves, _int(n)),
            shared=self.buffers,
        )
        self.expand = kernels["frontier"]

    def run(self):
        self.sources()
        begin, sizes = 0, []
        while size := self.executor.read(self.sizes, (len(sizes) + 1) % 2):
            self.expand(
                min(self.most, -(-size // self.warps)),
                self.threads,
                (
                    self.first,
                    self.last,
                    self.targets,
                    self.left,
                    self.order,
                    self.queue,
                    self.gates,
                    _int(len(sizes)),
                    _int(begin),
                    _int(begin + size),
                ),
                shared=self.buffers,
            )
            begin += size
            sizes.append(size)
        result = self.result(lambda: (len(sizes), begin), self.levels)
        result._sizes = np.array(sizes, _int)
        return result


class Graph(DevicePlan):
    name, files = "graph", ("graph.cu",)
    per_block = 512
    replays = (6, 48, 192)  # steps of the first, second and all further replays; multiples of three

    def load(self):
        kernels = self.executor.load(KERNELS / "graph.cu")
        n = self.graph.n
        self.records = self.counters[:12]
        blocks = min(8 * self.executor.multiprocessors, n // (4 * self.threads) + 1)
        self.sources = kernels["sources"].bind(
            blocks, self.threads, (self.left, self.order, self.records, _int(n)), shared=self.buffers
        )
        arguments = (self.first, self.last, self.targets, self.left, self.order, self.queue, self.levels, self.records)
        steps = [
            kernels["step"].bind(
                2 * self.executor.multiprocessors, self.threads, (*arguments, _int(turn)), shared=self.buffers
            )
            for turn in range(3)
        ]
        self.graphs = []
        for count in self.replays:
            with self.executor.capture() as graph:
                for k in range(count):
                    steps[k % 3]()
            self.graphs.append(graph)

    def run(self):
        replay = 0
        self.sources()
        while True:
            self.graphs[min(replay, len(self.graphs) - 1)].launch()
            replay += 1
            count, depth, _, size = self.executor.get(self.records[:4]).tolist()
            if size == 0:
                return self.result(functools.partial(tuple, (depth, count)), self.levels[2:])


class Persistent(DevicePlan):
    name, files = "persistent", ("persistent.cu",)
    per_block = 512

    def load(self):
        kernel = self.executor.load(KERNELS / "persistent.cu")["persistent"]
        shared = self.buffers + 16  # and 4 ints to meet
        arguments = (
            self.first,
            self.last,
            self.targets,
            self.left,
            self.order,
            self.queue,
            self.levels,
            self.gates,
            self.barrier,
            _int(self.graph.n),
        )
        self.launch = kernel.bind(
            self.resident(kernel, shared), self.threads, arguments, shared=shared, cooperative=True
        )

    def summary(self):
        return self.executor.get(self.levels[:2]).tolist()

    def run(self):
        self.launch()
        return self.result(self.summary, self.levels[2:])


class PersistentAgain(Persistent):
    name = "persistent-again"  # the same once more: what a difference of nothing looks like


class Narrow(Persistent):
    name, files = "narrow", ("narrow.cu",)
    per_block = 1024

    def load(self):
        self.launch = self.bind_narrow(self.first, self.last)

    @functools.cached_property
    def rows(self):
        return self.executor.empty((max(self.graph.n, 1), 4), _int)

    @property
    def outcome(self):
        return self.counters[4:8]

    def bind_narrow(self, first, last, limit=2**31 - 1, resume=0, hot=True):
        """The launch; it stops after `limit` levels, and with resume = 1 goes on where one before it stopped.

        hot: use in-degrees in shared memory; moving them there and back takes the time of some 50 levels.
        """
        ex, n = self.executor, max(self.graph.n, 1)
        degree = max(1.0, self.graph.m / n)
        # Few arcs a level: a smaller block has the cheaper barrier.
        threads = min(self.threads, 512) if degree < 4 else self.threads
        # A block gets through about 600 arcs in the time of a level with a grid barrier; a warp has 32 lanes.
        width = np.clip(640 / degree, 16, 512)
        capacity = int(np.clip(2 * width, 128, 1024))  # of a ring; a larger frontier goes back to the grid
        warp_width = np.clip(24 / degree, 1, 16)
        patience = np.clip(n / 60_000, 2, 16)  # packing all rows takes the time of a few levels
        hot_offset = -(-max(2 * capacity * 16, self.buffers) // 16) * 16 + 64
        room, most = ex.max_shared - hot_offset, int(self.degrees_on_host.max(initial=0))
        fits = [bits for bits in (8, 16) if most < 2**bits and -(-n // 4) * bits // 2 <= room]
        bits = fits[0] if fits and hot else 0
        shared = hot_offset + -(-n // 4) * bits // 2
        kernel = ex.load(KERNELS / "narrow.cu", {"BITS": bits, "THREADS": threads})["narrow"]
        numbers = map(_int, (self.graph.n, width, warp_width, capacity, patience, hot_offset, limit, resume))
        arguments = (
            first,
            last,
            self.targets,
            self.left,
            self.order,
            self.queue,
            self.levels,
            self.rows,
            self.counters,
            self.outcome,
            self.gates,
            self.barrier,
            *numbers,
        )
        return kernel.bind(self.resident(kernel, shared, threads), threads, arguments, shared=shared, cooperative=True)


class Asynchronous(DevicePlan):
    name, files = "asynchronous", ("asynchronous.cu",)
    layered = False
    per_block = 256

    def load(self):
        kernel = self.executor.load(KERNELS / "asynchronous.cu")["asynchronous"]
        arguments = (
            self.first,
            self.last,
            self.targets,
            self.left,
            self.order,
            self.queue,
            self.counters,
            self.barrier,
            _int(self.graph.n),
        )
        self.launch = kernel.bind(
            self.resident(kernel, self.buffers), self.threads, arguments, shared=self.buffers, cooperative=True
        )

    def summary(self):
        return None, self.executor.read(self.counters)

    def run(self):
        self.launch()
        return self.result(self.summary)


class Chains(Narrow):
    name, files = "chains", ("chains.cu", "narrow.cu")
    layered = False
    gap = 8  # one vertex of so many is a splitter

    def load(self):
        ex, n = self.executor, _int(self.graph.n)
        (following, linked, splitters, number, run_of, place, run_first, run_last, length, starts, self.unfolded) = (
            ex.empty(max(n, 1), _int) for _ in range(11)
        )
        jumps, parts = ex.empty(max(n, 1), np.uint64), ex.empty(4096, _int)
        splitter_count, self.placed = self.counters[8:9], self.counters[9:10]
        kernels = ex.load(KERNELS / "chains.cu")
        contract, unfold = kernels["contract"], kernels["unfold"]
        blocks = min(self.resident(contract, 0), self.resident(unfold, self.buffers))
        self.steps = (
            contract.bind(
                blocks,
                self.threads,
                (
                    self.first,
                    self.last,
                    self.targets,
                    self.left,
                    following,
                    linked,
                    splitters,
                    number,
                    jumps,
                    run_of,
                    place,
                    run_first,
                    run_last,
                    length,
                    splitter_count,
                    self.barrier,
                    n,
                    _int(self.gap),
                ),
                cooperative=True,
            ),
            self.bind_narrow(run_first, run_last),
            unfold.bind(
                blocks,
                self.threads,
                (
                    self.order,
                    self.levels,
                    length,
                    run_of,
                    place,
                    starts,
                    parts,
                    self.unfolded,
                    self.placed,
                    self.barrier,
                    n,
                ),
                shared=self.buffers,
                cooperative=True,
            ),
        )

    def summary(self):
        return None, self.executor.read(self.placed)

    def run(self):
        for step in self.steps:
            step()
        return self.result(self.summary, order=self.unfolded)
