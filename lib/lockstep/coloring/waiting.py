"""The host side of waiting.cu: no rounds."""

import numpy as np

from .plan import DevicePlan

FEW = 30  # waiting.cu: a vertex of lower degree is a lane's
CLASSES, SHELF = 256, 64
ARCS = 16  # arcs a thread, of which there shall be no more if there are blocks to share them

_int = np.int32


class Waiting(DevicePlan):
    name, file = "waiting", "waiting.cu"
    defines = {"EARLY": 0, "THREADS": 512}
    per_block = 512
    hub, segment = 1024, 1024

    def __init__(self, graph, executor, seed=0, switch=None):
        self.alone = 0
        if executor.name == "host":  # small blocks, and little patience, so that few vertices show every path
            small = {"THREADS": 64, "PATIENCE": 20, "HUB": 96, "SEGMENT": 64, "SET_WORDS": 2}
            self.defines = {**self.defines, **small}
            self.hub, self.segment = 96, 64
        super().__init__(graph, executor, seed, switch)

    def load(self):
        n, m = self.graph.n, self.graph.m
        self.kernel = self.kernels["waiting"]
        sets, most = 4 * (self.threads + CLASSES), self.executor.multiprocessors
        useful = max(-(-n // self.threads), -(-m // (ARCS * self.threads)))
        if self.alone:
            self.blocks = 1
            self.shared = sets + self.alone
        else:
            # Lists in shared memory, if two blocks a multiprocessor can have theirs.
            lists = 16 * self.threads * -(-n // (self.threads * min(2 * most, useful)))
            fits = sets + lists <= self.executor.max_shared // 2 - 1024
            self.shared = sets + lists * fits
            self.blocks = self.resident_blocks(self.kernel, self.shared, useful)
        each = 32 * -(-n // (self.threads * self.blocks))
        in_shared = each if self.shared >= sets + 16 * each * self.threads // 32 else 0
        big = int((self.graph.out_degrees() >= FEW).sum())
        rows, vertices = (m, n) if big else (0, 0)
        filled = self.words(big // SHELF + CLASSES + 1)
        arguments = (
            self.offsets,
            self.targets,
            _int(n),
            np.uint32(self.seed),
            self.words(n, dtype=np.uint8),
            self.words(rows),
            self.words(vertices),
            self.words(vertices),
            self.words(0 if in_shared else 4 * each * self.threads // 32 * self.blocks),
            _int(in_shared),
            self.words(big),
            self.words(big),
            self.words(2 * (m // self.segment + m // self.hub + 1)),
            filled,
            _int(filled.size),
            self.words(8 + CLASSES, 0, np.uint32),
            self.words(n),
            self.colors,
        )
        self.launch = self.kernel.bind(
            self.blocks, self.threads, arguments, shared=self.shared, cooperative=True
        )

    def run(self):
        self.launch()
        return self.result([self.graph.n])


class Early(Waiting):
    name, defines = "early", {"EARLY": 1, "THREADS": 512}


class Block(Early):
    """Everything in one block's shared memory where that holds it; else as `early`."""

    name = "block"

    def __init__(self, graph, executor, seed=0, switch=None):
        if self.bytes(graph, executor) <= executor.max_shared:
            threads = 64 if executor.name == "host" else 1024
            self.per_block, self.defines = threads, {"EARLY": 1, "THREADS": threads, "ALONE": 1}
        super().__init__(graph, executor, seed, switch)

    @staticmethod
    def bytes(graph, executor):
        """Shared memory that one block needs for the graph and its lists."""
        threads = 64 if executor.name == "host" else 1024
        lists = 16 * threads * -(-graph.n // threads)
        return 4 * (threads + CLASSES) + lists + 4 * (2 * graph.n + 1 + graph.m) + graph.n

    def load(self):
        if "ALONE" in self.defines:
            self.alone = self.bytes(self.graph, self.executor) - 4 * (self.threads + CLASSES)
        super().load()
