"""Base classes of this study's plans, and of those on the GPU.

A built plan has arcs packed on the device, kernels compiled, memory allocated. Timing covers `run`, which initializes
all distances to "not reached" and ends with the result on the device and its statistics on the host.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lockstep import plan
from lockstep.options import Options
from lockstep.plan import Outgrown

from ..result import ShortestPaths

KERNELS = Path(__file__).parent
COUNTED = ("rounds", "buckets", "sweeps", "steps", "repairs")  # statistics that are recorded beside a time

_int = np.int32


@dataclass(frozen=True)
class Bucketed(Options):
    """Options of strategies with buckets.

    Attributes
    ----------
    delta : float, optional
        Width of a bucket, > 0, in the unit of the weights; inf: one bucket. None: the strategy's own choice.
    """

    delta: float | None = None

    def __post_init__(self):
        if self.delta is not None and not self.delta > 0:
            raise ValueError(f"delta is {self.delta}; expected a width > 0 (inf: one bucket)")


@dataclass(frozen=True)
class OnDevice(Bucketed):
    """Further options of strategies on the GPU.

    Attributes
    ----------
    threads : int, optional
        Threads per block.
    """

    threads: int | None = None


class PathPlan(plan.Plan):
    """A strategy made ready for one graph; `run` returns the ShortestPaths from the problem's source."""

    Options = Bucketed

    def build(self):
        self.delta = self.default_delta() if self.options.delta is None else self.options.delta

    def default_delta(self):
        """Default bucket width in the graph's units; infinite (one bucket) unless overridden."""
        return np.inf

    def result(self, raw, **stats):
        stats = {"delta": self.delta, "type": self.problem.dtype.name, **self.stats, **stats}
        return ShortestPaths(self.problem, self.problem.source, self.strategy.name, raw, stats)

    def figures(self, result):
        """Rounds of a run; for inexact strategies also the error."""
        found = {name: (result.stats[name], "1") for name in COUNTED if name in result.stats}
        if not self.strategy.exact:
            errors = self.problem.checker.errors(result)
            found |= {"wrong": (errors.wrong, "vertices"), "wrong_share": (errors.share, "1")}
        return found


def road_delta(problem):
    """32 mean weights, within a factor of two of the best bucket width on roads (see the notebook).

    A round's cost hardly depends on its work until the GPU is full: on sparse graphs fewer rounds outweigh redundant
    relaxations; dense graphs have more redundancy and few rounds.
    """
    return 32.0 * problem.mean_weight * problem.scale


class DevicePlan(PathPlan):
    """What the strategies on the GPU share: the graph there."""

    Options = OnDevice
    file = ""
    threads = 256
    both_ways = False  # whether incoming arcs are needed too

    def build(self):
        super().build()
        ex, problem = self.executor, self.problem
        self.threads = self.options.threads or (type(self).threads if ex.name == "cuda" else 64)
        if ex.name == "cuda" and self.threads % 32:
            raise ValueError(f"threads={self.threads}; expected a multiple of 32 on a GPU: whole warps")
        self.n, self.limit = _int(problem.graph.n), problem.dtype.type(problem.limit)
        self.width = problem.distance(self.delta)
        self.offsets, self.arcs = problem.on(ex)
        if self.both_ways:
            self.in_offsets, self.in_arcs = problem.on(ex, incoming=True)
        self.dist = ex.empty(max(problem.graph.n, 1), problem.dtype)
        self.barrier = ex.zeros(2, np.uint32)
        self.lowest = ex.empty(4, problem.dtype)
        self.control = ex.zeros(16, _int)
        self.load()

    def load(self):
        """Load kernels, allocate work arrays of the strategy's own."""

    def kernels(self, **defines):
        return self.executor.load(KERNELS / self.file, {**self.problem.defines, **defines})

    def resident(self, kernel, most, shared=0):
        """Blocks of a cooperative launch, at most `most`."""
        return max(1, min(most, kernel.max_blocks(self.threads, shared)))

    def sum(self, low):
        """The end of a bucket that begins at `low`, in the type; larger than low."""
        if self.problem.wide:
            return max(np.float64(low + self.width), np.nextafter(low, np.inf))
        return np.uint32(min(int(low) + int(self.width), self.problem.infinity))

    def raw(self, array=None):
        array, get, n = self.dist if array is None else array, self.executor.get, self.problem.graph.n
        return lambda: get(array)[:n]

    def overflowed(self, flag):
        if flag:
            raise Outgrown
