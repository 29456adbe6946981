"""Strategies of the CPU, made ready: SciPy's Dijkstra, delta-stepping on all cores, igraph."""

import numpy as np

from . import cpu, oracle
from .plans import Plan, road_delta
from .problem import DistanceOverflow
from .result import ShortestPaths


class Dijkstra(Plan):
    name = "dijkstra"

    def __init__(self, problem, executor=None, delta=None, layers=2, **options):
        super().__init__(problem, None, 0.0, layers, **options)
        self.matrix = oracle.matrix(problem.graph)

    def run(self, source):
        raw = oracle.distances(self.problem.graph, source, self.matrix)
        return ShortestPaths(_AsTheyAre(self.problem), source, self.name, raw, {"type": "float64"})


class DeltaCpu(Plan):
    name = "delta-cpu"

    def __init__(self, problem, executor=None, delta=None, layers=2, **options):
        super().__init__(problem, None, delta, layers, **options)
        graph = problem.graph
        self.threads = cpu.use_all_cores()
        kind = np.float64 if problem.wide else np.int64
        self.arrays = graph.offsets, graph.targets, problem.weights.astype(kind)

    def default_delta(self):
        return road_delta(self.problem)

    def run(self, source):
        problem = self.problem
        # Whole numbers below 2^31 have room for any sum in int64.
        infinity = np.inf if problem.wide else np.iinfo(np.int64).max // 2
        raw, counts = cpu.delta_stepping(*self.arrays, int(source), float(self.delta) / problem.scale, infinity)
        far = raw[raw < infinity].max(initial=0)
        if problem.wide and far > problem.limit:
            raise DistanceOverflow
        exact = raw.astype(np.float64)
        exact[raw == infinity] = np.inf
        stats = {"delta": self.delta, "type": raw.dtype.name, "threads": self.threads, **counts}
        return ShortestPaths(_AsTheyAre(problem), source, self.name, exact * problem.scale, stats)


class Igraph(Plan):
    name = "igraph"

    def __init__(self, problem, executor=None, delta=None, layers=2, **options):
        import igraph

        super().__init__(problem, None, 0.0, layers, **options)
        graph = problem.graph
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack(graph.edges()), directed=True)
        self.weights = (problem.weights.astype(np.float64) * problem.scale).tolist()

    def run(self, source):
        raw = self.converted.distances(int(source), weights=self.weights or None, mode="out")[0]
        raw = np.array(raw, np.float64)
        return ShortestPaths(_AsTheyAre(self.problem), source, self.name, raw, {"type": "float64"})


class _AsTheyAre:
    """Stands for a problem whose distances are in the graph's units already."""

    def __init__(self, problem):
        self.graph = problem.graph

    @staticmethod
    def distances(raw):
        return raw
