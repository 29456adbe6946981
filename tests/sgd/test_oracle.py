"""Sweeps that did not apply every edge once, and histories of no serial run: all are refused."""

import numpy as np
import pytest

from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, NotSerializable, Problem, oracle
from lockstep.sgd.strategies.shared import WrongSweep

EDGES = 260
ONCE = list(range(EDGES))
SWEEPS = {
    "missing": ONCE[1:],
    "one too many": [*ONCE, 7],
    "duplicate for a missing one": [1, *ONCE[1:]],
    "off by one": [edge + 1 for edge in ONCE],
    "right sum, wrong parts": [100, 100, *(edge for edge in ONCE if edge not in (99, 101))],
    "none": [],
}


def tally(edges):
    """Number and sum of hashes, as the kernels add them up (update.cuh)."""
    edges = np.array(edges, np.uint32)
    hashes = (edges ^ edges >> np.uint32(15)) * np.uint32(0x9E3779B1)
    return np.array([edges.size, hashes.sum(dtype=np.uint64)], np.uint64)


@pytest.fixture(scope="module")
def plan(ratings):
    made = STRATEGIES["edge-locked"].plan_for(Problem(ratings, 4), get_executor("host"))
    assert ratings.m == EDGES
    return made


def test_each_edge_once_in_any_order_passes(plan):
    plan.applied[:] = tally(ONCE[::-1])
    plan.check_sweep()


@pytest.mark.parametrize("what", SWEEPS)
def test_a_wrong_sweep_is_refused(what, plan):
    plan.applied[:] = tally(SWEEPS[what])
    with pytest.raises(WrongSweep, match=f"{len(SWEEPS[what])} updates of {EDGES} edges"):
        plan.check_sweep()


# Two users who rated the same two items: edges 0 and 1 of the one, 2 and 3 of the other.
USERS, ITEMS = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
HISTORIES = {
    "right": ([0, 1, 0, 1], [0, 0, 1, 1]),
    "duplicate": ([0, 0, 0, 1], [0, 0, 1, 1]),
    "missing": ([0, 2, 0, 1], [0, 0, 1, 1]),
    "off by one": ([1, 2, 0, 1], [0, 0, 1, 1]),
    "right sum, wrong parts": ([-1, 2, 0, 1], [0, 0, 1, 1]),
    "another node's": ([0, 1, 2, 3], [0, 0, 1, 1]),
    "duplicate of an item": ([0, 1, 0, 1], [0, 0, 0, 1]),
    "a circle": ([1, 0, 0, 1], [0, 1, 1, 0]),
}


def test_a_history_is_replayed_in_its_order():
    order = oracle.serial_order(USERS, ITEMS, *map(np.array, HISTORIES["right"]))
    place = np.argsort(order)
    assert place[0] < place[1] and place[2] < place[3] and place[0] < place[2] and place[1] < place[3]


@pytest.mark.parametrize("what", list(HISTORIES)[1:])
def test_the_history_of_no_serial_run_is_refused(what):
    with pytest.raises(NotSerializable):
        oracle.serial_order(USERS, ITEMS, *map(np.array, HISTORIES[what]))
