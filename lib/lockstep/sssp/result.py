"""What a shortest-path run returns."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import breadth_first_order

from lockstep.graphs import GraphError

if TYPE_CHECKING:
    from lockstep.typing import Array


class NoPath(GraphError):
    """No path leads to a vertex: a result, not invalid input, hence exit status 1."""

    status = 1


class ShortestPaths:
    """Shortest distances from one vertex.

    Attributes
    ----------
    distances : float64 array, shape (n,)
        In the unit of the weights; inf for vertices without a path. With whole (or dyadic) weights and sums
        below 2^31 they are computed in whole numbers, else in float64; either way the same numbers as
        Dijkstra's algorithm in float64.
    predecessors : int64 array, shape (n,)
        The vertex before each on a shortest path, -1 for the source and where there is no path.
    labels : array, shape (n,), or None
        Labels of the vertices, if not 0 to n - 1.
    source : int
    strategy : str
        The strategy that ran; for `auto` its choice.
    stats : dict
        Statistics of the run: rounds, launches, read-backs, delta, distance type, and for
        `auto` the reason of its choice.
    """

    def __init__(
        self, problem: Any, source: int, strategy: str, raw: "Array | Callable[[], Array]", stats: dict | None = None,
    ) -> None:
        self._problem, self._raw = problem, raw
        self.source, self.strategy = int(source), strategy
        self.stats = dict(stats or {})
        self._distances = None

    def __repr__(self):
        return f"<ShortestPaths from {self.source} to {self._problem.graph.n:,} vertices by {self.strategy}>"

    @property
    def distances(self) -> np.ndarray:
        if self._distances is None:
            # callable: still on the device, in the problem's type; else float64 in the graph's units
            self._distances = self._problem.distances(self._raw()) if callable(self._raw) else self._raw
        return self._distances

    def fetch(self) -> "ShortestPaths":
        """Bring the distances to the host now: a plan's next run overwrites the device's. Returns self."""
        _ = self.distances
        return self

    def detach(self) -> "ShortestPaths":
        """Fetch the distances and release the device's memory: of a result that is kept or pickled. Returns self."""
        self._raw, self._problem = self.fetch().distances, self._problem.detached()
        return self

    @property
    def labels(self) -> "Sequence | Array | None":
        return self._problem.graph.labels

    @functools.cached_property
    def predecessors(self) -> np.ndarray:
        # Breadth-first search over the arcs of shortest paths: a tree even with arcs of weight 0.
        graph, distances = self._problem.graph, self.distances
        sources, targets = graph.edges()
        weights = 1 if graph.weights is None else graph.weights
        tight = np.isfinite(distances[sources]) & (distances[sources] + weights == distances[targets])
        ends = sources[tight], targets[tight]
        taken = sparse.csr_array((np.ones(ends[0].size, np.int8), ends), shape=(graph.n, graph.n))
        found = breadth_first_order(taken, self.source)[1].astype(np.int64)
        return np.where(found < 0, -1, found)

    def path_to(self, target: Any) -> list:
        """A shortest path, as the labels of its vertices (numbers where they have none).

        Parameters
        ----------
        target : int or label

        Raises
        ------
        GraphError
            No vertex is called so; `NoPath` where no path leads there.
        """
        place = self._problem.graph.index_of(target)
        if place != self.source and self.predecessors[place] < 0:
            if np.isfinite(self.distances[place]):
                raise GraphError(f"{self.strategy} gave {target!r} a distance that no path has; take another strategy")
            raise NoPath(f"no path leads from {self._problem.graph.label_of(self.source)!r} to {target!r}")
        found = [place]
        while found[-1] != self.source:
            found.append(int(self.predecessors[found[-1]]))
        return [self._problem.graph.label_of(one) for one in reversed(found)]
