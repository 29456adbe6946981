"""Shortest paths on the contract of `lockstep.plan`: each plan of this study inside one that has it."""

from lockstep import plan
from lockstep.graphs import Graph, GraphError
from lockstep.strategy import adapted

from .oracle import verify
from .problem import DistanceOverflow
from .problem import Problem as Packed
from .strategies import STRATEGIES as ENTRIES


class Problem(plan.GraphProblem):
    """Distances from one source of a graph; by default from a vertex with most arcs."""

    def __init__(self, graph, source, wide=False):
        super().__init__(graph, source=source)
        self.source, self.packed = source, Packed(graph, wide=wide)

    @classmethod
    def of(cls, given, source=None):
        graph = Graph.of(given)
        source = int(graph.out_degrees().argmax()) if source is None and graph.n else int(source or 0)
        if graph.n and not 0 <= source < graph.n:
            raise GraphError(f"source is {source}; the graph has vertices 0 to {graph.n - 1}")
        return cls(graph, source)

    def check(self, result, strategy):
        return verify(result, self.graph, strategy.exact)

    def wider(self):
        return None if self.packed.wide else type(self)(self.graph, self.source, wide=True)


class Adapted(plan.Plan):
    """A plan of this study, which runs from the problem's source."""

    entry = None

    def build(self):
        self.inner = self.entry.prepare(self.problem.packed, self.executor)

    def run(self):
        try:
            return self.inner.run(self.problem.source)
        except DistanceOverflow:
            raise plan.Outgrown from None


STRATEGIES = plan.Table(*adapted(ENTRIES, Adapted))
