"""Real graphs from a mirror folder, where there is one: the CPU's strategies on all, kernels on the small ones."""

import os

import numpy as np
import pytest

from lockstep.sssp import STRATEGIES, oracle, shortest_paths
from lockstep.sssp.experiments import cases

pytestmark = pytest.mark.skipif(not os.environ.get("LOCKSTEP_MIRROR"), reason="LOCKSTEP_MIRROR is not set")

GRAPHS = ["ego-Facebook", "USA-road-d.NY", "caidaRouterLevel", "coAuthorsDBLP", "wiki-Vote", "email-Eu-core",
          "p2p-Gnutella31", "soc-Epinions1", "HC-BIOGRID", "commit-dag-git"]  # fmt: skip
SMALL = ["ego-Facebook", "email-Eu-core", "HC-BIOGRID"]


@pytest.fixture(scope="module")
def made():
    known = {}

    def make(name):
        if name not in known:
            graph = cases.make(name)
            source = int(np.argmax(graph.out_degrees()))
            known[name] = graph, source, oracle.distances(graph, source)
        return known[name]

    return make


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("strategy", ["delta-cpu", "igraph", "auto"])
def test_on_the_cpu(name, strategy, made):
    graph, source, exact = made(name)
    if strategy == "igraph" and graph.m > 2_000_000:
        pytest.skip("igraph takes its time to convert so many arcs")
    np.testing.assert_array_equal(shortest_paths(graph, source, strategy).distances, exact)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("strategy", [n for n, s in STRATEGIES.items() if s.gpu and s.exact])
def test_on_the_emulator(name, strategy, made):
    graph, source, exact = made(name)
    result = shortest_paths(graph, source, strategy, executor="host")
    np.testing.assert_array_equal(result.distances, exact)


@pytest.mark.parametrize("strategy", ["near-far", "asynchronous"])
def test_new_york_on_the_emulator(strategy, made):
    graph, source, exact = made("USA-road-d.NY")
    assert graph.m == 733_846  # 3,746 of them parallel to another
    result = shortest_paths(graph, source, strategy, executor="host")
    np.testing.assert_array_equal(result.distances, exact)
