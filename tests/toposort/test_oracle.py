"""Wrong orders and wrong layers, all of which the check refuses."""

import pytest

from lockstep.graphs import Graph
from lockstep.toposort import TopologicalOrder, WrongOrder, verify
from lockstep.toposort.oracle import check_order

DIAMOND = Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
ORDERS = {
    "right": [0, 2, 1, 3],
    "neighbors swapped": [1, 0, 2, 3],
    "duplicate": [0, 1, 1, 3],
    "duplicate for a source": [1, 2, 2, 3],
    "missing": [0, 1, 2],
    "one too many": [0, 1, 2, 3, 3],
    "off by one": [1, 2, 3, 4],
    "counted from the end": [0, 1, 2, -1],
    "right sum, wrong parts": [0, 0, 3, 3],
}
SIZES = {
    "right": [1, 2, 1],
    "neighbors swapped": [2, 1, 1],
    "a layer in two": [1, 1, 1, 1],
    "two layers in one": [3, 1],
    "missing": [1, 2],
    "one too many": [1, 2, 2],
    "an empty layer": [1, 2, 1, 0],
    "a negative layer": [1, 2, 1, -1],
    "right sum, wrong parts": [1, 1, 2],
}


def judged(order, sizes=None):
    return verify(TopologicalOrder(DIAMOND, order, "made up", sizes), DIAMOND)


def test_right_ones_pass():
    assert judged(ORDERS["right"]) == judged(ORDERS["right"], SIZES["right"]) == "exact"


@pytest.mark.parametrize("what", list(ORDERS)[1:])
def test_a_wrong_order_is_refused(what):
    with pytest.raises(WrongOrder, match="permutation|backwards"):
        judged(ORDERS[what])


@pytest.mark.parametrize("what", list(SIZES)[1:])
def test_wrong_layers_are_refused(what):
    with pytest.raises(WrongOrder, match="a layer is not the oracle's"):
        judged(ORDERS["right"], SIZES[what])


def test_no_vertex_comes_before_itself():
    assert check_order(Graph.from_edges([0], [0]), [0]) == "an arc leads backwards"
