"""Many sources in the lanes of a vector, on the CPU: bit by bit what `cpu` gives."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.batch import Pack
from lockstep.graphs import Graph
from lockstep.machine import gpu_available
from lockstep.swarm import Engine, analyze
from lockstep.swarm.checksums import LEVELS

OPTIONS = [
    ("closeness", {}), ("closeness", {"form": "harmonic"}), ("closeness", {"form": "plain"}),
    ("apsp", {}), ("apsp", {"reduce": "total"}), ("apsp", {"reduce": "eccentricity"}), ("apsp", {"reduce": "average"}),
    ("betweenness", {}), ("betweenness", {"endpoints": True}), ("betweenness", {"precision": "single"}),
]  # fmt: skip


def assert_alike(pack):
    for measure, options in OPTIONS:
        one, other = (Engine(measure, None, name, **options).run(pack) for name in ("cpu", "cpu-lanes"))
        assert np.array_equal(one.values, other.values, equal_nan=True), (measure, options)
        assert np.array_equal(one.checksums, other.checksums), (measure, options)


def path(n, directed):
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n, directed=directed)


def random_graph(rng, n, degree, directed):
    """With loops, parallel arcs and isolated vertices."""
    return Graph.from_edges(*rng.integers(0, max(n - 2, 1), (2, n * degree)), n=n, directed=directed)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.lists(st.integers(1, 80), min_size=1), st.integers(0, 4))
def test_as_cpu_on_random_graphs(seed, directed, sizes, degree):
    rng = np.random.default_rng(seed)
    assert_alike(Pack.of([random_graph(rng, n, degree, directed) for n in sizes]))


@pytest.mark.parametrize("directed", [False, True])
def test_as_cpu_beyond_a_vector_and_beyond_the_levels(directed):
    """More than 512 and 1,024 sources; graphs with as many levels as are searched at once, and one more, and many."""
    rng = np.random.default_rng(5)
    paths = [path(levels + extra, directed) for levels in (16, LEVELS) for extra in (0, 1, 2)]
    large = [random_graph(rng, n, 3, directed) for n in (511, 512, 513, 1100)]
    empty = [Graph.from_edges([], [], n=n, directed=directed) for n in (0, 1, 3)]
    assert_alike(Pack.of([*paths, path(700, directed), *large, *empty]))


def test_more_shortest_paths_than_a_float_counts():
    """A chain of 400 diamonds of width eight has 8^400: a vertex on them has no betweenness, as with `cpu`."""
    edges, last = [], 0
    for _ in range(400):
        edges += [(last, last + i) for i in range(1, 9)] + [(last + i, last + 9) for i in range(1, 9)]
        last += 9
    pack = Pack.of([Graph.from_edges(*np.array(edges).T, directed=False)])
    one, other = (Engine("betweenness", None, name).run(pack).values for name in ("cpu", "cpu-lanes"))
    assert np.isnan(one).any() and np.array_equal(one, other, equal_nan=True)


@pytest.mark.skipif(gpu_available(), reason="a GPU answers")
def test_auto_takes_it_without_a_gpu():
    graphs = [nx.path_graph(5), nx.star_graph(4)]
    found = analyze(graphs, "closeness")
    assert found.strategy == "cpu-lanes" and "many sources" in found.stats["reason"]
    assert found[1][0] == 1.0
    assert analyze(graphs, "triangles").strategy == "cpu"
    weighted = [nx.Graph([(0, 1, {"weight": 2.5}), (1, 2, {"weight": 0.5})])]
    expected = list(nx.closeness_centrality(weighted[0], distance="weight").values())
    assert analyze(weighted, "closeness")[0].tolist() == pytest.approx(expected)
