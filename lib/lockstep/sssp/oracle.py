"""Reference for every result: SciPy's Dijkstra, and the comparison of distances with it."""


from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from lockstep.plan import WrongResult

if TYPE_CHECKING:
    from lockstep.graphs import Graph


class WrongDistances(WrongResult):
    """A strategy gave distances that are not the shortest."""


def matrix(graph):
    """The adjacency matrix for SciPy's Dijkstra: CSR built directly, so that parallel arcs stay separate.

    Conversion from COO would sum them (which changes 231,206 of New York's 264,346 distances).
    Dijkstra's algorithm itself uses the lighter of two parallel arcs. Explicit zeros stay arcs of weight 0.
    """
    weights = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)
    return csr_array((weights, graph.targets, graph.offsets), shape=(graph.n, graph.n))


def distances(graph, source, adjacency=None):
    """Distances from `source` by SciPy's Dijkstra: float64, shape (n,), inf where there is no path."""
    if graph.n == 0:
        return np.zeros(0)
    return dijkstra(matrix(graph) if adjacency is None else adjacency, indices=int(source))


def reference(graph, source):
    """Distances by Bellman-Ford: relax all arcs until nothing changes (tests, small graphs)."""
    sources, targets = graph.edges()
    weights = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)
    result = np.full(graph.n, np.inf)
    result[source] = 0
    while True:
        lower = result.copy()
        np.minimum.at(lower, targets, result[sources] + weights)
        if np.array_equal(lower, result):
            return result
        result = lower


@njit(cache=True)
def _arcs_on_paths(offsets, targets, weights, order, distances, hops):
    """Fewest arcs of a shortest path to each vertex; `order` lists vertices by distance."""
    for u in order:
        if hops[u] < 0:
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            if distances[u] + weights[arc] == distances[v] and (hops[v] < 0 or hops[u] + 1 < hops[v]):
                hops[v] = hops[u] + 1


def hops(graph, source, exact):
    """Fewest arcs of a shortest path to each vertex, for positive weights; -1 without a path."""
    weights = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)
    result = np.full(graph.n, -1, np.int64)
    result[source] = 0
    order = np.argsort(exact, kind="stable")
    _arcs_on_paths(graph.offsets, graph.targets, weights, order[np.isfinite(exact[order])], exact, result)
    return result


@njit(nogil=True, cache=True)
def _open(offsets, targets, weights, found):
    count = 0
    for u in range(offsets.size - 1):
        for arc in range(offsets[u], offsets[u + 1]):
            if found[u] + weights[arc] < found[targets[arc]]:
                count += 1
                break
    return count


def open_vertices(graph, found):
    """Number of vertices from which an arc can still be relaxed."""
    weights = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)
    return int(_open(graph.offsets, graph.targets, weights, found))


class Errors:
    """Deviation of distances from the shortest.

    Attributes
    ----------
    wrong : int
        Vertices whose distance differs.
    share : float
        The same as a share of the reached vertices.
    largest : float
        Largest relative error; inf if a reachable vertex was not reached, or an unreachable one was.
    """

    def __init__(self, found, exact):
        different = found != exact
        self.wrong = int(np.count_nonzero(different))
        self.share = self.wrong / max(int(np.isfinite(exact).sum()), 1)
        self.largest = 0.0
        if self.wrong:
            with np.errstate(divide="ignore", invalid="ignore"):
                off = (found[different] - exact[different]) / exact[different]
            self.largest = float(np.where(np.isnan(off), np.inf, off).max())


class Checker:
    """`verify` for many results on one graph: the oracle's distances are computed once a source.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph):
        self.graph = graph
        self._matrix = None
        self._known = {}

    def exact(self, source):
        """The oracle's distances from `source`."""
        if source not in self._known:
            if self._matrix is None:
                self._matrix = matrix(self.graph)
            self._known[source] = distances(self.graph, source, self._matrix)
        return self._known[source]

    def errors(self, result):
        return Errors(result.distances, self.exact(result.source))

    def __call__(self, result, exact=True):
        """'exact', or 'measured-wrong' unless `exact`; raises WrongDistances if `exact`."""
        where = f"{result.strategy} on {self.graph.name or 'the graph'} from {result.source}"
        if result.distances.shape != (self.graph.n,):
            raise WrongDistances(f"{where}: distances of shape {result.distances.shape}, not {(self.graph.n,)}")
        errors = self.errors(result)
        if errors.wrong == 0:
            return "exact"
        if exact:
            raise WrongDistances(f"{where}: {errors.wrong} of {self.graph.n} distances are wrong")
        return "measured-wrong"


def verify(result: Any, graph: "Graph", exact: bool = True) -> str:
    """Check one result against SciPy's Dijkstra.

    Returns
    -------
    str
        'exact', or with ``exact=False`` 'measured-wrong' if some distances are wrong.

    Raises
    ------
    WrongDistances
        Naming the strategy, the graph, and how many distances are wrong.
    """
    return Checker(graph)(result, exact)
