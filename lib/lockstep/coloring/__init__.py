"""Graph coloring: rounds by random numbers, by degree, by both, work stealing, and a ladder to the fastest.

>>> from lockstep.graphs import Graph
>>> from lockstep.coloring import color
>>> triangle = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
>>> sorted(color(triangle, strategy="greedy").colors.tolist())
[0, 1, 2]
"""

import numpy as np

from lockstep.graphs import Graph
from lockstep.machine import get_executor

from . import switching
from .choice import choose
from .neighbors import neighbors
from .oracle import Checker, WrongColoring, verify
from .result import Coloring
from .strategies import STRATEGIES, Strategy


def color(graph, strategy="auto", switch="auto", seed=0, executor=None, loops="ignore"):
    """Give every vertex a color that none of its neighbors has.

    Parameters
    ----------
    graph : Graph, NetworkX graph or SciPy sparse matrix
        An arc counts for both its ends: a directed graph is taken as undirected, with a warning. Parallel
        arcs count once.
    strategy : str
        A name in STRATEGIES; ``auto`` chooses by the graph and the machine and says why in
        ``.stats["reason"]``.
    switch : int or str
        For ``hybrid`` alone: the round at which it leaves degrees for random numbers (0: at once),
        ``"never"`` (only when a round by degree colors nothing, which ends the phase in any case),
        ``"threshold"`` or ``"threshold:COUNT"`` (after a round that colors fewer vertices than the GPU has
        lanes, or than COUNT), or ``"auto"``.
    seed : int
        Of the random numbers, 0 to 2^32 - 1. Every strategy gives the same colors in every run with one seed, on any
        machine; only what ``auto`` chooses may differ.
    executor : "cuda", "host", Executor or None
        Where GPU strategies run. None: the GPU if one answers; else ``auto`` takes the CPU, and a strategy
        for the GPU runs on the host executor.
    loops : {"ignore", "refuse"}
        Self-loops: ignored with a warning, or an error.

    Returns
    -------
    Coloring
        ``.colors`` (int32, ``0..count-1``), ``.count``, ``.active`` (uncolored vertices at the begin of
        each iteration), ``.strategy``, ``.stats``.

    Raises
    ------
    GraphError
        The input is no graph, or has self-loops that are refused.
    ValueError
        No such strategy, a switch or a seed out of range.
    NoGpuError
        ``executor="cuda"`` and no GPU answers.
    """
    graph = Graph.of(graph)
    if strategy != "auto" and strategy not in STRATEGIES:
        raise ValueError(f"no strategy {strategy!r}; choose auto or one of {', '.join(STRATEGIES)}")
    rule = switching.of(switch)
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise ValueError(f"seed={seed!r}; expected a whole number from 0 to 2^32 - 1")
    graph, notes = neighbors(graph, loops)
    machine = get_executor(executor)
    reason = None
    if strategy == "auto":
        strategy, reason = choose(graph, machine)
    chosen = STRATEGIES[strategy]
    if machine is None and chosen.gpu:
        machine = get_executor("host")
    if machine is not None:
        machine.reset_counts()
    if graph.n == 0:
        result = Coloring(np.zeros(0, np.int32), strategy, [])
    else:
        plan = chosen.plan(graph, machine if chosen.gpu else None, int(seed), rule)
        plan.prepare()
        result = plan.run()
    if machine is not None and chosen.gpu:
        launches = machine.counts["launches"] + machine.counts["graph_launches"]
        result.stats.update({"launches": launches, "readbacks": machine.counts["readbacks"]})
    if reason:
        result.stats["reason"] = reason
    if notes:
        result.stats["notes"] = notes
    return result


__all__ = ["STRATEGIES", "Checker", "Coloring", "Strategy", "WrongColoring", "color", "verify"]
