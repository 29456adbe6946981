"""Study 0's cases of a single block: throughput of its threads' atomics.

They are separate from the cases of `bench`, so that a change to one leaves the other's recorded figures valid.
"""

import functools
from pathlib import Path

import numpy as np

from .bench import Bench, Case, Sample, expect

SOURCE = Path(__file__).with_name("oneblock.cu")
PARTS = ("block",)
KERNELS = {"shared": ("add_in_block", 14), "L2": ("add_from_block", 20)}  # memory: kernel, counters as a power of two
THREADS = (32, 64, 128, 256, 512, 768, 1024)


class OneBlock(Bench):
    """The cases of one executor, as `Bench`."""

    def __init__(self, executor, quick=False):
        super().__init__(executor, quick)
        self.kernels = executor.load(SOURCE)

    def block(self):
        """Atomics per second on random counters, in shared memory and in L2, against the block size."""
        for memory, (kernel, bits) in KERNELS.items():
            for threads in (32, 64) if self.host else THREADS[::3] if self.quick else THREADS:
                yield self._rate(memory, kernel, 6 if self.host else bits, threads)

    def _rate(self, memory, kernel, bits, threads):
        shared, rounds = 4 << bits if memory == "shared" else 0, []

        def run(rounds):
            counters, sums = self._counters(bits)
            counters[...] = 0
            sums[...] = 0
            values = dict(counters=counters, sums=sums, bits=np.int32(bits), rounds=np.int32(rounds))
            spent = self.device_ms(self.kernels[kernel].bind(1, threads, shared=shared, **values))
            left, what = counters.astype(np.uint64), f"{kernel} of {threads} threads"
            expect(int(left.sum()), threads * rounds, what)
            handed = (left * (left - np.uint64(1)) // np.uint64(2))[left > 0].sum()
            expect(self.executor.read(sums), int(handed), f"values returned by {what}")
            return spent

        def sample():
            if not rounds:  # as many as take about a third of a millisecond; and twice as many
                rounds.append(4 if self.host else int(np.clip(20 / max(run(64), 1e-3), 64, 1 << 14)))
            short, long = run(rounds[0]), run(2 * rounds[0])
            value = None if self.host else threads * rounds[0] / ((long - short) * 1e6)
            return Sample(value, 3 * threads * rounds[0], "exact")

        parameters = {"memory": memory, "addresses": 1 << bits, "threads": threads}
        return Case("block-atomics", "throughput", "G/s", kernel, parameters, sample)

    @functools.cache  # noqa: B019 - as in Bench
    def _counters(self, bits):
        return self.executor.zeros(1 << bits, np.uint32), self.executor.zeros(1, np.uint64)
