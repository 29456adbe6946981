"""The data race of the paper's semaphores, reproduced on the emulator.

Four vertices, one block each. Blocks 1 and 2 each have a candidate for vertex 3: in a fuzzed schedule
both may read the old distance before either writes, and the larger candidate may be written last.
"""

from dataclasses import dataclass

import numpy as np

from lockstep.graphs import Graph
from lockstep.machine import get_executor

from .. import oracle
from ..problem import Problem
from ..strategies.table import STRATEGIES


def race_graph():
    """0 -> 1 -> 3 of length 10 and 0 -> 2 -> 3 of length 3."""
    return Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], n=4, weights=[1, 1, 9, 2], name="two-ways")


def run(graph, seed, strategy="semaphores", layers=1, trace=False, **options):
    """One run from vertex 0 on a fuzzed emulator with a block of one thread for each vertex.

    Returns
    -------
    ShortestPaths, Executor
    """
    executor = get_executor("host", seed=seed, fuzz="memory", trace=trace)
    options = {"layers": layers, "threads": 1, "blocks": graph.n, **options}
    plan = STRATEGIES[strategy].plan_for(Problem(graph), executor, **options)
    return plan.run().fetch(), executor


def count_wrong(graph, seeds, strategy="semaphores", layers=1, **options):
    """How many of the seeds end with a wrong distance, and the first that does (None)."""
    exact = oracle.distances(graph, 0)
    wrong, first = 0, None
    for seed in seeds:
        result, _ = run(graph, seed, strategy, layers, **options)
        if not np.array_equal(result.distances, exact):
            wrong += 1
            first = seed if first is None else first
    return wrong, first


@dataclass
class LostUpdate:
    """A run in which a smaller distance was overwritten: seed, outcome, and accesses to the vertex."""

    seed: int
    vertex: int
    found: float
    exact: float
    events: list

    def __str__(self):
        lines = [
            f"seed {self.seed}: vertex {self.vertex} ends with distance {self.found:g}; {self.exact:g} is right",
            f"{'step':>6}  block  what",
        ]
        for event in self.events:
            value = f"reads {_word(event.before)}"
            if event.event == "store":
                value = f"writes {_word(event.after)} over {_word(event.before)}"
            lines.append(f"{event.step:>6}  {event.block:>5}  {value} ({event.where})")
        return "\n".join(lines)


def _word(value):
    return "infinity" if value >= 2**31 - 1 else f"{value:g}"


def find_lost_update(graph, seeds, layers=1):
    """The first seed that leaves a vertex with a distance written over a smaller one; None without any.

    The events are the reads and writes of that vertex's distance, in the order in which they happened.
    """
    exact = oracle.distances(graph, 0)
    for seed in seeds:
        result, _ = run(graph, seed, layers=layers)
        too_large = np.flatnonzero(np.isfinite(result.distances) & (result.distances > exact))
        if too_large.size:
            vertex = int(too_large[0])
            again, executor = run(graph, seed, layers=layers, trace=True)
            events = [e for e in executor.trace() if e.where == f"dist[{vertex}]" and e.event in ("load", "store")]
            if any(e.event == "store" and e.after > e.before for e in events):  # else a signal was lost
                return LostUpdate(seed, vertex, float(again.distances[vertex]), float(exact[vertex]), events)
    return None
