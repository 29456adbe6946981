"""Every strategy sorts every graph; strategies by layers give the layers of a slow, obvious reference."""

import pickle
import shutil
import subprocess

import networkx as nx
import numpy as np
import pytest

from lockstep.graphs import Graph, generators
from lockstep.machine import get_executor, gpu_available
from lockstep.toposort import STRATEGIES, Problem, TopologicalOrder, topological_sort, verify
from lockstep.toposort.oracle import check_order, layers, reference
from lockstep.toposort.strategies.narrow import Narrow
from lockstep.toposort.strategies.persistent import Persistent

LAYERED = ("naive", "frontier", "graph", "persistent", "narrow")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sorts(graph, strategy, host):
    found = topological_sort(graph, strategy, executor=host)
    assert check_order(graph, found.order) is None
    assert found.order.dtype == graph.targets.dtype
    layer = reference(graph)
    assert found.depth == (layer.max() + 1 if graph.n else 0)
    np.testing.assert_array_equal(found.level_sizes, np.bincount(layer) if graph.n else [])
    assert verify(found, graph) == "exact"


@pytest.mark.parametrize("strategy", LAYERED)
def test_layers_follow_one_another(graph, strategy, host):
    found = topological_sort(graph, strategy, executor=host)
    layer = reference(graph)[found.order]
    assert np.all(np.diff(layer) >= 0)
    assert found.layered


def test_same_seed_same_bits(host):
    graph = generators.random_dag(400, 1600)
    for strategy in STRATEGIES:
        one, two = (topological_sort(graph, strategy, executor=get_executor("host", seed=3)) for _ in range(2))
        np.testing.assert_array_equal(one.order, two.order)


def test_against_tsort():
    """coreutils' tsort accepts what we accept, and its order passes our check."""
    if not shutil.which("tsort"):
        pytest.skip("no tsort here")
    graph = generators.random_dag(200, 700, seed=4)
    sources, targets = graph.edges()
    pairs = "\n".join(f"{u} {v}" for u, v in zip(sources, targets, strict=True))
    pairs += "\n" + "\n".join(f"{v} {v}" for v in range(graph.n))  # a pair of equals is a vertex without arcs
    done = subprocess.run(["tsort"], input=pairs, capture_output=True, text=True, check=True)
    assert check_order(graph, np.array(done.stdout.split(), int)) is None


def test_against_networkx_generations():
    graph = generators.window_dag(300, 1200, 12, seed=2)
    sizes = [len(layer) for layer in nx.topological_generations(graph.to_networkx())]
    assert topological_sort(graph, "serial").level_sizes.tolist() == sizes


def test_inputs_that_people_have():
    arcs = [(0, 2), (2, 1), (1, 3)]
    wanted = [0, 2, 1, 3]
    assert topological_sort(nx.DiGraph(arcs)).order.tolist() == wanted
    matrix = Graph.from_edges(*zip(*arcs, strict=True)).to_scipy()
    assert topological_sort(matrix).order.tolist() == wanted


def test_what_a_result_tells(host):
    graph = generators.disjoint_paths(120, 6, ids="ordered")
    found = topological_sort(graph, "naive", executor=host)
    assert isinstance(found, TopologicalOrder)
    assert (found.strategy, found.depth, found.level_sizes.tolist()) == ("naive", 6, [20] * 6)
    # The thesis's loop: three launches a layer, one more to find the queue empty, a read-back for each of these.
    assert (found.stats["launches"], found.stats["readbacks"]) == (3 * 6 + 1, 6 + 1)


def test_the_ladder_needs_the_host_less_and_less(host):
    graph = generators.disjoint_paths(300, 30)
    launches = {s: topological_sort(graph, s, executor=host).stats["launches"] for s in LAYERED}
    assert launches["naive"] == 91
    assert launches["frontier"] == 31
    assert launches["persistent"] == launches["narrow"] == 1


def test_auto_says_why(host):
    found = topological_sort(generators.random_dag(100, 300), executor=host)
    assert found.strategy == "serial"
    assert "CPU" in str(found.stats["reason"])
    if not gpu_available():
        assert str(topological_sort(generators.random_dag(100, 300)).stats["reason"]) == "no GPU here"


def test_ten_million_vertices_serially():
    n = 10_000_000
    graph = Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)
    order = topological_sort(graph, "serial").order
    assert order[0] == 0 and order[-1] == n - 1 and np.all(np.diff(order) == 1)


def test_layers_of_the_oracle_are_the_longest_paths(graph):
    order = topological_sort(graph, "serial").order
    layer, depth = layers(graph, order)
    np.testing.assert_array_equal(layer, reference(graph))
    assert depth == (layer.max() + 1 if graph.n else 0)


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if STRATEGIES[s].gpu or s == "auto"])
def test_on_the_gpu(graph, strategy, cuda):
    assert verify(topological_sort(graph, strategy, executor=cuda), graph) == "exact"


@pytest.mark.gpu
def test_ten_million_vertices_on_the_gpu(cuda):
    graph = generators.random_dag(10_000_000, 20_000_000)
    assert verify(topological_sort(graph, "narrow", executor=cuda), graph) == "exact"


@pytest.mark.parametrize("n", [60, 400, 1500])
def test_looking_ahead_at_every_width(n, host):
    """Levels from one vertex to more than a subset has warps, and rows from none to more arcs than a warp has lanes."""

    class Ahead(Persistent):
        keep = 0

    for graph in (generators.window_dag(n, 4 * n, n // 12), generators.random_dag(n, 40 * n // 2, seed=n)):
        plan = Ahead.make(STRATEGIES["persistent"], Problem.of(graph), host)
        plan.reset()
        assert verify(plan.run(), graph) == "exact"


def test_warps_help_only_where_a_row_has_work_for_them(host):
    """A row of 400 arcs is four times what a warp takes at once."""

    def star(n):
        return Graph.from_edges(np.zeros(n, int), np.arange(1, n + 1))

    for kind in (Persistent, Narrow):
        assert kind.make(None, Problem.of(star(400)), host).helpers == 4
        assert kind.make(None, Problem.of(star(10_000)), host).helpers == kind.most_helpers
        assert kind.make(None, Problem.of(generators.disjoint_paths(90, 30)), host).helpers == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_order_can_be_pickled(strategy):
    result = topological_sort(Graph.from_edges([0, 1, 1, 3], [1, 2, 3, 4]), strategy, executor="host")
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.order, result.order) and np.array_equal(again.level_sizes, [1, 1, 2, 1])
