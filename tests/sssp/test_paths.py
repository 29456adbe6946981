"""Every strategy that promises exact distances gives Dijkstra's, on whatever graph."""

import itertools
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from lockstep import choose
from lockstep.graphs import Graph, GraphError, generators
from lockstep.machine import get_executor, gpu_available
from lockstep.sssp import STRATEGIES, WrongDistances, oracle, shortest_paths, verify
from lockstep.sssp.problem import Problem
from lockstep.sssp.strategies.auto import chosen

from .conftest import weighted_graphs

EXACT = [name for name, strategy in STRATEGIES.items() if strategy.exact]
GPU = [name for name in EXACT if STRATEGIES[name].gpu]


@pytest.mark.parametrize("strategy", EXACT)
@given(graph=weighted_graphs(), delta=st.sampled_from([None, 0.5, 3, np.inf]), data=st.data())
def test_equal_to_dijkstra(strategy, graph, delta, data):
    source = data.draw(st.integers(0, graph.n - 1))
    delta = delta if "delta" in STRATEGIES[strategy].keywords else None
    result = shortest_paths(graph, source, strategy, delta=delta, executor="host")
    np.testing.assert_array_equal(result.distances, oracle.distances(graph, source))
    assert result.strategy == strategy or strategy == "auto"
    assert verify(result, graph) == "exact"


@given(graph=weighted_graphs())
def test_the_oracle_itself(graph):
    np.testing.assert_array_equal(oracle.distances(graph, 0), oracle.reference(graph, 0))


@pytest.mark.parametrize("strategy", EXACT)
def test_parallel_arcs_zero_weights_unreachable(strategy, parallel):
    result = shortest_paths(parallel, 0, strategy, executor="host")
    assert result.distances.tolist() == [0, 2, 2, np.inf, np.inf]


@pytest.mark.parametrize("strategy", GPU)
def test_roads_with_many_buckets(strategy):
    graph = generators.road_like(1500, seed=3)
    source = int(np.argmax(graph.out_degrees()))
    for delta in (400, None):
        result = shortest_paths(graph, source, strategy, delta=delta, executor="host")
        np.testing.assert_array_equal(result.distances, oracle.distances(graph, source))


@pytest.mark.parametrize("strategy", GPU)
def test_hubs(strategy):
    """A vertex with more arcs than an entry of a work list may have, there and back."""
    leaves = np.arange(1, 700)
    random = np.random.default_rng(1)
    graph = Graph.from_edges(np.zeros(699, int), leaves, weights=random.integers(1, 50, 699), directed=False)
    for source in (0, 17):
        result = shortest_paths(graph, source, strategy, executor="host")
        np.testing.assert_array_equal(result.distances, oracle.distances(graph, source))


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
@pytest.mark.parametrize("strategy", GPU)
def test_exact_under_any_interleaving(strategy, fuzz):
    graph = generators.road_like(150, seed=5)
    source = int(np.argmax(graph.out_degrees()))
    expected = oracle.distances(graph, source)
    for seed in range(4):
        executor = get_executor("host", seed=seed, fuzz=fuzz)
        result = shortest_paths(graph, source, strategy, executor=executor, threads=32)
        np.testing.assert_array_equal(result.distances, expected)


def test_same_seed_same_run():
    graph = generators.road_like(400, seed=2)
    runs = [
        shortest_paths(graph, 20, "semaphores", executor=get_executor("host", seed=9, fuzz="sync")) for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].distances, runs[1].distances)
    assert runs[0].stats == runs[1].stats


def test_queue_that_is_too_short_is_made_longer():
    graph = generators.rmat(6, 900, seed=1)
    plan = STRATEGIES["near-far"].plan_for(Problem(graph), get_executor("host"))
    plan.reserve(8)
    source = int(np.argmax(graph.out_degrees()))
    plan.problem = plan.problem.at(source)
    np.testing.assert_array_equal(plan.run().distances, oracle.distances(graph, source))
    assert plan.capacity > 8


def test_short_lists_of_a_range():
    """The asynchronous solver looks at all its vertices when a list has no room for the pending ones."""
    graph = generators.rmat(8, 4000, seed=2)
    source = int(np.argmax(graph.out_degrees()))
    result = shortest_paths(graph, source, "asynchronous", executor="host", list=2, blocks=3)
    np.testing.assert_array_equal(result.distances, oracle.distances(graph, source))


@pytest.mark.parametrize("polls", [1, 2])
@pytest.mark.parametrize("filtered", [0, 1])
def test_chaotic_with_several_arcs_a_thread(filtered, polls):
    """A switch is possible at every access: the end comes, and not too soon."""
    graph = generators.road_like(150, seed=6)
    source = int(np.argmax(graph.out_degrees()))
    expected = oracle.distances(graph, source)
    for seed in range(6):
        executor = get_executor("host", seed=seed, fuzz="memory", multiprocessors=1)
        options = {"threads": 32, "polls": polls, "filter": bool(filtered)}
        plan = STRATEGIES["chaotic"].plan_for(Problem(graph, source), executor, **options)
        np.testing.assert_array_equal(plan.run().distances, expected)


def test_what_people_have():
    graph = nx.les_miserables_graph()
    ours = shortest_paths(graph, 0, "near-far", executor="host").distances
    names = list(graph.nodes)
    theirs = nx.single_source_dijkstra_path_length(graph, names[0])
    assert ours.tolist() == [theirs[name] for name in names]
    matrix = sparse.csr_array(np.array([[0, 2, 0], [0, 0, 1.5], [0, 0, 0]]))
    assert shortest_paths(matrix, 0, "atomic", executor="host").distances.tolist() == [0, 2, 3.5]


