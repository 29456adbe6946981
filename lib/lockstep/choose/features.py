"""Features that the rules test: for each problem a function from a graph's figures to features, and their units.

A figure must be cheap to compute on the user's graph and recorded with the graphs of the study.
"""

import numpy as np


def near_share(graph, parts=128, samples=4096):
    """Share of arcs with both ends in the same of `parts` equal id ranges, from a regular sample of the arcs.

    It distinguishes graphs whose ids follow space or time from those with random ids.
    """
    if not graph.m:
        return 0.0
    size = -(-graph.n // parts)
    picked = np.linspace(0, graph.m - 1, min(samples, graph.m)).astype(np.int64)
    tails = np.searchsorted(graph.offsets, picked, side="right") - 1
    return float(np.mean(tails // size == graph.targets[picked] // size))


def of_graph(figures):
    """Size and mean degree; the ratio of largest to mean degree where it is known."""
    n, m = figures["n"], figures["m"]
    found = {"size": n + m, "degree": m / max(n, 1)}
    if "largest" in figures and m:
        found["skew"] = figures["largest"] / (m / n)
    return found


def of_paths(figures):
    """Those of a graph, and how many of its arcs stay among near ids, in %."""
    return {**of_graph(figures), "near": 100 * figures["near"]}


def of_dag(figures):
    """Size, mean degree and mean width of a layer."""
    n, m, depth = figures["n"], figures["m"], figures["depth"]
    return {"size": n + m, "degree": m / max(n, 1), "width": (n + m) / max(depth, 1)}


def of_ratings(figures):
    """Size, ratings a node, and the share of the ratings at one node in %."""
    nodes, m, largest = figures["users"] + figures["items"], figures["m"], figures["largest"]
    return {"size": m, "degree": m / max(nodes, 1), "share": 100 * largest / max(m, 1)}


def of_batch(figures):
    """Number of graphs, their mean size and degree; vertices and arcs are those of all graphs together."""
    graphs, n, m = figures["graphs"], figures["n"], figures["m"]
    return {"graphs": graphs, "size": (n + m) / max(graphs, 1), "degree": m / max(n, 1)}


_GRAPH = {"size": "vertices and arcs", "degree": "arcs a vertex", "skew": "times the mean degree at the largest vertex"}

# {problem: (figures in, features out; {feature: its unit})}
FEATURES = {
    "toposort": (of_dag, {**_GRAPH, "width": "vertices and arcs a layer"}),
    "sssp": (of_paths, {**_GRAPH, "near": "% of arcs within a 128th of the ids"}),
    "coloring": (of_graph, _GRAPH),
    "sgd": (of_ratings, {"size": "ratings", "degree": "ratings a node", "share": "% of ratings at one node"}),
    "swarm": (of_batch, {"graphs": "graphs", "size": "vertices and arcs a graph", "degree": "arcs a vertex"}),
}
