"""What people would pick on a CPU: SciPy's Dijkstra and igraph."""

import numpy as np

from lockstep.plan import Options, missing

from .. import oracle
from .shared import PathPlan


class Dijkstra(PathPlan):
    """SciPy's Dijkstra."""

    gpu = False
    Options = Options
    delta = 0.0  # no buckets

    def build(self):
        self.matrix = oracle.matrix(self.problem.graph)

    def run(self):
        raw = oracle.distances(self.problem.graph, self.problem.source, self.matrix)
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
        return self.result(np.array(raw, np.float64), type="float64")
