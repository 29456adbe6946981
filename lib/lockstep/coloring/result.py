"""What a coloring returns."""

from collections.abc import Callable, Sequence

import numpy as np


class Coloring:
    """Colors of the vertices of a graph, different for neighbors.

    Attributes
    ----------
    colors : int32 array, shape (n,)
        ``0..count-1``.
    count : int
        Number of colors.
    active : int64 array
        Vertices that were uncolored at the begin of each iteration; the single entry n where a strategy has
        none.
    strategy : str
        The strategy that made it; for `auto` its choice.
    labels : array, shape (n,), or None
        Labels of the vertices, if not 0 to n - 1.
    stats : dict
        Statistics of the run: rounds, launches, read-backs, the switching round, for `auto`
        the reason.
    """

    labels = None

    def __init__(
        self, colors: np.ndarray | Callable[[], np.ndarray], strategy: str, active: Sequence | np.ndarray,
        stats: dict | None = None,
    ) -> None:
        self._colors, self.strategy = colors, strategy
        self.active = np.asarray(active, np.int64)
        self.stats = dict(stats or {})

    def __repr__(self):
        return f"<Coloring by {self.strategy}: {self.colors.size:,} vertices, {self.count} colors>"

    @property
    def colors(self) -> np.ndarray:
        if callable(self._colors):  # still on the device
            self._colors = self._colors()
        return self._colors

    @property
    def count(self) -> int:
        return int(self.colors.max()) + 1 if self.colors.size else 0
