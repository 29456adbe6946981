"""``python -m lockstep.networkx_backend``: what the backend gains on this machine, conversion included.

First random graphs of eight edges a node, from which `WORTH` was taken; then others, and what is lost on them where
`should_run` decides otherwise than the times.
"""

import argparse
import time
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from . import WORTH, functions

SIZES = (30, 100, 300, 1_000, 3_000, 10_000, 100_000)  # nodes, of eight edges each
LONGEST = 20.0  # s: a graph of which a call may take longer, as the smaller one tells, is left out
ACYCLIC = ("topological_generations", "topological_sort", "is_directed_acyclic_graph")
OTHERS = {  # graphs that the thresholds were not taken from: other families, densities and sizes
    "grid": lambda n: nx.convert_node_labels_to_integers(nx.grid_2d_graph(round(n**0.5), round(n**0.5))),
    "preferential, 3 a node": lambda n: nx.barabasi_albert_graph(n, 3, seed=2),
    "small world, 20 a node": lambda n: nx.watts_strogatz_graph(n, 40, 0.1, seed=2),
}
OTHER_SIZES = (60, 600, 6_000)


def once(name, graph, backend):
    """Seconds of a call whose result is used up; the graph keeps no conversion."""
    graph.__networkx_cache__.clear()
    begin = time.perf_counter()
    found = getattr(nx, name)(*given(name, graph), backend=backend)
    if not isinstance(found, (dict, bool, int)):
        for _ in found:
            pass
    return time.perf_counter() - begin


def given(name, graph):
    """A call's arguments."""
    return (graph, 0) if name.startswith("single_source") else (graph,)


def suited(name, graph):
    """The graph in the direction that a function asks for: acyclic, directed both ways, or as it is."""
    if name in ACYCLIC:
        return nx.DiGraph((min(edge), max(edge)) for edge in graph.edges)
    return graph.to_directed() if "strongly" in name else graph


def both(name, graph, rounds):
    """Median seconds of the backend and of NetworkX."""
    once(name, graph, "lockstep")  # compiles
    return [float(np.median([once(name, graph, one) for _ in range(rounds)])) for one in ("lockstep", "networkx")]


def table(sizes=SIZES, rounds=3):
    """How many times as fast as NetworkX the backend is, a line a function and a column a size."""
    lines = []
    for name in WORTH:
        line, longest = {"function": name}, 0.0
        for nodes in sizes:
            if longest > LONGEST / 200:
                break
            graph = suited(name, nx.gnm_random_graph(nodes, 8 * nodes, seed=1))
            if functions.can_run(name, given(name, graph), {}) is not True:
                break
            own, longest = both(name, graph, rounds)
            line[f"{nodes:,} nodes"] = longest / own
        lines.append(line)
    return pd.DataFrame(lines)


def regret(sizes=OTHER_SIZES, rounds=3):
    """What the choice of `should_run` takes over the faster of both on `OTHERS`, a line a function.

    Returns
    -------
    DataFrame
        function; graphs; chosen right; mean and worst: time of the choice over the shorter one; always: the mean if the
        backend were always asked.
    """
    lines = []
    for name in WORTH:
        losses, always, right = [], [], 0
        for make in OTHERS.values():
            longest = 0.0
            for nodes in sizes:
                if longest > LONGEST / 200:
                    break
                graph = suited(name, make(nodes))
                if functions.can_run(name, given(name, graph), {}) is not True:
                    break
                own, longest = both(name, graph, rounds)
                graph.__networkx_cache__.clear()
                taken = own if functions.should_run(name, given(name, graph), {}) is True else longest
                best = min(own, longest)
                losses.append(taken / best)
                always.append(own / best)
                right += taken == best
        lines.append({"function": name, "graphs": len(losses), "chosen right": right, "mean": _mean(losses),
                      "worst": max(losses), "always": _mean(always)})  # fmt: skip
    return pd.DataFrame(lines)


def _mean(values):
    return float(np.exp(np.log(values).mean()))


def main():
    parser = argparse.ArgumentParser(prog="python -m lockstep.networkx_backend", description=__doc__.partition(": ")[2])
    parser.add_argument("--output", metavar="DIR", help="write networkx-gain.csv and networkx-choice.csv there")
    choice = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, make in (("gain", table), ("choice", regret)):
        found = make()
        told = found.to_string(index=False, float_format=lambda value: f"{value:.3g}", na_rep="-")
        print(told, end="\n\n", flush=True)
        if choice.output:
            found.to_csv(Path(choice.output, f"networkx-{name}.csv"), index=False, float_format="%.3g")


if __name__ == "__main__":
    main()
