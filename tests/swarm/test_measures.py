"""The measures: all strategies have the numbers of NetworkX, SciPy and igraph; bad input gets one clear error."""

import os
import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.graphs import DatasetMissing, Graph, GraphError
from lockstep.swarm import MEASURES, STRATEGIES, Engine, GraphBatch, Pack, analyze, reference
from lockstep.swarm.strategies.allowed import STRATEGY_OPTIONS

OPTIONS = [
    ("betweenness", {}),
    ("betweenness", {"endpoints": True}),
    ("closeness", {}),
    ("closeness", {"wf_improved": False}),
    ("closeness", {"form": "plain"}),
    ("closeness", {"form": "harmonic"}),
    ("apsp", {}),
    ("apsp", {"reduce": "total"}),
    ("apsp", {"reduce": "eccentricity"}),
    ("apsp", {"reduce": "average"}),
    ("components", {}),
    ("strong", {}),
    ("triangles", {}),
    ("pagerank", {}),
]
NAMES = [f"{measure}{'-' if options else ''}{'-'.join(map(str, options.values()))}" for measure, options in OPTIONS]


def undirected(pairs, n=None):
    pairs = np.array(pairs, np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, directed=False)


SHAPES = [
    undirected([], 1),
    undirected([], 7),
    undirected([(0, 0)], 1),
    undirected([(0, 1)]),
    undirected([(0, 1), (0, 1), (1, 1), (1, 2)]),
    undirected([(i, i + 1) for i in range(40)]),
    undirected([(0, i) for i in range(1, 35)]),
    undirected([(i, j) for i in range(6) for j in range(i)] + [(9, 10)], 12),
]


@st.composite
def batches(draw, weighted=False):
    """Graphs alike: directed or not, with parallel arcs, loops, isolated vertices."""
    directed, found = draw(st.booleans()), []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 40))
        pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=90))
        pairs = np.array(pairs, np.int64).reshape(-1, 2)
        weights = None
        if weighted:
            weights = draw(st.lists(st.integers(1, 9), min_size=len(pairs), max_size=len(pairs)))
        found.append(Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, directed=directed, weights=weights))
    return found


def agree(graphs, measure, options, strategy="cpu", tolerance=1e-9, **more):
    result = analyze(graphs, measure, strategy=strategy, **options, **more)
    assert len(result) == len(graphs)
    for graph, values in zip(graphs, result, strict=True):
        np.testing.assert_allclose(values, reference(graph, measure, **options), rtol=tolerance, atol=1e-9)


@pytest.mark.parametrize(("measure", "options"), OPTIONS, ids=NAMES)
def test_shapes(measure, options):
    agree(SHAPES, measure, options)


@pytest.mark.parametrize(("measure", "options"), OPTIONS, ids=NAMES)
@settings(max_examples=25, deadline=None)
@given(graphs=batches())
def test_any_graphs(measure, options, graphs):
    agree(graphs, measure, options)


@pytest.mark.parametrize(("measure", "options"), [case for case in OPTIONS if MEASURES[case[0]].weights])
@settings(max_examples=15, deadline=None)
@given(graphs=batches(weighted=True))
def test_weights_are_lengths(measure, options, graphs):
    agree(graphs, measure, options)
    agree(graphs, measure, {**options, "weighted": False})


def test_networkx_graphs_as_they_are():
    """What people call: NetworkX in, the numbers of NetworkX out."""
    graphs = [nx.karate_club_graph(), nx.petersen_graph(), nx.path_graph(9)]
    for graph in graphs:
        for *_, attributes in graph.edges(data=True):
            attributes.clear()
    for graph, found in zip(graphs, analyze(graphs), strict=True):
        np.testing.assert_allclose(found, list(nx.betweenness_centrality(graph, normalized=False).values()))
    for graph, found in zip(graphs, analyze(graphs, "closeness"), strict=True):
        np.testing.assert_allclose(found, list(nx.closeness_centrality(graph).values()))


@settings(max_examples=15, deadline=None)
@given(graphs=batches())
def test_igraph_says_the_same(graphs):
    for measure in ("betweenness", "closeness", "apsp"):
        agree(graphs, measure, {}, "igraph")


def test_single_precision_is_near():
    graph = nx.gnp_random_graph(80, 0.1, seed=1)
    (double,), (single,) = analyze([graph], strategy="cpu"), analyze([graph], strategy="cpu", precision="single")
    np.testing.assert_allclose(single, double, rtol=1e-5)
    assert (single != double).any()


