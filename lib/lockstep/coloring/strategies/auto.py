"""Choice of `auto`, with reason."""

import dataclasses

from lockstep import choose, plan

from ..oracle import BY_PRIORITY, EMPTIED, SMALLEST
from .baselines import Greedy
from .emptying import Emptying
from .waiting import Early

MANY = 2**22  # arcs from which emptying, which may double the coloring's time, is used
SHORT = 15  # longest row on roads and the like, whose highest color classes are too large to be emptied


def chosen(graph, machine):
    """Name of the strategy, and the reason in a sentence.

    Parameters
    ----------
    graph : Graph
    machine : Executor or None
        None: no GPU is available or requested.
    """
    if machine is None:
        return "greedy", "no GPU answers: a greedy loop on the CPU, largest degree first"
    return on_gpu(graph.n, graph.m, int(graph.out_degrees().max(initial=0)))


def on_gpu(n, arcs, longest):
    """Strategy and reason for a graph of so many vertices and stored arcs, and so long a row, on a GPU.

    The rule fitted to recorded times selects (`choose`). It never selects `emptying`, which is slower but reduces the
    colors of nearly every graph. Its steps take microseconds, however small the graph: below MANY arcs they would
    often double the time of a coloring with about as many colors as the fastest public code's.
    """
    name, reason = choose.by_rule("coloring", {"n": n, "m": arcs, "largest": longest})
    if name in CHOICES and CHOICES[name][0].gpu and arcs >= MANY and longest > SHORT:
        return "emptying", f"{reason} by {name}; with {arcs:,} arcs, emptying its highest colors is worth its steps"
    return name, reason


class Auto(plan.Plan):
    """Returns the plan of the strategy that it chooses."""

    gpu = False

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        name, reason = chosen(problem.graph, executor)
        kind, traits = CHOICES[name]
        entry = dataclasses.replace(strategy, name=name, plan=kind, traits=traits)
        told = kind.skip(problem, executor, None)
        if told:
            raise plan.Skip(told)
        found = kind.make(entry, problem, executor if kind.gpu else None, kind.Options())
        found.stats["reason"] = reason
        return found


CHOICES = {
    "greedy": (Greedy, frozenset({SMALLEST})),
    "early": (Early, frozenset({SMALLEST, BY_PRIORITY})),
    "emptying": (Emptying, frozenset({SMALLEST, EMPTIED})),
}
