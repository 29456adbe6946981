"""The backend `lockstep` of NetworkX: its functions on graphs in CSR, by compiled code and, if one is usable, by the
GPU.

>>> import networkx as nx
>>> nx.betweenness_centrality(nx.path_graph(4), backend="lockstep")
{0: 0.0, 1: 0.6666666666666666, 2: 0.6666666666666666, 3: 0.0}

Results equal NetworkX's in sets, orders (but that of harmonic_centrality's dict, there the order of a set) and integers
(where whole weights stand beside others, distances are floats); floating-point sums of centralities may differ in the
last digits. Harmonic closeness and betweenness are summed in fixed point, terms rounded to 1e-12 and to
2^-(59 - 2 log2 n): a value far below 1 has fewer digits (of 5e-5 at 20,000 vertices, six). `can_run` returns why a call
is not supported, `should_run` why it is not worth a conversion. NetworkX caches a converted graph with the original, so
a second call does not convert again.
"""

import inspect
from numbers import Real
from types import SimpleNamespace

import networkx as nx
import numpy as np

from lockstep.coloring import neighbors, oracle
from lockstep.graphs import GraphError
from lockstep.solving import solve
from lockstep.sssp import shortest_paths
from lockstep.swarm import analyze
from lockstep.swarm.oracle_structure import finish_order
from lockstep.toposort import STRATEGIES, Problem

from . import SERVED
from .choice import faster, never
from .conversion import Converted, convert_from_nx, convert_to_nx  # noqa: F401 (the last one NetworkX calls)
from .order import settle_order

# -- what is served


def is_directed_acyclic_graph(G):
    return G.is_directed() and sum(map(len, _generations(G))) == G.graph.n


def topological_generations(G):
    """In NetworkX's order, that of the serial algorithm with a FIFO queue. As there, a change of the graph during the
    iteration takes effect from the next generation on; one before the first generation does not, as the graph is
    converted when the generator is made.
    """
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    found, count = _generations(G), 0
    for generation, places in enumerate(found):
        count += len(places)
        yield list(map(G.nodes.__getitem__, places))
        if G.changed():
            yield from _from_here(G, found, generation)
            return
    if count < G.graph.n:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


def _generations(G):
    """Generations as lists of node indices; of a graph with cycles only those before the first cycle."""
    if not G.graph.n:
        return []
    result = solve(STRATEGIES, "serial", Problem.of(G.graph))
    order, ends = result.order.tolist(), np.cumsum(result.level_sizes).tolist()
    return [order[begin:end] for begin, end in zip([0, *ends], ends, strict=False) if end > begin]


def _from_here(G, found, generation):
    """NetworkX's loop, continued on a graph that has changed since this generation was yielded."""
    graph, done = G.origin(), {place for places in found[: generation + 1] for place in places}
    ready = [G.nodes[place] for place in (found[generation + 1] if generation + 1 < len(found) else [])]
    sources, targets = G.graph.edges()
    left = np.bincount(targets[~np.isin(sources, list(done))], minlength=G.graph.n)
    waiting = {G.nodes[place]: int(count) for place, count in enumerate(left) if count and place not in done}
    while ready:
        generation, ready = ready, []
        for node in generation:
            if node not in graph:
                raise RuntimeError("Graph changed during iteration")
            for child in graph.neighbors(node):
                if child not in waiting:
                    raise RuntimeError("Graph changed during iteration")
                waiting[child] -= len(graph[node][child]) if G.multigraph else 1
                if waiting[child] == 0:
                    ready.append(child)
                    del waiting[child]
        yield generation
    if waiting:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


def topological_sort(G):
    for generation in topological_generations(G):
        yield from generation


def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    if source not in G.index:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    graph = G.weighted(weight)
    return _reached(G, graph, source, cutoff)


def single_source_shortest_path_length(G, source, cutoff=None):
    if source not in G.index:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    # NetworkX stops after a complete level, and at once if the cutoff is NaN.
    return _reached(G, G.graph, source, None if cutoff is None else np.nan_to_num(np.ceil(cutoff), posinf=np.inf))


