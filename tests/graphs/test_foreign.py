"""Graphs of other libraries: the same arcs, weights and names as there."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from lockstep.graphs import Graph, GraphError, graph_of, read
from lockstep.sssp import shortest_paths
from lockstep.swarm import analyze


def arcs(graph):
    sources, targets = graph.edges(once=True)
    weights = graph.edge_weights(once=True)
    weights = [None] * len(sources) if weights is None else weights.tolist()
    return sorted(zip(sources.tolist(), targets.tolist(), weights, strict=True))


EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), max_size=15)


@given(EDGES, st.booleans(), st.booleans())
def test_igraph(edges, directed, weighted):
    igraph = pytest.importorskip("igraph")
    theirs = igraph.Graph(n=7, edges=[edge[:2] for edge in edges], directed=directed)
    if weighted:
        theirs.es["weight"] = [edge[2] for edge in edges]
    ours = graph_of(theirs)
    assert (ours.n, ours.directed) == (7, directed)
    order = (lambda u, v: (u, v)) if directed else (lambda u, v: (min(u, v), max(u, v)))
    has = weighted and bool(edges)
    assert arcs(ours) == sorted((*order(u, v), w if has else None) for u, v, w in edges)


@given(EDGES, st.booleans())
def test_rustworkx(edges, directed):
    rustworkx = pytest.importorskip("rustworkx")
    theirs = (rustworkx.PyDiGraph if directed else rustworkx.PyGraph)()
    theirs.add_nodes_from([*"abcdefg", "gone"])
    theirs.remove_node(7)
    theirs.add_edges_from([(u, v, float(w)) for u, v, w in edges])
    ours = graph_of(theirs)
    assert ours.labels.tolist() == list("abcdefg") and ours.directed == directed
    order = (lambda u, v: (u, v)) if directed else (lambda u, v: (min(u, v), max(u, v)))
    assert arcs(ours) == sorted((*order(u, v), float(w)) for u, v, w in edges)


def test_rustworkx_with_a_hole_and_what_is_no_number():
    rustworkx = pytest.importorskip("rustworkx")
    theirs = rustworkx.PyGraph()
    theirs.add_nodes_from(range(4))
    theirs.add_edges_from([(0, 3, "road"), (2, 3, None)])
    theirs.remove_node(1)
    ours = graph_of(theirs)
    assert ours.n == 3 and arcs(ours) == [(0, 2, None), (1, 2, None)] and ours.labels is None


def test_rustworkx_directed_by_another_name_and_numbers_of_numpy():
    rustworkx = pytest.importorskip("rustworkx")
    theirs = rustworkx.PyDAG()
    theirs.add_nodes_from(range(3))
    theirs.add_edges_from([(0, 1, np.int64(7)), (1, 2, np.float32(0.5))])
    ours = graph_of(theirs)
    assert ours.directed and arcs(ours) == [(0, 1, 7), (1, 2, 0.5)]


def test_names_of_igraph_come_along():
    igraph = pytest.importorskip("igraph")
    theirs = igraph.Graph.TupleList([("home", "shop", 2), ("shop", "work", 1)], weights=True)
    assert shortest_paths(theirs, "home").path_to("work") == ["home", "shop", "work"]


def test_a_table_of_edges():
    ours = graph_of(pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [2, 0.5]}))
    assert ours.labels.tolist() == ["a", "b", "c"] and arcs(ours) == [(0, 1, 2), (1, 2, 0.5)] and ours.directed
    assert graph_of(pd.DataFrame({"from": [0, 5], "to": [5, 1]})).n == 6
    for gap in (pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}),
                pd.DataFrame({"source": [0, np.nan], "target": [1, 2]})):  # fmt: skip
        with pytest.raises(GraphError, match="row 1 of the table has no source; expected both ends of every edge"):
            graph_of(gap)
    with pytest.raises(GraphError, match="columns one, other; expected source and target"):
        graph_of(pd.DataFrame({"one": [0], "other": [1]}))


def test_a_dense_matrix():
    matrix = nx.to_numpy_array(nx.gnp_random_graph(9, 0.4, seed=1, directed=True)) * 3
    assert (graph_of(matrix).to_scipy().toarray() == matrix).all()
    assert graph_of(matrix > 0).weights is None
    with pytest.raises(GraphError, match=r"shape \(2, 3\); an adjacency matrix is square"):
        graph_of(np.zeros((2, 3)))
    with pytest.raises(GraphError, match="cannot take a dict as a graph"):
        graph_of({})


def test_one_graph_is_a_batch_of_one():
    assert analyze(nx.path_graph(4), strategy="cpu")[0].tolist() == [0, 2, 2, 0]
    assert len(analyze(Graph.from_edges([0], [1]), strategy="cpu")) == 1


@pytest.mark.parametrize("text", ["p edge 4 3\ne 1 2\ne 2 3\ne 3 1\n",
                                  "c\np col 4 3\ne 1 2\ne 2 1\ne 2 3\ne 3 2\ne 3 1\ne 1 3\n"])
def test_dimacs_colorings(tmp_path, text):
    path = tmp_path / "a.col"
    path.write_text(text)
    graph = read(path)
    assert (graph.n, graph.directed) == (4, False) and arcs(graph) == [(0, 1, None), (0, 2, None), (1, 2, None)]


def test_the_padding_of_blocks_is_no_arc():
    dense = np.array([[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    blocks = sparse.bsr_array(dense, blocksize=(2, 2))
    assert graph_of(blocks).m == 3
    assert shortest_paths(blocks, 0).distances.tolist() == [0, 1, np.inf, 2]
