"""Convert NetworkX graphs to CSR. NetworkX caches the converted graph with the original."""

import itertools
import weakref

import numpy as np

from lockstep.graphs import Graph, csr


class Converted:
    """A NetworkX graph in CSR, in the order of its nodes and of each node's neighbors.

    Attributes
    ----------
    graph : Graph
        Without weights; parallel edges stay apart.
    weights : dict
        {edge attribute: array (m,)}.
    nodes : list
    origin : weak reference to the NetworkX graph
    """

    __networkx_backend__ = "lockstep"

    def __init__(self, origin, graph, nodes, weights):
        self.origin, self.multigraph = weakref.ref(origin), origin.is_multigraph()
        self.graph, self.nodes, self.weights = graph, nodes, weights
        # NetworkX empties this when the graph is changed.
        self.seen = origin.__networkx_cache__.setdefault("lockstep", object())
        self.index = {node: place for place, node in enumerate(nodes)}

    def is_directed(self):
        return self.graph.directed

    def is_multigraph(self):
        return self.multigraph

    def changed(self):
        """Whether the NetworkX graph was changed since the conversion."""
        origin = self.origin()
        return origin is not None and origin.__networkx_cache__.get("lockstep") is not self.seen

    def weighted(self, attribute):
        """The Graph with an edge attribute as weights; without one, every edge counts 1."""
        if attribute is None:
            return self.graph
        g = self.graph
        return Graph._trusted(g.offsets, g.targets, self.weights[attribute], g.directed)

    def of_nodes(self, values):
        return dict(zip(self.nodes, values.tolist(), strict=True))


def convert_from_nx(G, *, edge_attrs=None, preserve_edge_attrs=False, **_):
    """Convert a NetworkX graph; the edge attributes in `edge_attrs` become arrays.

    Raises
    ------
    NotImplementedError
        An edge attribute is not a finite number >= 0.
    """
    if isinstance(G, Converted):
        return G
    nodes = list(G)
    index = {node: place for place, node in enumerate(nodes)}
    adjacency, several = list(G.adj.values() if G.is_multigraph() else G._adj.values()), G.is_multigraph()
    if several:
        heads = [v for row in adjacency for v, keys in row.items() for _ in keys]
        degrees = [sum(map(len, row.values())) for row in adjacency]
    else:
        heads, degrees = itertools.chain.from_iterable(adjacency), list(map(len, adjacency))
    offsets = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)]).astype(np.int64)
    plain = all(type(node) is int and node == place for place, node in enumerate(nodes))
    heads = heads if plain else map(index.__getitem__, heads)
    targets = np.fromiter(heads, csr.index_type(len(nodes)), int(offsets[-1]))
    weights = {name: _numbers(adjacency, several, name, 1 if default is None else default)
               for name, default in (edge_attrs or {}).items()}  # fmt: skip
    return Converted(G, Graph._trusted(offsets, targets, None, G.is_directed()), nodes, weights)


def _numbers(adjacency, several, attribute, default):
    """An edge attribute as an array, in the order of the arcs; int64 or float64."""
    rows = itertools.chain.from_iterable(row.values() for row in adjacency)
    edges = itertools.chain.from_iterable(keys.values() for keys in rows) if several else rows
    listed = [edge.get(attribute, default) for edge in edges]
    values = np.array(listed)
    if values.size == 0:
        values = np.zeros(0, np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iuf" or not np.isfinite(values).all() or (values < 0).any():
        raise NotImplementedError(f"edge attribute {attribute!r} is not a finite number >= 0 on every edge")
    if not {*map(type, listed)} <= {int, float, bool, np.int64, np.float64}:  # NetworkX adds float32 in its precision
        raise NotImplementedError(f"edge attribute {attribute!r} is not an int, float, int64 or float64 on every edge")
    # Distances are added in float64: whole numbers beyond 2^53 would be rounded, larger sums infinite.
    whole = values if values.dtype.kind != "f" else [v for v in listed if isinstance(v, (int, np.integer))]
    longest, exact = (float(max(some, default=0)) * len(adjacency) for some in (values, whole))
    if exact >= 2.0**53 or not np.isfinite(longest):
        raise NotImplementedError(f"paths along edge attribute {attribute!r} may be longer than float64 can represent")
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64)


def convert_to_nx(result, *, name=None):
    """Return the result unchanged: no function of the backend returns a graph."""
    return result
