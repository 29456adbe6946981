"""The order in which NetworkX's Dijkstra and breadth-first search settle vertices, from their distances."""

import numpy as np
from numba import njit


def settle_order(graph, distances, start):
    """Reached vertices by distance; ties in the order in which shortest paths first reach them.

    Parameters
    ----------
    graph : Graph
        Rows in NetworkX's order of neighbors; without weights every arc counts 1.
    distances : float64 array, shape (n,)
        From `start`; inf where there is no path.
    start : int

    Returns
    -------
    int64 array
    """
    reached = np.isfinite(distances)
    _, ranks, counts = np.unique(distances[reached], return_inverse=True, return_counts=True)
    level = np.full(graph.n, -1, np.int64)
    level[reached] = ranks
    weights = np.ones(graph.m) if graph.weights is None else graph.weights
    return _settle(graph.offsets, graph.targets, weights, distances, level, np.cumsum(counts) - counts, start)


@njit(cache=True)
def _settle(offsets, targets, weights, distances, level, tails, start):
    """A FIFO queue per distance: a vertex enters the queue of its distance with its first tight arc."""
    order, queued = np.empty((level >= 0).sum(), np.int64), level < 0
    order[0], queued[start] = start, True
    tails[0] += 1
    for place in range(order.size):
        v = order[place]
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            if not queued[u] and distances[v] + weights[arc] == distances[u]:
                order[tails[level[u]]] = u
                tails[level[u]] += 1
                queued[u] = True
    return order
