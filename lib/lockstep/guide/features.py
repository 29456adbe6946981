"""The features of a user's graph, computed in time linear in its vertices and arcs, but for a sort of the degrees."""

from dataclasses import dataclass

import numpy as np

from lockstep.choose.features import near_share
from lockstep.graphs import GraphError, graph_of
from lockstep.graphs.search import visit

TOP = 0.01  # the share of vertices whose arcs are counted for the skew


@dataclass(frozen=True)
class Features:
    """Figures of a graph.

    Attributes
    ----------
    name, kind : str
        kind is "graph", "ratings" or "batch".
    figures : dict
        Figure -> value, under the names that `problems` derives features from; a figure that the graph does not
        have (the depth of a graph with a cycle) is left out.
    lines : list of (str, str)
        The same for people: what, and how much.
    missing : dict
        Problem -> why it does not apply to this graph.
    """

    name: str
    kind: str
    figures: dict
    lines: list
    missing: dict


def hops(graph, start):
    """Breadth-first search: the number of arcs to the farthest vertex, how many are reached, and the farthest."""
    level, queue = np.full(graph.n, -1, np.int32), np.empty(graph.n, np.int32)
    count = visit(graph.offsets, graph.targets, start, level, queue)
    return int(level[queue[count - 1]]), count, int(queue[count - 1])


def of(graph):
    """Features of a graph, of ratings, or of a batch of graphs.

    Raises
    ------
    GraphError
        The input is none of these, or has no vertices.
    """
    if type(graph).__name__ == "Ratings":
        return _of_ratings(graph)
    if isinstance(graph, (list, tuple)) or type(graph).__name__ == "GraphBatch":
        return _of_batch(graph)
    return _of_graph(graph_of(graph))


def _of_graph(graph):
    if graph.n == 0:
        raise GraphError(f"{graph.name or 'the graph'} has no vertices: there is nothing to advise on")
    n, m = graph.n, graph.m
    degrees = graph.out_degrees()
    inward = graph.in_degrees() if graph.directed else degrees
    largest = int(max(degrees.max(), inward.max()))
    figures = {"n": n, "m": m, "largest": largest, "near": near_share(graph), "users": n, "items": n}
    kind = "directed" if graph.directed else "undirected, each edge stored both ways"
    lines = [("vertices", f"{n:,}"), ("arcs", f"{m:,} ({kind})")]
    mean = m / n
    lines.append(("degree", f"{mean:.3g} arcs a vertex, {largest:,} at most"))
    if m:
        top = np.sort(degrees)[-max(1, round(n * TOP)) :].sum() / m
        lines.append(("skew", f"the top 1 % of vertices by degree have {100 * top:.0f} % of the arcs"))
        start = int(degrees.argmax())
        far, reached, last = hops(graph, start)
        if reached > 1:
            far = max(far, hops(graph, last)[0])
        told = f"at least {far:,} arcs between the farthest, by two searches; {100 * reached / n:.0f} % reached"
        lines.append(("diameter", told))
    missing = {}
    depth = _depth(graph, missing)
    if depth:
        figures["depth"] = depth
        lines.append(("depth", f"{depth:,} layers of {n / depth:,.1f} vertices"))
    if m == 0:
        missing |= {name: "there are no arcs" for name in ("sssp", "coloring", "sgd")}
    elif reason := _refused_weights(graph):
        missing["sssp"] = reason
    missing["swarm"] = "one graph is no batch (give several)"
    return Features(graph.name or "the graph", "graph", figures, lines, missing)


def _refused_weights(graph):
    """Why shortest paths refuse the weights; None if they do not."""
    from lockstep.sssp.problem import check_weights

    try:
        return None if graph.weights is None else check_weights(graph, graph.weights)
    except GraphError as error:
        return str(error)


def _depth(graph, missing):
    """Number of layers of an acyclic graph, by a serial topological sort in linear time."""
    from lockstep.toposort import CycleError, topological_sort

    if not graph.directed and graph.m:
        missing["toposort"] = "undirected: an order needs direction"
        return None
    try:
        return int(topological_sort(graph, strategy="serial").depth)
    except CycleError as error:
        missing["toposort"] = f"there is a cycle of {len(error.cycle):,} vertices"
        return None


def _of_ratings(ratings):
    users, items = ratings.shape
    largest = ratings.largest_degree()
    if not ratings.m:
        raise GraphError(f"{ratings.name or 'the matrix'} has no ratings: there is nothing to advise on")
    lines = [
        ("users, items", f"{users:,} x {items:,}"),
        ("ratings", f"{ratings.m:,}"),
        ("degree", f"{ratings.m / (users + items):.3g} ratings for each node, {largest:,} at most"),
    ]
    figures = {"users": users, "items": items, "m": ratings.m, "largest": largest}
    missing = {name: "these are ratings" for name in ("toposort", "sssp", "coloring", "swarm")}
    return Features(ratings.name or "the ratings", "ratings", figures, lines, missing)


def _of_batch(batch):
    if isinstance(batch, (list, tuple)):
        graphs = [graph_of(graph) for graph in batch]
        n, m = ([getattr(graph, name) for graph in graphs] for name in "nm")
    else:  # a GraphBatch hands out packs of graphs
        packs = list(batch)
        n, m = (np.concatenate([getattr(pack.host, name) for pack in packs] or [[]]) for name in "nm")
    count = len(n)
    if not count:
        raise GraphError("the batch holds no graph: there is nothing to advise on")
    n, m, largest = int(np.sum(n)), int(np.sum(m)), int(np.max(n))
    sizes = f"{n / count:,.1f} vertices and {m / count:,.1f} arcs on average, {largest:,} vertices at most"
    lines = [("graphs", f"{count:,}"), ("sizes", sizes)]
    missing = {name: "this is a batch" for name in ("toposort", "sssp", "coloring", "sgd")}
    return Features("the batch", "batch", {"graphs": count, "n": n, "m": m}, lines, missing)
