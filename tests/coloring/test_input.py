"""What color takes, what it says about it, and what it refuses; the switch; and that the checks can fail."""

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse

from lockstep.coloring import STRATEGIES, Checker, Coloring, WrongColoring, color, oracle, verify
from lockstep.coloring.strategies import switching
from lockstep.graphs import Graph, GraphError, GraphWarning, generators


def complete(n):
    return Graph.from_networkx(nx.complete_graph(n))


def cycle(n):
    return Graph.from_networkx(nx.cycle_graph(n))


def star(leaves):
    return Graph.from_networkx(nx.star_graph(leaves))


def test_directed_graphs_are_taken_as_undirected_and_said_so():
    arcs = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 0], name="triangle")
    with pytest.warns(GraphWarning, match="triangle: directed arcs taken as edges"):
        result = color(arcs, "early", executor="host")
    assert sorted(result.colors) == [0, 1, 2]
    assert result.stats["notes"] == ["directed arcs taken as edges", "parallel arcs taken once"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_coloring_can_be_pickled(strategy):
    result = color(cycle(9), strategy, executor="host")
    assert np.array_equal(pickle.loads(pickle.dumps(result)).colors, result.colors)


def test_parallel_edges_count_once():
    # A vertex whose 40 arcs lead to one neighbor has one neighbor, and degree one.
    graph = Graph.from_edges([0] * 40, [1] * 40, directed=False)
    for strategy in STRATEGIES:
        assert sorted(color(graph, strategy, executor="host").colors) == [0, 1]


def test_self_loops_are_ignored_with_a_warning_or_refused():
    graph = Graph.from_edges([0, 1, 1], [1, 1, 2], directed=False, name="looped")
    with pytest.warns(GraphWarning, match="looped: 1 self-loop ignored"):
        assert color(graph, "greedy").count == 2
    with pytest.raises(GraphError, match="the first at vertex 1"):
        color(graph, "greedy", loops="refuse")


def test_what_people_have_goes_in():
    ring = nx.cycle_graph(9)
    assert color(ring, "greedy").count == 3
    assert color(sparse.csr_array(nx.to_scipy_sparse_array(nx.path_graph(5))), "greedy").count == 2
    with pytest.raises(GraphError):
        color([1, 2, 3])


@pytest.mark.parametrize("switch", [-1, 2.5, True, "soon", "threshold:-3", "threshold:", None])
def test_a_switch_out_of_range_is_refused(switch):
    with pytest.raises(ValueError, match="expected a round"):
        color(star(3), "hybrid", switch=switch)


@pytest.mark.parametrize("seed", [-1, 2**32, 0.5, "x"])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match="seed"):
        color(star(3), seed=seed)


def test_an_unknown_strategy_names_the_known():
    with pytest.raises(ValueError, match="randomized"):
        color(star(3), "fastest")


def test_the_switch_is_where_it_was_asked_for():
    graph = generators.rmat(9, 5000, seed=4, directed=False, simple=True)
    randomized = color(graph, "randomized", executor="host")
    assert np.array_equal(color(graph, "hybrid", switch=0, executor="host").colors, randomized.colors)
    never = color(graph, "hybrid", switch="never", executor="host")
    assert np.array_equal(never.colors, color(graph, "degree", executor="host").colors)
    last = never.stats["switched"]
    for switch in range(1, last):
        assert color(graph, "hybrid", switch=switch, executor="host").stats["switched"] == switch
    assert color(graph, "hybrid", switch=10**6, executor="host").stats["switched"] == last
    assert color(graph, "hybrid", switch="threshold:1000000", executor="host").stats["switched"] == 1
    assert 0 < color(graph, "hybrid", switch="auto", executor="host").stats["switched"] <= last


@pytest.mark.parametrize("graph", [cycle(30), complete(30)], ids=["cycle", "clique"])
def test_degrees_alone_color_nothing_where_all_are_equal(graph):
    result = color(graph, "degree", executor="host")
    assert result.stats["switched"] == 1 and result.stats["left"] == graph.n


def test_degrees_alone_finish_where_no_neighbors_are_equal():
    result = color(star(30), "degree", executor="host")
    assert result.stats["left"] == 0 and result.count == 2


def hubs(*degrees, rest=400):
    """Stars whose centers have these degrees and, above one, a common neighborhood of `rest` leaves."""
    pairs = [(center, len(degrees) + leaf) for center, degree in enumerate(degrees) for leaf in range(degree)]
    return Graph.from_edges(*np.array(pairs).T, n=len(degrees) + rest, directed=False)


def test_the_switch_chosen_while_running_stays_on_a_plateau_before_a_fall():
    # Forty centers, so that some rounds are to come; the degrees that occur go down by ones at first, and then far.
    graph = hubs(*range(400, 370, -1), *[60] * 30)
    rule = switching.Auto().start(graph, executor=None)
    assert rule.rounds == 60 and not rule.now(0)
    assert [rule.after(10**6, 1, highest) for highest in range(399, 370, -1)] == [False] * 29
    assert rule.after(10**6, 1, 370, tied=True)


