"""Graphs of other libraries as CSR graphs: igraph, rustworkx, tables of edges, dense matrices.

igraph, rustworkx and pandas are not imported: the module of an object's type identifies its library.
"""

from typing import Any

import numpy as np
import scipy.sparse as sparse

from . import named
from .graph import Graph, GraphError

COLUMNS = (("source", "target"), ("from", "to"), ("src", "dst"))
NUMBERS = (int, float, np.integer, np.floating)


def graph_of(thing: Any, directed: bool = True) -> Graph:
    """Convert a graph of another library to a Graph.

    Parameters
    ----------
    thing : Graph, NetworkX graph, SciPy sparse matrix (`Graph.of`), igraph.Graph, rustworkx.PyGraph or PyDiGraph, \
            pandas.DataFrame, or ndarray
        igraph: edge attribute ``weight`` and vertex attribute ``name`` are used if present. rustworkx: edge data are
        weights if all are numbers, node data names if all are str; gaps in the node indices are closed. DataFrame:
        columns source and target (or from and to, src and dst), and weight if present; if either is not of an integer
        dtype, both hold names. ndarray: square; nonzero entries are arcs, with that weight unless Boolean.
    directed : bool
        Of a DataFrame or ndarray; ignored for the others.

    Raises
    ------
    GraphError
        It is none of these, or the table or matrix has another form.
    """
    library = type(thing).__module__.partition(".")[0]
    if library == "igraph" and hasattr(thing, "get_edgelist"):
        return _igraph(thing)
    if library == "rustworkx" and hasattr(thing, "weighted_edge_list"):
        return _rustworkx(thing)
    if library == "pandas" and hasattr(thing, "columns"):
        return _table(thing, directed)
    if isinstance(thing, np.ndarray):
        return _dense(thing, directed)
    if sparse.issparse(thing) and thing.format == "bsr":
        thing = thing.tocsr()
        thing.eliminate_zeros()  # most are padding of its blocks
    return Graph.of(thing)


def _igraph(graph):
    ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else None
    labels = _texts(graph.vs["name"]) if "name" in graph.vs.attributes() else None
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=graph.vcount(), weights=weights, directed=graph.is_directed(),
                            labels=labels)  # fmt: skip


def _rustworkx(graph):
    edges, places = graph.weighted_edge_list(), {node: place for place, node in enumerate(graph.node_indices())}
    ends = np.array([(places[u], places[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    held = [weight for _, _, weight in edges]
    numbers = held and all(isinstance(one, NUMBERS) and not isinstance(one, bool) for one in held)
    names = graph.nodes()
    labels = _texts(names) if names and all(isinstance(one, str) for one in names) else None
    directed = any(kind.__name__ == "PyDiGraph" for kind in type(graph).__mro__)  # also PyDAG, which is one
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=len(places), weights=held if numbers else None,
                            directed=directed, labels=labels)  # fmt: skip


def _table(table, directed):
    ends = next((two for two in COLUMNS if set(two) <= set(table.columns)), None)
    if ends is None:
        raise GraphError(f"a table with the columns {', '.join(map(str, table.columns))}; expected source and target")
    sources, targets = (table[name].to_numpy() for name in ends)
    labels, n = None, None
    for name in ends:
        if (gaps := np.flatnonzero(table[name].isna())).size:
            raise GraphError(f"row {gaps[0]} of the table has no {name}; expected both ends of every edge")
    if sources.dtype.kind not in "iu" or targets.dtype.kind not in "iu":
        (sources, targets), labels = named.numbered(sources, targets)
        n = len(labels)
    weights = table["weight"].to_numpy() if "weight" in table.columns else None
    return Graph.from_edges(sources, targets, n=n, weights=weights, directed=directed, labels=labels)


def _dense(matrix, directed):
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"an array of shape {matrix.shape}; an adjacency matrix is square")
    sources, targets = np.nonzero(matrix)
    weights = None if matrix.dtype == bool else matrix[sources, targets]
    graph = Graph.from_edges(sources, targets, n=len(matrix), weights=weights)
    return graph if directed else Graph(graph.offsets, graph.targets, graph.weights, directed=False)


def _texts(names):
    labels = np.empty(len(names), object)
    labels[:] = names
    return labels
