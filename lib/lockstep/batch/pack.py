"""Many small graphs in one set of flat arrays, which are allocated, copied and passed to a kernel like one
graph.

Every graph keeps its own compressed sparse rows, with ids and offsets of its own. Graph i has the vertices
``vertex_start[i]`` to ``vertex_start[i + 1] - 1`` of all results. Its n + 1 offsets begin at ``vertex_start[i] + i``,
because every graph before it has one offset more than vertices. Ids within a graph fit 16 bits as long as no graph has
more than 65,536 vertices: half the memory to load, to copy and to read.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lockstep.graphs import Graph, GraphError, graph_of

from .weights import weight_not_held

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstep.typing import GraphLike

SMALL = 2**16  # vertices that 16-bit ids tell apart
MOST_ARCS = 2**31 - 1  # of a graph
ARRAYS = ("n", "m", "vertex_start", "arc_start", "offsets", "targets", "weights")


class Kind(NamedTuple):
    """Properties common to a pack's graphs, and the name of the graph or pack defining them."""

    directed: bool
    weighted: bool
    name: str

    @classmethod
    def of(cls, named):
        """The kind of (graph or pack, name) pairs: that of the first with arcs, else of the first;
        None if empty.
        """
        found = None
        for graph, name in named:
            if found is None or graph.targets.size:
                found = cls(graph.directed, graph.weights is not None, name)
            if graph.targets.size:
                break
        return found

    def check(self, graph, name):
        """Refuse a graph or pack of another kind.

        Raises
        ------
        GraphError
            Names both and says what to do.
        """
        if graph.directed != self.directed:
            one, other = ("directed", "undirected") if graph.directed else ("undirected", "directed")
            raise GraphError(
                f"{name} is {one}, {self.name} is {other}; expected all alike: make a batch of each kind, or say for "
                "files what all are (--directed, --undirected; directed=True or False in Python). A file that does not "
                "say and a SciPy matrix are directed (Graph.from_scipy(matrix, directed=False) says otherwise)"
            )
        if graph.targets.size and (graph.weights is not None) != self.weighted:
            has, none = (self.name, name) if self.weighted else (name, self.name)
            raise GraphError(
                f"{has} has weights, {none} has none; expected all or none: make a batch of each kind, or leave all "
                "weights out (--unweighted; GraphBatch with weights=False)"
            )


