"""Measures of every graph of a batch."""

import math
from dataclasses import dataclass, field

import numpy as np

from lockstep.graphs import memory

from .strategies import allowed


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes
    ----------
    name, title, what : str
        Identifier, name in sentences, and description.
    shape : {"vertex", "matrix", "walks"}
        Per vertex one value, a row or walks.
    dtype : str
        Of the values.
    weights : bool
        Whether weights are supported (positive; lengths of arcs). Other measures raise on a weighted batch.
    options : dict
        Names, and what they are by default.
    choices : dict
        What an option may be, where it is one of a few.
    ranges : dict
        What it may be, where it is a number: {name: Allowed}.
    oracle : str
        Reference implementation.
    """

    name: str
    title: str
    what: str
    shape: str
    dtype: str
    weights: bool
    oracle: str
    options: dict = field(default_factory=dict)
    choices: dict = field(default_factory=dict)
    ranges: dict = field(default_factory=dict)

    def filled(self, given: dict) -> dict:
        """All options, with what is not given as it is by default.

        Raises
        ------
        ValueError
            No such option, or a value that it cannot have.
        """
        found = {**self.options, **given}
        for name, value in given.items():
            if name not in self.options:
                known = f"it has {', '.join(self.options)}" if self.options else "it has none"
                raise ValueError(f"measure {self.name!r} has no option {name!r}; {known}")
            if choices := self.choices.get(name):
                if value not in choices:
                    raise ValueError(f"{name}={value!r}: choose one of {', '.join(map(repr, choices))}")
                found[name] = choices[choices.index(value)]  # False for 0 and for NumPy's False
        allowed.check(self.ranges, given, self.title)
        return found


MOST = 2**31 - 1  # steps or rounds, as kernels count them
HARMONIC = 2**24  # vertices: sums of reciprocals have 40 bits below the point, and so 24 above it
_PRECISION = {"precision": ("double", "single")}

MEASURES = {
    m.name: m
    for m in (
        Measure(
            "betweenness", "betweenness",
            "how many shortest paths lead through each vertex (Brandes), not normalized", "vertex",
            "float64", False, "networkx.betweenness_centrality",
            {"endpoints": False, "precision": "double"}, _PRECISION | {"endpoints": (False, True)},
        ),
        Measure(
            "closeness", "closeness",
            "how near each vertex is to those that reach it", "vertex", "float64", True,
            "networkx.closeness_centrality",
            {"form": "networkx", "wf_improved": True, "weighted": None},
            {"form": ("networkx", "plain", "harmonic"), "wf_improved": (False, True), "weighted": (None, False, True)},
        ),
        Measure(
            "apsp", "all distances",
            "all distances, as a matrix or reduced to a value a vertex", "matrix", "float64", True,
            "scipy.sparse.csgraph.shortest_path",
            {"reduce": "matrix", "weighted": None},
            {"reduce": ("matrix", "total", "eccentricity", "average"), "weighted": (None, False, True)},
        ),
        Measure(
            "components", "connected components",
            "connected component (weakly, if directed): its smallest vertex", "vertex", "int32", False,
            "networkx.connected_components",
        ),
        Measure(
            "strong", "strongly connected components",
            "strongly connected component: its smallest vertex", "vertex", "int32", False,
            "networkx.strongly_connected_components",
        ),
        Measure(
            "triangles", "triangles",
            "triangles that each vertex is part of; of directed graphs those of the graph without directions", "vertex",
            "int32", False, "networkx.triangles",
        ),
        Measure(
            "pagerank", "PageRank",
            "PageRank; what dead ends hold is shared by all; after limit rounds the values reached, converged or not",
            "vertex", "float64", False,
            "networkx.pagerank", {"damping": 0.85, "tolerance": 1e-12, "limit": 1000},
            ranges={"damping": allowed.number(0, 1), "tolerance": allowed.number(0), "limit": allowed.whole(1, MOST)},
        ),
        Measure(
            "walks", "random walks",
            "random walks from every vertex, for embeddings: vertices, -1 after a dead end", "walks", "int32",
            False, "the same walk on the CPU", {"length": 16, "walks": 1, "seed": 0},
            ranges={"length": allowed.whole(0, MOST - 1), "walks": allowed.whole(1, MOST),
                    "seed": allowed.whole(0, 2**64 - 1)},
        ),
    )
}  # fmt: skip


def most_vertices(measure, options):
    """Vertices of the largest graph whose values fit into memory (`lockstep.graphs.memory`)."""
    if options.get("reduce") == "matrix":
        return math.isqrt(memory.limit() // 8)
    if measure.name == "walks":
        return memory.limit() // (4 * options["walks"] * (options["length"] + 1))
    return MOST


def check_batch(measure, options, weighted):
    """Whether weights are lengths; raise for weighted batches of other measures."""
    asked = options.get("weighted", False if "weighted" not in measure.options else None)
    if not weighted:
        if asked:
            raise ValueError("weighted=True, but the graphs have no weights")
        return False
    if not measure.weights:
        raise ValueError(
            f"{measure.name} takes no weights here; leave them out (GraphBatch with weights=False, `lockstep swarm "
            "--unweighted`), or use closeness or apsp"
        )
    return asked is not False


def check_weights(weights):
    """Weights are lengths: positive and finite."""
    weights = np.asarray(weights)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        raise ValueError(
            f"weight {bad[0]} of the batch is {weights[bad[0]]}; distances need weights above 0 and finite "
            "(weighted=False counts arcs)"
        )
