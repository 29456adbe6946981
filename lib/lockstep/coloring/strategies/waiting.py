"""No rounds: a vertex waits for its neighbors of higher priority alone; see waiting.cu and near.cu."""

import numpy as np

from .shared import KERNELS, DevicePlan

CLASSES, BUCKET = 256, 16  # of waiting.cu
NEAR = "near.cu", 15  # takes graphs up to this degree, with one large block a multiprocessor
NEAR_THREADS = 1024
ARCS = 4  # a thread shall have no more, if there are blocks to share them

_int = np.int32


class Waiting(DevicePlan):
    """A color is taken when all neighbors of higher priority have one."""

    file = "waiting.cu"
    defines = {"EARLY": 0, "THREADS": 512}
    per_block = 512
    lanes, hub, segment = 16, 1024, 1024

    def build(self):
        if self.executor.name == "host":  # small blocks, and limits that small graphs exceed: they show every path
            self.lanes, self.hub, self.segment = 12, 96, 64
            small = {
                "THREADS": 64,
                "LANES": self.lanes,
                "HUB": self.hub,
                "SEGMENT": self.segment,
                "SET_WORDS": 2,
            }
            self.defines = {**self.defines, **small}
        super().build()

    def load(self):
        launch = self.near() or self.anywhere()
        # From a graph a launch costs some microseconds less, which is much on a small graph.
        with self.executor.capture() as graph:
            launch()
        self.launch = graph.launch

    def near(self):
        """The launch of near.cu; None if it does not take the graph."""
        if self.graph.out_degrees().max(initial=0) > NEAR[1]:
            return None
        n, machine = self.graph.n, self.executor
        threads = self.threads if machine.name == "host" else NEAR_THREADS
        kernel = machine.load(KERNELS / NEAR[0], {**self.defines, "THREADS": threads})["near_ids"]
        own = 32 * -(-n // (32 * min(machine.multiprocessors, -(-n // threads))))  # vertices of a block
        shared = 4 * (2 * own + 1 + threads * -(-own // threads))
        if shared > machine.max_shared:
            return None
        arguments = (
            self.offsets,
            self.targets,
            _int(n),
            np.uint32(self.seed),
            _int(own),
            self.words(n),
            self.colors,
            self.words(2, 0, np.uint32),
        )
        return kernel.bind(-(-n // own), threads, arguments, shared=shared, cooperative=True)

    def anywhere(self):
        """The launch of waiting.cu."""
        n, m, threads = self.graph.n, self.graph.m, self.threads
        self.kernel = self.kernels["waiting"]
        sets = 4 * (threads + CLASSES)
        big = int((self.graph.out_degrees() >= self.lanes).sum())
        # A warp for each big vertex is worth more than a full block.
        useful = max(-(-n // threads), -(-m // (ARCS * threads)), -(-32 * big // threads))
        both = -(-(32 * big + n) // threads) + 1  # so many, and the small ones need not wait for a warp's big one
        useful = max(useful, both if both <= 2 * self.executor.multiprocessors else 0)
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
            self.words(big // BUCKET + CLASSES, 0),
            self.words(big // BUCKET + CLASSES + 1),
            self.words(8 + CLASSES, 0, np.uint32),
            self.words(n + 3),
            self.colors,
        )
        return self.kernel.bind(self.blocks, threads, arguments, shared=self.shared, cooperative=True)

    def run(self):
        self.launch()
        return self.colored([self.graph.n])


class Early(Waiting):
    """`waiting`, and a color is taken as soon as it is certain."""

    defines = {"EARLY": 1, "THREADS": 512}
