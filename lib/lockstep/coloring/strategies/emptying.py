"""Eliminates highest color classes after `early`; see emptying.cu."""

import numpy as np

from .shared import KERNELS
from .waiting import Early

COLORS, MOST_MEMBERS, MOST_CONFLICTS, LONGEST_ROW, QUEUE_CAPACITY = 1024, 64, 8, 4096, 512  # of emptying.cu


class Emptying(Early):
    """`early`, then a second kernel that eliminates the highest color classes, in one CUDA graph."""

    second_file = KERNELS / "emptying.cu"
    per_block = 512

    def load(self):
        first, second = self.near() or self.anywhere(), self.second()
        with self.executor.capture() as graph:
            first()
            second()
        self.launch = graph.launch

    def second(self):
        """The launch of emptying.cu."""
        n, machine, threads = self.graph.n, self.executor, self.threads
        kernel = machine.load(self.second_file, {"THREADS": threads})["emptying"]
        shared = 4 * (3 * COLORS + 3 * QUEUE_CAPACITY + MOST_CONFLICTS + threads // 32 + 2) + 2 * 2 * LONGEST_ROW
        # A block for every neighbor that a step examines, and enough blocks to scan all colors quickly.
        widest = min(int(self.graph.out_degrees().max(initial=0)), LONGEST_ROW)
        blocks = self.resident_blocks(kernel, shared, max(widest, -(-n // threads)))
        self.control = self.words(4, 0, np.uint32)
        self.zero = self.words(4, 0, np.uint32)
        return kernel.bind(
            blocks, threads, shared=shared, cooperative=True, offsets=self.offsets, targets=self.targets,
            n=np.int32(n), colors=self.colors, kept=self.words(n), members=self.words(2 * MOST_MEMBERS),
            moves=self.words(LONGEST_ROW), control=self.control,
        )  # fmt: skip

    def reset(self):
        self.executor.copy(self.control, self.zero)