def _reached(G, graph, source, cutoff):
    """{node: distance} of reached nodes, in the order in which NetworkX settles them, always with the source; int if
    the weights are.
    """
    start = G.index[source]
    distances = shortest_paths(graph, start).distances
    places = settle_order(graph, distances, start)
    values = distances[places]
    if cutoff is not None:
        near = ~(values > cutoff)  # as in NetworkX, a NaN cutoff excludes nothing
        near[0] = True
        places, values = places[near], values[near]
    if graph.weights is None or graph.weights.dtype.kind != "f":
        values = values.astype(np.int64)
    found = dict(zip([G.nodes[place] for place in places.tolist()], values.tolist(), strict=True))
    found[source] = 0  # int in NetworkX, also with float weights
    return found


def all_pairs_shortest_path_length(G, cutoff=None):
    for node in G.nodes:
        yield node, single_source_shortest_path_length(G, node, cutoff)


def greedy_color(G, strategy="largest_first", interchange=False):
    """Largest degree first, ties in node order, as in NetworkX; a loop adds two to a degree."""
    sources, targets = G.graph.edges()
    loops = np.bincount(sources[sources == targets], minlength=G.graph.n)
    order = np.argsort(-(G.graph.out_degrees() + loops), kind="stable")
    colors = oracle.greedy(neighbors(G.graph, warn=False)[0], order)
    return {G.nodes[place]: int(colors[place]) for place in order.tolist()}


def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    n = G.graph.n
    if not n:
        return {}
    values = analyze([G.graph], "betweenness", endpoints=bool(endpoints))[0]
    pairs = n if endpoints else n - 1
    if normalized and pairs >= 2:
        values = values * ((1 if G.is_directed() else 2) / (pairs * (pairs - 1)))
    return G.of_nodes(values)


def closeness_centrality(G, u=None, distance=None, wf_improved=True):
    return G.of_nodes(analyze([G.graph], "closeness", wf_improved=bool(wf_improved))[0]) if G.graph.n else {}


def harmonic_centrality(G, nbunch=None, distance=None, sources=None):
    return G.of_nodes(analyze([G.graph], "closeness", form="harmonic")[0]) if G.graph.n else {}


def connected_components(G):
    yield from _groups(G, _labels(G, "components"))


def number_connected_components(G):
    return int(np.unique(_labels(G, "components")).size)


def strongly_connected_components(G):
    """In NetworkX's order: by depth-first finishing time of each component's root."""
    labels = _labels(G, "strong", strategy="cpu")  # linear time; the kernel is for small graphs
    ended, place = finish_order(G.graph.offsets, G.graph.targets), np.empty(G.graph.n, np.int64)
    place[ended] = np.arange(G.graph.n)
    last = np.zeros(G.graph.n, np.int64)
    np.maximum.at(last, labels, place)
    yield from _groups(G, last[labels])


def number_strongly_connected_components(G):
    return int(np.unique(_labels(G, "strong", strategy="cpu")).size)


def _labels(G, measure, **options):
    """Each node's component, identified by the component's first node."""
    if measure == "strong" and not G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for undirected type")
    return analyze([G.graph], measure, **options)[0] if G.graph.n else np.zeros(0, np.int64)


def _groups(G, labels):
    order = np.argsort(labels, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        if places.size:
            yield {G.nodes[place] for place in places.tolist()}


def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1e-6, nstart=None, weight="weight", dangling=None):
    """NetworkX's power iteration, with the same start and stopping criterion."""
    if not G.graph.n:
        return {}
    options = {"damping": float(alpha), "tolerance": float(tol)}
    found = analyze([G.graph], "pagerank", limit=max_iter, **options)[0]
    before = np.full(G.graph.n, 1 / G.graph.n)
    if max_iter > 1:
        before = analyze([G.graph], "pagerank", limit=max_iter - 1, **options)[0]
    if np.abs(found - before).sum() >= G.graph.n * tol:  # not converged: the last iteration changed the ranks
        raise nx.PowerIterationFailedConvergence(max_iter)
    return G.of_nodes(found)


