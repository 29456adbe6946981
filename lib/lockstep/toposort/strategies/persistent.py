"""The third step of the ladder: one kernel stays on the GPU until all is sorted."""

import functools

import numpy as np

from .shared import KERNELS, DevicePlan

_int = np.int32


class Persistent(DevicePlan):
    name = "persistent"
    per_block = 512
    subset = 8  # blocks that process a frontier of middling width
    arcs = 4096  # that make a frontier wider than that
    kept, row = 4, 128  # vertices that a warp goes on with; arcs that it takes in one go
    most_helpers = 8  # of expand.cuh

    def load(self):
        kernel = self.executor.load(KERNELS / "persistent.cu")["persistent"]
        shared = self.buffers + 32  # and 5 ints to meet
        blocks = self.resident(kernel, shared)
        self.launch = kernel.bind(
            blocks, self.threads, shared=shared, cooperative=True, first=self.first, last=self.last,
            targets=self.targets, in_degrees=self.left, order=self.order, queue=self.queue, roots=self.roots,
            levels=self.levels, control=self.control, gates=self.gates, barrier=self.barrier, n=_int(self.graph.n),
            width=_int(self.breadth), subset=_int(min(self.subset, blocks)), keep=_int(self.keep),
            helpers=_int(self.helpers),
        )  # fmt: skip

    @functools.cached_property
    def roots(self):
        return self.executor.empty(max(self.graph.n, 1), np.uint64)

    @property
    def control(self):
        return self.counters[:24]  # two sets of 8 ints, and a subset's 4 gates

    @property
    def degree(self):
        return max(1.0, self.graph.m / max(self.graph.n, 1))

    @property
    def breadth(self):
        """Vertices that the subset processes; few on the hypothetical GPU, so that small graphs have wide levels."""
        return np.clip(self.arcs / self.degree, 64, 2048) if self.executor.name == "cuda" else 40

    @functools.cached_property
    def longest(self):
        """Arcs of the longest row."""
        return int(np.diff(self.graph.offsets).max(initial=0))

    @property
    def keep(self):
        """Ready vertices that a warp of the subset processes itself, without the queue: none where it may get more of
        them than it had. Then some are its own and some queued, it reads both in each level, and levels take 1.5x.
        """
        return self.kept if self.longest <= 1 or self.executor.name == "host" else 0

    @property
    def helpers(self):
        """Warps that may share a vertex: as many as its row has stretches that a warp takes in one go. One that helps
        where nothing is left to do has waited for the row, and all others then wait for it.
        """
        return int(np.clip(-(-self.longest // self.row), 1, self.most_helpers))

    @functools.cached_property
    def sizes(self):
        """Of the layers. Made once: a view takes the host about as long as a launch."""
        return self.levels[2:]

    def summary(self):
        return self.executor.get(self.levels[:2]).tolist()

    def run(self):
        self.launch()
        return self.result(self.summary, self.sizes)
