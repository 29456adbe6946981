"""Generators: exactly the sizes, degrees and depths asked for; the same bits for a seed, everywhere."""

import hashlib

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.csgraph as csgraph
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.graphs import Graph, GraphError, erdos_renyi, generators, layered, rmat, road_like, with_weights
from lockstep.graphs.draws import permutation, stream, word
from lockstep.graphs.generators import disjoint_paths, random_dag, window_dag


def distinct(graph):
    sources, targets = graph.edges()
    return np.unique(sources.astype(np.int64) * graph.n + targets).size == graph.m


def layers(graph):
    """Layer of each vertex by peeling sources off, slow and obvious."""
    left, layer, depth = graph.in_degrees().copy(), np.zeros(graph.n, int), 0
    front = np.flatnonzero(left == 0)
    while front.size:
        layer[front] = depth
        heads = np.concatenate([graph.targets[graph.offsets[v] : graph.offsets[v + 1]] for v in front])
        np.subtract.at(left, heads, 1)
        front = np.unique(heads[left[heads] == 0])
        depth += 1
    assert (left == 0).all(), "there is a cycle"
    return layer, depth


@given(st.integers(0, 12), st.data(), st.integers(0, 99))
@settings(max_examples=60)
def test_erdos_renyi_has_exactly_m_distinct_arcs_without_loops(n, data, seed):
    m = data.draw(st.integers(0, n * (n - 1)))
    graph = erdos_renyi(n, m, seed)
    sources, targets = graph.edges()
    assert (graph.n, graph.m) == (n, m)
    assert distinct(graph) and not (sources == targets).any()


def test_erdos_renyi_spreads_its_arcs_evenly():
    graph = erdos_renyi(1_000, 100_000, seed=1)
    for degrees in (graph.out_degrees(), graph.in_degrees()):
        assert abs(degrees.mean() - 100) < 1e-9
        assert 8 < degrees.std() < 12  # binomial: 9.5


