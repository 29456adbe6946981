"""Single-source shortest paths: the published synchronizations of delta-stepping, and a ladder to the fastest
exact one.

>>> from lockstep.graphs import Graph
>>> from lockstep.sssp import shortest_paths
>>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2], n=4, weights=[4, 9, 3])
>>> shortest_paths(graph, 0, strategy="dijkstra").distances.tolist()
[0.0, 4.0, 7.0, inf]
"""

import numpy as np

from lockstep.graphs import Graph, GraphError
from lockstep.machine import get_executor

from .oracle import WrongDistances, verify
from .problem import DistanceOverflow, Problem
from .result import ShortestPaths
from .strategies import STRATEGIES, NotSupported, Strategy


def shortest_paths(graph, source, strategy="auto", layers=2, delta=None, executor=None, **options):
    """Shortest distances from one vertex.

    Parameters
    ----------
    graph : Graph, NetworkX graph or SciPy sparse matrix
        Weights >= 0; without weights every arc counts 1. Of parallel arcs the lightest counts.
    source : int
        A vertex, 0 to n - 1.
    strategy : str
        A name in STRATEGIES; ``auto`` chooses an exact one by the graph and the machine and says why in
        ``.stats["reason"]``. `semaphores` may be wrong, by design.
    layers : int
        Layers of semaphores, at least 1, for `semaphores` and `checked`.
    delta : float, optional
        Width of a bucket, > 0, in the unit of the weights; ``inf``: one bucket. None: the strategy's own
        choice.
    executor : "cuda", "host", Executor or None
        Where GPU strategies run. None: the GPU if one answers; else ``auto`` takes the CPU, and a strategy
        for the GPU runs on the host executor.
    **options
        Passed to the strategy's plan (see `strategies`): blocks, threads, group, reading, ...

    Returns
    -------
    ShortestPaths
        ``.distances`` (float64, inf where there is no path), ``.stats``, ``.strategy``.

    Raises
    ------
    GraphError
        The input is no graph, a weight is negative or not finite, the source is no vertex, or a distance
        would exceed what float64 holds.
    ValueError
        No such strategy; layers < 1; delta <= 0.
    NoGpuError
        ``executor="cuda"`` and no GPU answers.
    NotSupported
        This GPU lacks what the strategy is built on.

    Notes
    -----
    Distances are computed in whole numbers below 2^31 where weights allow it, and again in float64 where a
    sum turns out to leave that range. Floating-point distances are those of Dijkstra's algorithm bit for bit:
    rounded addition is monotone, so every label-correcting method ends in the same numbers.
    """
    graph = Graph.of(graph)
    source = _checked(graph, source, strategy, layers, delta)
    machine = get_executor(executor)
    problem = Problem(graph)
    chosen = STRATEGIES[strategy]
    if machine is None and chosen.gpu:
        machine = get_executor("host")
    try:
        result = _run(chosen, problem, machine, source, delta, layers, options)
    except DistanceOverflow:
        if problem.wide:
            raise GraphError(_beyond(graph)) from None
        result = _run(chosen, Problem(graph, wide=True), machine, source, delta, layers, options, graph)
    return result


def _run(chosen, problem, machine, source, delta, layers, options, again=None):
    plan = chosen.prepare(problem, machine, delta=delta, layers=layers, **options)
    if machine is not None:
        machine.reset_counts()
    try:
        result = plan.run(source).fetch()
    except DistanceOverflow:
        if again is not None:
            raise GraphError(_beyond(again)) from None
        raise
    if machine is not None:
        result.stats.update({key: machine.counts[key] for key in ("launches", "readbacks")})
    return result


def _beyond(graph):
    name, most = graph.name or "the graph", np.finfo(np.float64).max
    return f"{name}: a distance exceeds float64's {most:.2g}; scale the weights down"


def _checked(graph, source, strategy, layers, delta):
    if strategy not in STRATEGIES:
        raise ValueError(f"no strategy {strategy!r}; choose one of {', '.join(STRATEGIES)}")
    if isinstance(source, (bool, np.bool_)) or not isinstance(source, (int, np.integer)):
        raise GraphError(f"source is {source!r}; expected a vertex number, 0 to n - 1")
    if not 0 <= source < graph.n:
        raise GraphError(
            f"source is {source}; {graph.name or 'the graph'} has "
            + (f"vertices 0 to {graph.n - 1} (n = {graph.n})" if graph.n else "no vertices")
        )
    if int(layers) != layers or layers < 1:
        raise ValueError(f"layers is {layers}; expected a whole number from 1")
    if delta is not None and not delta > 0:
        raise ValueError(f"delta is {delta}; expected a width > 0 (inf: one bucket)")
    return int(source)


__all__ = [
    "STRATEGIES", "NotSupported", "Problem", "ShortestPaths", "Strategy", "WrongDistances", "shortest_paths", "verify",
]  # fmt: skip
