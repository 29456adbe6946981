"""A sort without layers: a vertex is ready when its last predecessor is done."""

import numpy as np

from .shared import HEAD, KERNELS, DevicePlan

_int = np.int32


class Asynchronous(DevicePlan):
    """See asynchronous.cu; `stop` and `done` as with `Narrow`."""

    name = "asynchronous"
    layered = False
    per_block = 256
    stop = done = None

    def load(self):
        kernel = self.executor.load(KERNELS / "asynchronous.cu")["asynchronous"]
        shared = self.buffers + HEAD
        arguments = (
            self.first,
            self.last,
            self.targets,
            self.left,
            self.order,
            self.queue,
            self.counters,
            self.words[8:9].view(_int),
            self.barrier,
            self.stop,
            self.done,
            _int(self.graph.n),
        )
        self.launch = kernel.bind(
            self.resident(kernel, shared), self.threads, arguments, shared=shared, cooperative=True
        )

    def summary(self):
        return None, self.executor.read(self.counters, 1)

    def run(self):
        self.launch()
        return self.result(self.summary)
