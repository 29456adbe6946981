"""Choice of `auto`, with reason."""

from lockstep import plan

from .cpu_lanes import CpuLanes


def choose(measure, machine):
    """Name of the strategy for any batch here, and the reason in a sentence.

    Parameters
    ----------
    measure : str
        A name in MEASURES.
    machine : Executor or None
        None: no GPU is available or requested.
    """
    if machine is None and measure in CpuLanes.tasks:
        return "cpu-lanes", "no GPU here: all cores, many sources of a graph at once"
    if machine is None:
        return "cpu", "no GPU here: all cores"
    return "swarm", "the fastest on a GPU, whatever the sizes"


class Auto(plan.Plan):
    """Returns the plan of the strategy that it chooses."""

    gpu = False

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        from .table import STRATEGIES  # which lists this class

        name, reason = choose(problem.measure, executor)
        found = STRATEGIES[name].plan_for(problem, executor)
        found.stats["reason"] = reason
        return found