def test_walks_follow_arcs():
    graph = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4], n=5)
    (found,) = analyze([graph], "walks", strategy="cpu", walks=40, length=12, seed=3)
    assert found.shape == (5, 40, 13)
    arcs = set(zip(*(part.tolist() for part in graph.edges()), strict=True))
    for walk in found.reshape(-1, 13):
        for here, there in zip(walk[:-1].tolist(), walk[1:].tolist(), strict=True):
            assert (here, there) in arcs or (there == -1 and here in (4, -1))
    assert {tuple(w) for w in found[2].tolist()} != {tuple(found[2, 0].tolist())}
    (again,) = analyze([graph], "walks", strategy="cpu", walks=40, length=12, seed=3)
    assert (again == found).all()
    (other,) = analyze([graph], "walks", strategy="cpu", walks=40, length=12, seed=4)
    assert (other != found).any()


def test_checksums_see_one_changed_arc():
    base = [(i, (i * 7 + 1) % 50) for i in range(50)] + [(i, i + 1) for i in range(49)]
    one, two = undirected(base, 50), undirected([*base[:-1], (3, 40)], 50)
    for measure in ("betweenness", "closeness", "apsp", "pagerank", "walks"):
        engine = Engine(measure, None, "cpu")
        first, second = (engine.run(Pack.of([graph])).checksums[0] for graph in (one, two))
        assert first == engine.run(Pack.of([one])).checksums[0]
        assert first != second


def proteins():
    if not os.environ.get("LOCKSTEP_MIRROR"):
        pytest.skip("LOCKSTEP_MIRROR names no folder with the data sets")
    try:
        return GraphBatch("PROTEINS")
    except DatasetMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("measure", ["betweenness", "closeness", "apsp"])
def test_every_tenth_protein_is_as_in_networkx(measure):
    batch = proteins()
    result = analyze(batch, measure, strategy="cpu")
    for i in range(0, len(batch), 10):
        np.testing.assert_allclose(result[i], reference(batch[i], measure), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["betweenness", "closeness", "apsp"])
def test_every_protein_is_as_in_networkx(measure):
    batch = proteins()
    result = analyze(batch, measure, strategy="cpu")
    assert len(result) == len(batch) == 1113
    for i, found in enumerate(result):
        np.testing.assert_allclose(found, reference(batch[i], measure), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("no", [False, 0, np.False_])
def test_weights_left_out_by_numpy_are_left_out(no):
    graph = Graph.from_edges([0, 1], [1, 2], weights=[5.0, 7.0], directed=False)
    assert analyze([graph], "apsp", weighted=no, reduce="total", strategy="cpu")[0].tolist() == [3, 2, 3]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (dict(measure="between"), "no measure 'between'; choose one of betweenness"),
        (dict(strategy="fast"), "no strategy 'fast'; choose one of cpu"),
        (dict(precision="half"), "precision='half': choose one of 'double', 'single'"),
        (dict(damping=0.5), "measure 'betweenness' has no option 'damping'"),
        (dict(strategy="level", measure="pagerank"), "strategy 'level' does not compute pagerank; it computes"),
        (dict(strategy_options={"speed": 1}), "strategy 'cpu' has no option 'speed'"),
        (dict(strategy_options={"speed": 1}, strategy="auto"), "strategy_options (speed) are of one strategy; name it"),
        (dict(measure="pagerank", damping="much"), "PageRank: damping='much'; expected a number from 0 to 1"),
        (dict(measure="pagerank", limit=1.5), "limit=1.5; expected a whole number from 1 to"),
        (dict(measure="walks", length=-1), "random walks: length=-1; expected a whole number from 0 to"),
        (dict(measure="walks", length=2**31 - 1), "length=2147483647; expected a whole number from 0 to 2,147,483,646"),
        (dict(measure="walks", seed=2**64), "seed=18446744073709551616; expected"),
        (dict(measure="apsp", weighted=True), "weighted=True, but the graphs have no weights"),
    ],
)
def test_errors_say_what_to_do(call, words):
    call = {"strategy": "cpu", **call}
    with pytest.raises(ValueError, match=re.escape(words)):
        analyze([undirected([(0, 1)])], **call)


