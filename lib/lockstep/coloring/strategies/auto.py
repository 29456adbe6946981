"""What `auto` takes, and why."""

import dataclasses

from lockstep import plan

from ..oracle import BY_PRIORITY, EMPTIED, SMALLEST
from .baselines import Greedy
from .emptying import Emptying
from .waiting import Early

SMALL = 2000  # vertices and arcs that a core colors in the time of a launch and of the steps that must follow it
MANY = 2**22  # arcs from which on a coloring takes so long that emptying colors may take as long again
SHORT = 15  # rows up to this length: as on roads, where greedy's last colors are not thin enough to be emptied


def choose(graph, machine):
    """Name of the strategy, and the reason in a sentence.

    Parameters
    ----------
    graph : Graph
    machine : Executor or None
        None: no GPU answers and none was asked for.
    """
    if machine is None:
        return "greedy", "no GPU answers: a greedy loop on the CPU, largest degree first"
    if machine.name == "cuda" and graph.n + graph.m < SMALL:
        return "greedy", f"{graph.n + graph.m:,} vertices and arcs: one core is done before a GPU has started"
    reason = (
        "no rounds and no host in the loop: each vertex waits for its neighbors of higher degree alone, "
        "and takes a color as soon as it is certain"
    )
    name = on_gpu(graph.m, int(graph.out_degrees().max(initial=0)))
    if name == "emptying":
        reason += f"; then the highest colors are emptied: with {graph.m:,} arcs that is worth its steps"
    return name, reason


def on_gpu(arcs, longest):
    """Name of the strategy for a graph of so many stored arcs and so long a row, where it is worth a GPU.

    `emptying` takes colors away nearly everywhere, but each of its steps takes microseconds, however small the graph.
    Below MANY arcs that would often double the time of a coloring that is about as good as the fastest public code's.
    """
    return "emptying" if arcs >= MANY and longest > SHORT else "early"


class Auto(plan.Plan):
    """Returns the plan of the strategy that it chooses."""

    gpu = False

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        name, reason = choose(problem.graph, executor)
        kind, traits = CHOICES[name]
        entry = dataclasses.replace(strategy, name=name, plan=kind, traits=traits)
        told = kind.skip(problem, executor, None)
        if told:
            raise plan.Skip(told)
        found = kind.make(entry, problem, executor if kind.gpu else None)
        found.stats["reason"] = reason
        return found


CHOICES = {
    "greedy": (Greedy, frozenset({SMALLEST})),
    "early": (Early, frozenset({SMALLEST, BY_PRIORITY})),
    "emptying": (Emptying, frozenset({SMALLEST, EMPTIED})),
}
