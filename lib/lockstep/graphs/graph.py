"""The graph type of all studies: directed or undirected, in compressed sparse rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from . import checks, csr
from .checks import GraphError

if TYPE_CHECKING:
    from lockstep.typing import Array, GraphLike, Numbers, Sparse


class GraphWarning(UserWarning):
    """A graph was changed or interpreted on input in a way that the caller may not expect."""


class Graph:
    """A graph in compressed sparse rows (CSR).

    Parameters
    ----------
    offsets : int array, shape (n + 1,)
        Row ``v`` holds arcs ``offsets[v]`` to ``offsets[v + 1] - 1``.
    targets : int array, shape (m,)
        Head of every arc.
    weights : int or float array, shape (m,), optional
        Stored as int64 or float64; NaN is refused.
    directed : bool
        An undirected graph stores both arcs of an edge (a loop once), so ``m`` counts stored arcs.
    name : str
        Used in messages, tables and figures.
    labels : array, shape (n,), optional
        Names of the vertices, if not ``0..n-1``. Results carry them, and a source vertex may be given by its label.

    Raises
    ------
    GraphError
        If the arrays do not describe such a graph; the first offending place is named.
    OverflowError
        If a weight of an array of unsigned integers is 2^63 or more, which int64 does not hold.

    Notes
    -----
    Parallel arcs and loops are kept as they are, never summed or dropped. Treat the arrays as read-only.
    """

    __slots__ = ("offsets", "targets", "weights", "directed", "name", "labels")

    def __init__(
        self, offsets: "Numbers", targets: "Numbers", weights: "Numbers | None" = None, directed: bool = True,
        name: str = "", labels: "Sequence | Array | None" = None,
    ) -> None:
        offsets = checks.integers(offsets, "offsets")
        targets = checks.integers(targets, "targets")
        checks.check_offsets(offsets, targets.size)
        n = offsets.size - 1
        checks.check_range(targets, n, "target")
        self.offsets = np.ascontiguousarray(offsets, np.int64)
        self.targets = np.ascontiguousarray(targets, csr.index_type(n))
        self.weights = checks.arc_weights(weights, targets.size)
        self.directed = bool(directed)
        self.name = str(name)
        self.labels = checks.vertex_labels(labels, n)
        if not self.directed:
            checks.check_symmetric(self)

    @classmethod
    def _trusted(cls, offsets, targets, weights=None, directed=True, name="", labels=None):
        """A Graph from arrays that this package built itself, without checking them again."""
        self = object.__new__(cls)
        self.offsets, self.targets, self.weights = offsets, targets, weights
        self.directed, self.name, self.labels = directed, name, labels
        return self

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.offsets.size - 1

    @property
    def m(self) -> int:
        """Number of stored arcs; twice the edges (loops once) if undirected."""
        return self.targets.size

    def __repr__(self):
        kind = "directed" if self.directed else "undirected"
        weighted = "" if self.weights is None else ", weighted"
        sizes = f"{self.n:,} vertices, {self.m:,} stored arcs"
        return f"<Graph {self.name or 'unnamed'}: {sizes}, {kind}{weighted}>"

    def index_of(self, called: Any) -> int:
        """The number of a vertex: by its label where the graph has labels, else that number itself.

        Where all labels are text, a number is taken as one, unless it is also written as a label ("10").

        Raises
        ------
        GraphError
            No vertex is called so.
        """
        name = self.name or "the graph"
        number = isinstance(called, (int, np.integer)) and not isinstance(called, (bool, np.bool_))
        if self.labels is not None:
            checks.vertex_labels(self.labels, self.n)
            if hasattr(self.labels, "iloc"):
                raise GraphError("labels are a pandas Series, whose index may order them anew; expected .to_numpy()")
            found = [place for place, label in enumerate(self.labels) if label == called]
            if found:
                return found[0]
            if not number or any(not isinstance(label, str) or label == str(called) for label in self.labels):
                raise GraphError(f"no vertex {called!r}: {name} has no vertex of that name, of its {self.n:,}")
        if not number:
            raise GraphError(f"no vertex {called!r}: expected a vertex number, 0 to n - 1")
        if not 0 <= called < self.n:
            there = f"vertices 0 to {self.n - 1} (n = {self.n})" if self.n else "no vertices"
            raise GraphError(f"no vertex {called}: {name} has {there}")
        return int(called)

    def label_of(self, vertex: int) -> Any:
        """The label of a vertex; its number in a graph without labels."""
        return int(vertex) if self.labels is None else self.labels[vertex]

    def out_degrees(self) -> np.ndarray:
        """Stored arcs that leave each vertex, int32, shape (n,)."""
        return np.diff(self.offsets).astype(np.int32)

    def in_degrees(self) -> np.ndarray:
        """Stored arcs that enter each vertex, int32, shape (n,)."""
        return np.bincount(self.targets, minlength=self.n).astype(np.int32)

    def edges(self, once: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Arcs as two arrays (sources, targets), in row order.

        With ``once=True`` an undirected graph gives each edge one time, from its smaller end: what
        `from_edges` takes.
        """
        sources = csr.rows(self.offsets)
        if once and not self.directed:
            keep = sources <= self.targets
            return sources[keep], self.targets[keep]
        return sources, self.targets

    def edge_weights(self, once: bool = False) -> np.ndarray | None:
        """Weights in the order of `edges`, or None."""
        if self.weights is None or not once or self.directed:
            return self.weights
        return self.weights[csr.rows(self.offsets) <= self.targets]

    def reverse(self) -> "Graph":
        """The graph with every arc transposed; rows come out sorted by source."""
        offsets, targets, weights = csr.group(self.targets, csr.rows(self.offsets), self.n, self.weights)
        return Graph._trusted(offsets, targets, weights, self.directed, self.name, self.labels)

    @classmethod
    def from_edges(
        cls, sources: "Numbers", targets: "Numbers", *, n: int | None = None, weights: "Numbers | None" = None,
        directed: bool = True, name: str = "", labels: "Sequence | Array | None" = None,
    ) -> "Graph":
        """Build a graph from arcs; those of a vertex keep the order in which they are given.

        Parameters
        ----------
        sources, targets : int arrays, shape (m,)
            Ids from 0. If ``directed`` is False each pair is one edge, of which both arcs are stored (a loop
            once).
        n : int, optional
            Number of vertices; the largest id plus one if left out.
        weights : int or float array, shape (m,), optional

        Raises
        ------
        GraphError
            If lengths differ, an id is not in ``0..n-1``, or a weight is NaN or no number.
        OverflowError
            As of `Graph`.
        MemoryError
            Without `n`, if nearly all ids up to the largest are unused.
        """
        sources = checks.integers(sources, "sources")
        targets = checks.integers(targets, "targets")
        if sources.shape != targets.shape:
            raise GraphError(f"{sources.size} sources but {targets.size} targets; expected as many of each")
        weights = checks.arc_weights(weights, sources.size)
        if n is None:
            n = int(max(sources.max(), targets.max())) + 1 if sources.size else 0
            if n > max(10**8, 1000 * sources.size):
                raise MemoryError(
                    f"the largest id is {n - 1} of {sources.size} arcs; expected ids that are nearly all used (n= says "
                    "how many vertices there are, numpy.unique(ids, return_inverse=True) numbers those that occur)"
                )
        elif n < 0:
            raise GraphError(f"n is {n}; expected 0 or more vertices")
        n = int(n)
        checks.check_range(sources, n, "source")
        checks.check_range(targets, n, "target")
        if not directed:
            sources, targets, weights = both_ways(sources, targets, weights)
        offsets, targets, weights = csr.group(sources, targets, n, weights)
        return cls._trusted(offsets, targets, weights, bool(directed), str(name), labels)

    @classmethod
    def from_networkx(cls, graph: Any, weight: str | None = "weight") -> "Graph":
        """Convert any NetworkX graph; multigraphs keep their parallel edges.

        Integer nodes ``0..n-1`` keep their ids; other nodes are numbered in NetworkX's order and ``labels``
        holds them. Edge attribute ``weight`` becomes the weight if any edge has it (1 where it is missing, as
        in NetworkX).
        """
        nodes = list(graph.nodes)
        n = len(nodes)
        plain = all(type(v) is int for v in nodes) and (n == 0 or (min(nodes) == 0 and max(nodes) == n - 1))
        number = None if plain else {v: i for i, v in enumerate(nodes)}
        triples = list(graph.edges(data=weight, default=None))
        ends = [(u, v) if plain else (number[u], number[v]) for u, v, _ in triples]
        pairs = np.array(ends, np.int64).reshape(-1, 2)
        weights = None
        if any(w is not None for _, _, w in triples):
            try:
                weights = np.array([1 if w is None else w for _, _, w in triples])
                weights = checks.arc_weights(weights, len(triples))
            except (GraphError, ValueError, TypeError) as error:
                raise GraphError(f"edge attribute {weight!r} is not a number on every edge: {error}") from None
        labels = None
        if not plain:
            labels = np.empty(n, object)
            labels[:] = nodes
        return cls.from_edges(pairs[:, 0], pairs[:, 1], n=n, weights=weights, directed=graph.is_directed(),
                              name=str(graph.name or ""), labels=labels)  # fmt: skip

    def to_networkx(self) -> Any:
        """The same graph in NetworkX on nodes ``0..n-1``; a multigraph if there are parallel arcs."""
        import networkx as nx

        sources, targets = self.edges(once=True)
        parallel = np.unique(sources.astype(np.int64) * max(self.n, 1) + targets).size < sources.size
        kinds = {
            (True, True): nx.MultiDiGraph,
            (True, False): nx.DiGraph,
            (False, True): nx.MultiGraph,
            (False, False): nx.Graph,
        }
        graph = kinds[self.directed, parallel](name=self.name)
        graph.add_nodes_from(range(self.n))
        if self.weights is None:
            graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
        else:
            weights = self.edge_weights(once=True).tolist()
            graph.add_weighted_edges_from(zip(sources.tolist(), targets.tolist(), weights, strict=True))
        return graph

    @classmethod
    def from_scipy(cls, matrix: "Sparse", directed: bool = True, name: str = "") -> "Graph":
        """Convert a square SciPy sparse matrix: every stored entry (i, j) is an arc, zeros too
        (but not in DIA format, which pads with zeros; BSR pads its blocks too, and `graph_of` drops such zeros).

        Entries become weights, unless the matrix is Boolean; stored twice, they stay two arcs. ``directed=False`` needs
        a symmetric matrix.
        """
        if not sparse.issparse(matrix) or matrix.ndim != 2:
            raise GraphError(f"expected a two-dimensional SciPy sparse matrix or array, found {type(matrix).__name__}")
        if matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"the matrix is {matrix.shape[0]} x {matrix.shape[1]}; an adjacency matrix is square")
        coo = matrix.tocoo()
        weights = None if coo.dtype == bool else coo.data
        graph = cls.from_edges(coo.row, coo.col, n=matrix.shape[0], weights=weights, name=name)
        if not directed:
            graph.directed = False
            checks.check_symmetric(graph)
        return graph

    def to_scipy(self) -> sparse.csr_array:
        """The adjacency matrix as a CSR array, Boolean if unweighted.

        Parallel arcs stay apart as duplicate entries; SciPy sums them as soon as something asks for canonical form.
        """
        data = np.ones(self.m, bool) if self.weights is None else self.weights.copy()
        return sparse.csr_array((data, self.targets.copy(), self.offsets.copy()), shape=(self.n, self.n))

    @classmethod
    def of(cls, graph: "GraphLike | Any") -> "Graph":
        """``graph`` itself if it is a Graph, else converted from NetworkX or SciPy, else GraphError."""
        if isinstance(graph, cls):
            return graph
        if sparse.issparse(graph):
            return cls.from_scipy(graph)  # pyright: ignore[reportArgumentType]
        if hasattr(graph, "is_directed") and hasattr(graph, "nodes") and hasattr(graph, "edges"):
            return cls.from_networkx(graph)
        raise GraphError(
            f"cannot take a {type(graph).__name__} as a graph; expected a lockstep Graph, a NetworkX, igraph or "
            "rustworkx graph, a SciPy sparse matrix, a square array or a DataFrame with columns source and target "
            "(files: lockstep.graphs.read, named data sets: lockstep.graphs.load)"
        )


def both_ways(sources, targets, weights=None):
    """Both arcs of every edge, a loop once."""
    other = sources != targets
    back = None if weights is None else np.concatenate([weights, weights[other]])
    return np.concatenate([sources, targets[other]]), np.concatenate([targets, sources[other]]), back
