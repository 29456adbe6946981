"""Times of calls by the backend and by NetworkX, conversion and transfer included, on generated graphs."""

import time

import networkx as nx
import numpy as np
import pandas as pd

from lockstep.evidence import machine_name
from lockstep.machine import gpu_available

from . import SERVED, functions
from .choice import arcs

BACKENDS = ("lockstep", "networkx")
SIZES = (20, 60, 200, 600, 2_000, 6_000, 20_000, 100_000)  # nodes
FAMILIES = {  # {name: graph of about so many nodes}; the nodes of a grid are tuples, those of the others integers
    "random, 2 edges a node": lambda n: nx.gnm_random_graph(n, 2 * n, seed=1),
    "random, 8 edges a node": lambda n: nx.gnm_random_graph(n, 8 * n, seed=1),
    "random, directed": lambda n: nx.gnm_random_graph(n, 4 * n, seed=1, directed=True),
    "grid": lambda n: nx.grid_2d_graph(round(n**0.5), round(n**0.5)),
    "preferential attachment": lambda n: nx.barabasi_albert_graph(n, 3, seed=1),
    "small world": lambda n: nx.watts_strogatz_graph(n, 10, 0.1, seed=1),
    "star": lambda n: nx.star_graph(n - 1),
    "path": nx.path_graph,
}
ACYCLIC = ("topological_generations", "topological_sort", "is_directed_acyclic_graph")
UNDIRECTED = ("connected_components", "number_connected_components", "greedy_color", "triangles")
LIMIT = 0.05  # s: once a call of NetworkX takes longer, larger graphs of the family are skipped
ROUNDS = 3
SHORTEST = 0.002  # s: shorter calls are repeated to fill a round of this length


class Variants:
    """A generated graph in the form that a function requires: acyclic, with arcs both ways, or unchanged."""

    def __init__(self, graph):
        self.graph, self._made = graph, {}

    def of(self, name):
        """The graph for a function, or None where the function takes no such graph."""
        directed = self.graph.is_directed()
        if name in ACYCLIC:
            return self._variant("acyclic", self._acyclic)
        if "strongly" in name:
            return self.graph if directed else self._variant("both ways", lambda: nx.DiGraph(self.graph))
        return None if directed and name in UNDIRECTED else self.graph

    def _variant(self, kind, make):
        if kind not in self._made:
            self._made[kind] = make()
        return self._made[kind]

    def _acyclic(self):
        found = nx.DiGraph()
        found.add_nodes_from(self.graph)
        found.add_edges_from((min(edge), max(edge)) for edge in self.graph.edges if edge[0] != edge[1])
        return found


def arguments(name, graph):
    """A call's positional arguments: the graph, and its first node if the function takes a source."""
    return (graph, next(iter(graph))) if name.startswith("single_source") else (graph,)


def call(name, graph, backend):
    """Call a function on a graph without a conversion in its cache, and consume what it yields."""
    graph.__networkx_cache__.clear()
    found = getattr(nx, name)(*arguments(name, graph), backend=backend)
    if not isinstance(found, (dict, bool, int)):
        for _ in found:
            pass


def seconds(name, graph, backend, calls=1):
    """Mean seconds of `calls` successive calls."""
    begin = time.perf_counter()
    for _ in range(calls):
        call(name, graph, backend)
    return (time.perf_counter() - begin) / calls


def medians(name, graph, rounds=ROUNDS):
    """Median seconds of the backend and of NetworkX; rounds of both alternate, and the first is one call."""
    call(name, graph, "lockstep")  # compiles
    found = [[seconds(name, graph, one) for one in BACKENDS]]
    calls = [max(1, int(SHORTEST / one)) for one in found[0]]
    for _ in range(rounds - 1):
        found.append([seconds(name, graph, one, count) for one, count in zip(BACKENDS, calls, strict=True)])
    return np.median(found, axis=0).tolist()


def measure(sizes=SIZES, families=FAMILIES, names=SERVED, limit=LIMIT, rounds=ROUNDS, progress=print):
    """Times of functions on families of graphs of several sizes.

    Parameters
    ----------
    sizes : sequence of int
        Nodes, ascending.
    families : mapping
        {name: function of a number of nodes}.
    names : sequence of str
        Functions.
    limit : float
        Seconds; once NetworkX takes longer, larger graphs of the family are skipped for the function.
    rounds : int
        Rounds, of which the median is taken.
    progress : callable
        Called with a line of text for each graph.

    Returns
    -------
    DataFrame
        machine; gpu: 1 if one is usable, else 0; function; family; nodes; arcs: pairs (node, neighbor); lockstep_ms and
        networkx_ms: median milliseconds of a call.
    """
    machine, gpu, rows = machine_name(), int(gpu_available()), []
    for family, make in families.items():
        left = list(names)
        for size in sizes:
            if not left:
                break
            begin, variants, measured = time.perf_counter(), Variants(make(size)), len(rows)
            for name in tuple(left):
                graph = variants.of(name)
                if graph is None or functions.can_run(name, arguments(name, graph), {}) is not True:
                    left.remove(name)
                    continue
                own, other = medians(name, graph, rounds)
                rows.append({"machine": machine, "gpu": gpu, "function": name, "family": family,
                             "nodes": len(graph), "arcs": arcs(graph),
                             "lockstep_ms": 1e3 * own, "networkx_ms": 1e3 * other})  # fmt: skip
                if other > limit:
                    left.remove(name)
            taken = time.perf_counter() - begin
            progress(f"{family}, {size:,} nodes: {len(rows) - measured} functions in {taken:.1f} s")
    return pd.DataFrame(rows)
