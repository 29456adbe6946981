"""Reference implementations of the measures by NetworkX and SciPy, graph by graph; `oracle` is verified by them."""


from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

if TYPE_CHECKING:
    from lockstep.graphs import Graph


def _simple(graph, weights=False):
    """The graph in NetworkX, parallel arcs once (smallest weight), since its algorithms are defined on neighbors."""
    found = (nx.DiGraph if graph.directed else nx.Graph)()
    found.add_nodes_from(range(graph.n))
    sources, targets = graph.edges()
    length = graph.edge_weights() if weights and graph.weights is not None else np.ones(graph.m)
    for u, v, w in zip(sources.tolist(), targets.tolist(), length.tolist(), strict=True):
        if not found.has_edge(u, v) or w < found[u][v]["weight"]:
            found.add_edge(u, v, weight=w)
    return found


def distances(graph, weighted=False):
    """All distances, float64, shape (n, n), inf where there is no path (SciPy)."""
    if graph.n == 0:
        return np.zeros((0, 0))
    sources, targets = graph.edges()
    length = np.ones(graph.m) if not weighted or graph.weights is None else np.asarray(graph.weights, np.float64)
    order = np.lexsort((length, targets, sources))
    sources, targets, length = sources[order], targets[order], length[order]
    first = np.ones(graph.m, bool)
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    first &= sources != targets
    matrix = sparse.csr_array((length[first], (sources[first], targets[first])), shape=(graph.n, graph.n))
    return csgraph.shortest_path(matrix, method="D", unweighted=not weighted)


def reference(graph: "Graph", measure: str, **options: Any) -> Any:
    """A graph's values by NetworkX or SciPy.

    Parameters
    ----------
    graph : lockstep.graphs.Graph
    measure : str
        A name in MEASURES.
    **options
        As of `analyze`.

    Returns
    -------
    array
        As `analyze` gives it for this graph.
    """
    return REFERENCES[measure](graph, **options)


def _betweenness(graph, endpoints=False):
    found = nx.betweenness_centrality(_simple(graph), normalized=False, endpoints=endpoints)
    return np.array([found[v] for v in range(graph.n)], np.float64)


def _closeness(graph, form="networkx", wf_improved=True, weighted=None):
    weighted = graph.weights is not None if weighted is None else weighted
    if form == "networkx":
        simple = _simple(graph, weighted)
        length = "weight" if weighted else None
        found = nx.closeness_centrality(simple, distance=length, wf_improved=wf_improved)
        return np.array([found[v] for v in range(graph.n)], np.float64)
    towards = distances(graph, weighted).T
    np.fill_diagonal(towards, np.inf)
    if form == "plain":
        total = np.where(np.isfinite(towards), towards, 0).sum(axis=1)
        return np.divide(1.0, total, out=np.zeros(graph.n), where=total > 0)
    return np.where(np.isfinite(towards), 1.0 / towards, 0).sum(axis=1)


def _apsp(graph, reduce="matrix", weighted=None):
    weighted = graph.weights is not None if weighted is None else weighted
    found = distances(graph, weighted)
    if reduce == "matrix":
        return found
    np.fill_diagonal(found, 0)
    finite = np.where(np.isfinite(found), found, 0)
    if reduce == "eccentricity":
        return finite.max(axis=1, initial=0)
    if reduce == "total":
        return finite.sum(axis=1)
    reached = np.isfinite(found).sum(axis=1) - 1
    return np.divide(finite.sum(axis=1), reached, out=np.zeros(graph.n), where=reached > 0)


def _labels(groups, n):
    """Smallest vertex per group."""
    found = np.arange(n, dtype=np.int32)
    for group in groups:
        found[list(group)] = min(group)
    return found


def _components(graph):
    simple = _simple(graph)
    groups = nx.weakly_connected_components(simple) if graph.directed else nx.connected_components(simple)
    return _labels(groups, graph.n)


def _strong(graph):
    return _labels(nx.strongly_connected_components(_simple(graph).to_directed()), graph.n)


def _triangles(graph):
    simple = _simple(graph).to_undirected()
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    found = nx.triangles(simple)
    return np.array([found[v] for v in range(graph.n)], np.int32)


def _pagerank(graph, damping=0.85, tolerance=1e-12, limit=10000):
    try:
        found = nx.pagerank(_simple(graph), alpha=damping, tol=tolerance, max_iter=limit, weight=None)
    except nx.PowerIterationFailedConvergence:
        name = f" of {graph.name}" if graph.name else ""
        raise ValueError(
            f"PageRank{name} moves by more than tolerance={tolerance} a vertex after limit={limit} rounds: raise one "
            "of them (NetworkX gives no values then; the strategies swarm and cpu give those reached)"
        ) from None
    return np.array([found[v] for v in range(graph.n)], np.float64)


REFERENCES = {
    "betweenness": _betweenness,
    "closeness": _closeness,
    "apsp": _apsp,
    "components": _components,
    "strong": _strong,
    "triangles": _triangles,
    "pagerank": _pagerank,
}
