"""The third step of the ladder: one kernel with resident blocks sorts the whole graph."""

import functools

import numpy as np

from .shared import KERNELS, DevicePlan

_int = np.int32


class Persistent(DevicePlan):
    name = "persistent"
    per_block = 512
    subset = 8  # blocks that process a frontier of middling width
    arcs = 4096  # of a subset's widest frontier
    held, row = 4, 128  # vertices that a warp holds in registers for the next level; arcs that it reads at once
    most_helpers = 8  # of expand.cuh

    def load(self):
        kernel = self.executor.load(KERNELS / "persistent.cu")["persistent"]
        shared = self.buffers + 32  # and 5 ints for level barriers
        blocks = self.resident(kernel, shared)
        self.launch = kernel.bind(
            blocks, self.threads, shared=shared, cooperative=True, first=self.first, last=self.last,
            targets=self.targets, in_degrees=self.left, order=self.order, queue=self.queue, roots=self.roots,
            levels=self.levels, control=self.control, level_counters=self.level_counters, barrier=self.barrier,
            n=_int(self.graph.n), width=_int(self.subset_max_width), subset=_int(min(self.subset, blocks)),
            max_held=_int(self.max_held), helpers=_int(self.helpers),
        )  # fmt: skip

    @functools.cached_property
    def roots(self):
        return self.executor.empty(max(self.graph.n, 1), np.uint64)

    @property
    def control(self):
        return self.counters[:24]  # two sets of 8 ints, and a subset's 4 counters of levels

    @property
    def degree(self):
        return max(1.0, self.graph.m / max(self.graph.n, 1))

    @property
    def subset_max_width(self):
        """Vertices that the subset processes; few on the emulator, so that small graphs have wide levels."""
        return np.clip(self.arcs / self.degree, 64, 2048) if self.executor.name == "cuda" else 40

    @functools.cached_property
    def longest(self):
        """Arcs of the longest row."""
        return int(np.diff(self.graph.offsets).max(initial=0))

    @property
    def max_held(self):
        """Ready vertices that a warp of the subset processes itself, without the queue: none where a warp may make more
        vertices ready than it processed. Then some are kept and some queued, a warp reads both in each level, and
        levels take 1.5x.
        """
        return self.held if self.longest <= 1 or self.executor.name == "host" else 0

    @property
    def helpers(self):
        """Warps that may share a vertex: the longest row over the arcs that a warp reads at once. A warp without arcs
        of a shared row still loads the row and delays the barrier.
        """
        return int(np.clip(-(-self.longest // self.row), 1, self.most_helpers))

    @functools.cached_property
    def sizes(self):
        """Sizes of the layers. Cached, since creating a view takes the host about as long as a launch."""
        return self.levels[2:]

    def summary(self):
        return self.executor.get(self.levels[:2]).tolist()

    def run(self):
        self.launch()
        return self.result(self.summary, self.sizes)