class Pack:
    """Many small graphs, side by side.

    Parameters
    ----------
    offsets : int32 array, shape (sum(n) + k,)
        The offsets of every graph's rows, one graph after the other; each graph's begin with 0.
    targets : uint16 or int32 array, shape (sum(m),)
        Head of every arc, an id within its graph.
    vertex_start, arc_start : int64 arrays, shape (k + 1,)
        Vertices and arcs of all graphs before.
    weights : float32 array, shape (sum(m),), optional
    directed : bool
        Undirected graphs store both arcs of an edge (a loop once).
    names : sequence of str, optional

    Attributes
    ----------
    n, m : int32 arrays, shape (k,)
        Vertices and stored arcs of each graph.
    host : Pack
        The same graphs in NumPy's arrays: the source of a pack on the device, else itself. Planning reads sizes
        from it, without synchronizing with the device.

    Notes
    -----
    The arrays are NumPy's or CuPy's, all of one kind, and are taken as they are: `Pack.of` and `GraphBatch` check what
    they are given, this constructor does not. Treat them as read-only.
    """

    __slots__ = (*ARRAYS, "directed", "names", "_host")

    def __init__(
        self, offsets: Any, targets: Any, vertex_start: Any, arc_start: Any, weights: Any = None,
        directed: bool = False, names: "Sequence[str] | None" = None, *, n: Any = None, m: Any = None,
        host: "Pack | None" = None,
    ) -> None:
        self.offsets, self.targets, self.weights = offsets, targets, weights
        self.vertex_start, self.arc_start = vertex_start, arc_start
        self.n = (vertex_start[1:] - vertex_start[:-1]).astype(np.int32) if n is None else n
        self.m = (arc_start[1:] - arc_start[:-1]).astype(np.int32) if m is None else m
        self.directed, self.names, self._host = bool(directed), names, host

    def __len__(self) -> int:
        return len(self.n)

    def __repr__(self):
        kind = "directed" if self.directed else "undirected"
        sizes = f"{int(self.vertex_start[-1]):,} vertices, {int(self.arc_start[-1]):,} stored arcs"
        return f"<Pack of {len(self):,} graphs: {sizes}, {kind}{'' if self.weights is None else ', weighted'}>"

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in map(self._array, ARRAYS) if array is not None)

    def _array(self, name):
        return getattr(self, name)

    @property
    def host(self) -> "Pack":
        return self._host if self._host is not None else self.to(np)

    def name(self, i: int) -> str:
        """Name of graph ``i``; its number in the pack if it has none."""
        return str(i) if self.names is None else str(self.names[i])

    @classmethod
    def empty(cls, directed: bool = False) -> "Pack":
        """A pack without graphs."""
        starts = np.zeros(1, np.int64)
        return cls(np.zeros(0, np.int32), np.zeros(0, np.uint16), starts, starts, directed=directed)

    @classmethod
    def of(cls, graphs: "Pack | Sequence[GraphLike]", kind: Kind | None = None) -> "Pack":
        """Pack any sequence of Graphs, NetworkX graphs or SciPy sparse matrices; a Pack is taken as it is.

        Parameters
        ----------
        graphs : Pack or sequence
        kind : Kind, optional
            What the graphs must be; without it, as the first one with arcs.

        Raises
        ------
        GraphError
            Something is no graph, directed and undirected or weighted and unweighted graphs are mixed (graphs
            without arcs are compatible with both), or float32 does not hold a weight (see `GraphBatch`). The
            graph's place in the sequence is named.
        """
        if isinstance(graphs, cls):
            return graphs
        found = []
        for i, graph in enumerate(graphs):  # pyright: ignore[reportArgumentType]
            try:
                found.append(graph_of(graph))
            except GraphError as error:
                raise GraphError(f"graph {i} of the batch: {error}") from None
        if not found:
            return cls.empty()
        named = [(graph, f"graph {i} of the batch") for i, graph in enumerate(found)]
        kind = kind or Kind.of(named)
        for graph, name in named:
            kind.check(graph, name)
            if graph.m > MOST_ARCS:
                raise GraphError(
                    f"{name} has {graph.m:,} stored arcs; at most {MOST_ARCS:,}, as offsets are stored (leave it out)"
                )
            if weight_not_held(graph):
                raise GraphError(f"{name}: {weight_not_held(graph)}")
        vertex_start = _starts([graph.n for graph in found])
        arc_start = _starts([graph.m for graph in found])
        ids = np.uint16 if max(graph.n for graph in found) <= SMALL else np.int32
        weights = None
        if kind.weighted:
            weights = np.concatenate([graph.weights for graph in found if graph.m] or [[]]).astype(np.float32)
        names = [graph.name for graph in found] if any(graph.name for graph in found) else None
        return cls(
            np.concatenate([graph.offsets for graph in found]).astype(np.int32),
            np.concatenate([graph.targets for graph in found]).astype(ids),
            vertex_start,
            arc_start,
            weights,
            kind.directed,
            names,
        )

    def __getitem__(self, index: int | slice) -> Any:
        """Graph ``i`` as a Graph; for a slice with step 1 those graphs as a Pack that shares the arrays."""
        if isinstance(index, slice):
            first, last, step = index.indices(len(self))
            if step != 1:
                return self.take(np.arange(first, last, step))
            return self._part(first, max(first, last))
        i = int(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"graph {i} of a pack of {len(self)}")
        i %= len(self)
        one = self._part(i, i + 1).to(np)
        weights = None if one.weights is None else one.weights.astype(np.float64)
        offsets, targets = one.offsets.astype(np.int64), one.targets.astype(np.int32)
        return Graph._trusted(offsets, targets, weights, self.directed, self.name(i) if self.names is not None else "")

    def _part(self, first, last):
        starts = self if self._host is None else self._host  # reading single numbers from the device would synchronize
        v0, v1 = int(starts.vertex_start[first]), int(starts.vertex_start[last])
        a0, a1 = int(starts.arc_start[first]), int(starts.arc_start[last])
        return Pack(
            self.offsets[v0 + first : v1 + last],
            self.targets[a0:a1],
            self.vertex_start[first : last + 1] - v0,
            self.arc_start[first : last + 1] - a0,
            None if self.weights is None else self.weights[a0:a1],
            self.directed,
            None if self.names is None else self.names[first:last],
            n=self.n[first:last],
            m=self.m[first:last],
            host=None if self._host is None else self._host._part(first, last),
        )

    def unweighted(self) -> "Pack":
        """The same graphs without weights; itself if there are none."""
        if self.weights is None:
            return self
        host = None if self._host is None else self._host.unweighted()
        return Pack(self.offsets, self.targets, self.vertex_start, self.arc_start, None, self.directed, self.names,
                    n=self.n, m=self.m, host=host)  # fmt: skip

    def take(self, indices: Any) -> "Pack":
        """The graphs of these numbers, in that order, as a Pack of its own; arrays of the same kind."""
        here = self.host
        indices = np.asarray(indices, np.int64).reshape(-1)
        vertex_start, arc_start = _starts(here.n[indices]), _starts(here.m[indices])
        arcs = _places(here.arc_start[indices], here.m[indices])
        rows = _places(here.vertex_start[indices] + indices, here.n[indices].astype(np.int64) + 1)
        found = Pack(
            here.offsets[rows],
            here.targets[arcs],
            vertex_start,
            arc_start,
            None if here.weights is None else here.weights[arcs],
            self.directed,
            None if self.names is None else [self.names[int(i)] for i in indices],
        )
        return found if isinstance(self.n, np.ndarray) else found.to(_module(self.n))

    def to(self, xp: ModuleType) -> "Pack":
        """A pack with the arrays of that module, ``numpy`` or ``cupy``; itself if they are."""
        if xp is _module(self.n):
            return self
        if xp is np and self._host is not None:
            return self._host
        copy = (lambda array: array.get()) if xp is np else xp.asarray
        arrays = {name: None if self._array(name) is None else copy(self._array(name)) for name in ARRAYS}
        return Pack(directed=self.directed, names=self.names, host=None if xp is np else self, **arrays)


