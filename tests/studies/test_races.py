"""Every strategy of every study with data races looked for, on small inputs; and that a missing order is missed."""

import re

import pytest

from lockstep.machine import DataRaceError

from . import orders

ALL = [(study, name) for study in orders.STUDIES for name in orders.strategies(study)]


@pytest.mark.parametrize(("study", "name"), ALL)
def test_no_strategy_races_but_those_that_are_known_to(study, name):
    _, why, where = orders.KNOWN.get(f"{study}/{name}", ("all", "", None))
    if where is None:
        orders.run(study, name)
    else:
        with pytest.raises(DataRaceError) as told:
            orders.run(study, name)
        assert re.search(where, str(told.value)), f"{why}; but now: {told.value}"


def test_what_is_known_is_there():
    assert {f"{study}/{name}" for study, name in ALL} >= set(orders.KNOWN)


# A word that orders something, in the fastest strategies and those that everything rests on.


SAMPLE = [  # (study, kernel file, word, which of its kind in the file, strategy): a sample of what orders.py takes away
    ("toposort", "persistent.cu", "grid_barrier(barrier);", 1, "persistent"),
    ("toposort", "asynchronous.cu", "__syncwarp();", 2, "asynchronous"),
    ("toposort", "alone.cuh", "__syncthreads();", 0, "chains"),
    ("sssp", "chaotic.cu", "grid_barrier(barrier);", 0, "chaotic"),
    ("sssp", "paper.cu", "grid_barrier(barrier);", 0, "persistent"),
    ("sgd", "update.cuh", "__threadfence();", 0, "edge-hubs"),
    ("sgd", "patches.cu", "__syncthreads();", 1, "patches"),
    ("swarm", "pairs.cu", "__syncwarp();", 3, "swarm"),
]


@pytest.mark.parametrize(("study", "file", "word", "nth", "name"), SAMPLE)
def test_a_word_that_orders_is_missed(study, file, word, nth, name):
    mine = [one for one in orders.mutants() if one[0] == study and one[1].name == file]
    _, path, what, text = [one for one in mine if one[2].endswith(f": {word}")][nth]
    assert "DataRaceError" in orders.stopped(study, path, text, [name]), what
