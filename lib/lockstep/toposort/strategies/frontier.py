"""The first step of the ladder: a launch a layer, on the vertices that are ready."""

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
        self.sizes = self.words[:2].view(_int)[1::2]  # the gates' upper halves
        self.sources = kernels["sources"].bind(
            min(self.most, n // (LOOKS * self.threads) + 1),
            self.threads,
            (self.left, self.order, self.gates, _int(n)),
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
