"""``python -m lockstep.networkx_backend``: what the backend gains on this machine, conversion included."""

import time

import networkx as nx
import numpy as np
import pandas as pd

from . import WORTH

SIZES = (30, 100, 300, 1_000, 3_000, 10_000, 100_000)  # nodes, of eight edges each
LONGEST = 20.0  # s: a larger graph is left out
OF_SOURCE = ("single_source_dijkstra_path_length", "single_source_shortest_path_length")


def once(name, graph, backend):
    """Seconds of a call whose result is used up; the graph keeps no conversion."""
    graph.__networkx_cache__.clear()
    arguments = (graph, 0) if name in OF_SOURCE else (graph,)
    begin = time.perf_counter()
    found = getattr(nx, name)(*arguments, backend=backend)
    if not isinstance(found, (dict, bool, int)):
        for _ in found:
            pass
    return time.perf_counter() - begin


def table(sizes=SIZES, rounds=3):
    """NetworkX over the backend, a line a function and a column a size; above 1 the backend is faster."""
    lines = []
    for name in WORTH:
        line, longest = {"function": name}, 0.0
        for nodes in sizes:
            if longest > LONGEST / 50:
                break
            graph = nx.gnm_random_graph(nodes, 8 * nodes, seed=1)
            if name.startswith(("topological", "is_directed")):
                graph = nx.DiGraph((min(edge), max(edge)) for edge in graph.edges)
            elif "strongly" in name:
                graph = nx.gnm_random_graph(nodes, 8 * nodes, seed=1, directed=True)
            once(name, graph, "lockstep")  # compiles
            own, theirs = (
                np.median([once(name, graph, one) for _ in range(rounds)]) for one in ("lockstep", "networkx")
            )
            line[f"{nodes:,}"], longest = theirs / own, theirs
        lines.append(line)
    return pd.DataFrame(lines)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    print(table().to_string(index=False, float_format=lambda value: f"{value:.3g}", na_rep="-"))
