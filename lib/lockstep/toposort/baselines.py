"""The strategies of the CPU: Kahn's algorithm twice, and the libraries that people would pick."""

import numpy as np

from . import serial
from .plan import Plan
from .result import TopologicalOrder


class Serial(Plan):
    name = "serial"
    sort = staticmethod(serial.kahn)

    def __init__(self, graph, executor=None):
        super().__init__(graph)
        self.degrees = graph.in_degrees()
        self.left = self.degrees.copy()
        self.order = np.empty(graph.n, graph.targets.dtype)

    def prepare(self):
        self.left[:] = self.degrees

    def run(self):
        count = self.sort(self.graph.offsets, self.graph.targets, self.left, self.order)
        return TopologicalOrder(self.graph, self.order[:count], self.name)


class SerialList(Serial):
    name = "serial-list"

    def __init__(self, graph, executor=None):
        super().__init__(graph)
        self.sort = serial.kahn_with_list()


class NetworkX(Plan):
    name = "networkx"

    def __init__(self, graph, executor=None):
        super().__init__(graph)
        self.converted = graph.to_networkx()

    def run(self):
        import networkx as nx

        order = []
        try:
            order.extend(nx.topological_sort(self.converted))
        except nx.NetworkXUnfeasible:
            order = order[:0]
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)


class RustworkX(Plan):
    name = "rustworkx"

    def __init__(self, graph, executor=None):
        import rustworkx

        super().__init__(graph)
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


class Igraph(Plan):
    name = "igraph"

    def __init__(self, graph, executor=None):
        import igraph

        super().__init__(graph)
        sources, targets = graph.edges()
        self.loops = bool(np.any(sources == targets))  # igraph overlooks them
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets]), directed=True)

    def run(self):
        import igraph

        try:
            order = [] if self.loops else self.converted.topological_sorting()
        except igraph.InternalError:
            order = []
        return TopologicalOrder(self.graph, np.array(order, self.graph.targets.dtype), self.name)
