"""The first step of the ladder: one launch a layer, which expands the ready vertices."""

import numpy as np

from .shared import KERNELS, LOOKS, DevicePlan

_int = np.int32


class Frontier(DevicePlan):
    name = "frontier"
    per_block = 256

    def load(self):
        kernels = self.executor.load(KERNELS / "frontier.cu")
        n = self.graph.n
        self.most = 8 * self.executor.multiprocessors
        self.pair = self.words[:2].view(_int)
        self.sizes = self.pair[1::2]  # the upper halves of the counters
        self.sources = kernels["sources"].bind(
            min(self.most, n // (LOOKS * self.threads) + 1), self.threads, shared=self.buffers, in_degrees=self.left,
            order=self.order, level_counters=self.level_counters, n=_int(n),
        )  # fmt: skip
        self.expand = kernels["frontier"].loop(
            self.threads, shared=self.buffers, first=self.first, last=self.last, targets=self.targets,
            in_degrees=self.left, order=self.order, queue=self.queue, level_counters=self.level_counters,
        )  # fmt: skip
        self.layer = self.executor.step(self.expand, self.pair)

    def run(self):
        self.sources()
        begin, sizes = 0, []
        size = self.executor.read(self.sizes, 1)
        while size:
            blocks = min(self.most, -(-size // self.warps))
            counters = self.layer(blocks, _int(len(sizes)), _int(begin), _int(begin + size))
            begin += size
            sizes.append(size)
            size = int(counters[1 + 2 * ((len(sizes) + 1) % 2)])
        result = self.result(lambda: (len(sizes), begin), self.levels)
        result._sizes = np.array(sizes, _int)
        return result
