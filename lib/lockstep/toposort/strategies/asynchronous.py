"""A sort without layers: a vertex is ready when its last predecessor is done."""

import numpy as np

from .shared import HEAD, KERNELS, DevicePlan

_int = np.int32


class Asynchronous(DevicePlan):
    """See asynchronous.cu; for the flags `stop` and `done`, see `Narrow`."""

    name = "asynchronous"
    layered = False
    per_block = 256
    stop = done = None

    def load(self):
        kernel = self.executor.load(KERNELS / "asynchronous.cu")["asynchronous"]
        shared = self.buffers + HEAD
        self.launch = kernel.bind(
            self.resident(kernel, shared), self.threads, shared=shared, cooperative=True, first=self.first,
            last=self.last, targets=self.targets, in_degrees=self.left, order=self.order, queue=self.queue,
            state=self.counters, halt=self.words[8:9].view(_int), barrier=self.barrier, stop=self.stop,
            done=self.done, n=_int(self.graph.n),
        )  # fmt: skip

    def summary(self):
        return None, self.executor.read(self.counters, 1)

    def run(self):
        self.launch()
        return self.result(self.summary)