def test_the_switch_chosen_while_running_goes_when_the_highest_degree_is_stuck():
    graph = generators.rmat(9, 5000, seed=4, directed=False, simple=True)
    degrees, result = graph.out_degrees(), color(graph, "degree", executor="host")
    left = [degrees[result.colors >= turn].max(initial=0) for turn in range(result.stats["switched"])]
    stuck = left.index(oracle.stuck(graph))
    assert 1 < color(graph, "hybrid", executor="host").stats["switched"] == stuck < len(left) - 1
    # For good: what is highest then is highest to the end of the phase.
    assert set(left[stuck:]) == {left[stuck]} and left[stuck - 1] > left[stuck]


@pytest.mark.parametrize("seed", range(3))
def test_where_degrees_get_stuck_can_be_told_beforehand(seed):
    assert oracle.stuck(star(5)) == -1 == oracle.stuck_expected(star(1).out_degrees()[:0])
    assert oracle.stuck(complete(9)) == 8 == oracle.stuck_expected(complete(9).out_degrees())
    graph = generators.rmat(10, 9000, seed=seed, directed=False, simple=True)
    by_degree = color(graph, "degree", executor="host")
    left = graph.out_degrees()[by_degree.colors >= by_degree.stats["switched"] - 1]
    assert left.max() == oracle.stuck(graph)
    assert oracle.stuck_expected(graph.out_degrees()) == pytest.approx(oracle.stuck(graph), rel=0.25)


def test_short_rows_are_not_worth_a_round():
    assert switching.Auto().start(star(3), executor=None).now(0)
    assert color(generators.road_like(400, seed=1), "hybrid", executor="host").stats["switched"] == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_steepest_fall_ahead(seed):
    values = np.unique(np.random.default_rng(seed).integers(0, 1000, 60))[::-1].tolist()
    falls = switching.steepest_falls(values)
    for i in range(len(values) - 1):
        assert falls[i] == max((values[i] - values[j]) / (j - i) for j in range(i + 1, len(values)))
    assert falls[-1] == 0


def test_switches_by_name():
    assert isinstance(switching.of("never"), switching.Never)
    assert switching.of("threshold:12").least == 12
    assert switching.of(np.int64(4)).iteration == 4


@pytest.mark.parametrize(
    "colors, text",
    [
        ([0, 1, 1], "edge 1 - 2"),
        ([0, 1, -1], "vertex 2 has no color"),
        ([0, 3, 1], "not all used"),
        ([0, 1], "shape"),
    ],
)
def test_the_check_finds_what_is_wrong(colors, text):
    path = Graph.from_edges([0, 1], [1, 2], directed=False)
    with pytest.raises(WrongColoring, match=text):
        verify(Coloring(np.array(colors), "made up", [3]), path)


def test_the_check_finds_too_many_colors_and_another_priority():
    path = Graph.from_edges([0, 1], [1, 2], directed=False)
    with pytest.raises(WrongColoring, match="at most 2"):
        verify(Coloring(np.array([0, 1, 2]), "made up", [3]), path, bound=2)
    with pytest.raises(WrongColoring, match="by its priority"):
        Checker(path)(Coloring(np.array([0, 1, 0]), "made up", [3]), STRATEGIES["early"].traits)  # its middle is first


def test_the_command_line_colors_a_file(tmp_path, capsys):
    from lockstep.cli import main

    file = tmp_path / "graph.txt"
    file.write_text("0 1\n1 2\n2 0\n3 3\n")
    assert main(["color", str(file), "--strategy", "greedy"]) == 0
    out, told = capsys.readouterr()
    assert sorted(out.split()[:3]) == ["0", "1", "2"] and len(out.split()) == 4
    assert "4 vertices, 3 colors, colored by greedy" in told and "1 self-loop ignored" in told
    assert main(["color", str(file), "--loops", "refuse"]) == 2
    assert "1 self-loop, the first at vertex 3" in capsys.readouterr().err
    assert main(["color", str(file), "--output", str(tmp_path / "colors")]) == 0
    assert len((tmp_path / "colors").read_text().split()) == 4
    capsys.readouterr()
    assert main(["color", str(file), "--strategy", "hybrid", "--switch", "-1"]) == 2
    assert "switch=-1" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(20))
def test_the_steepest_fall_ahead_is_that_of_all_pairs(seed):
    values = np.unique(np.random.default_rng(seed).integers(0, 60, 1 + seed))[::-1].tolist()
    falls = [
        max(((values[i] - values[j]) / (j - i) for j in range(i + 1, len(values))), default=0)
        for i in range(len(values))
    ]
    assert switching.steepest_falls(values) == pytest.approx(falls)


def test_a_loop_is_told_by_the_name_of_its_vertex():
    with pytest.raises(GraphError, match="the first at vertex x: such a vertex"):
        color(Graph.from_edges([0, 0], [0, 1], directed=False, labels=["x", "y"]), loops="refuse")


def test_colors_are_whole_numbers():
    told = oracle.check(generators.layered(3, 3), np.array([0.5, 1, 0]))
    assert told == "colors of type float64; expected whole numbers"