def test_statistics_of_a_run():
    graph = generators.road_like(300, seed=1)
    stats = shortest_paths(graph, 40, "atomic", executor="host").stats
    assert stats["launches"] == stats["rounds"] + stats["buckets"] + 1
    assert stats["readbacks"] > stats["rounds"]
    one = shortest_paths(graph, 40, "persistent", executor="host").stats
    assert one["launches"] == 2


def test_auto_says_why(monkeypatch):
    monkeypatch.setattr("lockstep.solving.get_executor", lambda executor: None)
    result = shortest_paths(generators.road_like(300, seed=1), 0)
    assert result.strategy == "dijkstra"
    assert "arcs" in result.stats["reason"]


RULE = {"feature": "degree", "threshold": 6.0,
        "low": {"feature": "size", "threshold": 1e6, "low": {"strategy": "chaotic", "graphs": []},
                "high": {"strategy": "asynchronous", "graphs": ["a", "b"]}},
        "high": {"strategy": "chaotic", "graphs": ["a"]}}  # fmt: skip


@pytest.mark.parametrize(
    "size, degree, expected",
    [(40, 4, "dijkstra"), (4000, 40, "chaotic"), (100_000, 3, "chaotic"), (400_000, 3, "asynchronous"),
     (300_000, 20, "near-far")],
)  # fmt: skip
def test_what_auto_takes_on_a_gpu(size, degree, expected, monkeypatch):
    """What the fitted rule says; near-far where that has no place: 6 M arcs are too many for chaotic's threads."""
    monkeypatch.setattr(choose, "_read", lambda: {"a machine": {"sssp": {"rule": RULE, "small": [400, "dijkstra"]}}})
    gpu = SimpleNamespace(name="cuda", multiprocessors=132, max_shared=232_448)
    random = np.random.default_rng(1)
    tails, heads = random.integers(0, size, (2, size * degree))
    name, reason = chosen(Problem(Graph.from_edges(tails, heads, n=size)), gpu)
    assert name == expected
    told = {"dijkstra": "200 vertices and arcs", "near-far": "more than 32 for each", "asynchronous": "2 recorded"}
    assert told.get(name, "arcs a vertex") in reason


def test_verify_finds_a_wrong_distance(parallel):
    result = shortest_paths(parallel, 0, "dijkstra")
    result.distances[2] = 3
    with pytest.raises(WrongDistances, match="1 of 5 distances are wrong"):
        verify(result, parallel)
    assert verify(result, parallel, exact=False) == "measured-wrong"


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_available(), reason="no GPU answers")
@pytest.mark.parametrize("strategy", [*GPU, "auto"])
def test_on_the_gpu(strategy):
    random = np.random.default_rng(3)
    road = generators.road_like(20_000, seed=4)
    scale_free = generators.rmat(12, 60_000, seed=4)
    weighted = [
        Graph(scale_free.offsets, scale_free.targets, random.integers(0, 100, scale_free.m)),
        Graph(scale_free.offsets, scale_free.targets, random.random(scale_free.m)),
    ]
    for graph in (road, *weighted):
        for source in np.argsort(-graph.out_degrees())[:3]:
            result = shortest_paths(graph, int(source), strategy, executor="cuda")
            np.testing.assert_array_equal(result.distances, oracle.distances(graph, int(source)))


@given(st.integers(1, 12), st.data())
def test_a_path_is_as_long_as_its_distance(n, data):
    ends, weights = st.integers(0, n - 1), st.sampled_from([0, 0, 1, 2.5, 0.1])
    arcs = data.draw(st.lists(st.tuples(ends, ends, weights), max_size=40))
    graph = Graph.from_edges([a for a, _, _ in arcs], [b for _, b, _ in arcs], n=n, weights=[w for _, _, w in arcs])
    found = shortest_paths(graph, 0, "dijkstra")
    lightest = {}
    for a, b, weight in arcs:
        lightest[a, b] = min(weight, lightest.get((a, b), np.inf))
    for v in range(n):
        if np.isfinite(found.distances[v]):
            path = found.path_to(v)
            assert path[0] == 0 and path[-1] == v and len(set(path)) == len(path)
            length = 0.0
            for a, b in itertools.pairwise(path):  # not sum(), which rounds otherwise since Python 3.12
                length += lightest[a, b]
            assert length == found.distances[v]
        else:
            with pytest.raises(GraphError, match="no path leads from 0 to"):
                found.path_to(v)


def test_sources_and_paths_go_by_names():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("home", "shop", 2), ("shop", (1, 2), 1.5), ("home", (1, 2), 9), (7, 8, 1)])
    found = shortest_paths(graph, "home")
    assert found.labels.tolist() == ["home", "shop", (1, 2), 7, 8]
    assert found.path_to((1, 2)) == ["home", "shop", (1, 2)] and found.path_to("home") == ["home"]
    assert shortest_paths(graph, 7).distances[4] == 1, "a name, not a place"
    with pytest.raises(GraphError, match="no vertex 'work': the graph has no vertex of that name, of its 5"):
        shortest_paths(graph, "work")
    with pytest.raises(GraphError, match="no vertex of that name"):
        shortest_paths(graph, 0)
    graph = nx.relabel_nodes(nx.path_graph(3), dict(enumerate("abc")))
    assert shortest_paths(graph, 2).distances.tolist() == [2, 1, 0], "a place, where no name is a number"


def test_a_distance_that_no_path_explains_is_not_a_missing_path():
    result = shortest_paths(Graph.from_edges([0, 1], [1, 2], weights=[2, 3]), 0, "dijkstra")
    result.distances[2] = 1.0  # as a racy strategy can leave it
    with pytest.raises(GraphError, match="a distance that no path has"):
        result.path_to(2)
