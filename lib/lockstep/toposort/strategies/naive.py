"""The published strategy: three launches a layer."""

import functools

import numpy as np

from .shared import KERNELS, DevicePlan

_int = np.int32


class Naive(DevicePlan):
    name = "naive"

    def load(self):
        kernels = self.executor.load(KERNELS / "naive.cu")
        n, threads = self.graph.n, self.threads
        self.waiting = self.executor.empty(max(n, 1), _int)
        self.waiting_size, self.count = self.counters[0:1], self.counters[1:2]
        self.launch_enqueue = kernels["enqueue"].bind(
            n // threads + 1, threads, in_degrees=self.left, queue=self.waiting, queue_size=self.waiting_size,
            n=_int(n),
        )  # fmt: skip
        self.launch_dequeue = _by_grid(
            kernels["dequeue"], threads, offsets=self.offsets, targets=self.targets, in_degrees=self.left,
            queue=self.waiting, queue_size=self.waiting_size, order=self.order, count=self.count,
        )  # fmt: skip
        self.launch_reset = kernels["reset"].bind(1, 1, queue_size=self.waiting_size)

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


def _by_grid(kernel, threads, **values):
    """Launches of one kernel that differ in their grid alone; each grid is bound when it first occurs."""
    bound = functools.cache(lambda blocks: kernel.bind(blocks, threads, **values))
    return lambda blocks: bound(blocks)()
