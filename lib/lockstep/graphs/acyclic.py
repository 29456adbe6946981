"""Make a directed graph acyclic, as Graphviz's filter ``acyclic`` does (the thesis made its graphs with it).

A depth-first search visits vertices and the arcs of a vertex in stored order; an arc to a vertex on the search
path (a back edge) closes a cycle and is reversed. The result is acyclic: each arc, kept or reversed, leads from
a vertex of later finishing time to one of earlier finishing time.
"""

import warnings

import numpy as np
from numba import njit

from . import csr
from .graph import Graph, GraphWarning


@njit(cache=True)
def _back_arcs(offsets, targets):
    """Mark every arc: 0 kept, 1 back edge, 2 loop."""
    n = offsets.size - 1
    mark = np.zeros(targets.size, np.uint8)
    state = np.zeros(n, np.uint8)  # 0 new, 1 on the path, 2 finished
    cursor = offsets[:-1].copy()
    path = np.empty(n, np.int64)
    for root in range(n):
        if state[root] != 0:
            continue
        path[0], depth, state[root] = root, 1, 1
        while depth > 0:
            v = path[depth - 1]
            if cursor[v] == offsets[v + 1]:
                state[v] = 2
                depth -= 1
                continue
            arc = cursor[v]
            cursor[v] += 1
            w = targets[arc]
            if w == v:
                mark[arc] = 2
            elif state[w] == 1:
                mark[arc] = 1
            elif state[w] == 0:
                state[w] = 1
                path[depth] = w
                depth += 1
    return mark


@njit(cache=True)
def _new_arcs(offsets, targets, mark, turned_offsets, turned_targets):
    """Mark reversed arcs that duplicate no kept arc and no earlier reversed one (1); the others are merged."""
    n = offsets.size - 1
    fresh = np.zeros(turned_targets.size, np.uint8)
    seen = np.full(n, -1, np.int64)
    for v in range(n):
        if turned_offsets[v] == turned_offsets[v + 1]:
            continue
        for arc in range(offsets[v], offsets[v + 1]):
            if mark[arc] == 0:
                seen[targets[arc]] = v
        for arc in range(turned_offsets[v], turned_offsets[v + 1]):
            w = turned_targets[arc]
            if seen[w] != v:
                seen[w] = v
                fresh[arc] = 1
    return fresh


def acyclic(graph: "Graph") -> Graph:
    """Reverse the back edges of a depth-first search: a DAG with the same undirected edges.

    Parameters
    ----------
    graph : Graph, NetworkX graph or SciPy sparse matrix
        Of an undirected graph the result holds each edge once, from the later to the earlier finished end.

    Returns
    -------
    Graph
        Directed and acyclic. A reversed arc parallel to an existing one is dropped (as in Graphviz's strict
        graphs), any other keeps its weight; rows hold the kept arcs, in their order, then the reversed ones.

    Warns
    -----
    GraphWarning
        If the graph has loops: Graphviz leaves them, but no DAG can hold them, so they are dropped.
    """
    graph = Graph.of(graph)
    mark = _back_arcs(graph.offsets, graph.targets)
    loops = int(np.count_nonzero(mark == 2))
    if loops:
        warnings.warn(
            f"{graph.name or 'graph'}: {loops} self-loops dropped, since a DAG has none",
            GraphWarning,
            stacklevel=2,
        )
    if not mark.any():
        return Graph._trusted(graph.offsets, graph.targets, graph.weights, True, graph.name, graph.labels)
    sources = csr.rows(graph.offsets)
    back = np.flatnonzero(mark == 1)
    arcs = None if graph.weights is None else graph.weights[back]
    turned_offsets, turned, turned_weights = csr.group(graph.targets[back], sources[back], graph.n, arcs)
    fresh = _new_arcs(graph.offsets, graph.targets, mark, turned_offsets, turned).astype(bool)
    keep = mark == 0
    weights = None if graph.weights is None else np.concatenate([graph.weights[keep], turned_weights[fresh]])
    offsets, targets, weights = csr.group(
        np.concatenate([sources[keep], csr.rows(turned_offsets)[fresh]]),
        np.concatenate([graph.targets[keep], turned[fresh]]),
        graph.n,
        weights,
    )
    return Graph._trusted(offsets, targets, weights, True, graph.name, graph.labels)
