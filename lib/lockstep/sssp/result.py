"""What a shortest-path run returns."""


class ShortestPaths:
    """Shortest distances from one vertex.

    Attributes
    ----------
    distances : float64 array, shape (n,)
        In the unit of the weights; inf for vertices without a path. With whole (or dyadic) weights and sums
        below 2^31 they are computed in whole numbers, else in float64; either way the same numbers as
        Dijkstra's algorithm in float64.
    source : int
    strategy : str
        The strategy that ran; what `auto` chose, if that was asked for.
    stats : dict
        What the strategy tells about its run: rounds, launches, read-backs, delta, distance type, and for
        `auto` the reason of its choice.
    """

    def __init__(self, problem, source, strategy, raw, stats=None):
        self._problem, self._raw = problem, raw
        self.source, self.strategy = int(source), strategy
        self.stats = dict(stats or {})
        self._distances = None

    def __repr__(self):
        return f"<ShortestPaths from {self.source} to {self._problem.graph.n:,} vertices by {self.strategy}>"

    @property
    def distances(self):
        if self._distances is None:
            # callable: still on the device, in the problem's type; else float64 in the graph's units
            self._distances = self._problem.distances(self._raw()) if callable(self._raw) else self._raw
        return self._distances

    def fetch(self):
        """Bring the distances to the host now: a plan's next run overwrites the device's. Returns self."""
        _ = self.distances
        return self
