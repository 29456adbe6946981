"""The host side of waiting.cu: no rounds."""

import numpy as np

from .plan import DevicePlan

FEW = 30  # waiting.cu: a vertex of lower degree is a lane's
CLASSES, SHELF = 256, 64

_int = np.int32


class Waiting(DevicePlan):
    name, file = "waiting", "waiting.cu"
    defines = {"EARLY": 0, "THREADS": 512}
    per_block = 512
    hub, segment = 1024, 1024

    def __init__(self, graph, executor, seed=0, switch=None):
        if executor.name == "host":  # small blocks, and little patience, so that few vertices show every path
            self.defines = {**self.defines, "THREADS": 64, "PATIENCE": 20, "HUB": 96, "SEGMENT": 64, "SET_WORDS": 2}
            self.hub, self.segment = 96, 64
        super().__init__(graph, executor, seed, switch)

    def load(self):
        n, m = self.graph.n, self.graph.m
        self.kernel = self.kernels["waiting"]
        self.shared = 4 * (self.threads + CLASSES)
        self.blocks = self.resident_blocks(self.kernel, self.shared, -(-n // self.threads))
        warps = self.blocks * self.threads // 32
        big = int((self.graph.out_degrees() >= FEW).sum())
        self.rank, self.state = self.words(n, dtype=np.uint8), self.words(n)
        self.up, self.count, self.next = (
            self.words(m if big else 0),
            self.words(n if big else 0),
            self.words(n if big else 0),
        )
        self.small = self.words(4 * 32 * warps * -(-n // (32 * warps)))
        self.big, self.sorted = self.words(big), self.words(big)
        self.hubs = self.words(2 * (m // self.segment + m // self.hub + 1))
        self.filled = self.words(big // SHELF + CLASSES + 1)
        self.control = self.words(8 + CLASSES, 0, np.uint32)

    def run(self):
        self.kernel(
            self.blocks,
            self.threads,
            (
                self.offsets,
                self.targets,
                _int(self.graph.n),
                np.uint32(self.seed),
                self.rank,
                self.up,
                self.count,
                self.next,
                self.small,
                self.big,
                self.sorted,
                self.hubs,
                self.filled,
                _int(self.filled.size),
                self.control,
                self.state,
                self.colors,
            ),
            shared=self.shared,
            cooperative=True,
        )
        return self.result([self.graph.n])


class Early(Waiting):
    name, defines = "early", {"EARLY": 1, "THREADS": 512}
