"""Sorts of common graph libraries: the graph is converted to each library's form beforehand; the sort is timed."""

import numpy as np

from lockstep.plan import missing

from ..result import TopologicalOrder
from .shared import SortPlan


class NetworkX(SortPlan):
    gpu = False
    name = "networkx"

    def build(self):
        self.converted = self.graph.to_networkx()

    def run(self):
        import networkx as nx

        order = []
        try:
            order.extend(nx.topological_sort(self.converted))
        except nx.NetworkXUnfeasible:
            order = order[:0]
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)


class RustworkX(SortPlan):
    gpu = False
    name = "rustworkx"

    @classmethod
    def skip(cls, problem, executor, options):
        return missing("rustworkx")

    def build(self):
        import rustworkx

        graph = self.graph
        self.converted = rustworkx.PyDiGraph()
        self.converted.add_nodes_from(range(graph.n))
        self.converted.extend_from_edge_list(list(zip(*(ends.tolist() for ends in graph.edges()), strict=True)))

    def run(self):
        import rustworkx

        try:
            order = rustworkx.topological_sort(self.converted)
        except rustworkx.DAGHasCycle:
            order = []
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)


class Igraph(SortPlan):
    gpu = False
    name = "igraph"

    @classmethod
    def skip(cls, problem, executor, options):
        return missing("igraph")

    def build(self):
        import igraph

        graph = self.graph
        sources, targets = graph.edges()
        self.loops = bool(np.any(sources == targets))  # igraph does not detect them
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets]), directed=True)

    def run(self):
        import igraph

        try:
            order = [] if self.loops else self.converted.topological_sorting()
        except igraph.InternalError:
            order = []
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)
