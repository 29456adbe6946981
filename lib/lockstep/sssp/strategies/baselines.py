"""Common CPU baselines: SciPy's Dijkstra and igraph."""

import numpy as np

from lockstep.options import Options
from lockstep.plan import Outgrown, missing

from .. import oracle
from .shared import PathPlan


def _overflows(problem, raw):
    """Whether a distance may have overflowed to inf, the value of unreached vertices."""
    largest = np.finfo(np.float64).max
    if not problem.wide or largest - problem.limit <= largest / problem.graph.n:  # no sum of n weights can
        return False
    return raw[np.isfinite(raw)].max() > problem.limit


class Dijkstra(PathPlan):
    """SciPy's Dijkstra."""

    gpu = False
    Options = Options
    delta = 0.0  # no buckets

    def build(self):
        self.matrix = oracle.matrix(self.problem.graph)

    def run(self):
        raw = oracle.distances(self.problem.graph, self.problem.source, self.matrix)
        if _overflows(self.problem, raw):
            raise Outgrown
        return self.result(raw, type="float64")


class Igraph(PathPlan):
    """igraph's distances."""

    gpu = False
    Options = Options
    delta = 0.0

    @classmethod
    def skip(cls, problem, executor, options):
        return missing("igraph")

    def build(self):
        import igraph

        problem, graph = self.problem, self.problem.graph
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack(graph.edges()), directed=True)
        self.weights = (problem.weights.astype(np.float64) * problem.scale).tolist()

    def run(self):
        raw = self.converted.distances(self.problem.source, weights=self.weights or None, mode="out")[0]
        if _overflows(self.problem, np.array(raw, np.float64)):
            raise Outgrown
        return self.result(np.array(raw, np.float64), type="float64")
