"""Graph coloring: rounds by random numbers, by degree, by both, work stealing, and a ladder to the fastest.

>>> from lockstep.graphs import Graph, graph_of
>>> from lockstep.coloring import color
>>> triangle = Graph.from_edges([0, 1, 2], [1, 2, 0], directed=False)
>>> sorted(color(triangle, strategy="greedy").colors.tolist())
[0, 1, 2]
"""


from typing import TYPE_CHECKING, Literal

import numpy as np

from lockstep.graphs import graph_of
from lockstep.plan import Strategy
from lockstep.solving import solve

from .oracle import Checker, WrongColoring, verify
from .problem import Problem, neighbors
from .result import Coloring
from .strategies import switching
from .strategies.table import STRATEGIES

if TYPE_CHECKING:
    from lockstep.typing import ExecutorLike, GraphLike


def color(
    graph: "GraphLike", strategy: str = "auto", switch: int | str = "auto", seed: int = 0,
    executor: "ExecutorLike" = None, loops: Literal["ignore", "refuse"] = "ignore",
) -> Coloring:
    """Color the vertices so that neighbors have different colors.

    Parameters
    ----------
    graph : Graph, NetworkX graph or SciPy sparse matrix
        Arc directions are ignored, with a warning for directed graphs. Parallel
        arcs count once.
    strategy : str
        A name in STRATEGIES; ``auto`` chooses by the graph and the machine (reason in
        ``.stats["reason"]``).
    switch : int or str
        For ``hybrid`` alone: the first round with random instead of degree priorities (0: all),
        ``"never"`` (only when a round by degree colors nothing, which ends the phase in any case),
        ``"threshold"`` or ``"threshold:COUNT"`` (after a round that colors fewer vertices than the GPU has
        lanes, or than COUNT), or ``"auto"``.
    seed : int
        Of the random numbers, 0 to 2^32 - 1. Colors depend on the seed alone, not the run or machine,
        except the choice of ``auto`` and switch ``"threshold"``.
    executor : "cuda", "host", Executor or None
        Where GPU strategies run. None: the GPU if available; else ``auto`` uses the CPU, and GPU strategies
        run on the emulator.
    loops : {"ignore", "refuse"}
        Self-loops: ignored with a warning, or an error.

    Returns
    -------
    Coloring
        ``.colors`` (int32, ``0..count-1``), ``.count``, ``.active`` (uncolored vertices at the begin of
        each iteration), ``.labels``, ``.strategy``, ``.stats``.

    Raises
    ------
    GraphError
        The input is no graph, or has self-loops that are refused.
    ValueError
        No such strategy, a switch or a seed out of range, or a switch for a strategy that has none.
    NoGpuError
        ``executor="cuda"`` without a usable GPU.
    """
    graph = graph_of(graph)
    strategy = STRATEGIES.find(strategy).name
    switching.of(switch)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise ValueError(f"seed={seed!r}; expected a whole number from 0 to 2^32 - 1")
    labels = graph.labels
    graph, notes = neighbors(graph, loops)
    options = {} if isinstance(switch, str) and switch == "auto" else {"switch": switch}
    result = solve(STRATEGIES, strategy, Problem(graph, int(seed)), executor, **options)
    result.labels = labels
    _ = result.colors  # fetched, so that a kept or pickled result holds no device memory
    if notes:
        result.stats["notes"] = notes
    return result


__all__ = ["STRATEGIES", "Checker", "Coloring", "Problem", "Strategy", "WrongColoring", "color", "verify"]
