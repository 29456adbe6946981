"""Cycles are found and shown; what cannot be sorted is said in one line."""

import json
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.graphs import Graph, GraphError, generators
from lockstep.machine import NoGpuError, gpu_available
from lockstep.toposort import STRATEGIES, CycleError, WrongOrder, topological_sort, verify
from lockstep.toposort.oracle import check_order, find_cycle


def is_cycle(graph, cycle):
    arcs = set(zip(*(ends.tolist() for ends in graph.edges()), strict=True))
    return all((u, v) in arcs for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)) and len(set(cycle)) == len(
        cycle
    )


CYCLIC = {
    "self-loop": Graph.from_edges([0, 1, 2], [1, 1, 3]),
    "triangle": Graph.from_edges([0, 1, 2], [1, 2, 0]),
    "tail and head": Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 1, 4]),
    "two": Graph.from_edges([0, 1, 2, 3], [1, 0, 3, 2]),
    "pure ring": Graph.from_edges(np.arange(200), (np.arange(200) + 1) % 200),
    "beside a dag": Graph.from_edges(
        *np.concatenate([np.stack(generators.random_dag(200, 600).edges()), [[3, 7, 5], [7, 5, 3]]], axis=1)
    ),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", CYCLIC)
def test_a_cycle_is_shown(name, strategy, host):
    graph = CYCLIC[name]
    with pytest.raises(CycleError) as caught:
        topological_sort(graph, strategy, executor=host)
    assert is_cycle(graph, caught.value.cycle)
    assert "->" in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_a_cycle_is_told_in_the_names_that_the_graph_came_with():
    graph = nx.DiGraph([("ann", "bob"), ("bob", "cid"), ("cid", "bob")])
    with pytest.raises(CycleError, match="(bob -> cid -> bob|cid -> bob -> cid)") as caught:
        topological_sort(graph)
    assert sorted(caught.value.cycle) == [1, 2]


@st.composite
def arcs(draw):
    n = draw(st.integers(1, 12))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    return n, pairs


@settings(max_examples=150, deadline=None)
@given(arcs(), st.sampled_from(["serial", "serial-list", "frontier", "narrow", "asynchronous", "chains"]))
def test_any_graph_is_sorted_or_has_a_cycle(host, case, strategy):
    n, pairs = case
    graph = Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], n=n)
    try:
        found = topological_sort(graph, strategy, executor=host)
    except CycleError as error:
        assert is_cycle(graph, error.cycle)
    else:
        assert verify(found, graph) == "exact"
        assert find_cycle(graph) == []


@pytest.mark.parametrize("strategy, instead", [("width-adaptive", "persistent"), ("auto", "serial")])
def test_what_a_kernel_leaves_out_is_no_cycle(strategy, instead, host, monkeypatch):
    """As `narrow` may on a GPU: it ends before all is sorted, though there is no cycle."""
    graph, plan = generators.random_dag(300, 900), STRATEGIES.find(strategy).plan
    whole = plan.run

    def less(self):
        result = whole(self)
        result._order = result.order[:-3]
        return result

    monkeypatch.setattr(plan, "run", less)
    with pytest.warns(RuntimeWarning, match="although there is no cycle"):
        found = topological_sort(graph, strategy, executor=host)
    assert found.strategy == instead and verify(found, graph) == "exact"
    assert "left 3 vertices out although there is no cycle" in found.stats["reason"]


def test_undirected_is_refused():
    with pytest.raises(GraphError, match="undirected"):
        topological_sort(Graph.from_edges([0], [1], directed=False))


def test_unknown_strategy_names_the_known():
    with pytest.raises(ValueError, match="no strategy 'fastest'.*narrow"):
        topological_sort(generators.random_dag(5, 4), "fastest")


@pytest.mark.skipif(gpu_available(), reason="there is a GPU here")
def test_no_gpu():
    with pytest.raises(NoGpuError):
        topological_sort(generators.random_dag(5, 4), "narrow", executor="cuda")


def test_verify_finds_what_is_wrong(host):
    graph = generators.layered(100, 5, ids="ordered")
    good = topological_sort(graph, "narrow", executor=host)
    order, sizes = good.order.copy(), good.level_sizes.copy()
    for wrong, words in (
        (order[::-1], "backwards"),
        (order[:-1], "permutation"),
        (np.zeros_like(order), "permutation"),
    ):
        good._order = wrong
        with pytest.raises(WrongOrder, match=words):
            verify(good, graph)
    good._order = order
    good._sizes = sizes[::-1] + np.arange(5) - 2
    with pytest.raises(WrongOrder, match="layer"):
        verify(good, graph)
    assert check_order(graph, order) is None


def test_a_cycle_survives_the_way_between_processes():
    error = pickle.loads(pickle.dumps(CycleError([0, 1], "the builds", ["a", "b"])))
    assert error.cycle == [0, 1] and "the builds has a cycle" in str(error) and "a -> b" in str(error)


def test_the_reason_of_auto_is_text():
    assert isinstance(json.loads(json.dumps(topological_sort(nx.path_graph(3, nx.DiGraph)).stats))["reason"], str)


@pytest.mark.parametrize("strategy", ["serial", "networkx", "rustworkx", "igraph"])
def test_without_arcs_a_graph_that_calls_itself_undirected_is_sorted(strategy):
    assert topological_sort(Graph.from_edges([], [], n=3, directed=False), strategy).depth == 1
