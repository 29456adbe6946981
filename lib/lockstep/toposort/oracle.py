"""Reference for every result: layers by longest path, the check of an order, and a cycle if any."""


from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from lockstep.plan import WrongResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstep.graphs import Graph


class CycleError(ValueError):
    """The graph has a cycle, so no order exists.

    Attributes
    ----------
    cycle : list of int
        Vertices of one cycle in order, the first not repeated: an arc leads from each to the next, and from the last to
        the first. The message calls them by the graph's labels, if it has any.
    """

    def __init__(self, cycle: "Sequence[int]", name: str = "", labels: "Sequence | None" = None) -> None:
        self.cycle, self._named = [int(v) for v in cycle], (name, labels)
        shown = [str(v if labels is None else labels[v]) for v in self.cycle[:8]]
        more = f" -> ... ({len(self.cycle)} vertices)" if len(self.cycle) > 8 else ""
        back = f" -> {shown[0]}" if not more else ""
        numbered = " (vertices numbered from 0)" if labels is None else ""
        super().__init__(
            f"{name or 'the graph'} has a cycle, so no topological order exists: {' -> '.join(shown)}{more}{back}"
            f"{numbered}; in Python, lockstep.graphs.acyclic(graph) reverses such arcs, and drops loops"
        )

    def __reduce__(self):  # a process of a pool raises it in another
        return type(self), (self.cycle, *self._named)


@njit(cache=True)
def _layers(offsets, targets, order, layer):
    deepest = -1
    for v in order:
        own = layer[v]
        deepest = max(deepest, own)
        for arc in range(offsets[v], offsets[v + 1]):
            w = targets[arc]
            if layer[w] <= own:
                layer[w] = own + 1
    return deepest + 1


def layers(graph, order):
    """Layer of every vertex: the number of arcs on the longest path that ends in it.

    Parameters
    ----------
    graph : Graph
    order : int array, shape (n,)
        A topological order.

    Returns
    -------
    layer : int32 array, shape (n,)
    depth : int
        Number of layers. The published study counts arcs of the longest path: one less.
    """
    layer = np.zeros(graph.n, np.int32)
    depth = _layers(graph.offsets, graph.targets, np.asarray(order), layer)
    return layer, int(depth)


def reference(graph):
    """Layers by relaxation: process all arcs repeatedly until no layer changes (tests, small graphs)."""
    sources, targets = graph.edges()
    layer = np.zeros(graph.n, np.int64)
    for _ in range(graph.n + 1):
        longer = layer.copy()
        np.maximum.at(longer, targets, layer[sources] + 1)
        if np.array_equal(longer, layer):
            return layer
        layer = longer
    raise CycleError(find_cycle(graph), graph.name, graph.labels)


@njit(cache=True)
def _check(offsets, targets, order, place):
    """0: a valid order; 1: not a permutation; 2: an arc leads backwards."""
    n = offsets.size - 1
    if order.size != n:
        return 1
    place[:] = -1
    for i in range(n):
        v = order[i]
        if v < 0 or v >= n or place[v] >= 0:
            return 1
        place[v] = i
    for v in range(n):
        for arc in range(offsets[v], offsets[v + 1]):
            if place[targets[arc]] <= place[v]:
                return 2
    return 0


@njit(cache=True)
def _check_layers(order, sizes, layer):
    """Whether segment k of the order is layer k, and none is empty."""
    i = 0
    for k in range(sizes.size):
        if sizes[k] < 1:
            return False
        for _ in range(sizes[k]):
            if i >= order.size or layer[order[i]] != k:
                return False
            i += 1
    return i == order.size


def check_order(graph, order):
    """None if ``order`` sorts ``graph``, else one line naming the error."""
    order = np.asarray(order)
    verdict = _check(graph.offsets, graph.targets, order, np.empty(graph.n, np.int64))
    return (None, f"the order is not a permutation of the {graph.n} vertices", "an arc leads backwards")[verdict]


class Checker:
    """`verify` for many results on one graph: the oracle's layers are computed once.

    Parameters
    ----------
    graph : Graph
        Acyclic.
    """

    def __init__(self, graph):
        self.graph = graph
        self.layer = None

    def __call__(self, result, layered=True):
        """'exact' if the result is right; raises `WrongOrder` if not."""
        order = np.asarray(result.order)
        wrong = check_order(self.graph, order)
        if wrong:
            raise WrongOrder(f"{result.strategy} on {self.graph.name or 'the graph'}: {wrong}")
        if layered:
            if self.layer is None:
                self.layer = layers(self.graph, order)[0]
            if not _check_layers(order, np.asarray(result.level_sizes), self.layer):
                raise WrongOrder(f"{result.strategy} on {self.graph.name or 'the graph'}: a layer is not the oracle's")
        return "exact"


class WrongOrder(WrongResult):
    """A strategy gave an order, or layers, that are not right."""


def verify(result: Any, graph: "Graph") -> None:
    """Check one result: a valid order and, if the strategy makes layers, the oracle's. Returns 'exact'.

    Raises
    ------
    WrongOrder
        Naming the strategy, the graph and what is wrong.
    """
    return Checker(graph)(result, layered=result.layered)


@njit(cache=True)
def _predecessors(offsets, targets, left, predecessor):
    for v in range(offsets.size - 1):
        if left[v]:
            for arc in range(offsets[v], offsets[v + 1]):
                if left[targets[arc]]:
                    predecessor[targets[arc]] = v


def find_cycle(graph):
    """A cycle of ``graph`` as a list of vertices, the first not repeated; empty if there is none.

    Every vertex that Kahn's algorithm leaves unsorted has an unsorted predecessor, so a walk along predecessors
    revisits a vertex.
    """
    from .strategies.serial import kahn

    order = np.empty(graph.n, np.int64)
    order = order[: kahn(graph.offsets, graph.targets, graph.in_degrees(), order)]
    left = np.ones(graph.n, bool)
    left[order] = False
    start = int(np.argmax(left)) if left.any() else -1
    if start < 0:
        return []
    predecessor = np.full(graph.n, -1, np.int64)
    _predecessors(graph.offsets, graph.targets, left, predecessor)
    seen, walk, v = {}, [], start
    while v not in seen:
        seen[v] = len(walk)
        walk.append(v)
        v = int(predecessor[v])
    return walk[seen[v] :][::-1]
