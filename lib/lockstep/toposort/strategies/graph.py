"""The second step of the ladder: many layers in one CUDA graph."""

import functools

import numpy as np

from .shared import KERNELS, LOOKS, DevicePlan

_int = np.int32


class Graph(DevicePlan):
    name = "graph"
    per_block = 512
    replays = (6, 48, 192)  # steps of the first, second and all further replays; multiples of three

    def load(self):
        kernels = self.executor.load(KERNELS / "graph.cu")
        n = self.graph.n
        self.records, self.sizes = self.counters[:12], self.levels[2:]
        blocks = min(8 * self.executor.multiprocessors, n // (LOOKS * self.threads) + 1)
        self.sources = kernels["sources"].bind(
            blocks, self.threads, shared=self.buffers, in_degrees=self.left, order=self.order, records=self.records,
            n=_int(n),
        )  # fmt: skip
        steps = [
            kernels["step"].bind(
                2 * self.executor.multiprocessors, self.threads, shared=self.buffers, first=self.first,
                last=self.last, targets=self.targets, in_degrees=self.left, order=self.order, queue=self.queue,
                levels=self.levels, records=self.records, phase=_int(phase),
            )  # fmt: skip
            for phase in range(3)
        ]
        self.graphs = []
        # Shorter on the emulator, where an empty step costs as much as one with work.
        for count in self.replays if self.executor.name == "cuda" else (6, 12):
            with self.executor.capture() as graph:
                for k in range(count):
                    steps[k % 3]()
            self.graphs.append(graph)

    def run(self):
        replay = 0
        self.sources()
        while True:
            self.graphs[min(replay, len(self.graphs) - 1)].launch()
            replay += 1
            count, depth, _, size = self.executor.get(self.records[:4]).tolist()
            if size == 0:
                return self.result(functools.partial(tuple, (depth, count)), self.sizes)
