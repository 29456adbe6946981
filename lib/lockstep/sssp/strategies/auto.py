"""`auto`: which exact strategy for this graph on this machine, and why."""

import dataclasses

import numpy as np

from lockstep import plan
from lockstep.plan import Skip

from .asynchronous import Asynchronous
from .baselines import Dijkstra
from .chaotic import Chaotic
from .delta_cpu import DeltaCpu
from .near_far import NearFar
from .shared import Bucketed

SMALL = 2000  # arcs: below, a launch and its read-back cost more than Dijkstra's algorithm on one core
FEW = 10  # arcs of a thread: the most with which it was seen to be faster than the others
STAYS = 0.7  # share of arcs that must stay inside a block's range of ids for messages to be the exception


def choose(problem, executor):
    """(strategy, reason).

    On a GPU, graphs whose arcs its threads can hold go to `chaotic`; of the larger ones, sparse graphs with spatial ids
    (roads) go to `asynchronous`, for there the chain of thousands of steps is the time, all others to `near-far`, for
    few rounds with much work each.
    """
    graph = problem.graph
    if executor is None or executor.name != "cuda":
        if graph.m < 200_000:
            return "dijkstra", f"no GPU, {graph.m:,} arcs: one core is done before several are under way"
        return "delta-cpu", f"no GPU, {graph.m:,} arcs: all cores"
    if graph.m < SMALL:
        return (
            "dijkstra",
            f"{graph.m:,} arcs: a launch and its read-back cost more than the whole work on one core",
        )
    try:
        blocks, keep = Chaotic.shares(problem, executor)
        if keep <= FEW:
            return "chaotic", f"{graph.m:,} arcs: at most {keep} for each thread of {blocks} blocks alive together"
    except Skip:
        pass
    degree = graph.m / graph.n
    if degree < 8:
        try:
            size = Asynchronous.ranges(problem, executor)
        except Skip as error:
            return "near-far", str(error)
        share = staying(graph, size)
        if share >= STAYS:
            return "asynchronous", (
                f"{degree:.1f} arcs a vertex and {share:.0%} of them inside a block's range of ids: "
                "long chains of small steps, best inside a multiprocessor"
            )
        return "near-far", f"only {share:.0%} of the arcs stay inside a block's range of ids"
    return (
        "near-far",
        f"{degree:.0f} arcs a vertex: few rounds with much work each, spread over the whole GPU",
    )


def staying(graph, size, samples=4096):
    """Share of arcs whose ends lie in the same range of `size` ids, from a regular sample of the arcs."""
    picked = np.linspace(0, graph.m - 1, min(samples, graph.m)).astype(np.int64)
    tails = np.searchsorted(graph.offsets, picked, side="right") - 1
    return float(np.mean(tails // size == graph.targets[picked] // size))


class Auto(plan.Plan):
    """Returns the plan of the strategy that it chooses."""

    gpu = False
    Options = Bucketed

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        name, reason = choose(problem, executor)
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
