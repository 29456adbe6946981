"""Strategies whose kernel stays on the GPU until all is sorted: the ladder from its third step on."""

import functools

import numpy as np

from .device import DevicePlan
from .plan import KERNELS

_int = np.int32


class Persistent(DevicePlan):
    name, files = "persistent", ("persistent.cu",)
    per_block = 512
    crew = 8  # blocks that go on alone with a frontier of middling width
    arcs = 4096  # that make a frontier wider than that
    kept, row = 4, 128  # vertices that a warp goes on with; arcs that it takes in one go
    most_helpers = 8  # of expand.cuh

    def load(self):
        kernel = self.executor.load(KERNELS / "persistent.cu")["persistent"]
        shared = self.buffers + 16  # and 4 ints to meet
        blocks = self.resident(kernel, shared)
        arguments = (
            self.first,
            self.last,
            self.targets,
            self.left,
            self.order,
            self.queue,
            self.roots,
            self.levels,
            self.control,
            self.gates,
            self.barrier,
            _int(self.graph.n),
            _int(self.breadth),
            _int(min(self.crew, blocks)),
            _int(self.keep),
            _int(self.helpers),
        )
        self.launch = kernel.bind(blocks, self.threads, arguments, shared=shared, cooperative=True)

    @functools.cached_property
    def roots(self):
        return self.executor.empty(max(self.graph.n, 1), np.uint64)

    @property
    def control(self):
        return self.counters[:16]

    @property
    def degree(self):
        return max(1.0, self.graph.m / max(self.graph.n, 1))

    @property
    def breadth(self):
        """Vertices that a crew takes on; on the hypothetical GPU few, so that small graphs have wide levels too."""
        return np.clip(self.arcs / self.degree, 64, 2048) if self.executor.name == "cuda" else 40

    @functools.cached_property
    def longest(self):
        """Arcs of the longest row."""
        return int(np.diff(self.graph.offsets).max(initial=0))

    @property
    def keep(self):
        """Vertices that a warp of a crew goes on with itself: none where it may get more of them than it had. Then some
        are its own and some are queued, it looks at both in each level, and levels take half as long again.
        """
        return self.kept if self.longest <= 1 or self.executor.name == "host" else 0

    @property
    def helpers(self):
        """Warps that may share a vertex: as many as its row has stretches that a warp takes in one go. One that helps
        where nothing is left to do has waited for the row, and all others then wait for it.
        """
        return int(np.clip(-(-self.longest // self.row), 1, self.most_helpers))

    def summary(self):
        return self.executor.get(self.levels[:2]).tolist()

    def run(self):
        self.launch()
        return self.result(self.summary, self.levels[2:])


class PersistentAgain(Persistent):
    name = "persistent-again"  # the same once more: what a difference of nothing looks like


class Narrow(Persistent):
    """See narrow.cu.

    `stop` and `done` are words by which the host and the kernel tell one another: with a one in the first, in the GPU's
    memory, the host asks the kernel to end, and it finds a one in the second, in its own, when all is sorted.
    """

    name, files = "narrow", ("narrow.cu",)
    per_block = 1024
    stop = done = None

    def load(self):
        self.launch = self.bind_narrow(self.first, self.last, self.stop, self.done)

    @functools.cached_property
    def rows(self):
        return self.executor.empty((max(self.graph.n, 1), 4), _int)

    def bind_narrow(self, first, last, stop, done):
        """The launch of the kernel on the graph with these rows."""
        ex, n, degree = self.executor, max(self.graph.n, 1), self.degree
        # Few arcs a level: a smaller block has the cheaper barrier. Very many: hardly any level is one block's alone.
        threads = self.threads if 4 <= degree < 16 else min(self.threads, 512)
        # A block gets through about 600 arcs in the time of a level with a grid barrier; a warp has 32 lanes.
        width = np.clip(640 / degree, 16, 512)
        # Of a ring; a larger frontier goes back to the crew or the grid. Not much more than what the block is given, or
        # it would keep layers that are all somewhat too wide for it.
        capacity = int(np.clip(1.25 * width, 128, 1024))
        warp_width = np.clip(24 / degree, 1, 16)
        patience = np.clip(n / 60_000, 2, 16)  # packing all rows takes the time of a few levels
        hot_offset = -(-max(2 * capacity * 16, self.buffers) // 16) * 16 + 64
        room, most = ex.max_shared - hot_offset, int(self.degrees_on_host.max(initial=0))
        fits = [bits for bits in (8, 16) if most < 2**bits and -(-n // 4) * bits // 2 <= room]
        bits = fits[0] if fits else 0
        shared = hot_offset + -(-n // 4) * bits // 2
        kernel = ex.load(KERNELS / "narrow.cu", {"BITS": bits, "THREADS": threads})["narrow"]
        blocks = self.resident(kernel, shared, threads)
        breadth, crew = max(self.breadth, width), min(self.crew, blocks)
        sizes = self.graph.n, self.graph.m
        limits = breadth, crew, self.keep, self.helpers, width, warp_width, capacity, patience
        numbers = map(_int, (*sizes, *limits, hot_offset))
        arguments = (
            first,
            last,
            self.targets,
            self.left,
            self.order,
            self.queue,
            self.roots,
            self.levels,
            self.rows,
            self.control,
            self.gates,
            self.barrier,
            stop,
            done,
            *numbers,
        )
        return kernel.bind(blocks, threads, arguments, shared=shared, cooperative=True)


class Asynchronous(DevicePlan):
    """See asynchronous.cu; `stop` and `done` as with `Narrow`."""

    name, files = "asynchronous", ("asynchronous.cu",)
    layered = False
    per_block = 256
    stop = done = None

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
            self.stop,
            self.done,
            _int(self.graph.n),
        )
        self.launch = kernel.bind(
            self.resident(kernel, self.buffers), self.threads, arguments, shared=self.buffers, cooperative=True
        )

    def summary(self):
        return None, self.executor.read(self.counters, 1)

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
        splitter_count, self.placed = self.counters[24:25], self.counters[25:26]
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
            self.bind_narrow(run_first, run_last, self.stop, None),
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
                    self.done,
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
