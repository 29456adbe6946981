"""What tiles take their layout by, a sum of a few measured constants, against recorded sweeps."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.evidence import Study
from lockstep.sgd import experiments
from lockstep.sgd.experiments import twins
from lockstep.sgd.strategies import resident

RECORDED, MULTIPROCESSORS, SHARED = "nvidia-h200-c39f90bf", 132, 232_448  # on which the constants were measured
WIDTH, LANES, THREADS, BATCH = 16, 4, 160, 4


def estimated(size):
    """(microseconds, blocks, items alone) for a twin of that size, on the recorded machine."""
    degrees = np.minimum(twins.power_law(size.items, size.edges, min(size.largest, size.users)), size.users)
    tiles = SimpleNamespace(
        problem=SimpleNamespace(ratings=SimpleNamespace(n_users=size.users)),
        executor=SimpleNamespace(multiprocessors=MULTIPROCESSORS),
        options=SimpleNamespace(blocks=None, alone=None),
    )
    tiles.estimate = lambda *a: resident.Resident.estimate(tiles, *a)
    groups = (THREADS - 32) // LANES
    fixed = groups * (2 * (WIDTH * 4 + 128) + BATCH * 20) + 16 + 512 + THREADS * 8  # as `build_resident` has it
    return resident.Resident.layout(tiles, degrees, SHARED - fixed - 64, 2 * WIDTH * 4 + 1, WIDTH * 4)


@pytest.fixture(scope="module")
def recorded():
    """What is recorded of tiles: a line a twin, a column a metric."""
    rows = Study(experiments.STUDY).rows(RECORDED)
    rows = rows[(rows["experiment"] == "scale-free") & (rows["strategy"] == "tiles")]
    return rows.groupby(["dataset", "metric"])["value"].median().unstack()


@pytest.fixture(scope="module")
def sweeps(recorded):
    """{twin: (ms, blocks, items alone) of its recorded sweep by resident tiles}."""
    table = recorded[recorded["room"] > 0]
    return {name.removeprefix("twin-"): tuple(line) for name, line in table[["device", "blocks", "alone"]].iterrows()}


def test_the_estimate_is_near_what_was_recorded(sweeps):
    """On each twin where users are resident; it is for graphs with hubs among the items, as all of these are."""
    assert {"NFLIX", "WIKI", "BGG", "STACK"} <= set(sweeps)
    for name, (recorded, *_) in sweeps.items():
        assert 1 / 1.5 < estimated(twins.TABLE[name])[0] / 1e3 / recorded < 1.5, name


def test_the_layout_is_the_recorded_one(sweeps):
    """The constants decide it; whoever changes one sees here on which graphs the plan changes with it."""
    for name, (_, blocks, alone) in sweeps.items():
        assert estimated(twins.TABLE[name])[1:] == (blocks, alone), name


def test_a_round_of_fetched_users_on_small_graphs(recorded):
    """What resident users have to beat."""
    for name in ("twin-IMDB", "twin-STACK-printed"):
        line = recorded.loc[name]
        assert np.isnan(line["room"]) and 1 / 1.2 < line["device"] * 1e3 / line["rounds"] / resident.FETCHED_ROUND < 1.2