@given(st.integers(2, 12), st.data(), st.sampled_from(["ordered", "random"]))
@settings(max_examples=60)
def test_random_and_window_dags(n, data, ids):
    window = data.draw(st.integers(1, n + 2))
    span = min(window, n - 1)
    m = data.draw(st.integers(0, n * span - span * (span + 1) // 2))
    for graph in (window_dag(n, m, window, 5, ids), random_dag(n, m, 5, ids)):
        assert (graph.n, graph.m) == (n, m) and distinct(graph)
        assert nx.is_directed_acyclic_graph(graph.to_networkx())
    sources, targets = window_dag(n, m, window, 5, "ordered").edges()
    assert ((targets - sources >= 1) & (targets - sources <= window)).all()


def test_random_ids_only_rename():
    one, two = (window_dag(500, 2_000, 20, 7, ids) for ids in ("ordered", "random"))
    name = permutation(500, 7, 1)
    renamed = Graph.from_edges(*(name[side] for side in one.edges()), n=500).reverse().reverse()
    assert np.array_equal(renamed.targets, two.targets) and np.array_equal(renamed.offsets, two.offsets)


@pytest.mark.parametrize("ids", ["ordered", "random"])
@pytest.mark.parametrize(("n", "depth"), [(1, 1), (10, 1), (10, 10), (100, 7), (1_000, 500), (1_000, 13)])
def test_layered_has_the_depth_and_the_in_degrees_asked_for(n, depth, ids):
    graph = layered(n, depth, (2, 8), 4, ids)
    layer, found = layers(graph)
    sources, targets = graph.edges()
    assert found == depth
    assert (layer[targets] == layer[sources] + 1).all()
    degrees = graph.in_degrees()
    assert (degrees[layer == 0] == 0).all()
    assert ((degrees[layer > 0] >= 2) & (degrees[layer > 0] <= 8)).all()
    width = n // depth
    if width >= 8 and depth > 1:
        assert distinct(graph) and set(degrees[layer > 0]) == set(range(2, 9))
    if ids == "ordered":
        assert (targets > sources).all()


@pytest.mark.parametrize("ids", ["ordered", "random"])
@pytest.mark.parametrize(("n", "depth"), [(12, 1), (12, 3), (12, 12), (13, 5), (13, 2), (7, 4)])
def test_disjoint_paths(n, depth, ids):
    graph = disjoint_paths(n, depth, 2, ids)
    layer, found = layers(graph)
    assert found == depth
    assert graph.out_degrees().max(initial=0) <= 1 and graph.in_degrees().max(initial=0) <= 1
    count, _ = csgraph.connected_components(graph.to_scipy(), directed=False)
    assert count == n // depth + (n % depth > 0)
    if ids == "ordered":
        sources, targets = graph.edges()
        assert (targets > sources).all()


def test_the_thesis_first_row_is_two_layers():
    assert disjoint_paths(1_000, 2).m == 500
    assert disjoint_paths(1_000, 1).m == 0


def test_rmat_is_skewed_as_its_quadrants_say():
    graph = rmat(10, 50_000, seed=1, ids="ordered")
    assert (graph.n, graph.m) == (1_024, 50_000)
    sources, targets = graph.edges()
    low = (sources < 512).astype(int) * 2 + (targets < 512)
    shares = np.bincount(low, minlength=4) / graph.m
    assert np.allclose(shares, [0.05, 0.19, 0.19, 0.57], atol=0.01)
    even = rmat(10, 50_000, seed=1, a=0.25, b=0.25, c=0.25)
    assert graph.out_degrees().max() > 5 * even.out_degrees().max()


def test_rmat_simple_and_undirected():
    graph = rmat(6, 2_000, seed=2, simple=True)
    sources, targets = graph.edges()
    assert distinct(graph) and not (sources == targets).any() and graph.m < 2_000
    both = rmat(6, 500, seed=2, simple=True, directed=False)
    assert distinct(both) and Graph(both.offsets, both.targets, directed=False).m == both.m
    assert rmat(0, 3).m == 3


def test_road_like_is_like_a_road_network():
    graph = road_like(20_000, seed=1)
    degrees = graph.out_degrees()
    assert graph.n == 20_000 and not graph.directed
    assert degrees.max() <= 8 and abs(degrees.mean() - 2.8) < 0.05
    assert graph.weights.min() >= 100 and graph.weights.max() <= 2_798
    sources, targets = graph.edges()
    assert np.abs(sources - targets).max() <= 142 + 1  # ids are spatial: a neighbor is a step or a row away
    _, component = csgraph.connected_components(graph.to_scipy(), directed=False)
    assert np.bincount(component).max() > 0.9 * graph.n
    for n in range(5):
        assert road_like(n).n == n


def test_weights_agree_both_ways():
    graph = with_weights(road_like(500), 1, 100, seed=3)
    assert Graph(graph.offsets, graph.targets, graph.weights, directed=False).m == graph.m
    assert graph.weights.min() >= 1 and graph.weights.max() <= 100
    assert set(np.unique(with_weights(erdos_renyi(100, 2_000), 1, 3).weights)) == {1, 2, 3}


def fingerprint(graph):
    text = hashlib.sha256()
    for array in (
        graph.offsets,
        graph.targets.astype(np.int64),
        *([graph.weights] if graph.weights is not None else []),
    ):
        text.update(array.astype("<i8").tobytes())
    return text.hexdigest()[:16]


MADE = {
    "erdos_renyi": lambda seed: erdos_renyi(1_000, 5_000, seed),
    "rmat": lambda seed: rmat(10, 5_000, seed),
    "road_like": lambda seed: road_like(1_000, seed),
    "layered": lambda seed: layered(1_000, 20, seed=seed),
    "disjoint_paths": lambda seed: disjoint_paths(1_000, 20, seed),
    "window_dag": lambda seed: window_dag(1_000, 5_000, 50, seed),
    "random_dag": lambda seed: random_dag(1_000, 5_000, seed),
}
# What seed 1 gives: a change here changes every graph that recordings were made on.
STORED = {
    "erdos_renyi": "276c363a629427c2",
    "rmat": "33c749f80f6f5664",
    "road_like": "4521f14a724cc980",
    "layered": "a246fdd9398f2711",
    "disjoint_paths": "9234533eab5a1750",
    "window_dag": "a04c8faee07a5daa",
    "random_dag": "29600bf8a58a1fa0",
}


@pytest.mark.parametrize("name", generators.FAMILIES)
def test_a_seed_gives_the_same_bits_everywhere(name):
    assert fingerprint(MADE[name](1)) == STORED[name]
    assert fingerprint(MADE[name](2)) != STORED[name]


def test_the_counter_hash_is_splitmix64():
    """SplitMix64 from state s gives mix(s + k * golden); 1234567 and what follows is the usual example."""
    first = [int(word(np.uint64(1234567), np.uint64(i))) for i in range(3)]
    assert first == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert stream(1, 2) != stream(2, 1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: erdos_renyi(3, 7), "m is 7; 3 vertices allow 0 to 6"),
        (lambda: erdos_renyi(-1, 0), "n is -1"),
        (lambda: erdos_renyi(2.5, 0), "n is 2.5"),
        (lambda: window_dag(5, 1, 0), "window is 0"),
        (lambda: window_dag(5, 5, 1), "allow 0 to 4"),
        (lambda: layered(5, 6), "depth 6"),
        (lambda: layered(5, 0), "depth 0"),
        (lambda: layered(5, 2, (3, 2)), "low <= high"),
        (lambda: layered(5, 2, (2, 8), ids="sorted"), "ids is 'sorted'; expected 'ordered' or 'random'"),
        (lambda: disjoint_paths(5, 6), "depth is 6"),
        (lambda: rmat(32, 1), "scale 32"),
        (lambda: rmat(3, 1, a=0.9, b=0.9), "sum <= 1"),
        (lambda: with_weights(road_like(4), 5, 4), "weights from 5 to 4"),
    ],
)
def test_impossible_wishes(make, text):
    with pytest.raises(GraphError, match=text):
        make()
