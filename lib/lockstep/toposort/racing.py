"""Strategies of the GPU that run against the CPU: two words by which kernel and host tell one another.

A kernel looks at its word every few levels, so it ends a while after that was sent: `choice.Costs.farewell`.
"""

import ctypes

import numpy as np

from .resident import Asynchronous, Chains, Narrow


class Race:
    """Two words: `done`, in the host's memory, set by a kernel at its end; `stop`, in the GPU's, set for it."""

    def __init__(self, executor):
        self.executor, self.stop_address, self.side_address = executor, 0, 0
        self.stop = executor.zeros(1, np.uint64)
        self.done = on_host = executor.zeros(24, np.uint64)  # three cache lines: {done}, {0}, {1}
        if executor.name == "cuda":
            import cupy
            import cupyx

            on_host = cupyx.zeros_pinned(24, np.uint64)
            memory = cupy.cuda.UnownedMemory(on_host.ctypes.data, on_host.nbytes, on_host)
            self.done = cupy.ndarray(24, np.uint64, cupy.cuda.MemoryPointer(memory, 0))
            self.side = cupy.cuda.Stream(non_blocking=True)  # what is sent overtakes the kernel
            self.stop_address, self.side_address = self.stop.data.ptr, self.side.ptr
            executor.synchronize()  # and would overtake the zero that `stop` is filled with
        on_host[16] = 1
        self.address = on_host.ctypes.data
        self.never = self.address + 64  # of a word that is not set
        self.over = ctypes.c_uint64.from_address(self.address)
        self.told = False

    def tell(self, word=1):
        """Have the kernel stop, sooner or later; with 0: have the next one run."""
        if self.executor.name == "cuda":
            runtime, source = self.executor.xp.cuda.runtime, self.address + 64 * (1 + word)
            runtime.memcpyAsync(self.stop.data.ptr, source, 8, runtime.memcpyHostToDevice, self.side.ptr)
        else:
            self.stop[0] = word
        self.told = bool(word)

    def prepare(self):
        # A kernel's own word says that one block ended. A warp of `asynchronous` that has not, and would find a zero
        # where others found a one and left, would wait for ever for what those had in hand.
        self.executor.synchronize()
        self.tell(0)
        self.settle()
        self.over.value = 0

    def settle(self):
        """Wait until what was sent is there."""
        if self.executor.name == "cuda":
            self.side.synchronize()

    def end(self):
        """Wait until the kernel has stopped."""
        if not self.told:
            self.tell()
        self.settle()
        self.executor.synchronize()


class _Racing:
    """A strategy of the GPU that tells when it is done, and ends when it is told to.

    Its run has two parts: the launches of `steps`, and `outcome`, the result to be, for which there is time meanwhile.
    """

    @property
    def steps(self):
        return (self.launch,)

    def load(self):
        self.race = Race(self.executor)
        self.stop, self.done = self.race.stop, self.race.done
        super().load()

    def prepare(self):
        self.race.prepare()
        super().prepare()

    def launch_all(self):
        for step in self.steps:
            step()

    def run(self):
        self.launch_all()
        return self.outcome()


class RacingNarrow(_Racing, Narrow):
    """`narrow`."""

    def load(self):
        super().load()
        self.sizes = self.levels[2:]  # takes as long as a launch

    def outcome(self):
        return self.result(self.summary, self.sizes)


class RacingChains(_Racing, Chains):
    """`chains`."""

    steps = None  # three of them, which `load` binds

    def outcome(self):
        return self.result(self.summary, order=self.unfolded)


class RacingAsynchronous(_Racing, Asynchronous):
    """`asynchronous`."""

    def outcome(self):
        return self.result(self.summary)
