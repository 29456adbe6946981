"""A graph to be sorted, and the check of results."""

import functools
from typing import TYPE_CHECKING

import numpy as np

from lockstep.graphs import Graph, GraphError, graph_of
from lockstep.plan import GraphProblem

from .oracle import Checker, CycleError, find_cycle, layers
from .result import TopologicalOrder
from .strategies.serial import kahn

if TYPE_CHECKING:
    from lockstep.plan import Strategy
    from lockstep.typing import GraphLike


class Problem(GraphProblem):
    """A directed graph to be sorted; see `lockstep.plan.Problem`."""

    @classmethod
    def of(cls, given: "GraphLike") -> "Problem":
        graph = graph_of(given)
        if not graph.directed and graph.m:
            raise GraphError(
                f"{graph.name or 'the graph'} is undirected; an order needs directed arcs (lockstep.graphs.acyclic "
                "directs them without cycles)"
            )
        if not graph.directed:  # without arcs it is either; libraries sort directed graphs alone
            graph = Graph(graph.offsets, graph.targets, directed=True, name=graph.name, labels=graph.labels)
        return cls(graph)

    def validate(self) -> None:
        cycle = find_cycle(self.graph)
        if cycle:
            raise CycleError(cycle, self.graph.name, self.graph.labels)

    def trivial(self, strategy: "Strategy") -> TopologicalOrder:
        order, sizes = np.zeros(0, self.graph.targets.dtype), np.zeros(0, np.int64)
        return TopologicalOrder(self.graph, order, strategy.name, sizes, {"reason": "no vertices"})

    @functools.cached_property
    def checker(self) -> Checker:
        """The oracle, which computes the layers once."""
        return Checker(self.graph)

    @functools.cached_property
    def depth(self) -> int:
        """Layers of the graph, which is acyclic."""
        graph = self.graph
        order = np.empty(graph.n, graph.targets.dtype)
        kahn(graph.offsets, graph.targets, graph.in_degrees(), order)
        self.checker.layer, depth = layers(graph, order)
        return depth

    def check(self, result: TopologicalOrder, strategy: "Strategy") -> str:
        return self.checker(result, result.layered)