def join(packs):
    """Several host packs as one; all directed or none, all weighted or none (one without arcs goes with both).

    Raises
    ------
    GraphError
        Packs are of different kinds; graphs of both are named.
    """
    packs = [pack for pack in packs if len(pack)]
    if len(packs) <= 1:
        return packs[0] if packs else Pack.empty()
    named = [(pack, f"graph {pack.name(0)}") for pack in packs]
    kind = Kind.of(named)
    for pack, name in named:
        kind.check(pack, name)
    wide = any(pack.targets.dtype != np.uint16 for pack in packs)
    named = any(pack.names is not None for pack in packs)
    return Pack(
        np.concatenate([pack.offsets for pack in packs]),
        np.concatenate([pack.targets.astype(np.int32) if wide else pack.targets for pack in packs]),
        _starts(np.concatenate([pack.n for pack in packs])),
        _starts(np.concatenate([pack.m for pack in packs])),
        np.concatenate([pack.weights for pack in packs if pack.weights is not None]) if kind.weighted else None,
        kind.directed,
        [pack.name(i) for pack in packs for i in range(len(pack))] if named else None,
    )


def _module(array):
    if isinstance(array, np.ndarray):
        return np
    import cupy

    return cupy


def _starts(sizes):
    """Exclusive prefix sums with the total at the end, int64."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(np.asarray(sizes, np.int64), out=starts[1:])
    return starts


def _places(first, counts):
    """``first[i], first[i] + 1, ...``, ``counts[i]`` of each, one after the other."""
    counts = np.asarray(counts, np.int64)
    return np.repeat(np.asarray(first, np.int64) - _starts(counts)[:-1], counts) + np.arange(counts.sum())


def pack_of(graph, starts, name=""):
    """The graphs that lie side by side in one, graph k on the vertices ``starts[k]`` to ``starts[k + 1] - 1``."""
    if why := weight_not_held(graph):
        raise GraphError(f"{name}: {why}")
    starts = np.asarray(starts, np.int64)
    sizes = np.diff(starts)
    kind = np.uint16 if sizes.max(initial=0) <= SMALL else np.int32
    arc_start = graph.offsets[starts]
    m = np.diff(arc_start)
    targets = (graph.targets - np.repeat(starts[:-1], m)).astype(kind)
    rows = np.repeat(starts[:-1], sizes + 1) - np.repeat(starts[:-1] + np.arange(sizes.size), sizes + 1)
    rows += np.arange(rows.size)  # of every offset, the place in the common graph's
    offsets = (graph.offsets[rows] - np.repeat(arc_start[:-1], sizes + 1)).astype(np.int32)
    weights = None if graph.weights is None else graph.weights.astype(np.float32)
    names = [f"{name}-{k}" for k in range(sizes.size)] if name else None
    return Pack(offsets, targets, starts, arc_start, weights, graph.directed, names)
