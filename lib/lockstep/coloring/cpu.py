"""The strategies of the CPU: what people use, and a fair opponent on one core."""

import numpy as np

from . import oracle
from .plan import Plan
from .result import Coloring


class Greedy(Plan):
    name = "greedy"

    def __init__(self, graph, executor=None, seed=0, switch=None):
        super().__init__(graph, None, seed)
        self.degrees = graph.out_degrees()
        self.mark = np.empty(int(self.degrees.max(initial=0)) + 2, np.int64)

    def run(self):
        order = np.argsort(-self.degrees, kind="stable")
        colors = np.empty(self.graph.n, np.int32)
        self.mark[:] = -1
        oracle._greedy(self.graph.offsets, self.graph.targets, order, colors, self.mark)
        return Coloring(colors, self.name, [self.graph.n])


class NetworkX(Plan):
    name = "networkx"

    def __init__(self, graph, executor=None, seed=0, switch=None):
        super().__init__(graph, None, seed)
        self.converted = graph.to_networkx()

    def run(self):
        import networkx as nx

        colors = nx.greedy_color(self.converted, strategy="largest_first")
        return Coloring(np.array([colors[v] for v in range(self.graph.n)], np.int32), self.name, [self.graph.n])


class Igraph(Plan):
    name = "igraph"

    def __init__(self, graph, executor=None, seed=0, switch=None):
        import igraph

        super().__init__(graph, None, seed)
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack(graph.edges(once=True)))

    def run(self):
        colors = self.converted.vertex_coloring_greedy() if self.graph.n else []
        return Coloring(np.array(colors, np.int32), self.name, [self.graph.n])
