"""NetworkX's backend: NetworkX's own tests pass on it, and what it does not serve is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from lockstep.networkx_backend import SERVED, functions, info

# NetworkX's test modules of what is served; what is not falls back to NetworkX.
MODULES = [
    "networkx.algorithms.tests.test_dag", "networkx.algorithms.coloring", "networkx.algorithms.tests.test_cluster",
    "networkx.algorithms.centrality.tests.test_betweenness_centrality",
    "networkx.algorithms.centrality.tests.test_closeness_centrality",
    "networkx.algorithms.centrality.tests.test_harmonic_centrality",
    "networkx.algorithms.components.tests.test_connected", "networkx.algorithms.shortest_paths",
    "networkx.algorithms.components.tests.test_strongly_connected", "networkx.algorithms.link_analysis",
]  # fmt: skip


def test_networkx_own_tests_pass_on_the_backend(tmp_path):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "counting", "--pyargs", *MODULES]
    setting = {**os.environ, "NETWORKX_TEST_BACKEND": "lockstep", "NETWORKX_FALLBACK_TO_NX": "1"}
    setting["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    told = subprocess.run(command, cwd=tmp_path, env=setting, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout[-3000:]
    last = told.stdout.splitlines()[-1]
    assert " passed" in last and "failed" not in last and "xfailed" not in last, last
    answered = re.search("^answered: (.*)", told.stdout, re.MULTILINE)[1].split()
    assert {name: int(count) for name, _, count in (one.partition("=") for one in answered)}.keys() == set(SERVED)
    assert not [one for one in answered if one.endswith("=0")], "none of the functions was left to NetworkX throughout"
    assert "\nleft: \n" in told.stdout, "no accepted call fell back"


pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")  # are kept, as NetworkX has it


def test_whole_weights_beside_a_fraction_are_not_rounded():
    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", 2**53 + 1), ("a", "c", 2**53), ("x", "y", 0.5)])
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(G, "a", cutoff=2**53, backend="lockstep")


@pytest.mark.parametrize("kind", [np.float32, np.uint8])
def test_narrow_weights_which_networkx_adds_in_their_own_precision_are_refused(kind):
    G = nx.path_graph(4)
    nx.set_edge_attributes(G, kind(3), "weight")
    told = functions.can_run("single_source_dijkstra_path_length", (G, 0), {})
    assert "not an int, float, int64 or float64" in told


def test_what_is_no_number_is_left_to_networkx():
    assert "no numbers" in functions.can_run("pagerank", (nx.path_graph(3),), {"alpha": "x"})


def test_what_is_not_served_is_refused_with_a_reason():
    path = nx.path_graph(4)
    for name, kwargs, told in (
        ("betweenness_centrality", {"k": 2}, "samples and weights are not served"),
        ("single_source_dijkstra_path_length", {"source": 0, "weight": len}, "a weight that is a function"),
        ("greedy_color", {"strategy": "DSATUR"}, "other strategies than largest_first"),
        ("pagerank", {"personalization": {0: 1}}, "personalization, first ranks and dangling weights are not served"),
        ("pagerank", {"tol": 0}, "tol of 0"),
        ("k_core", {}, "k_core is not served"),
    ):  # fmt: skip
        assert told in functions.can_run(name, (path,), kwargs)
    negative = nx.path_graph(3)
    negative[0][1]["weight"] = -1
    assert "finite number >= 0" in functions.can_run("single_source_dijkstra_path_length", (negative, 0), {})
    for weight, told in (([1.0], "finite number >= 0"), (2**53 - 1, "than float64"), (1e308, "than float64")):
        nx.set_edge_attributes(negative, weight, "weight")
        assert told in functions.can_run("single_source_dijkstra_path_length", (negative, 0), {})
    assert "successors" in functions.can_run("greedy_color", (nx.DiGraph(path),), {})


def test_networkx_lists_what_is_served():
    assert set(info()["functions"]) == set(SERVED)
    assert all(callable(getattr(functions.backend, name)) for name in SERVED)
    assert "lockstep" in nx.config.backends


def test_ranks_of_weighted_graphs_are_left_to_networkx():
    weighted, large = nx.path_graph(4), nx.path_graph(5_000)
    weighted[0][1]["weight"] = 2
    assert functions.can_run("pagerank", (weighted,), {}) == "weighted edges are not served"
    assert functions.can_run("pagerank", (weighted,), {"weight": None}) is True
    assert "parallel" in functions.can_run("pagerank", (nx.MultiGraph(weighted),), {"weight": None})
    assert "more than 4,000 nodes" in functions.can_run("triangles", (large,), {})
    with pytest.raises(NotImplementedError, match="not implemented by .lockstep. backend for the given arguments"):
        nx.pagerank(weighted, backend="lockstep")
