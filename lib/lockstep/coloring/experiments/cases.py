"""What study 4 measures on: graphs of the registry or made by a generator, undirected, each with its oracle."""

from dataclasses import dataclass

import numpy as np

from lockstep.graphs import Graph, generators, load, load_batch, load_ratings, registry

from ..problem import Problem, neighbors


@dataclass
class Case:
    """A graph as it is measured: undirected, each neighbor once. `structured` graphs are roads and meshes."""

    name: str
    problem: Problem
    structured: bool

    @property
    def graph(self):
        return self.problem.graph

    @property
    def parameters(self):
        return {"structured": self.structured}


def _registered(name):
    """A batch as the disjoint union of its graphs; ratings as the bipartite graph of users and items."""
    kind = registry.kind(name)
    if kind == "batch":
        return load_batch(name)[0]
    if kind == "ratings":
        ratings = load_ratings(name)
        users, items = ratings.coords
        ends = np.unique(np.column_stack([users, items + ratings.shape[0]]), axis=0)
        return Graph.from_edges(*ends.T, n=sum(ratings.shape), directed=False, name=name)
    return load(name)


def case(name, made=None):
    """The graph of that name.

    Parameters
    ----------
    name : str
    made : mapping, optional
        {name: what is known of that graph}: whether it is ``structured``; and, unless the name is registered, ``make``,
        a generator's name with its arguments.

    Raises
    ------
    DatasetMissing
        The data set is not available.
    """
    spec = (made or {}).get(name) or {}
    if "make" in spec:
        ((family, arguments),) = spec["make"].items()
        graph = getattr(generators, family)(**arguments)
    else:
        graph = _registered(name)
    graph, _ = neighbors(graph, warn=False)
    return Case(name, Problem(graph), spec.get("structured", False))
