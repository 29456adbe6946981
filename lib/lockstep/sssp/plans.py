"""What a strategy is when it is made ready for one graph on one machine: a plan.

Arcs are packed and on the device, kernels compiled, memory is there. `run(source)` is what is timed: it sets
all distances to "not reached" and ends with the result on the device and its statistics on the host.
"""

from pathlib import Path

import numpy as np

from .problem import DistanceOverflow
from .result import ShortestPaths

KERNELS = Path(__file__).parent / "kernels"

_int = np.int32


class Plan:
    """A strategy made ready for one graph.

    Parameters
    ----------
    problem : Problem
    executor : Executor or None
        None for strategies of the CPU.
    delta : float or None
        Width of a bucket in the graph's units; None: the strategy's own choice.
    layers : int
        Layers of semaphores, where there are any.
    """

    name = ""
    files: tuple = ()

    def __init__(self, problem, executor=None, delta=None, layers=2, **options):
        self.problem, self.executor, self.layers = problem, executor, int(layers)
        self.delta = self.default_delta() if delta is None else delta
        self.options = options

    def default_delta(self):
        """In the graph's units. One bucket: where a round costs a launch, few rounds matter most."""
        return np.inf

    def run(self, source):
        """Distances from `source`, as a ShortestPaths."""
        raise NotImplementedError

    def result(self, source, raw, **stats):
        stats = {"delta": self.delta, "type": self.problem.dtype.name, **stats}
        return ShortestPaths(self.problem, source, self.name, raw, stats)


def road_delta(problem):
    """Bucket width that was best on roads within a factor of two (see the notebook): wide buckets.

    A round's cost hardly depends on its work until the GPU is full: a sparse graph wants few rounds and pays
    with work done in vain; a dense one would pay more, and has few rounds anyway.
    """
    return 32.0 * problem.mean_weight * problem.scale


class DevicePlan(Plan):
    """What the strategies on the GPU share: the graph there."""

    threads = 256
    both_ways = False  # whether arcs are needed by their heads too

    def __init__(self, problem, executor, delta=None, layers=2, arrays=None, **options):
        super().__init__(problem, executor, delta, layers, **options)
        ex, graph = executor, problem.graph
        self.threads = options.get("threads", type(self).threads if ex.name == "cuda" else 64)
        self.n, self.limit = _int(graph.n), problem.dtype.type(problem.limit)
        self.width = problem.distance(self.delta)
        if arrays is None:
            arrays = {}
        if "out" not in arrays:
            offsets, arcs = problem.pack(graph.offsets, graph.targets, problem.weights)
            arrays["out"] = ex.array(offsets), ex.array(arcs)
        self.offsets, self.arcs = arrays["out"]
        if self.both_ways:
            if "in" not in arrays:
                arrays["in"] = tuple(ex.array(a) for a in incoming(problem))
            self.in_offsets, self.in_arcs = arrays["in"]
        size = max(graph.n, 1)
        self.dist = ex.empty(size, problem.dtype)
        self.barrier = ex.zeros(2, np.uint32)
        self.lowest = ex.empty(4, problem.dtype)
        self.control = ex.zeros(16, _int)
        self.load()

    def load(self):
        """Load kernels, allocate work arrays."""

    def kernels(self, **defines):
        return self.executor.load(KERNELS / self.files[0], {**self.problem.defines, **defines})

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
            raise DistanceOverflow


def incoming(problem):
    """(offsets, arcs) of the reversed graph: the arcs that lead to each vertex, with their tails."""
    graph = problem.graph
    order = np.argsort(graph.targets, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(graph.targets, minlength=graph.n))])
    sources = np.repeat(np.arange(graph.n, dtype=np.int32), np.diff(graph.offsets))
    return problem.pack(offsets, sources[order], problem.weights[order])
