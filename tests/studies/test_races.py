"""Every strategy of every study with data races looked for, on small inputs; and that a missing order is missed."""

import functools
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from lockstep import swarm
from lockstep.machine import DataRaceError, get_executor

from . import orders

run = functools.cache(orders.run)
ALL = [(study, name) for study in orders.STUDIES for name in orders.strategies(study)]


@pytest.mark.parametrize(("study", "name"), ALL)
def test_no_strategy_races_but_those_that_are_known_to(study, name):
    _, why, where = orders.KNOWN.get(f"{study}/{name}", ("all", "", None))
    if where is None:
        run(study, name)
    else:
        with pytest.raises(DataRaceError) as told:
            run(study, name)
        assert re.search(where, str(told.value)), f"{why}; but now: {told.value}"


STOPPED = {"waiting.cu", "emptying.cu", "near.cu", "alone.cu", "level.cu", "lanes.cu"}  # at a known race


def test_every_kernel_file_is_run():
    files = {path.name for study in orders.STUDIES for path in orders.folder(study).glob("*.cu")}
    stopped = {name for name, (*_, where) in orders.KNOWN.items() if where}
    loaded = {file for study, name in ALL if f"{study}/{name}" not in stopped for file in run(study, name)}
    assert files - loaded == STOPPED


def test_what_is_known_is_there():
    assert {f"{study}/{name}" for study, name in ALL} >= set(orders.KNOWN)


# A word that orders something, in the fastest strategies and those that everything rests on.


SAMPLE = [  # (study, kernel file, word, which of its kind in the file, strategy): a sample of what orders.py takes away
    ("toposort", "persistent.cu", "grid_barrier(barrier);", 1, "persistent"),
    ("toposort", "asynchronous.cu", "__syncwarp();", 2, "asynchronous"),
    ("toposort", "alone.cuh", "__syncthreads();", 0, "chains"),
    ("sssp", "chaotic.cu", "grid_barrier(barrier);", 0, "chaotic"),
    ("sssp", "paper.cu", "grid_barrier(barrier);", 0, "persistent"),
    ("sgd", "online.cu", "fence_gpu();", 2, "node-locked"),
    ("sgd", "resident.cu", "fence_block();", 1, "tiles"),
    ("sgd", "patches.cu", "__syncthreads();", 1, "patches"),
    ("swarm", "pairs.cu", "__syncwarp();", 3, "swarm"),
]


@pytest.mark.parametrize(("study", "file", "word", "nth", "name"), SAMPLE)
def test_a_word_that_orders_is_missed(study, file, word, nth, name):
    mine = [one for one in orders.mutants() if one[0] == study and one[1].name == file]
    _, path, what, text = [one for one in mine if one[2].endswith(f": {word}")][nth]
    assert "DataRaceError" in orders.stopped(study, path, text, [name]), what


def test_the_vote_of_lanes_is_ordered_by_data_alone(monkeypatch):
    """Four threads read a vertex's word and one writes it, after shuffles of what was read: a barrier there changes
    nothing but that the detector, which knows no data, is silent."""
    graph = nx.gnp_random_graph(24, 0.3, directed=True, seed=1)
    path = Path(swarm.__file__).parent / "strategies" / "lanes.cu"

    def run():
        executor = get_executor("host", seed=1, fuzz="memory", multiprocessors=2, races="all")
        return swarm.analyze([graph], "betweenness", strategy="swarm", executor=executor)[0]

    with pytest.raises(DataRaceError, match="shared"):
        run()
    read, vote = Path.read_text, "got &= want;"
    text = path.read_text(encoding="utf-8")
    assert text.count(vote) == 1
    ordered = text.replace(vote, f"{vote} __syncwarp();")
    monkeypatch.setattr(Path, "read_text", lambda self, *a, **k: ordered if self == path else read(self, *a, **k))
    np.testing.assert_allclose(run(), list(nx.betweenness_centrality(graph, normalized=False).values()))
