"""Base classes of this study's plans, and of those on the GPU.

`reset` restores work arrays, `run` colors. Timing covers `run` alone, for CPU and GPU alike; the graph is transferred
and memory allocated before, and the colors stay on the device.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lockstep import plan
from lockstep.options import Options, check_threads

from ..result import Coloring

KERNELS = Path(__file__).parent


class ColoringPlan(plan.Plan):
    """A strategy made ready for one graph and one seed; `run` returns a Coloring."""

    def __init__(self, strategy, problem, executor=None, options=None):
        super().__init__(strategy, problem, executor, options)
        self.graph, self.seed = problem.graph, problem.seed

    def result(self, colors, active, **stats):
        return Coloring(colors, self.strategy.name, active, {**self.stats, **stats})

    def figures(self, result):
        """Colors, iterations, and where the phase by degree ended."""
        found = {"colors": (result.count, "1")}
        if "rounds" in result.stats:
            found["iterations"] = (result.stats["rounds"], "1")
        if "switched" in result.stats:
            found |= {"switched": (result.stats["switched"], "1"), "left": (result.stats["left"], "1")}
        return found


@dataclass(frozen=True)
class OnDevice(Options):
    """Options of strategies on the GPU.

    Attributes
    ----------
    threads : int, optional
        Threads per block, a multiple of 32; None: the strategy's own number.
    """

    threads: int | None = None

    def __post_init__(self):
        check_threads(self.threads)


class DevicePlan(ColoringPlan):
    """What the strategies on the GPU share: the graph there, and how the colors come back."""

    Options = OnDevice
    file = ""
    defines: dict = {}
    per_block = 256  # threads; two warps on the emulator, where threads do not run in parallel

    @classmethod
    def skip(cls, problem, executor, options):
        return problem.too_large(instead="greedy")

    def build(self):
        """The graph on the device, and what `load` adds."""
        graph, executor = self.graph, self.executor
        self.threads = (self.options.threads or self.per_block) if executor.name == "cuda" else 64
        self.offsets = executor.array(graph.offsets.astype(np.int32))
        self.targets = (
            self.words(graph.m) if graph.m == 0 else executor.array(graph.targets.astype(np.int32, copy=False))
        )
        self.colors = self.words(graph.n)
        self.kernels = executor.load(KERNELS / self.file, self.defines)
        self.load()

    def words(self, size, value=None, dtype=np.int32):
        """A device array of at least one word."""
        size = max(int(size), 1)
        return self.executor.empty(size, dtype) if value is None else self.executor.full(size, value, dtype)

    def load(self):
        """Take kernels, allocate work arrays of the strategy's own."""

    def resident_blocks(self, kernel, shared, useful):
        """Blocks of a cooperative launch: at most `useful` and resident ones; a few on the emulator."""
        most = kernel.max_blocks(self.threads, shared)
        if self.executor.name == "host":
            most = min(most, 2 * self.executor.multiprocessors)
        return max(1, min(most, useful))

    def colored(self, active, **stats):
        """The outcome; the colors stay on the device until they are read."""
        colors, get, n = self.colors, self.executor.get, self.graph.n
        return self.result(lambda: get(colors)[:n], active, **stats)
