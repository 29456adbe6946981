"""Topological sorting against depth: the published GPU algorithm, the serial one, and a ladder between them.

>>> from lockstep.graphs import Graph
>>> from lockstep.toposort import topological_sort
>>> sorted_ = topological_sort(Graph.from_edges([0, 2, 1], [1, 0, 3]), strategy="serial")
>>> sorted_.order.tolist(), sorted_.depth
([2, 0, 1, 3], 4)
"""

import numpy as np

from lockstep.graphs import Graph
from lockstep.machine import get_executor

from .oracle import CycleError, WrongOrder, find_cycle, verify
from .result import TopologicalOrder
from .strategies import STRATEGIES, Strategy


def topological_sort(graph, strategy="auto", executor=None):
    """Order the vertices so that every arc leads from an earlier one to a later one.

    Parameters
    ----------
    graph : Graph, NetworkX graph or SciPy sparse matrix
        Directed. Parallel arcs count once each in the in-degree; a self-loop is a cycle. Nodes of NetworkX that are not
        called 0, 1, ... are numbered in its order (`Graph.of(graph).labels` holds them).
    strategy : str
        A name in STRATEGIES; ``auto`` chooses by the graph and the machine and says why in ``.stats["reason"]``.
    executor : "cuda", "host", Executor or None
        Where GPU strategies run. None: the GPU if one answers; else ``auto`` takes the CPU, and a strategy for the GPU
        runs on the host executor.

    Returns
    -------
    TopologicalOrder
        ``.order``, ``.depth``, ``.level_sizes``, ``.strategy``, ``.stats``.

    Raises
    ------
    CycleError
        Its ``cycle`` is one.
    GraphError
        The input is no graph, or an undirected one.
    ValueError
        No such strategy.
    NoGpuError
        ``executor="cuda"`` and no GPU answers.
    """
    graph = Graph.of(graph)
    if strategy not in STRATEGIES:
        raise ValueError(f"no strategy {strategy!r}; choose one of {', '.join(STRATEGIES)}")
    if not graph.directed and graph.m:
        from lockstep.graphs import GraphError

        raise GraphError(
            f"{graph.name or 'the graph'} is undirected; an order needs directed arcs (lockstep.graphs.acyclic "
            "directs them without cycles)"
        )
    chosen = STRATEGIES[strategy]
    machine = get_executor(executor)
    if machine is None and chosen.gpu:
        machine = get_executor("host")
    if graph.n == 0:
        return TopologicalOrder(
            graph, np.zeros(0, graph.targets.dtype), strategy, np.zeros(0, np.int64), {"reason": "no vertices"}
        )
    result = _sorted(chosen, graph, machine)
    left = graph.n - result.order.size
    if left == 0:
        return result
    cycle = find_cycle(graph)
    if cycle:
        raise CycleError(cycle, graph.name, graph.labels)
    # The kernel's fault, not the graph's.
    by = result.strategy
    result = _sorted(STRATEGIES["persistent" if chosen.gpu else "serial"], graph, machine)
    result.stats["reason"] = f"{by} left {left} vertices out although there is no cycle, so all was sorted anew"
    return result


def _sorted(strategy, graph, machine):
    """What one run of a strategy gives, with the launches and the host's looks that it took."""
    plan = strategy.plan(graph, machine)
    if machine is not None:
        machine.reset_counts()
    plan.prepare()
    result = plan.run()
    if machine is not None:
        counts = machine.counts
        result.stats |= {"launches": counts["launches"] + counts["graph_launches"], "readbacks": counts["readbacks"]}
    return result


__all__ = ["STRATEGIES", "CycleError", "Strategy", "TopologicalOrder", "WrongOrder", "topological_sort", "verify"]
