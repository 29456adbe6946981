"""`auto`: which exact strategy for this graph on this machine, and why."""

import dataclasses

from lockstep import choose, plan
from lockstep.choose.features import near_share
from lockstep.plan import Skip

from .asynchronous import Asynchronous
from .baselines import Dijkstra
from .chaotic import Chaotic
from .delta_cpu import DeltaCpu
from .near_far import NearFar
from .shared import Bucketed

SEVERAL = 200_000  # arcs from which several CPU cores are faster
LIMITS = {"chaotic": Chaotic.shares, "asynchronous": Asynchronous.ranges}  # raise Skip where a graph does not fit


def chosen(problem, executor):
    """(strategy, reason): on a GPU by the rule fitted to recorded times, or near-far where the graph does not fit."""
    graph = problem.graph
    if executor is None or executor.name != "cuda":
        if graph.m < SEVERAL:
            return "dijkstra", f"no GPU, {graph.m:,} arcs: one core is done before several are under way"
        return "delta-cpu", f"no GPU, {graph.m:,} arcs: all cores"
    largest = int(graph.out_degrees().max(initial=0))
    figures = {"n": graph.n, "m": graph.m, "largest": largest, "near": near_share(graph)}
    name, reason = choose.by_rule("sssp", figures)
    try:
        if name in LIMITS:
            LIMITS[name](problem, executor)
    except Skip as why:
        return "near-far", f"{reason} by {name}, but {why}"
    return name, reason


class Auto(plan.Plan):
    """Returns the plan of the strategy that it chooses."""

    gpu = False
    Options = Bucketed

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        name, reason = chosen(problem, executor)
        kind = CHOICES[name]
        told = kind.Options(delta=options.delta) if issubclass(kind.Options, Bucketed) else kind.Options()
        entry = dataclasses.replace(strategy, name=name, plan=kind)
        found = kind.make(entry, problem, executor if kind.gpu else None, told)
        found.stats["reason"] = reason
        return found


CHOICES = {
    "dijkstra": Dijkstra,
    "delta-cpu": DeltaCpu,
    "near-far": NearFar,
    "asynchronous": Asynchronous,
    "chaotic": Chaotic,
}