@pytest.mark.parametrize(
    ("strategy", "strategy_options", "words"),
    [
        ("swarm", {"width": 5}, "width=5; expected 0, or a power of two from 4 to 32"),
        ("swarm", {"width": 64}, "width=64; expected"),
        ("swarm", {"words": 3}, "words=3; expected a power of two from 1 to 32"),
        ("swarm", {"threads": 100}, "threads=100; expected 0, or a power of two from 32 to 1,024"),
        ("swarm", {"shared": "all"}, "shared='all'; expected one of 'rows', 'metadata', 'nothing'"),
        ("swarm", {"persistent": 1}, "persistent=1; expected one of False, True"),
        ("swarm", {"sparse": "few"}, "sparse='few'; expected a number of at least 0"),
        ("swarm", {"busy": 0}, "busy=0; expected a whole number from 1"),
        ("paper", {"threads": 40}, "strategy 'paper': threads=40; expected 0, or a multiple of 32 from 32 to 1,024"),
        ("paper", {"placement": "far"}, "placement='far'; expected one of 'shared', 'global'"),
        ("level", {"memory": 0}, "memory=0; expected a whole number from 1"),
        ("alone", {"sources": 1.5}, "strategy 'alone': sources=1.5; expected a whole number from 0 to 32"),
        ("alone", {"threads": 2048}, "threads=2048; expected 0, or a power of two from 32 to 1,024"),
    ],
)
def test_a_value_that_a_kernel_does_not_support_is_refused(strategy, strategy_options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        Engine("betweenness", "host", strategy, strategy_options)


def test_every_option_of_a_strategy_has_its_values():
    for name, strategy in STRATEGIES.items():
        if name == "auto":
            continue
        defaults = strategy.plan.method.defaults
        assert set(STRATEGY_OPTIONS.get(name, {})) == set(defaults) == set(strategy.keywords)
        Engine("betweenness", "host" if strategy.gpu else None, name, defaults)  # a default is allowed, too


def test_the_earlier_name_of_a_strategys_options_is_served_with_a_warning():
    with pytest.warns(FutureWarning, match="knobs is now called strategy_options"):
        found = Engine("betweenness", "host", "swarm", knobs={"threads": 128})
    assert found.method.strategy_options["threads"] == 128


def test_weights_where_they_mean_nothing_or_are_no_lengths():
    weighted = Graph.from_edges([0, 1], [1, 2], weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="betweenness takes no weights here"):
        analyze([weighted], strategy="cpu")
    (plain,) = analyze(GraphBatch([weighted], weights=False), strategy="cpu")
    assert plain.tolist() == [0, 1, 0]
    zero = Graph.from_edges([0, 1], [1, 2], weights=[1.0, 0.0], name="zero")
    batch = GraphBatch([weighted, zero, weighted])
    found = analyze(batch, "closeness", strategy="cpu")
    assert batch.problems == found.problems
    assert found[1] is None and found[0].tolist() == found[2].tolist() == [0, 0.5, 2 / 5 * 1]
    assert found.problems == [(1, "zero", "weight of arc 1 is 0.0; expected a finite number above 0")]
    with pytest.raises(GraphError, match=r"graph 1 \(zero\) of memory: weight of arc 1 is 0.0"):
        analyze(GraphBatch([weighted, zero], bad="refuse"), "closeness", strategy="cpu")
    assert analyze([zero], "closeness", strategy="cpu", weighted=False)[0].tolist() == [0, 0.5, 2 / 3]
    with pytest.raises(ValueError, match="weight 1 of the batch is 0"):  # an engine by itself leaves nothing out
        Engine("closeness", None, "cpu").run(Pack.of([zero]))
    with pytest.raises(ValueError, match="takes no weights; use swarm or cpu"):
        analyze([weighted], "closeness", strategy="paper", executor="host")


def test_the_table_is_whole():
    for name, strategy in STRATEGIES.items():
        assert strategy.name == name and strategy.what
        assert name == "auto" or strategy.plan.method.name == name
        assert set(strategy.measures) <= set(MEASURES)
    assert all(set(STRATEGIES[name].measures) == set(MEASURES) for name in ("swarm", "cpu", "auto"))


@pytest.mark.parametrize("strategy", ["cpu", "swarm"])
def test_harmonic_sums_that_do_not_fit_are_refused(strategy):
    engine = Engine("closeness", strategy=strategy, executor=None if strategy == "cpu" else "host", form="harmonic")
    starts = np.array([0, 2**24 + 1]), np.array([0, 0])
    huge = Pack(np.zeros(0, np.int32), np.zeros(0, np.uint16), *starts)
    with pytest.raises(ValueError, match="has 16,777,217 vertices; harmonic closeness takes at most 16,777,216"):
        engine.prepare(huge)
