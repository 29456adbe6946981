"""Graph: what goes in comes out, parallel arcs and loops too; bad arrays are refused, and where is said."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.graphs import Graph, GraphError, graph_of
from lockstep.graphs.canonical import canonical


@st.composite
def multigraphs(draw):
    """n, arcs (with repeats and loops), and weights or None."""
    n = draw(st.integers(1, 8))
    arcs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    numbers = st.one_of(st.integers(-5, 5), st.floats(-1e6, 1e6, allow_nan=False))
    weights = draw(st.none() | st.lists(numbers, min_size=len(arcs), max_size=len(arcs)))
    return n, arcs, weights


def built(case, directed=True):
    n, arcs, weights = case
    pairs = np.array(arcs, np.int64).reshape(-1, 2)
    weights = None if weights is None else np.array(weights)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, weights=weights, directed=directed)


def arc_list(graph, once=False):
    """All arcs with weights, sorted: what a graph is, whatever the order of its rows."""
    sources, targets = graph.edges(once=once)
    weights = np.zeros(sources.size) if graph.weights is None else graph.edge_weights(once=once)
    return sorted(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))


def wanted(case):
    n, arcs, weights = case
    return sorted((u, v, w) for (u, v), w in zip(arcs, weights or [0] * len(arcs), strict=True))


@given(multigraphs())
def test_edges_round_trip(case):
    graph = built(case)
    assert (graph.n, graph.m) == (case[0], len(case[1]))
    assert arc_list(graph) == wanted(case)
    assert graph.out_degrees().tolist() == np.bincount([u for u, _ in case[1]], minlength=case[0]).tolist()
    assert graph.in_degrees().tolist() == graph.reverse().out_degrees().tolist()
    assert arc_list(graph.reverse()) == sorted((v, u, w) for u, v, w in wanted(case))
    assert graph.out_degrees().dtype == graph.in_degrees().dtype == graph.targets.dtype == np.int32
    assert graph.offsets.dtype == np.int64


@given(multigraphs())
def test_an_undirected_edge_is_stored_both_ways_and_a_loop_once(case):
    graph = built(case, directed=False)
    loops = sum(u == v for u, v in case[1])
    assert graph.m == 2 * len(case[1]) - loops
    assert arc_list(graph, once=True) == sorted((min(u, v), max(u, v), w) for u, v, w in wanted(case))
    again = Graph(graph.offsets, graph.targets, graph.weights, directed=False)
    assert arc_list(again) == arc_list(graph)


@given(multigraphs(), st.booleans())
@settings(max_examples=60)
def test_networkx_round_trip(case, directed):
    graph = built(case, directed)
    other = graph.to_networkx()
    assert other.is_directed() == directed and len(other) == graph.n
    assert other.is_multigraph() == (len({(u, v) for u, v, _ in arc_list(graph, once=True)}) < len(case[1]))
    assert arc_list(Graph.from_networkx(other)) == arc_list(graph)


@given(multigraphs())
@settings(max_examples=60)
def test_scipy_round_trip_keeps_parallel_arcs(case):
    graph = built(case)
    matrix = graph.to_scipy()
    assert matrix.nnz == graph.m
    for form in (
        matrix,
        matrix.tocoo(),
        sparse.csc_array(matrix) if len(set(case[1])) == graph.m else matrix,
    ):
        assert arc_list(Graph.from_scipy(form)) == arc_list(graph)
    assert (Graph.from_scipy(matrix).weights is None) == (graph.weights is None)


def test_rows_keep_the_order_in_which_arcs_were_given():
    graph = Graph.from_edges([1, 0, 1, 1], [2, 1, 0, 2], weights=[10, 20, 30, 40])
    assert graph.targets.tolist() == [1, 2, 0, 2]
    assert graph.weights.tolist() == [20, 10, 30, 40]


def test_networkx_nodes_of_any_kind_are_numbered_and_kept_as_labels():
    other = nx.DiGraph([("b", "a"), ("a", ("x", 1))])
    graph = Graph.from_networkx(other)
    assert list(graph.labels) == ["b", "a", ("x", 1)]
    assert arc_list(graph) == [(0, 1, 0), (1, 2, 0)]
    shuffled = nx.DiGraph()
    shuffled.add_nodes_from([2, 0, 1])
    shuffled.add_edge(2, 0, weight=3)
    shuffled.add_edge(0, 1)
    graph = Graph.from_networkx(shuffled)
    assert graph.labels is None and arc_list(graph) == [(0, 1, 1), (2, 0, 3)]  # a missing weight counts 1


def test_ids_that_are_nearly_all_unused_are_refused_before_memory_is_taken():
    with pytest.raises(MemoryError, match="the largest id is 1099511627776 of 1 arcs; expected ids that are nearly"):
        Graph.from_edges([0], [2**40])
    with pytest.raises(MemoryError, match="the largest id is 1000000000000 of 1 arcs"):
        graph_of(pd.DataFrame({"source": [0], "target": [10**12]}))


def test_a_vertex_is_found_by_its_label():
    floats = Graph.from_networkx(nx.relabel_nodes(nx.path_graph(3), lambda v: 10.0 * v))
    assert floats.index_of(20) == floats.index_of(20.0) == 2
    for graph, called in ((floats, 2), (Graph.from_networkx(nx.grid_2d_graph(2, 2)), 2)):
        with pytest.raises(GraphError, match="no vertex 2"):  # no position: not all labels are text
            graph.index_of(called)
    assert Graph.from_edges([0], [1], labels=["a", "b"]).index_of(1) == 1
    with pytest.raises(GraphError, match="1 labels; expected one for each of the 2 vertices"):
        Graph.from_edges([0], [1], labels=["a"]).index_of("a")
    with pytest.raises(GraphError, match="pandas Series"):
        Graph.from_edges([0], [1], labels=pd.Series(["a", "b"], index=[1, 0])).index_of("a")


def test_of_takes_what_people_have():
    graph = Graph.from_edges([0], [1])
    assert Graph.of(graph) is graph
    assert arc_list(Graph.of(nx.path_graph(3))) == [(0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0)]
    assert Graph.of(sparse.coo_matrix(([1.5], ([0], [1])), shape=(2, 2))).weights.tolist() == [1.5]
    for other in ([[0, 1]], "a.txt", None, np.eye(2)):
        with pytest.raises(GraphError, match=f"{type(other).__name__}.*expected a lockstep Graph"):
            Graph.of(other)


def test_no_vertices_and_no_edges():
    for graph in (Graph([0], []), Graph.from_edges([], []), Graph.from_networkx(nx.Graph())):
        assert (graph.n, graph.m) == (0, 0)
        assert graph.to_scipy().shape == (0, 0)
    assert Graph.from_edges([], [], n=3).to_networkx().number_of_nodes() == 3


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Graph([0, 2], [0]), "offsets run from 0 to 2; expected 0 to 1"),
        (lambda: Graph([0, 2, 1, 3], [0, 0, 0]), "offsets fall after vertex 1"),
        (lambda: Graph([], []), "offsets is empty"),
        (lambda: Graph([0, 1], [1]), r"target of arc 0 is 1; expected an id in 0\.\.0"),
        (lambda: Graph([0, 1], [-1]), "target of arc 0 is -1"),
        (lambda: Graph([0, 1], ["x"]), "targets holds .*; expected whole numbers"),
        (lambda: Graph([0, 1], [0.5]), "expected whole numbers"),
        (lambda: Graph([0, 1, 1], [1], directed=False), "not stored both ways"),
        (lambda: Graph([0, 1, 1], [1], labels=["a"]), "1 labels; expected one for each of the 2 vertices"),
        (lambda: Graph([0, 1, 2], [1, 0], [1, 2], directed=False), "different weights"),
        (lambda: Graph.from_edges([0, 1], [1]), "2 sources but 1 targets"),
        (lambda: Graph.from_edges([0, 7], [1, 0], n=5), r"source of arc 1 is 7; expected an id in 0\.\.4"),
        (lambda: Graph.from_edges([0, 1], [1, -2]), "target of arc 1 is -2"),
        (lambda: Graph.from_edges([0], [1], weights=[1, 2]), "weights have shape"),
        (lambda: Graph.from_edges([0, 1], [1, 0], weights=[1.0, np.nan]), "weight 1 is NaN"),
        (lambda: Graph.from_edges([0], [1], n=-1), "n is -1"),
        (lambda: Graph.from_edges([[0]], [[1]]), "2 dimensions"),
        (lambda: Graph.from_scipy(sparse.eye_array(2, 3)), "2 x 3; an adjacency matrix is square"),
        (
            lambda: Graph.from_scipy(sparse.coo_array(([1], ([0], [1])), shape=(2, 2)), directed=False),
            "both ways",
        ),
        (lambda: Graph.from_networkx(nx.Graph([(0, 1, {"weight": "far"})])), "'weight' is not a number"),
        (lambda: Graph.from_networkx(nx.Graph([(0, 1, {"weight": float("nan")})])), "NaN"),
    ],
)
def test_bad_arrays_are_refused_with_what_and_where(make, text):
    with pytest.raises(GraphError, match=text):
        make()


def test_a_number_that_is_written_as_a_name_is_not_taken_for_a_vertex_number():
    graph = Graph([0, 1, 1], [1], labels=["10", "0"])
    assert graph.index_of("0") == 1 and graph.index_of(1) == 1
    with pytest.raises(GraphError, match="no vertex 0: .* no vertex of that name"):
        graph.index_of(0)


def test_weights_that_int64_does_not_hold_are_refused():
    held = np.array([1, 2**63 - 1], np.uint64)
    assert Graph.from_edges([0, 1], [1, 2], weights=held).weights.tolist() == [1, 2**63 - 1]
    with pytest.raises(OverflowError, match="weight 1 is 9223372036854775808; expected whole weights below 2.63"):
        Graph.from_edges([0, 1], [1, 2], weights=held + np.uint64(1))


def test_merged_edges_have_one_weight_at_both_ends():
    rng = np.random.default_rng(3)
    for _ in range(20):
        ends = rng.integers(0, 6, (2, 30))
        graph = Graph.from_edges(*ends, n=6, weights=rng.integers(1, 99, 30), directed=False)
        merged = canonical(graph, parallel="merge")
        Graph(merged.offsets, merged.targets, merged.weights, directed=False)  # which checks both
        sources, targets = merged.edges(once=True)
        for u, v, weight in zip(sources, targets, merged.edge_weights(once=True), strict=True):
            row = slice(graph.offsets[u], graph.offsets[u + 1])
            assert weight == graph.weights[row][graph.targets[row] == v][0], "of the first arc from the smaller end"
