"""No rounds: a vertex depends only on its neighbors of higher priority; see waiting.cu and near.cu."""

import numpy as np

from .shared import KERNELS, DevicePlan

CLASSES, BUCKET = 256, 16  # of waiting.cu
NEAR = "near.cu", 15  # takes graphs up to this degree, with one large block a multiprocessor
NEAR_THREADS = 1024
ARCS = 4  # most arcs per thread, if enough blocks are available

_int = np.int32


class Waiting(DevicePlan):
    """Assign a color when all neighbors of higher priority have one."""

    file = "waiting.cu"
    defines = {"EARLY": 0}
    per_block = 512
    lanes, hub, segment = 16, 1024, 1024

    def build(self):
        if self.executor.name == "host":  # small blocks and limits, so that small graphs cover every path
            self.lanes, self.hub, self.segment = 12, 96, 64
            small = {
                "THREADS": 64,
                "LANES": self.lanes,
                "HUB": self.hub,
                "SEGMENT": self.segment,
                "SET_WORDS": 2,
            }
            self.defines = {**self.defines, **small}
        else:
            self.defines = {**self.defines, "THREADS": self.options.threads or self.per_block}
        super().build()

    def load(self):
        launch = self.near() or self.anywhere()
        # A CUDA graph saves some microseconds per launch, which matters for small inputs.
        with self.executor.capture() as graph:
            launch()
        self.launch = graph.launch

    def near(self):
        """The launch of near.cu; None if it does not take the graph."""
        if self.graph.out_degrees().max(initial=0) > NEAR[1]:
            return None
        n, machine = self.graph.n, self.executor
        threads = self.threads if machine.name == "host" else self.options.threads or NEAR_THREADS
        kernel = machine.load(KERNELS / NEAR[0], {**self.defines, "THREADS": threads})["near_ids"]
        per_block = 32 * -(-n // (32 * min(machine.multiprocessors, -(-n // threads))))  # vertices of a block
        shared = 4 * (2 * per_block + 1 + threads * -(-per_block // threads))
        if shared > machine.max_shared:
            return None
        return kernel.bind(
            -(-n // per_block), threads, shared=shared, cooperative=True, offsets=self.offsets, targets=self.targets,
            n=_int(n), seed=np.uint32(self.seed), per_block=_int(per_block), state=self.words(n), colors=self.colors,
            barrier=self.words(2, 0, np.uint32),
        )  # fmt: skip

    def anywhere(self):
        """The launch of waiting.cu."""
        n, m, threads = self.graph.n, self.graph.m, self.threads
        self.kernel = self.kernels["waiting"]
        sets = 4 * (threads + CLASSES)
        big = int((self.graph.out_degrees() >= self.lanes).sum())
        # A warp for each big vertex has priority over full blocks.
        useful = max(-(-n // threads), -(-m // (ARCS * threads)), -(-32 * big // threads))
        both = -(-(32 * big + n) // threads) + 1  # with so many threads small vertices do not queue behind big ones
        useful = max(useful, both if both <= 2 * self.executor.multiprocessors else 0)
        # Lists are in shared memory if those of two blocks per multiprocessor fit.
        lists = 16 * threads * -(-n // (threads * min(2 * self.executor.multiprocessors, useful)))
        self.shared = sets + lists * (sets + lists <= self.executor.max_shared // 2 - 1024)
        self.blocks = self.resident_blocks(self.kernel, self.shared, useful)
        each = 32 * -(-n // (threads * self.blocks))  # vertices of a warp
        in_shared = each if self.shared >= sets + 16 * each * threads // 32 else 0
        rows, vertices = (m, n) if big else (0, 0)
        return self.kernel.bind(
            self.blocks, threads, shared=self.shared, cooperative=True, offsets=self.offsets, targets=self.targets,
            n=_int(n), seed=np.uint32(self.seed), rank=self.words(n + 3, dtype=np.uint8), up=self.words(rows),
            count=self.words(vertices), listed=self.words(0 if in_shared else 4 * each * threads // 32 * self.blocks),
            in_shared=_int(in_shared), big=self.words(big), sorted=self.words(big),
            hubs=self.words(2 * (m // self.segment + m // self.hub + 1)),
            filled=self.words(big // BUCKET + CLASSES, 0), bucket_starts=self.words(big // BUCKET + CLASSES + 1),
            control=self.words(8 + CLASSES, 0, np.uint32), state=self.words(n + 3), colors=self.colors,
        )  # fmt: skip

    def run(self):
        self.launch()
        return self.colored([self.graph.n])


class Early(Waiting):
    """`waiting`, but assigns a color as soon as it is certain."""

    defines = {"EARLY": 1}
    per_block = 1024  # by part tuning on an H100
