"""Wrong colorings, all of which the check refuses."""

import numpy as np
import pytest

from lockstep.coloring import Checker, Coloring, Problem, WrongColoring, oracle, verify
from lockstep.graphs import Graph, generators

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
WRONG = {
    "one conflict": ([0, 1, 0, 0], "the edge 2 - 3 lies within color 0"),
    "neighbors swapped": ([0, 0, 1, 1], "the edge 0 - 1 lies within color 0"),
    "right sum, wrong parts": ([1, 1, 0, 0], "the edge 0 - 1 lies within color 1"),
    "a gap": ([0, 2, 0, 2], r"the colors 0\.\.2 are not all used"),
    "a gap at the beginning": ([1, 2, 1, 2], r"the colors 0\.\.2 are not all used"),
    "uncolored": ([0, 1, 0, -1], "vertex 3 has no color"),
    "missing": ([0, 1, 0], "shape"),
    "one too many": ([0, 1, 0, 1, 0], "shape"),
}


def made_up(colors):
    return Coloring(np.array(colors), "made up", [])


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_coloring_is_refused(what):
    colors, told = WRONG[what]
    with pytest.raises(WrongColoring, match=told):
        verify(made_up(colors), PATH)


def test_as_many_colors_as_the_bound_and_no_more():
    assert verify(made_up([0, 1, 0, 1]), PATH, bound=2) == "invariant"
    with pytest.raises(WrongColoring, match="3 colors where at most 2 are needed"):
        verify(made_up([0, 1, 2, 1]), PATH, bound=2)
    star = Graph.from_edges([0, 0], [1, 2], directed=False)
    four = Graph.from_edges([0, 2], [1, 3], directed=False)
    assert Checker(star)(made_up([0, 1, 2]), {oracle.SMALLEST}) == "invariant"  # degree 2: three colors
    with pytest.raises(WrongColoring, match="3 colors where at most 2"):
        Checker(four)(made_up([0, 1, 2, 0]), {oracle.SMALLEST})


def test_another_coloring_than_the_rule_defines_is_refused():
    checker = Problem.of(generators.erdos_renyi(60, 200, seed=1)).checker
    by_priority, emptied = checker.expected(), checker.expected(fewer=True)
    assert emptied.max() < by_priority.max(), "else the two rules were one here"
    for colors, trait, other in ((by_priority, oracle.BY_PRIORITY, oracle.EMPTIED),
                                 (emptied, oracle.EMPTIED, oracle.BY_PRIORITY)):  # fmt: skip
        assert checker(made_up(colors), {trait}) == "exact"
        with pytest.raises(WrongColoring, match="by its priority it must have"):
            checker(made_up(colors), {other})
    renamed = by_priority.max() - by_priority  # a coloring as good
    assert checker(made_up(renamed)) == "invariant"
    with pytest.raises(WrongColoring, match="vertex 0 has color"):
        checker(made_up(renamed), {oracle.BY_PRIORITY})
