"""Graphs of study 2: graphs by name, and a graph with its problem and candidates.

A graph is named as in the registry, or by a generator and its size (`road-like-16384`, `rmat-20`); the suffix
`-shuffled` renumbers its vertices at random. Graphs without weights get integers from 1 to 100, drawn with a
fixed seed; `weights: unit` sets all weights to 1. `arcs: once` keeps one arc of each edge, as in the file.
"""

import numpy as np

from lockstep.evidence import measuring
from lockstep.graphs import Graph, generators, load
from lockstep.provenance import build

from ..problem import Problem
from ..strategies.table import STRATEGIES

STUDY = "2-sssp-sync"
MOST_WEIGHT = 100


def _road_like(size):
    return generators.road_like(int(size), seed=1)


def _rmat(size):
    scale = int(size)
    return generators.rmat(scale, 16 << scale, seed=1)


MADE = {"road-like": _road_like, "rmat": _rmat}  # graphs that are made, by what their names begin with


def make(name, weights="random", arcs="both"):
    """A graph by its name, with weights.

    Raises
    ------
    DatasetMissing
        It is not available.
    """
    family = next((family for family in MADE if name.startswith(f"{family}-")), None)
    told = name.removesuffix("-shuffled")
    graph = MADE[family](told.removeprefix(f"{family}-")) if family else load(told)
    if told != name:
        graph = _shuffled(graph, name)
    if arcs == "once":
        sources, targets = graph.edges(once=True)
        graph = Graph.from_edges(sources, targets, n=graph.n, weights=graph.edge_weights(once=True), name=graph.name)
    return weighted(graph, weights)


def _shuffled(graph, name):
    number = np.random.default_rng(2).permutation(graph.n)
    tails, heads = (number[ends] for ends in graph.edges(once=True))
    return Graph.from_edges(tails, heads, n=graph.n, weights=graph.edge_weights(once=True), directed=graph.directed,
                            name=name)  # fmt: skip


def weighted(graph, weights="random"):
    """The graph with weights: its own, or drawn ones where it has none; with 1 for each arc if they are `unit`."""
    if weights == "unit":
        return Graph(graph.offsets, graph.targets, None, graph.directed, graph.name)
    if graph.weights is not None:
        return graph
    sources, targets = graph.edges(once=True)
    drawn = np.random.default_rng(0).integers(1, MOST_WEIGHT + 1, sources.size)
    return Graph.from_edges(sources, targets, n=graph.n, weights=drawn, directed=graph.directed, name=graph.name)


def sources(prepared, count, seed=7):
    """`count` seeded sources that reach at least a tenth of the graph; fewer if 2 count + 20 tries find fewer."""
    candidates = np.random.default_rng(seed).permutation(np.flatnonzero(prepared.graph.out_degrees() > 0))
    found = []
    for source in candidates[: 2 * count + 20].tolist():
        if np.isfinite(prepared.problem.checker.exact(source)).mean() >= 0.1:
            found.append(source)
        if len(found) == count:
            break
    return found or candidates[:1].tolist()


class Prepared:
    """A graph of an experiment, and what its strategies share."""

    def __init__(self, dataset, executor, weights="random", arcs="both"):
        self.dataset, self.executor = dataset, executor
        self.graph = make(dataset, weights, arcs)
        self.problem = Problem(self.graph)
        self.left_out = {}  # label -> why it was skipped

    def candidates(self, labels, source, delta=None, place=0):
        """Candidates of the applicable labels from a source; delta in mean weights, see `measuring.candidates`."""
        options = {} if delta is None else {"delta": delta * self.problem.mean_weight * self.problem.scale}
        return measuring.candidates(
            STRATEGIES, labels, self.problem.at(source), self.executor,
            lambda label: build(STUDY, label, self.dataset), options=options, place=place, left_out=self.left_out,
        )  # fmt: skip
