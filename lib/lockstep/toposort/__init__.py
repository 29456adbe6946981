"""Topological sorting against depth: the published GPU algorithm, the serial one, and a ladder between them.

>>> from lockstep.graphs import Graph
>>> from lockstep.toposort import topological_sort
>>> sorted_ = topological_sort(Graph.from_edges([0, 2, 1], [1, 0, 3]), strategy="serial")
>>> sorted_.order.tolist(), sorted_.depth
([2, 0, 1, 3], 4)
"""


import warnings
from typing import TYPE_CHECKING

from lockstep.plan import Strategy
from lockstep.solving import solve

from .oracle import CycleError, WrongOrder, verify
from .problem import Problem
from .result import TopologicalOrder
from .strategies.table import STRATEGIES

if TYPE_CHECKING:
    from lockstep.typing import ExecutorLike, GraphLike


def topological_sort(graph: "GraphLike", strategy: str = "auto", executor: "ExecutorLike" = None) -> TopologicalOrder:
    """Order the vertices so that the tail of every arc precedes its head.

    Parameters
    ----------
    graph : Graph, NetworkX graph or SciPy sparse matrix
        Directed. In-degrees include every parallel arc; a self-loop is a cycle. NetworkX nodes other than
        0, 1, ... are numbered in its order (`.labels` holds them).
    strategy : str
        A name in STRATEGIES; ``auto`` chooses by graph and machine; reason in ``.stats["reason"]``.
    executor : "cuda", "host", Executor or None
        Where GPU strategies run. None: the GPU if available; else ``auto`` uses the CPU, and GPU strategies
        run on the emulator.

    Returns
    -------
    TopologicalOrder
        ``.order``, ``.depth``, ``.level_sizes``, ``.strategy``, ``.stats``.

    Raises
    ------
    CycleError
        ``cycle`` holds one.
    GraphError
        The input is no graph, or an undirected one.
    ValueError
        No such strategy.
    NoGpuError
        ``executor="cuda"`` without a usable GPU.
    Skip
        The strategy is not applicable: the graph is too large, or its library is not installed.
    """
    problem = Problem.of(graph)
    result = solve(STRATEGIES, strategy, problem, executor)
    left = problem.graph.n - result.order.size
    if left == 0:
        if "reason" in result.stats:
            result.stats["reason"] = str(result.stats["reason"])  # in full: of `auto`, it is worded when asked for
        return result.detach()
    problem.validate()
    # No cycle: the strategy is at fault, not the graph.
    by, sound = result.strategy, "persistent" if STRATEGIES.find(strategy).gpu else "serial"
    result = solve(STRATEGIES, sound, problem, executor)
    result.stats["reason"] = f"{by} left {left} vertices out although there is no cycle, so all was sorted anew"
    warnings.warn(result.stats["reason"], RuntimeWarning, stacklevel=2)
    return result.detach()


__all__ = [
    "STRATEGIES", "CycleError", "Problem", "Strategy", "TopologicalOrder", "WrongOrder", "topological_sort", "verify",
]  # fmt: skip
