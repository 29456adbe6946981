"""Single-source shortest paths: the published synchronizations of delta-stepping, and a ladder to the fastest
exact one.

>>> from lockstep.graphs import Graph
>>> from lockstep.sssp import shortest_paths
>>> graph = Graph.from_edges([0, 0, 1], [1, 2, 2], n=4, weights=[4, 9, 3])
>>> shortest_paths(graph, 0, strategy="dijkstra").distances.tolist()
[0.0, 4.0, 7.0, inf]
"""


from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.graphs import GraphError, graph_of
from lockstep.plan import Outgrown, Skip, Strategy
from lockstep.solving import solve

from .oracle import WrongDistances, verify
from .problem import Problem
from .result import ShortestPaths
from .strategies.table import STRATEGIES

if TYPE_CHECKING:
    from lockstep.typing import ExecutorLike, GraphLike

NotSupported = Skip  # its earlier name


def shortest_paths(
    graph: "GraphLike", source: Any, strategy: str = "auto", executor: "ExecutorLike" = None, **options: Any,
) -> ShortestPaths:
    """Shortest distances from one vertex.

    Parameters
    ----------
    graph : Graph, NetworkX graph or SciPy sparse matrix
        Weights >= 0; without weights, 1 per arc. Only the lightest parallel arc counts.
    source : int or label
        A vertex, 0 to n - 1; of a graph with labels (NetworkX nodes not called 0 to n - 1, files with names) its label.
    strategy : str
        A name in STRATEGIES; ``auto`` chooses an exact one by the graph and the machine (reason in
        ``.stats["reason"]``). `semaphores` may be wrong, by design.
    executor : "cuda", "host", Executor or None
        Where GPU strategies run. None: the GPU if available; else ``auto`` uses the CPU, and GPU strategies
        run on the emulator.
    **options
        Strategy options: ``delta``, the bucket width in the unit of the weights (inf: one bucket), which ``auto``
        passes on where its choice has buckets;
        ``layers`` of semaphores (2), for `semaphores` and `checked`; threads, blocks, group,
        reading, ... (`STRATEGIES[name].keywords` lists them). None
        selects the strategy's default.

    Returns
    -------
    ShortestPaths
        ``.distances`` (float64, inf where there is no path), ``.path_to(target)``, ``.labels``, ``.stats``,
        ``.strategy``.

    Raises
    ------
    GraphError
        The input is no graph, a weight is negative or not finite, the source is no vertex, or a distance
        would exceed what float64 holds.
    ValueError
        No such strategy, or no such option of it; layers < 1; delta <= 0.
    NoGpuError
        ``executor="cuda"`` without a usable GPU.
    Skip
        The strategy is not applicable: a required GPU feature or library is missing.

    Notes
    -----
    Distances are computed in whole numbers below 2^31 where weights allow it, and again in float64 where a
    sum turns out to leave that range. Floating-point distances are those of Dijkstra's algorithm bit for bit:
    rounded addition is monotone, so every label-correcting method ends in the same numbers.
    """
    graph = graph_of(graph)
    options = {name: value for name, value in options.items() if value is not None}
    try:
        return solve(STRATEGIES, strategy, Problem(graph, graph.index_of(source)), executor, **options).detach()
    except Outgrown:
        name, most = graph.name or "the graph", f"{np.finfo(np.float64).max:.2g}"
        told = f"{name}: a distance plus an arc's weight may exceed float64's {most}; scale the weights down"
        raise GraphError(told) from None


__all__ = [
    "STRATEGIES", "NotSupported", "Problem", "ShortestPaths", "Strategy", "WrongDistances", "shortest_paths", "verify",
]  # fmt: skip
