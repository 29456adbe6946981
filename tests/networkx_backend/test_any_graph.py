"""Ten thousand drawn graphs: every function served gives NetworkX's own answer on each, or its own error.

Nodes are whatever can be hashed; there are graphs without nodes, of one node, with loops, with parallel edges. The same
graphs are drawn in every run, `GRAPHS` of each kind; what is not served is refused in either case by `can_run`.
"""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from lockstep.networkx_backend import SERVED, functions

GRAPHS = 2_500
KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
NODES = st.one_of(
    st.integers(-5, 30), st.text(max_size=2), st.tuples(st.integers(0, 3), st.booleans()), st.binary(max_size=2),
    st.floats(allow_nan=False), st.frozensets(st.integers(0, 3), max_size=2), st.booleans(),
)  # fmt: skip
EXACT = (  # equal values; lists in the same order
    "is_directed_acyclic_graph", "topological_generations", "topological_sort", "connected_components",
    "number_connected_components", "strongly_connected_components", "number_strongly_connected_components",
    "greedy_color", "triangles", "all_pairs_shortest_path_length", "single_source_shortest_path_length",
    "single_source_dijkstra_path_length",
)  # fmt: skip
SUMS = (  # the same but for the last digits
    "betweenness_centrality", "closeness_centrality", "harmonic_centrality", "pagerank",
)  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")  # are kept, as NetworkX has it


@st.composite
def graphs(draw, kind):
    nodes = draw(st.lists(NODES, max_size=12, unique=True))
    graph = kind()
    graph.add_nodes_from(nodes)
    if nodes:
        ends = st.tuples(st.sampled_from(nodes), st.sampled_from(nodes), st.integers(0, 9))
        graph.add_weighted_edges_from(draw(st.lists(ends, max_size=30)))
    return graph


@st.composite
def calls(draw, graph):
    """{function: its arguments after the graph}"""
    flag, cutoff = st.booleans(), st.sampled_from([None, -1, 0, 0.5, 1.5, 3, 7.5, math.nan])
    lengths = {"source": draw(st.sampled_from([*graph, "nowhere"])), "cutoff": draw(cutoff)}
    return {
        **dict.fromkeys(SERVED, {}),
        "single_source_dijkstra_path_length": {**lengths, "weight": draw(st.sampled_from(["weight", None]))},
        "single_source_shortest_path_length": lengths,
        "all_pairs_shortest_path_length": {"cutoff": lengths["cutoff"]},
        "betweenness_centrality": {"normalized": draw(flag), "endpoints": draw(flag)},
        "closeness_centrality": {"wf_improved": draw(flag)},
        "pagerank": {
            "alpha": draw(st.sampled_from([0, 0.5, 0.85, 1])), "max_iter": draw(st.sampled_from([1, 7, 100])),
            "weight": None,
        },
    }  # fmt: skip


def answer(name, graph, options, backend):
    """What a backend answers; of an error its type."""
    try:
        found = getattr(nx, name)(graph, backend=backend, **options)
        return found if isinstance(found, (dict, bool, int)) else list(found)
    except Exception as error:
        return type(error)


def refused(name, graph, options):
    """Whether this call is left to NetworkX."""
    return functions.can_run(name, (graph,), options) is not True


def agree(name, found, wanted):
    """Hold a found answer against NetworkX's."""
    if isinstance(wanted, type) or name in EXACT:
        assert found == wanted, name
    else:
        assert set(found) == set(wanted), name
        assert np.allclose(list(found.values()), [wanted[node] for node in found], rtol=1e-9, atol=1e-12), name
    if not isinstance(wanted, dict):
        return
    if name in EXACT:
        assert list(map(type, found.values())) == [type(wanted[node]) for node in found], name
    if name != "harmonic_centrality":  # NetworkX's order there is that of a set
        assert list(found) == list(wanted), name


def test_every_function_served_is_compared():
    assert {*EXACT, *SUMS} == set(SERVED)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_graph_gets_networkx_answers(kind):
    @seed(KINDS.index(kind))
    @settings(max_examples=GRAPHS, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(graphs(kind), st.data())
    def check(graph, data):
        for name, options in data.draw(calls(graph)).items():
            if refused(name, graph, options):
                assert answer(name, graph, options, "lockstep") is NotImplementedError, name
                continue
            found, wanted = answer(name, graph, options, "lockstep"), answer(name, graph, options, "networkx")
            if name == "pagerank" and not same(name, found, wanted):
                wanted = next((one for one in ties(graph, options) if same(name, found, one)), wanted)
            agree(name, found, wanted)

    check()


def same(name, found, wanted):
    try:
        agree(name, found, wanted)
    except AssertionError:
        return False
    return True


def ties(graph, options):
    """NetworkX's ranks for a tolerance that rounding alone tells from the one asked for: where a round moves the ranks
    by just that much, the order of a sum decides whether it is the last.
    """
    return [answer("pagerank", graph, {**options, "tol": 1e-6 * (1 + nudge)}, "networkx") for nudge in (-1e-9, 1e-9)]


def test_ranks_that_one_round_brings_to_their_end_are_no_end_of_that_round():
    """Two nodes that only the second's arc tells apart: one round moves the ranks to where they stay."""
    graph = nx.DiGraph()
    graph.add_nodes_from("ab")
    graph.add_edges_from([("a", "a"), ("b", "a")])
    for rounds in range(1, 8):
        for alpha in (0, 0.5, 1):
            options = {"alpha": alpha, "max_iter": rounds}
            found, wanted = (answer("pagerank", graph, options, one) for one in ("lockstep", "networkx"))
            assert found == wanted