def triangles(G, nodes=None):
    return G.of_nodes(analyze([G.graph], "triangles")[0].astype(np.int64)) if G.graph.n else {}


# -- whether

REFUSED = {  # {function: (reason, arguments by name that must have one of these values)}
    "single_source_dijkstra_path_length": ("a weight that is a function", {"weight": (str, type(None))}),
    "greedy_color": ("other strategies than largest_first", {
        "strategy": ("largest_first", nx.coloring.strategy_largest_first), "interchange": (False,)}),
    "betweenness_centrality": ("samples and weights", {"k": (None,), "weight": (None,)}),
    "closeness_centrality": ("single nodes and distances", {"u": (None,), "distance": (None,)}),
    "harmonic_centrality": ("some nodes and distances", {"nbunch": (None,), "distance": (None,), "sources": (None,)}),
    "triangles": ("some nodes", {"nodes": (None,)}),
    "pagerank": ("personalization, first ranks and dangling weights", {
        "personalization": (None,), "nstart": (None,), "dangling": (None,)}),
}  # fmt: skip
MATRIX = 4_000  # nodes: triangles are counted in an n x n matrix, too slow and large beyond


def _bound(name, args, kwargs):
    bound = inspect.signature(globals()[name]).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def can_run(name, args, kwargs):
    """True, or why this call is not served."""
    if name not in SERVED:
        return f"{name} is not served"
    given = _bound(name, args, kwargs)
    reason, wanted = REFUSED.get(name, ("", {}))
    for argument, allowed in wanted.items():
        value = given[argument]
        if not any(
            isinstance(value, one) if isinstance(one, type) else value is one or value == one for one in allowed
        ):
            return f"{reason} are not served"
    G = given["G"]
    if name == "triangles" and len(G.nodes) > MATRIX:
        return f"triangles of more than {MATRIX:,} nodes are not served"
    if name == "pagerank":
        return _ranks(G, given)
    if name == "greedy_color" and G.is_directed():
        return "of directed graphs NetworkX's greedy_color looks at successors alone"
    if name == "single_source_dijkstra_path_length" and not isinstance(G, Converted) and given["weight"] is not None:
        try:
            convert_from_nx(G, edge_attrs={given["weight"]: 1})
        except (NotImplementedError, ValueError, GraphError) as error:
            return str(error)
    return True


def _ranks(G, given):
    """True, or why this PageRank is not served."""
    if G.is_multigraph():
        return "of multigraphs NetworkX's pagerank adds up parallel edges"
    numbers = (given["alpha"], given["tol"], given["max_iter"])
    if not all(isinstance(one, Real) for one in numbers):
        return "alpha, tol and max_iter that are no numbers are not served"
    if not (0 <= given["alpha"] <= 1 and given["tol"] > 0 and given["max_iter"] >= 1):
        return "alpha outside of 0 to 1, tol of 0 and no iteration are not served"
    weight = given["weight"]
    if isinstance(G, Converted):
        plain = weight not in G.weights or (G.weights[weight] == 1).all()
    else:
        plain = weight is None or not any(weight in edge for _, _, edge in G.edges(data=True))
    return plain or "weighted edges are not served"


def should_run(name, args, kwargs):
    """True, or why NetworkX is predicted to be faster.

    A graph that is converted already is served, but for functions in which the conversion is not what costs most: those
    that NetworkX is predicted to do faster on every graph.
    """
    G = _bound(name, args, kwargs)["G"]
    cached = "lockstep" in getattr(G, "__networkx_cache__", {}).get("backends", {})
    if isinstance(G, Converted) or cached and not never(name):
        return True
    backend, condition = faster(name, G)
    return backend == "lockstep" or f"NetworkX is expected to be faster than with a conversion: {condition}"


_SERVED = (*SERVED, "convert_from_nx", "convert_to_nx", "can_run", "should_run")
backend = SimpleNamespace(**{name: globals()[name] for name in _SERVED})  # what NetworkX loads
