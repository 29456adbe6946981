"""What every strategy is on the host: a plan, made ready for one graph on one machine.

`prepare` puts work arrays back, `run` colors. Timing covers `run` alone, for CPU and GPU alike; the graph and
the memory are there before, and the colors stay on the device.
"""

from pathlib import Path

import numpy as np

from lockstep.graphs import GraphError

from . import switching
from .result import Coloring

KERNELS = Path(__file__).parent / "kernels"


class Plan:
    """A strategy made ready for one graph.

    Parameters
    ----------
    graph : Graph
        Undirected, each neighbor once (`neighbors`).
    executor : Executor or None
        None for strategies of the CPU.
    seed : int
        Of the random numbers.
    switch : Switch
        When `hybrid` leaves its first phase.
    """

    name = ""
    file = ""
    defines: dict = {}

    def __init__(self, graph, executor=None, seed=0, switch=None):
        self.graph, self.executor, self.seed = graph, executor, seed
        self.switch = switch or switching.Auto()

    def prepare(self):
        """Put the work arrays back as they were; not timed."""

    def run(self):
        """Color; returns a Coloring."""
        raise NotImplementedError


class DevicePlan(Plan):
    """What the strategies on the GPU share: the graph there, and how the colors come back."""

    per_block = 256  # threads; on the hypothetical GPU two warps, for threads there are no faster than one

    def __init__(self, graph, executor, seed=0, switch=None):
        super().__init__(graph, executor, seed, switch)
        if max(graph.n, graph.m) >= 2**31 - 2**20:
            raise GraphError(
                f"{graph.name or 'the graph'} has {graph.n:,} vertices and {graph.m:,} arcs; the GPU "
                "strategies take fewer than 2^31 of each: use strategy='greedy'"
            )
        self.threads = self.per_block if executor.name == "cuda" else 64
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
        """Take kernels, allocate work arrays."""

    def resident_blocks(self, kernel, shared, useful):
        """Blocks of a cooperative launch: no more than are useful or alive together; a few on the
        hypothetical GPU.
        """
        most = kernel.max_blocks(self.threads, shared)
        if self.executor.name == "host":
            most = min(most, 2 * self.executor.multiprocessors)
        return max(1, min(most, useful))

    def result(self, active, **stats):
        """The outcome; the colors stay on the device until somebody asks for them."""
        colors, get, n = self.colors, self.executor.get, self.graph.n
        return Coloring(lambda: get(colors)[:n], self.name, active, stats)
