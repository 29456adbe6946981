"""NetworkX's backend: its own tests, and any graph against NetworkX's own answers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.networkx_backend import WORTH, functions, info

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
    assert {name: int(count) for name, _, count in (one.partition("=") for one in answered)}.keys() == WORTH.keys()
    assert not [one for one in answered if one.endswith("=0")], "none of the functions was left to NetworkX throughout"


NODES = st.one_of(st.integers(-5, 30), st.text(max_size=2), st.tuples(st.integers(0, 3), st.booleans()))


@st.composite
def graphs(draw, kinds=(nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)):
    nodes = draw(st.lists(NODES, max_size=12, unique_by=lambda node: node))
    graph = draw(st.sampled_from(kinds))()
    graph.add_nodes_from(nodes)
    if nodes:
        ends = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes), st.integers(0, 9))
        graph.add_weighted_edges_from(draw(st.lists(ends, max_size=30)))
    return graph


def both(name, graph, *args, **kwargs):
    """The backend's answer and NetworkX's; of an error its type."""

    def run(backend):
        try:
            found = getattr(nx, name)(graph, *args, backend=backend, **kwargs)
            return found if isinstance(found, (dict, bool, int)) else list(found)
        except Exception as error:
            return type(error)

    return run("lockstep"), run("networkx")


pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")  # are kept, as NetworkX has it


@settings(max_examples=150)
@given(graphs(), st.sampled_from([None, 0, 3, 7.5]), st.data())
def test_any_graph_gets_networkx_answers(graph, cutoff, data):
    for name in ("is_directed_acyclic_graph", "topological_generations", "topological_sort", "connected_components",
                 "number_connected_components", "number_strongly_connected_components", "triangles"):  # fmt: skip
        found, wanted = both(name, graph)
        assert found == wanted, name
    found, wanted = both("strongly_connected_components", graph)
    assert found == wanted, "in the same order"
    if not graph.is_directed():
        found, wanted = both("greedy_color", graph)
        assert found == wanted and list(found) == list(wanted)
    source = data.draw(st.sampled_from([*graph, "nowhere"]))
    for name in ("single_source_dijkstra_path_length", "single_source_shortest_path_length"):
        found, wanted = both(name, graph, source, cutoff=cutoff)
        assert found == wanted, name
        if isinstance(wanted, dict):
            assert list(map(type, found.values())) == [type(found[node]) for node in found]
            assert {type(v) for v in found.values()} <= {int}, "whole weights give whole distances"
    found, wanted = both("all_pairs_shortest_path_length", graph, cutoff=cutoff)
    assert found == wanted


@settings(max_examples=100)
@given(graphs((nx.Graph, nx.DiGraph)), st.booleans(), st.booleans())
def test_any_graph_gets_networkx_centralities(graph, one, other):
    for name, options in (("betweenness_centrality", {"normalized": one, "endpoints": other}),
                          ("closeness_centrality", {"wf_improved": one}), ("harmonic_centrality", {})):  # fmt: skip
        found, wanted = both(name, graph, **options)
        assert set(found) == set(wanted), name
        assert np.allclose(list(found.values()), [wanted[node] for node in found], rtol=1e-9, atol=1e-12), name


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
    assert "successors" in functions.can_run("greedy_color", (nx.DiGraph(path),), {})


def test_a_conversion_is_weighed_and_kept():
    small, large = nx.path_graph(50), nx.path_graph(3000)
    assert "conversion pays" in functions.should_run("closeness_centrality", (small,), {})
    assert functions.should_run("closeness_centrality", (large,), {}) is True and large.size() > 500
    nx.number_connected_components(small, backend="lockstep")
    assert functions.should_run("closeness_centrality", (small,), {}) is True, "it is there already"
    small.add_edge(0, 7)
    assert "conversion pays" in functions.should_run("closeness_centrality", (small,), {}), "NetworkX dropped it"
    assert "takes longer" in functions.should_run("connected_components", (large,), {})


def test_networkx_lists_what_is_served():
    assert set(info()["functions"]) == set(WORTH)
    assert all(callable(getattr(functions.backend, name)) for name in WORTH)
    assert "lockstep" in nx.config.backends


@settings(max_examples=100)
@given(graphs((nx.Graph, nx.DiGraph)), st.sampled_from([0, 0.5, 0.85, 1]), st.sampled_from([1, 7, 100]))
def test_any_graph_gets_networkx_ranks(graph, alpha, rounds):
    """The rounds are the same too: too few of them are the same error."""
    found, wanted = both("pagerank", graph, alpha=alpha, max_iter=rounds, weight=None)
    if isinstance(wanted, type):
        assert found is wanted
        return
    assert list(found) == list(wanted)
    assert np.allclose(list(found.values()), list(wanted.values()), rtol=1e-9, atol=1e-12)


def test_ranks_that_one_round_brings_to_their_end_are_no_end_of_that_round():
    """Two nodes that only the second's arc tells apart: one round moves the ranks to where they stay."""
    graph = nx.DiGraph()
    graph.add_nodes_from("ab")
    graph.add_edges_from([("a", "a"), ("b", "a")])
    for rounds in range(1, 8):
        for alpha in (0, 0.5, 1):
            found, wanted = both("pagerank", graph, alpha=alpha, max_iter=rounds)
            assert found == wanted


def test_ranks_of_weighted_graphs_are_left_to_networkx():
    weighted, large = nx.path_graph(4), nx.path_graph(5_000)
    weighted[0][1]["weight"] = 2
    assert functions.can_run("pagerank", (weighted,), {}) == "weighted edges are not served"
    assert functions.can_run("pagerank", (weighted,), {"weight": None}) is True
    assert "parallel" in functions.can_run("pagerank", (nx.MultiGraph(weighted),), {"weight": None})
    assert "more than 4,000 nodes" in functions.can_run("triangles", (large,), {})
    with pytest.raises(NotImplementedError, match="not implemented by .lockstep. backend for the given arguments"):
        nx.pagerank(weighted, backend="lockstep")
