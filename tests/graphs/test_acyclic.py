"""acyclic: a DAG, the same undirected edges without loops, and Graphviz's rules for which arcs turn."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.graphs import Graph, GraphWarning, acyclic, erdos_renyi

arcs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60)


def undirected_pairs(graph):
    sources, targets = graph.edges()
    return {(min(u, v), max(u, v)) for u, v in zip(sources.tolist(), targets.tolist(), strict=True) if u != v}


def arc_counts(graph):
    return sorted(zip(*(side.tolist() for side in graph.edges()), strict=True))


def by_the_book(graph):
    """The same rules, recursively on a plain list of arcs."""
    rows = [graph.targets[a:b].tolist() for a, b in zip(graph.offsets, graph.offsets[1:], strict=False)]
    kept, turned, on_path, done = [], [], set(), set()

    def visit(v):
        on_path.add(v)
        for w in rows[v]:
            if w == v:
                continue
            if w in on_path:
                turned.append((w, v))
                continue
            kept.append((v, w))
            if w not in done:
                visit(w)
        on_path.discard(v)
        done.add(v)

    for v in range(graph.n):
        if v not in done:
            visit(v)
    return sorted(kept + list(set(turned) - set(kept)))


@given(arcs)
@pytest.mark.filterwarnings("ignore::lockstep.graphs.GraphWarning")
def test_same_edges_no_cycle_and_the_arcs_that_graphviz_would_turn(pairs):
    graph = Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], n=10)
    result = acyclic(graph)
    assert nx.is_directed_acyclic_graph(result.to_networkx())
    assert undirected_pairs(result) == undirected_pairs(graph)
    assert arc_counts(result) == by_the_book(graph)
    assert arc_counts(acyclic(result)) == arc_counts(result)


def test_a_cycle_of_two_merges_and_parallel_arcs_stay():
    graph = Graph.from_edges([0, 0, 1, 1], [1, 1, 0, 2], weights=[1, 2, 3, 4])
    result = acyclic(graph)
    assert arc_counts(result) == [(0, 1), (0, 1), (1, 2)]
    assert result.weights.tolist() == [1, 2, 4]


def test_an_arc_turned_round_keeps_its_weight():
    result = acyclic(Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[5, 6, 7]))
    assert arc_counts(result) == [(0, 1), (0, 2), (1, 2)]
    assert result.weights.tolist() == [5, 7, 6]


def test_loops_are_dropped_and_said_so():
    with pytest.warns(GraphWarning, match="2 self-loops dropped"):
        result = acyclic(Graph.from_edges([0, 0, 1], [0, 1, 1]))
    assert arc_counts(result) == [(0, 1)]


def test_a_dag_comes_back_as_it_is_and_an_undirected_graph_is_oriented():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dag = Graph.from_edges([2, 1], [1, 0])
        assert np.shares_memory(acyclic(dag).targets, dag.targets)
        once = acyclic(nx.karate_club_graph())
    assert once.directed and once.m == 78


def test_a_long_path_needs_no_recursion():
    n = 200_000
    ring = Graph.from_edges(np.arange(n), np.roll(np.arange(n), -1))
    result = acyclic(ring)
    assert result.m == n and result.targets[0:2].tolist() == [1, n - 1]


def test_a_random_graph_of_some_size():
    result = acyclic(erdos_renyi(2_000, 10_000, seed=3))
    assert nx.is_directed_acyclic_graph(result.to_networkx())
