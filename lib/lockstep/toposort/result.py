"""What a sort returns."""


from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .oracle import layers

if TYPE_CHECKING:
    from lockstep.graphs import Graph
    from lockstep.typing import Array


class TopologicalOrder:
    """A topological order of a graph.

    Attributes
    ----------
    order : int array, shape (n,)
        The vertices; int32, or int64 if ids need it. The tail of every arc precedes its head.
    depth : int
        Number of layers (the published study counts arcs of the longest path, one less).
    level_sizes : int array, shape (depth,)
        Vertices in each layer. A layer holds the vertices whose longest path from a source has the same length.
    labels : array, shape (n,), or None
        Labels of the vertices, if not 0 to n - 1.
    strategy : str
        The strategy that made the order; for `auto` its choice.
    layered : bool
        Whether the order lists layer after layer. If not, depth and level_sizes are computed from the order on
        first access.
    stats : dict
        Statistics of the run: launches, read-backs, and for `auto` the reason of its choice.
    """

    def __init__(
        self, graph: "Graph", order: "Array | Callable[[], Array]", strategy: str,
        level_sizes: "Array | Callable[[], Array] | None" = None, stats: dict | None = None,
    ) -> None:
        # order and level_sizes may be functions that copy the arrays from the device on first access.
        self._graph, self._order, self._sizes = graph, order, level_sizes
        self.strategy = strategy
        self.layered = level_sizes is not None
        self.stats = dict(stats or {})

    def __repr__(self):
        return f"<TopologicalOrder of {self._graph.n:,} vertices by {self.strategy}>"

    @property
    def labels(self) -> "Sequence | Array | None":
        return self._graph.labels

    @property
    def order(self) -> np.ndarray:
        if callable(self._order):
            self._order = self._order()
        return self._order

    @property
    def level_sizes(self) -> np.ndarray:
        if callable(self._sizes):
            self._sizes = self._sizes()
        elif self._sizes is None:
            self._sizes = np.bincount(layers(self._graph, self.order)[0]) if self._graph.n else np.zeros(0, np.int64)
        return self._sizes

    def detach(self) -> "TopologicalOrder":
        """Fetch the arrays and release the device's memory: of a result that is kept or pickled. Returns self."""
        _ = self.order, self.layered and self.level_sizes
        return self

    @property
    def depth(self) -> int:
        return int(self.level_sizes.size)
