"""Wrong distances, all of which the check refuses."""

import numpy as np
import pytest

from lockstep.graphs import Graph
from lockstep.plan import WrongResult
from lockstep.sssp import Problem, ShortestPaths, WrongDistances, verify
from lockstep.sssp.oracle import Errors

GRAPH = Graph.from_edges([0, 1, 0, 4], [1, 2, 3, 3], weights=[2, 1, 5, 1])
RIGHT = [0, 2, 3, 5, np.inf]
WRONG = {
    "one too small": [0, 1, 3, 5, np.inf],
    "one too large": [0, 2, 4, 5, np.inf],
    "off by a rounding": [0, np.nextafter(2, 3), 3, 5, np.inf],
    "an unreached vertex reached": [0, 2, 3, 5, 6],
    "a reached vertex unreached": [0, 2, 3, np.inf, np.inf],
    "neighbors swapped": [0, 3, 2, 5, np.inf],
    "duplicate": [0, 2, 2, 5, np.inf],
    "not a number": [0, 2, 3, 5, np.nan],
    "right sum, wrong parts": [0, 1, 4, 5, np.inf],
}


def judged(distances):
    return verify(ShortestPaths(Problem(GRAPH, 0), 0, "made up", np.array(distances, float)), GRAPH)


def test_right_ones_pass():
    assert judged(RIGHT) == "exact"


@pytest.mark.parametrize("what", WRONG)
def test_wrong_distances_are_refused(what):
    with pytest.raises(WrongDistances, match="1 of 5 distances are wrong|2 of 5"):
        judged(WRONG[what])


@pytest.mark.parametrize("distances", [RIGHT[:-1], [*RIGHT, np.inf], [0], 0])
def test_a_missing_distance_and_one_too_many_are_refused(distances):
    with pytest.raises(WrongDistances, match="distances of shape"):
        judged(distances)


def test_one_number_is_no_distances_even_where_all_are_equal():
    graph = Graph.from_edges([0], [1], weights=[0])
    with pytest.raises(WrongResult, match=r"distances of shape \(1,\), not \(2,\)"):
        verify(ShortestPaths(Problem(graph, 0), 0, "made up", np.zeros(1)), graph)


def test_errors_are_counted_and_measured():
    exact = np.array(RIGHT)
    errors = Errors(np.array([0, 3, 3, 6, np.inf]), exact)
    assert (errors.wrong, errors.share, errors.largest) == (2, 0.5, 0.5)
    for what in ("a reached vertex unreached", "an unreached vertex reached", "not a number"):
        assert Errors(np.array(WRONG[what]), exact).largest == np.inf
