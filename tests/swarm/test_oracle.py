"""Wrong values of a measure, all of which the check refuses: with their checksums, and without any."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from lockstep.batch.pack import Pack
from lockstep.evidence import VerificationError
from lockstep.swarm import oracle
from lockstep.swarm.problem import Case
from lockstep.swarm.strategies.engine import Engine

GRAPHS = [nx.disjoint_union(nx.lollipop_graph(3, 3), nx.path_graph(2)), nx.path_graph(4), nx.star_graph(4)]
MEASURES = ["betweenness", "closeness", "apsp", "components", "strong", "triangles", "pagerank"]
WRONG = {  # of two values that differ
    "neighbors swapped": lambda a, b: (b, a),
    "duplicate": lambda a, b: (a, a),
    "off by one": lambda a, b: (a + 1, b),
    "right sum, wrong parts": lambda a, b: (a + 1, b - 1),
}


@pytest.fixture(scope="module", params=MEASURES)
def right(request):
    """A measure, the case of the graphs and its values there."""
    case = Case("made up", Pack.of(GRAPHS))
    found = Engine(request.param, None, "cpu").run(case.pack).get()
    assert case.check(request.param, {}, found) == "exact"
    return request.param, case, found


def changed(values, what):
    """Values of which the first, and the first that differs from it, are changed."""
    values, other = values.copy(), int(np.flatnonzero(values != values[0])[0])
    values[0], values[other] = WRONG[what](values[0], values[other])
    return values


@pytest.mark.parametrize("what", WRONG)
def test_wrong_values_without_checksums_are_refused(right, what):
    measure, case, found = right
    with pytest.raises(VerificationError, match="has other values than the reference"):
        case.check(measure, {}, replace(found, values=changed(found.values, what), checksums=None))


def test_a_missing_graph_is_refused(right):
    measure, case, found = right
    with pytest.raises(IndexError):
        case.check(measure, {}, replace(found, starts=found.starts[:-1], checksums=None))
    for some in (slice(-1), slice(1)):  # one checksum would stand for all of equal graphs
        with pytest.raises(VerificationError, match="results of the 3 graphs of made up"):
            case.check(measure, {}, replace(found, checksums=found.checksums[some]))


def test_another_checksum_is_refused(right):
    measure, case, found = right
    for checksums in (found.checksums[[1, 0, 2]], found.checksums + np.array([0, 0, 1], np.uint64)):
        with pytest.raises(VerificationError, match="graphs of made up have other checksums than the CPU's"):
            case.check(measure, {}, replace(found, checksums=checksums))


@pytest.mark.parametrize("what", WRONG)
def test_other_betweenness_has_another_checksum(what):
    values = np.array([3, 5, 8], np.uint64)
    assert oracle.check_of(changed(values, what)) != oracle.check_of(values)
