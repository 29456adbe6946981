"""Real graphs that need no download: those shipped with NetworkX, and the dependencies of the installed packages."""

import re
import warnings
from importlib import metadata

import networkx as nx
from packaging.requirements import InvalidRequirement, Requirement

from .acyclic import acyclic
from .graph import Graph, GraphWarning

NETWORKX = {
    "karate": nx.karate_club_graph,
    "les-miserables": nx.les_miserables_graph,
    "davis-southern-women": nx.davis_southern_women_graph,
    "florentine-families": nx.florentine_families_graph,
}


def package_dependencies():
    """Dependency graph of the installed distributions: a real DAG that differs between environments.

    Arcs lead from a distribution to its installed requirements (those of extras are left out); ``labels``
    holds the names. If packages require each other in a cycle, a GraphWarning names some of them, and the
    back edges of a depth-first search are reversed, as `acyclic` does.
    """
    needs = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            needs.setdefault(_normal(name), distribution.requires or [])
    labels = sorted(needs)
    number = {name: v for v, name in enumerate(labels)}
    arcs = set()
    for name in labels:
        for text in needs[name]:
            try:
                requirement = Requirement(text)
            except InvalidRequirement:
                continue
            other = _normal(requirement.name)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if wanted and other in number and other != name:
                arcs.add((number[name], number[other]))
    ends = sorted(arcs)
    graph = Graph.from_edges(
        [u for u, _ in ends], [v for _, v in ends], n=len(labels), name="package-dependencies", labels=labels
    )
    cycles = [c for c in nx.strongly_connected_components(graph.to_networkx()) if len(c) > 1]
    if not cycles:
        return graph
    shown = "; ".join(", ".join(labels[v] for v in sorted(cycle)[:6]) for cycle in cycles[:3])
    warnings.warn(
        f"package-dependencies: {len(cycles)} cycle(s) of packages that require each other ({shown}); "
        "their back edges are reversed",
        GraphWarning,
        stacklevel=2,
    )
    return acyclic(graph)


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def load_builtin(name):
    """A built-in graph by its registered name."""
    if name == "package-dependencies":
        return package_dependencies()
    graph = Graph.from_networkx(NETWORKX[name]())
    graph.name = name
    return graph
