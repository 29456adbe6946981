"""What study 4 measures on: graphs of the registry or made by a generator, undirected, each with its oracle."""

from dataclasses import dataclass

from lockstep.graphs import Graph, generators, load

from . import oracle
from .neighbors import neighbors


@dataclass
class Case:
    """A graph as it is measured: undirected, each neighbor once. `structured` graphs are roads and meshes."""

    name: str
    graph: Graph
    structured: bool
    checker: oracle.Checker

    @property
    def parameters(self):
        return {"structured": self.structured}


def case(name, spec):
    """The graph of that name.

    Parameters
    ----------
    name : str
    spec : mapping
        ``structured``, and ``make``, a generator's name with its arguments, unless the name is one of the
        registry.

    Raises
    ------
    DatasetMissing
        The data set cannot be had here.
    """
    if "make" in spec:
        ((family, arguments),) = spec["make"].items()
        graph = getattr(generators, family)(**arguments)
    else:
        graph = load(name)
    graph, _ = neighbors(graph, warn=False)
    return Case(name, graph, spec.get("structured", False), oracle.Checker(graph))
