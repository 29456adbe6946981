"""A graph and a source made ready for shortest paths: the type that holds distances, and the arcs in that type."""

import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.graphs import Graph, GraphError, graph_of
from lockstep.plan import GraphProblem

from .oracle import Checker

if TYPE_CHECKING:
    from lockstep.machine import Executor
    from lockstep.plan import Strategy
    from lockstep.typing import GraphLike

    from .result import ShortestPaths

NARROW_INFINITY = 2**31 - 1  # as in types.cuh


class Problem(GraphProblem):
    """Shortest distances from one vertex of a graph with checked weights; see `lockstep.plan.Problem`.

    Parameters
    ----------
    graph : Graph
        Weights >= 0 and finite; without weights every arc counts 1.
    source : int
    wide : bool, optional
        None: narrow (integers below 2^31 - 1) if the weights allow, else wide (float64). Weights that
        are all multiples of a power of two become integers by scaling, so the narrow type is exact;
        a run whose sums may leave its range raises `Outgrown`.

    Attributes
    ----------
    graph, source, wide
    scale : float
        Factor from distances of the narrow type to distances of the graph.
    weights : uint32 or float64 array, shape (m,)
    limit : int or float
        Largest distance of a vertex that may be relaxed without overflow of the type.

    Raises
    ------
    GraphError
        A weight is negative, infinite or NaN (arc named), or vertices or arcs reach 2^31 - 2^20.
    """

    def __init__(self, graph: Graph, source: int = 0, wide: bool | None = None) -> None:
        super().__init__(graph, source=_vertex(graph, source))
        if max(graph.n, graph.m) >= 2**31 - 2**20:
            raise GraphError(
                f"{self.name} has {graph.n:,} vertices and {graph.m:,} arcs; "
                "shortest_paths takes fewer than 2^31 - 2^20 of each"
            )
        weights = np.ones(graph.m, np.int64) if graph.weights is None else graph.weights
        check_weights(graph, weights)
        self.scale, narrow = (1.0, None) if wide else whole_numbers(weights)
        self.wide = narrow is None
        self.weights = weights.astype(np.float64) + 0.0 if self.wide else narrow  # + 0.0: -0.0 becomes 0.0
        heaviest = self.weights.max(initial=0)
        if self.wide:
            self.limit = float(np.finfo(np.float64).max - heaviest)
        else:
            self.limit = NARROW_INFINITY - 1 - int(heaviest)
        self.checker, self._there = Checker(graph), {}

    @classmethod
    def of(cls, given: "GraphLike", source: Any = None) -> "Problem":
        """By default from a vertex with most arcs."""
        graph = graph_of(given)
        if source is None and graph.n:
            source = int(graph.out_degrees().argmax())
        return cls(graph, 0 if source is None else graph.index_of(source))

    @property
    def source(self) -> int:
        return self.settings["source"]

    def at(self, source: int) -> "Problem":
        """The same graph from another source; device arrays are shared."""
        found = copy.copy(self)
        found.settings = {"source": _vertex(self.graph, source)}
        return found

    def detached(self) -> "Problem":
        """The same problem without its device arrays."""
        found = copy.copy(self)
        found._there = {}
        return found

    def check(self, result: "ShortestPaths", strategy: "Strategy") -> str:
        return self.checker(result, strategy.exact)

    def wider(self) -> "Problem | None":
        return None if self.wide else type(self)(self.graph, self.source, wide=True)

    def on(self, executor: "Executor", incoming: bool = False) -> tuple:
        """(offsets, arcs) on a device, by tails or, for incoming arcs, by heads; cached."""
        key = id(executor), incoming
        if key not in self._there:
            graph = self.graph
            packed = self.reversed() if incoming else self.pack(graph.offsets, graph.targets, self.weights)
            self._there[key] = tuple(executor.array(one) for one in packed)
        return self._there[key]

    def reversed(self) -> tuple[np.ndarray, np.ndarray]:
        """(offsets, arcs) of the reversed graph: the arcs that lead to each vertex, with their tails."""
        graph = self.graph
        order = np.argsort(graph.targets, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(graph.targets, minlength=graph.n))])
        sources = np.repeat(np.arange(graph.n, dtype=np.int32), np.diff(graph.offsets))
        return self.pack(offsets, sources[order], self.weights[order])

    @property
    def dtype(self) -> np.dtype:
        """Distance type: uint32 or float64."""
        return np.dtype(np.float64 if self.wide else np.uint32)

    @property
    def infinity(self) -> int | float:
        """Distance of unreached vertices."""
        return np.inf if self.wide else NARROW_INFINITY

    @property
    def defines(self) -> dict[str, str]:
        """Macro definitions for the kernels."""
        return {"DISTANCE": "double" if self.wide else "unsigned"}

    @cached_property
    def mean_weight(self) -> float:
        """In units of the type; 1 without arcs or with zero weights alone."""
        with np.errstate(over="ignore"):  # a mean beyond float64 is as good as infinite: one bucket
            mean = float(self.weights.mean(dtype=np.float64)) if self.weights.size else 0.0
        return mean if mean > 0 else 1.0

    def pack(self, offsets: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(offsets, arcs) for the kernels; an arc is (target, weight) or, wide, (weight, target)."""
        kind = np.uint64 if self.wide else np.uint32
        arcs = np.empty((max(targets.size, 1), 2), kind)
        arcs[: targets.size, 1 if self.wide else 0] = targets
        arcs[: targets.size, 0 if self.wide else 1] = weights.view(np.uint64) if self.wide else weights
        return offsets.astype(np.int32), arcs

    def distance(self, value: float) -> np.uint32 | np.float64:
        """A number of the graph's units in the type's; narrow: floored, 1 to infinity."""
        value = float(value) / self.scale
        if self.wide:
            return np.float64(value)
        return np.uint32(min(max(int(min(value, NARROW_INFINITY)), 1), NARROW_INFINITY))

    def distances(self, raw: np.ndarray) -> np.ndarray:
        """Distances of the type as float64 in the graph's units, inf where not reached."""
        if self.wide:
            return np.asarray(raw, np.float64)
        result = raw.astype(np.float64) * self.scale
        result[raw >= NARROW_INFINITY] = np.inf
        return result


def _vertex(graph, number):
    """The number of a vertex, checked: kernels write its distance unseen."""
    if graph.n and not 0 <= number < graph.n:
        raise GraphError(f"no vertex {number}: {graph.name or 'the graph'} has vertices 0 to {graph.n - 1}")
    return int(number)


def check_weights(graph, weights):
    """GraphError if a weight is negative or not finite, with the first such arc."""
    bad = weights < 0
    if weights.dtype.kind == "f":
        bad |= ~np.isfinite(weights)
    if bad.any():
        arc = int(np.argmax(bad))
        source = int(np.searchsorted(graph.offsets, arc, side="right")) - 1
        raise GraphError(
            f"arc {arc} ({graph.label_of(source)} -> {graph.label_of(graph.targets[arc])}) has weight {weights[arc]}; "
            "shortest_paths needs weights >= 0 and finite"
        )


def whole_numbers(weights):
    """(scale, uint32 weights) with weights = scale * whole numbers, exactly; (1, None) if that cannot be."""
    if weights.dtype.kind != "f":
        heaviest = int(weights.max(initial=0))
        return 1.0, weights.astype(np.uint32) if heaviest < NARROW_INFINITY - 1 else None
    positive = weights[weights > 0]
    if positive.size == 0:
        return 1.0, np.zeros(weights.size, np.uint32)
    mantissa, exponent = np.frexp(positive)
    bits = (mantissa * 2.0**53).astype(np.int64)
    lowest = int((exponent - 53 + np.log2((bits & -bits).astype(np.float64)).astype(np.int64)).min())
    if lowest < -1000 or np.log2(positive.max()) - lowest > 30:
        return 1.0, None
    scale = 2.0 ** min(lowest, 0)
    whole = weights / scale
    if whole.max() >= NARROW_INFINITY - 1:
        return 1.0, None
    return scale, whole.astype(np.uint32)
