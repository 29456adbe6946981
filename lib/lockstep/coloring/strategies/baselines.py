"""CPU strategies: common libraries, and a comparable greedy loop on one core."""

import numpy as np

from lockstep.plan import missing

from .. import oracle
from .shared import ColoringPlan


class Greedy(ColoringPlan):
    """A greedy loop on one core, largest degree first."""

    gpu = False

    def build(self):
        self.degrees = self.graph.out_degrees()
        self.mark = np.empty(int(self.degrees.max(initial=0)) + 2, np.int64)

    def run(self):
        order = np.argsort(-self.degrees, kind="stable")
        colors = np.empty(self.graph.n, np.int32)
        self.mark[:] = -1
        oracle._greedy(self.graph.offsets, self.graph.targets, order, colors, self.mark)
        return self.result(colors, [self.graph.n])


class NetworkX(ColoringPlan):
    """networkx.greedy_color."""

    gpu = False

    def build(self):
        self.converted = self.graph.to_networkx()

    def run(self):
        import networkx as nx

        colors = nx.greedy_color(self.converted, strategy="largest_first")
        return self.result(np.array([colors[v] for v in range(self.graph.n)], np.int32), [self.graph.n])


class Igraph(ColoringPlan):
    """igraph.Graph.vertex_coloring_greedy."""

    gpu = False

    @classmethod
    def skip(cls, problem, executor, options):
        return missing("igraph")

    def build(self):
        import igraph

        graph = self.graph
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack(graph.edges(once=True)))

    def run(self):
        colors = self.converted.vertex_coloring_greedy() if self.graph.n else []
        return self.result(np.array(colors, np.int32), [self.graph.n])
