"""Study 0's case of a step: a launch and its read-back in compiled code, as in a host-controlled loop.

It is separate from the cases of `bench`, so that a change to one leaves the other's recorded figures valid.
"""

import numpy as np

from .bench import Bench, expect

PARTS = ("step",)
KERNELS = ("count_step",)  # strategy name in rows; the kernel is `count_launch`


class Stepping(Bench):
    """The case of one executor, as `Bench`."""

    def step(self):
        """A launch and one number read back, without Python between the two."""
        executor = self.executor

        def setup():
            counter = executor.zeros(1, np.uint32)
            step, seen = executor.step(self.module["count_launch"].loop(32, counter=counter), counter), [0]

            def run(rounds):
                for _ in range(rounds):
                    seen[0] = int(step(1)[0])

            return run, lambda done: expect(seen[0], done, "steps")

        yield self.latency("step", *KERNELS, {}, "us", self.repeats((2, 5), (50, 350)), setup, host_bound=True)
