"""Several recordings of one machine: what they differ by is in the interval, and each counts the same."""

import math

import numpy as np
import pandas as pd
import pytest

from lockstep.evidence import between, reading, recording, statistics
from lockstep.evidence.between import Between
from lockstep.evidence.recording import COLUMNS, REPEAT


def rows_of(recordings, cells=60, rounds=6, apart=0.0, noise=0.01, seed=0, strategies="ab"):
    """Times of strategies, each half as fast as the one before; a recording lies off by `apart` (sd) in each cell."""
    rng, lines = np.random.default_rng(seed), []
    for place in range(recordings):
        for cell in range(cells):
            for number, strategy in enumerate(strategies):
                off = rng.normal(0, apart)
                for turn in range(rounds):
                    value = 2.0**number * math.exp(off + rng.normal(0, noise))
                    labels = ["s", "e", f"g{cell}", strategy, "{}", "wall", "ms"]
                    lines.append([*labels, turn + REPEAT * place, value, "exact", "k"])
    return pd.DataFrame(lines, columns=COLUMNS)


def test_the_component_is_found_and_noise_is_not_taken_for_it():
    found = between.components([rows_of(2, cells=200, apart=0.1)])["s"]
    assert found.time == pytest.approx(0.1, rel=0.25) and found.ratio == pytest.approx(0.1 * 2**0.5, rel=0.25)
    assert found.freedom == 199
    quiet = between.components([rows_of(2, cells=200, noise=0.05)])["s"]
    assert quiet.ratio < 0.03
    assert between.components([rows_of(1, apart=0.1)]) == {}, "one recording does not show it"
    third = rows_of(1, cells=5).assign(round=lambda one: one["round"] + 2 * REPEAT, study="t")
    again = between.components([pd.concat([rows_of(2, cells=200, apart=0.1), third])])
    assert again["s"] == found and "t" not in again, "a third recording of another study takes nothing away"
    changed = rows_of(1, cells=200, seed=9).assign(round=lambda one: one["round"] + 2 * REPEAT, kernel="faster")
    changed["value"] /= 2
    again = between.components([pd.concat([rows_of(2, cells=200, apart=0.1), changed])])
    assert again["s"] == found, "two builds are two strategies"


def test_a_strategy_that_a_recording_lacks_does_not_move_the_others():
    """Without the slowest in one recording the cell's mean there is less; the ratios of the others stay."""
    rows = rows_of(3, cells=200, apart=0.05, strategies="abcde")
    lacking = rows[(rows["strategy"] != "e") | (rows["round"] < 2 * REPEAT)]
    assert between.components([rows])["s"].ratio == pytest.approx(0.05 * 2**0.5, rel=0.15)
    assert between.components([lacking])["s"].ratio == pytest.approx(0.05 * 2**0.5, rel=0.15)


@pytest.mark.parametrize("recordings", [2, 3, 4])
def test_the_component_follows_neither_the_number_of_recordings_nor_the_noise_of_rounds(recordings):
    found = between.components([rows_of(recordings, cells=800, apart=0.05, noise=0.1)])["s"]
    assert found.time == pytest.approx(0.05, rel=0.15) and found.ratio == pytest.approx(0.05 * 2**0.5, rel=0.15)


def test_a_study_without_a_second_recording_takes_what_the_others_have():
    found = between.components([rows_of(2, apart=0.1), rows_of(2, apart=0.3).assign(study="t")])
    assert found["s"].ratio < found[""].ratio < found["t"].ratio


def test_rounds_alone_make_the_interval_too_narrow():
    """Of many pairs of recordings the second's ratio lies in the first's interval as often as is said."""
    apart, inside, narrow = 0.1, 0, 0
    for seed in range(200):
        rows = rows_of(2, cells=1, apart=apart / 2**0.5, seed=seed)
        pairs = statistics.paired(rows, "a", "b")
        first = pairs["round"] < REPEAT
        truth = 0.5
        with_it = statistics.geometric_mean(pairs["log"][first], rounds=pairs["round"][first], apart=apart, freedom=100)
        without = statistics.geometric_mean(pairs["log"][first])
        inside += with_it.low <= truth <= with_it.high
        narrow += without.low <= truth <= without.high
    assert inside >= 180 and narrow < 100


def test_each_recording_weighs_the_same_and_more_of_them_narrow_the_interval():
    logs, rounds = np.log([1, 1, 1, 1, 1.2, 1.2]), np.array([0, 1, 2, 3, REPEAT, REPEAT + 1])
    both = statistics.geometric_mean(logs + 1e-3 * np.arange(6), rounds=rounds, apart=0.2, freedom=50)
    assert both.value == pytest.approx(1.2**0.5, rel=0.01)
    one = statistics.geometric_mean(logs[:4] + 1e-3 * np.arange(4), rounds=rounds[:4], apart=0.2, freedom=50)
    assert both.error == pytest.approx(one.error / 2**0.5, rel=0.01)
    same = statistics.over_strata(logs[:4] + 1e-3 * np.arange(4), [0, 0, 1, 1], rounds[:4], apart=0.2, freedom=50)
    assert same.error == pytest.approx(one.error / 2**0.5, rel=0.01), "of two strata each is off by itself"


def test_recordings_that_lie_further_apart_than_is_known_widen_the_interval():
    logs, rounds = np.array([0.0, 0.01, 0.5, 0.51]), np.array([0, 1, REPEAT, REPEAT + 1])
    error = statistics.over_rounds(logs, rounds, apart=0.1, freedom=50)[1]
    assert error == pytest.approx(np.std([0.005, 0.505], ddof=1) / 2**0.5)
    assert statistics.over_rounds(logs, rounds)[1] < 0.01, "over the rounds alone where nothing is known of recordings"


def test_an_interval_covers_though_parts_differ_in_how_far_their_recordings_lie_apart():
    random, missed = np.random.default_rng(0), [0, 0]
    rounds = np.array([0, REPEAT])
    apart = 2 / random.chisquare(2, 4000)  # variances of many parts, as unlike as the recorded ones
    lies = random.normal(0, 1, (4000, 2)) * np.sqrt(apart)[:, None]
    pooled = float(np.sqrt(np.median(lies.var(axis=1, ddof=1)) / 0.455))  # the median of chi-squared
    for logs in lies:
        mean, error, freedom = statistics.over_rounds(logs, rounds, pooled, 70)
        for place, own in enumerate((error, pooled / 2**0.5)):
            missed[place] += abs(mean) > statistics.half_width(own, freedom, 0.95)
    assert missed[0] / 4000 < 0.09 and missed[1] / 4000 > 0.12, "by one figure for all parts alone it covers too little"


def test_a_second_recording_is_read_beside_the_first(tmp_path):
    for folder, value in ((tmp_path / "box", 1.0), (tmp_path / "box" / "second", 2.0)):
        folder.mkdir()
        line = dict(zip(COLUMNS, ["0-x", "e", "g", "a", "{}", "wall", "ms", 0, value, "exact", "k"], strict=True))
        recording.Recording(folder / "0-x.csv").append([line])
    (rows,) = reading.machines(tmp_path, tmp_path / "none").values()
    assert rows["round"].tolist() == [0, REPEAT] and rows["value"].tolist() == [1.0, 2.0]
    assert recording.of(rows["round"]).tolist() == [0, 1]


def test_nothing_is_added_where_nothing_is_known():
    assert Between() == between.NONE and between.NONE.ratio == between.NONE.time == 0
