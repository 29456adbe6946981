"""The canonical form of a data set and its check.

Official files, mirrors and collections list the same graph in different ways: ids renumbered, one arc or
both, gaps in the ids. A registry entry declares one form; whatever was read is brought to it, and then n, m
and a digest of the sorted degree sequence must agree. The digest does not depend on the numbering, so a
relabelled copy checks out; a graph with an edge missing or added does not.
"""

import hashlib

import numpy as np

from . import csr
from .graph import Graph, GraphError


def canonical(graph, *, loops="keep", parallel="keep", isolated="keep"):
    """Drop loops, keep the first of parallel arcs, then drop isolated vertices, as the keywords say."""
    sources, targets = graph.edges()
    weights, n, labels = graph.weights, graph.n, graph.labels
    keep = np.ones(graph.m, bool)
    if loops == "drop":
        keep &= sources != targets
    if parallel == "merge":
        order = np.lexsort((targets, sources))  # stable: the first of equal arcs comes first
        again = np.zeros(graph.m, bool)
        again[order[1:]] = (np.diff(sources[order]) == 0) & (np.diff(targets[order]) == 0)
        keep &= ~again
        if weights is not None and not graph.directed:
            weights = _mirrored(sources, targets, weights, order[~again[order]])
    if not keep.all():
        sources, targets = sources[keep], targets[keep]
        weights = None if weights is None else weights[keep]
    if isolated == "drop":
        used = np.zeros(n, bool)
        used[sources] = True
        used[targets] = True
        if not used.all():
            number = np.cumsum(used) - 1
            labels = np.flatnonzero(used) if labels is None else labels[used]
            sources, targets, n = number[sources], number[targets], labels.size
    offsets, targets, weights = csr.group(sources, targets, n, weights)
    return Graph._trusted(offsets, targets, weights, graph.directed, graph.name, labels)


def _mirrored(sources, targets, weights, first):
    """Weights of an undirected graph, with that of an edge's first arc from its smaller end also at its larger end.

    first : places of the first arc of each pair of ends, in the order of (source, target).
    """
    weights = weights.copy()
    up, down = first[sources[first] <= targets[first]], first[sources[first] >= targets[first]]
    weights[down[np.lexsort((sources[down], targets[down]))]] = weights[up][np.lexsort((targets[up], sources[up]))]
    return weights


def edge_count(graph):
    """Arcs if directed, edges if undirected (a loop counts once): what publications print as m."""
    if graph.directed:
        return graph.m
    loops = int(np.count_nonzero(csr.rows(graph.offsets) == graph.targets))
    return (graph.m + loops) // 2


def degree_digest(graph):
    """SHA-256 of the sorted degrees, as little-endian int64; of (out, in) pairs if directed."""
    out = graph.out_degrees().astype("<i8")
    if not graph.directed:
        return hashlib.sha256(np.sort(out).tobytes()).hexdigest()
    into = graph.in_degrees().astype("<i8")
    order = np.lexsort((into, out))
    return hashlib.sha256(np.stack([out[order], into[order]], axis=1).tobytes()).hexdigest()


def check(found, expected, where, name):
    """Compare (n, m, digest) with what the registry expects; an empty expectation is not checked."""
    for what, have, want in zip(("vertices", "edges", "degree digest"), found, expected, strict=True):
        if want not in ("", None) and str(have) != str(want):
            raise GraphError(
                f"{where} is not {name}: found {what} {have}; expected {want} (after bringing it to the "
                "form that data/datasets.csv declares)"
            )
