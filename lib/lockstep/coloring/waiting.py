"""The host side of waiting.cu: no rounds."""

import numpy as np

from .plan import DevicePlan

CLASSES, SHELF = 256, 16  # of waiting.cu
ARCS = 4  # a thread shall have no more, if there are blocks to share them

_int = np.int32


class Waiting(DevicePlan):
    name, file = "waiting", "waiting.cu"
    defines = {"EARLY": 0, "THREADS": 512}
    per_block = 512
    lanes, hub, segment = 16, 1024, 1024

    def __init__(self, graph, executor, seed=0, switch=None):
        if executor.name == "host":  # small blocks, and limits that small graphs exceed, so that they show every path
            self.lanes, self.hub, self.segment = 12, 96, 64
            small = {
                "THREADS": 64,
                "LANES": self.lanes,
                "HUB": self.hub,
                "SEGMENT": self.segment,
                "SET_WORDS": 2,
            }
            self.defines = {**self.defines, **small}
        super().__init__(graph, executor, seed, switch)

    def load(self):
        n, m, threads = self.graph.n, self.graph.m, self.threads
        self.kernel = self.kernels["waiting"]
        sets = 4 * (threads + CLASSES)
        big = int((self.graph.out_degrees() >= self.lanes).sum())
        # A warp for each big vertex is worth more than a full block.
        useful = max(-(-n // threads), -(-m // (ARCS * threads)), -(-32 * big // threads))
        # Lists lie in shared memory if two blocks a multiprocessor can have theirs there.
        lists = 16 * threads * -(-n // (threads * min(2 * self.executor.multiprocessors, useful)))
        self.shared = sets + lists * (sets + lists <= self.executor.max_shared // 2 - 1024)
        self.blocks = self.resident_blocks(self.kernel, self.shared, useful)
        each = 32 * -(-n // (threads * self.blocks))  # vertices of a warp
        in_shared = each if self.shared >= sets + 16 * each * threads // 32 else 0
        rows, vertices = (m, n) if big else (0, 0)
        arguments = (
            self.offsets,
            self.targets,
            _int(n),
            np.uint32(self.seed),
            self.words(n + 3, dtype=np.uint8),
            self.words(rows),
            self.words(vertices),
            self.words(0 if in_shared else 4 * each * threads // 32 * self.blocks),
            _int(in_shared),
            self.words(big),
            self.words(big),
            self.words(2 * (m // self.segment + m // self.hub + 1)),
            self.words(big // SHELF + CLASSES, 0),
            self.words(big // SHELF + CLASSES + 1),
            self.words(8 + CLASSES, 0, np.uint32),
            self.words(n + 3),
            self.colors,
        )
        # From a graph a launch costs some microseconds less, which is much on a small graph.
        launch = self.kernel.bind(self.blocks, threads, arguments, shared=self.shared, cooperative=True)
        with self.executor.capture() as graph:
            launch()
        self.launch = graph.launch

    def run(self):
        self.launch()
        return self.result([self.graph.n])


class Early(Waiting):
    name, defines = "early", {"EARLY": 1, "THREADS": 512}
