"""The published strategy: three launches a layer."""

from dataclasses import dataclass

import numpy as np

from lockstep.options import Options, check_threads

from .shared import KERNELS, DevicePlan

_int = np.int32


@dataclass(frozen=True)
class NaiveOptions(Options):
    """Options of `naive`.

    Attributes
    ----------
    threads : int
        Threads per block, a multiple of 32; by default as many as a block may have, as in the thesis.
    """

    threads: int = DevicePlan.per_block

    def __post_init__(self):
        check_threads(self.threads)


class Naive(DevicePlan):
    Options = NaiveOptions
    name = "naive"

    def build(self):
        self.per_block = self.options.threads
        super().build()

    def load(self):
        kernels = self.executor.load(KERNELS / "naive.cu")
        n, threads = self.graph.n, self.threads
        self.waiting = self.executor.empty(max(n, 1), _int)
        self.waiting_size, self.count = self.counters[0:1], self.counters[1:2]
        self.launch_enqueue = kernels["enqueue"].bind(
            n // threads + 1, threads, in_degrees=self.left, queue=self.waiting, queue_size=self.waiting_size,
            n=_int(n),
        )  # fmt: skip
        self.launch_dequeue = kernels["dequeue"].loop(
            threads, offsets=self.offsets, targets=self.targets, in_degrees=self.left, queue=self.waiting,
            queue_size=self.waiting_size, order=self.order, count=self.count,
        )  # fmt: skip
        self.launch_reset = kernels["reset"].bind(1, 1, queue_size=self.waiting_size)
        after = self.launch_reset, self.launch_enqueue
        self.layer = self.executor.step(self.launch_dequeue, self.waiting_size, then=after)

    def launches(self):
        """The three launches of a layer as a generator, so that each can be timed."""
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
        self.launch_enqueue()
        sizes, size = [], self.executor.read(self.waiting_size)
        while size:
            sizes.append(size)
            size = int(self.layer(size // self.threads + 1)[0])
        result = self.result(lambda: (len(sizes), sum(sizes)), self.levels)
        result._sizes = np.array(sizes, _int)
        return result
