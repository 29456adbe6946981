"""A strategy made ready for one graph.

`prepare` puts the input back as it was (in-degrees are destroyed by sorting, counters must be zero); `run` sorts.
Timing covers `run` alone, for CPU and GPU alike: the graph, its in-degrees and the memory are there before, as in the
published study; results stay on the device. An experiment launches next to nothing before each run that launches, so
that loading the driver's code into the caches is not timed (`experiments`).
"""

from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"


class Plan:
    """A strategy made ready for one graph.

    Parameters
    ----------
    graph : Graph
    executor : Executor or None
        None for strategies of the CPU.
    """

    name = ""

    def __init__(self, graph, executor=None):
        self.graph, self.executor = graph, executor

    def prepare(self):
        """Put the input back as it was; not timed."""

    def run(self):
        """Sort; returns a TopologicalOrder of the vertices that could be sorted (all of them, unless there is a
        cycle).
        """
        raise NotImplementedError

