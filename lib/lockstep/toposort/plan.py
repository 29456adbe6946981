"""What the plans of this study are made of.

Timing covers `run` alone, for CPU and GPU alike: the graph, its in-degrees and the memory are there before, as in the
published study; results stay on the device. `reset` puts the in-degrees back, which sorting destroys, and zeroes
counters. An experiment launches next to nothing before each run that launches, so that loading the driver's code into
the caches is not timed (`experiments`).
"""

from pathlib import Path

from lockstep import plan

KERNELS = Path(__file__).parent / "kernels"


class SortPlan(plan.Plan):
    """A strategy made ready for one graph; `run` returns a TopologicalOrder of the vertices that could be sorted: all
    of them, unless there is a cycle.
    """

    name = ""

    def __init__(self, strategy, problem, executor=None, options=None):
        super().__init__(strategy, problem, executor, options)
        self.graph = problem.graph
