"""What `auto` takes, and why."""

import dataclasses

from lockstep import choose, plan

from ..oracle import BY_PRIORITY, EMPTIED, SMALLEST
from .baselines import Greedy
from .emptying import Emptying
from .waiting import Early

MANY = 2**22  # arcs from which on a coloring takes so long that emptying colors may take as long again
SHORT = 15  # rows up to this length: as on roads, where greedy's last colors are not thin enough to be emptied


def chosen(graph, machine):
    """Name of the strategy, and the reason in a sentence.

    Parameters
    ----------
    graph : Graph
    machine : Executor or None
        None: no GPU answers and none was asked for.
    """
    if machine is None:
        return "greedy", "no GPU answers: a greedy loop on the CPU, largest degree first"
    return on_gpu(graph.n, graph.m, int(graph.out_degrees().max(initial=0)))


def on_gpu(n, arcs, longest):
    """Strategy and reason for a graph of so many vertices and stored arcs, and so long a row, on a GPU.

    The rule fitted to recorded times decides (`choose`). Time alone would never take `emptying`, which takes colors
    away nearly everywhere, but each of its steps takes microseconds, however small the graph. Below MANY arcs that
    would often double the time of a coloring that is about as good as the fastest public code's.
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
        found = kind.make(entry, problem, executor if kind.gpu else None)
        found.stats["reason"] = reason
        return found


CHOICES = {
    "greedy": (Greedy, frozenset({SMALLEST})),
    "early": (Early, frozenset({SMALLEST, BY_PRIORITY})),
    "emptying": (Emptying, frozenset({SMALLEST, EMPTIED})),
}
