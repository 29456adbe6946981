"""Base classes of this study's plans, for CPU and GPU; the kernel files describe the algorithms.

Timing covers only `run`, for CPU and GPU: the graph, its in-degrees and the memory are allocated and copied before, as
in the published study; results stay on the device. `reset` restores the in-degrees, which sorting destroys, and zeroes
counters. An experiment launches a minimal kernel before each run that launches, so that loading the driver's code into
the caches is not timed (`experiments`).
"""

from pathlib import Path

import numpy as np

from lockstep import plan

from ..result import TopologicalOrder

KERNELS = Path(__file__).parent
BUFFER_SLOTS = 160  # of expand.cuh
LOOKS = 16  # vertices whose in-degrees a thread reads at once; of expand.cuh too
HEAD = 80  # bytes of a block's shared memory, head_words in expand.cuh

_int = np.int32


class SortPlan(plan.Plan):
    """A strategy built for one graph; `run` returns a TopologicalOrder of the vertices that could be sorted: all of
    them, unless there is a cycle.
    """

    name = ""

    def __init__(self, strategy, problem, executor=None, options=None):
        super().__init__(strategy, problem, executor, options)
        self.graph = problem.graph


class DevicePlan(SortPlan):
    """Base class of the strategies on the GPU: arrays on the device, and the transfer of the result."""

    layered = True
    per_block = 1024  # threads; two warps on the emulator, where threads do not run in parallel

    @classmethod
    def skip(cls, problem, executor, options):
        return problem.too_large(instead="serial")

    def build(self):
        """The graph on the device, work arrays, and the kernels and arrays of `load`."""
        graph, ex = self.graph, self.executor
        n = max(graph.n, 1)
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
        # Words that are zero before a run: counters of levels 0-4, a barrier 6, and a strategy's counters, from 16 on.
        self.words, self.zeros = ex.zeros(80, np.uint64), ex.zeros(80, np.uint64)
        self.level_counters, self.barrier = self.words[:5], self.words[6:7].view(np.uint32)
        self.counters = self.words[16:].view(_int)
        self.load()

    def load(self):
        """Load kernels, allocate the strategy's work arrays, bind launches."""

    def reset(self):
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
        """Blocks of a cooperative launch: one for each multiprocessor, since a barrier's cost grows with the number
        of blocks.
        """
        return min(self.executor.multiprocessors, kernel.max_blocks(threads or self.threads, shared))

    def result(self, summary, sizes=None, order=None):
        """The result; its arrays stay on the device until they are read.

        Parameters
        ----------
        summary : callable
            Returns (number of layers or None, number of vertices sorted).
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
