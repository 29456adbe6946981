"""The graph that is colored: undirected, without self-loops, every neighbor once; and the seed."""

import functools
import warnings
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sparse
from numba import njit

from lockstep.graphs import Graph, GraphError, GraphWarning, graph_of
from lockstep.plan import GraphProblem

from .oracle import Checker
from .result import Coloring

if TYPE_CHECKING:
    from lockstep.plan import Strategy
    from lockstep.typing import GraphLike


@njit(cache=True)
def _loops_and_repeats(offsets, targets, last):
    """Number of self-loops, and whether any row names a neighbor twice; last: work array (n,) of -1."""
    loops, repeated = 0, False
    for v in range(offsets.size - 1):
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            if u == v:
                loops += 1
            elif last[u] == v:
                repeated = True
            else:
                last[u] = v
    return loops, repeated


def neighbors(graph, loops="ignore", warn=True):
    """The simple undirected graph to color: rows hold each neighbor of a vertex once.

    Parameters
    ----------
    graph : Graph
        If directed, an arc counts for both ends; parallel arcs count once.
    loops : {'ignore', 'refuse'}
        A vertex with an arc to itself cannot be colored: ignore such arcs with
        a warning, or raise.
    warn : bool
        Warn of what is ignored.

    Returns
    -------
    Graph
        Undirected, without loops and parallel arcs; the input itself if it is so already.
    notes : list of str
        What was changed.

    Raises
    ------
    GraphError
        Self-loops with ``loops="refuse"``.
    """
    if loops not in ("ignore", "refuse"):
        raise ValueError(f"loops={loops!r}; expected 'ignore' or 'refuse'")
    name = graph.name or "the graph"
    found, repeated = _loops_and_repeats(graph.offsets, graph.targets, np.full(graph.n, -1, np.int64))
    notes = []
    if found:
        if loops == "refuse":
            sources, targets = graph.edges()
            v = int(sources[np.flatnonzero(sources == targets)[0]])
            raise GraphError(
                f"{name} has {found:,} self-loop{'s' * (found > 1)}, the first at vertex {graph.label_of(v)}: such a "
                "vertex differs from itself in no color; take them out, or pass loops='ignore' (--loops ignore)"
            )
        notes.append(f"{found:,} self-loop{'s' * (found > 1)} ignored")
    if graph.directed and graph.m:
        notes.append("directed arcs taken as edges")
    if repeated:
        notes.append("parallel arcs taken once")
    for note in notes:
        if warn and "parallel" not in note:
            warnings.warn(f"{name}: {note}", GraphWarning, stacklevel=3)
    if not notes:
        return graph, notes
    sources, targets = graph.edges()
    keep = sources != targets
    sources, targets = sources[keep], targets[keep]
    ends = (np.concatenate([sources, targets]), np.concatenate([targets, sources]))
    matrix = sparse.csr_array((np.ones(ends[0].size, np.int8), ends), shape=(graph.n, graph.n))
    matrix.sum_duplicates()
    return Graph(matrix.indptr, matrix.indices, directed=False, name=graph.name), notes


class Problem(GraphProblem):
    """A graph to be colored, and the seed of the random numbers; see `lockstep.plan.Problem`.

    Parameters
    ----------
    graph : Graph
        Undirected, each neighbor once (`neighbors`).
    seed : int
        0 to 2^32 - 1.
    """

    def __init__(self, graph: Graph, seed: int = 0) -> None:
        super().__init__(graph, seed=seed)

    @classmethod
    def of(cls, given: "GraphLike", seed: int = 0) -> "Problem":
        """An arc counts for both its ends; parallel arcs count once, self-loops not at all."""
        if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
            raise ValueError(f"seed={seed!r}; expected a whole number from 0 to 2^32 - 1")
        return cls(neighbors(graph_of(given), warn=False)[0], int(seed))

    @property
    def seed(self) -> int:
        return self.settings["seed"]

    def trivial(self, strategy: "Strategy") -> Coloring:
        return Coloring(np.zeros(0, np.int32), strategy.name, [])

    @functools.cached_property
    def checker(self) -> Checker:
        """The oracle, which computes the colors that priorities define once."""
        return Checker(self.graph, self.seed)

    def check(self, result: Coloring, strategy: "Strategy") -> str:
        return self.checker(result, strategy.traits)
