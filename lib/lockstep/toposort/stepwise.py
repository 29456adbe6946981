"""Strategies that take a launch, or several, for each level: the published one, and the ladder's first two steps."""

import functools

import numpy as np

from .device import LOOKS, DevicePlan
from .plan import KERNELS

_int = np.int32


class Naive(DevicePlan):
    name = "naive"

    def load(self):
        kernels = self.executor.load(KERNELS / "naive.cu")
        n, threads = self.graph.n, self.threads
        self.waiting = self.executor.empty(max(n, 1), _int)
        self.waiting_size, self.count = self.counters[0:1], self.counters[1:2]
        self.launch_enqueue = kernels["enqueue"].bind(
            n // threads + 1, threads, (self.left, self.waiting, self.waiting_size, _int(n))
        )
        dequeue = (self.offsets, self.targets, self.left, self.waiting, self.waiting_size, self.order, self.count)
        self.launch_dequeue = _by_grid(kernels["dequeue"], threads, dequeue)
        self.launch_reset = kernels["reset"].bind(1, 1, (self.waiting_size,))

    def launches(self):
        """The three launches of a layer, one after another, so that a stopwatch can be held between them."""
        while True:
            self.launch_enqueue()
            size = self.executor.read(self.waiting_size)
            yield "enqueue", size
            if size == 0:
                return
            self.launch_dequeue(size // self.threads + 1)
            yield "dequeue", size
            self.launch_reset()
            yield "reset", size

    def run(self):
        sizes = np.array([size for kernel, size in self.launches() if kernel == "enqueue"][:-1], _int)
        result = self.result(lambda: (sizes.size, int(sizes.sum())), self.levels)
        result._sizes = sizes
        return result

    def shares(self):
        """Milliseconds in each of the three kernels, every launch waited for: for their shares, not for their sum."""
        spent = {"enqueue": 0.0, "dequeue": 0.0, "reset": 0.0}
        launches = self.launches()
        while True:
            with self.executor.timer() as timer:
                kernel, size = next(launches)
            spent[kernel] += timer.wall_ms
            if kernel == "enqueue" and size == 0:
                return spent


def _by_grid(kernel, threads, arguments):
    """Launches of one kernel that differ in their grid alone; each grid is bound when it first occurs."""
    bound = functools.cache(lambda blocks: kernel.bind(blocks, threads, arguments))
    return lambda blocks: bound(blocks)()


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
            blocks, self.threads, (self.left, self.order, self.records, _int(n)), shared=self.buffers
        )
        arguments = (self.first, self.last, self.targets, self.left, self.order, self.queue, self.levels, self.records)
        steps = [
            kernels["step"].bind(
                2 * self.executor.multiprocessors, self.threads, (*arguments, _int(turn)), shared=self.buffers
            )
            for turn in range(3)
        ]
        self.graphs = []
        # On the hypothetical GPU shorter ones: there a step without work costs as much as one with.
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
