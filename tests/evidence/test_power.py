"""How many units a verdict needs: against textbook figures, simulation, and what cannot be had."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lockstep.evidence import power


def test_a_textbook_figure():
    """Cohen 1988: for an effect of 0.5 a paired t test at 5 % needs 44 pairs for a power of 90 %."""
    assert power.needed(0.5, 0.05) == 44
    assert power.power(0.5, 44, 0.05) >= 0.9 > power.power(0.5, 43, 0.05)


def test_the_power_is_how_often_such_samples_come_out_significant():
    rng = np.random.default_rng(1)
    samples = rng.normal(0.8, 1.0, (20_000, 12))
    level = 0.05 / 7
    t = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / math.sqrt(12))
    seen = (t > stats.t.isf(level / 2, 11)).mean()
    assert power.power(0.8, 12, level) == pytest.approx(seen, abs=0.01)


def line(**given):
    about = {
        "machine": "m", "part": "X1", "paper": "X", "verdict": "undecided", "kind": "direction", "relation": "above",
        "population": "collection", "unit": "x", "value": 1.5, "p": 0.04, "n": 32, "graphs": 8, "recordings": 1,
    }  # fmt: skip
    return about | given


def test_units_follow_from_what_a_part_speaks_of():
    found = power.table(pd.DataFrame([
        line(), line(part="X2", population="strata"), line(part="X3", relation="slope-above", population="", n=11),
        line(part="X4", kind="identity"), line(part="X5", verdict="needs rows", p=math.nan),
    ]))  # fmt: skip
    assert found["part"].tolist() == ["X1", "X2", "X3"]
    assert found["unit"].tolist() == ["graphs", "recordings", "places"]
    assert found["pilot"].tolist() == [8, 1, 11]
    assert (found["needed"] > found["pilot"]).all(), "none was clear after Holm"


def test_an_effect_below_five_per_cent_is_not_sought():
    tiny, small = (power.table(pd.DataFrame([line(value=value, p=0.5)]))["needed"].iloc[0] for value in (1.001, 1.05))
    assert tiny < small / 50, "its scatter is as small: 5 % would be seen with few"
    none = power.table(pd.DataFrame([line(value=1.5, p=1.0)]))
    assert math.isnan(none["needed"].iloc[0])
    clear = power.table(pd.DataFrame([line(p=0.0)]))
    assert clear["needed"].iloc[0] == power.FEWEST and clear["power"].iloc[0] == 1


def test_an_effect_is_the_distance_from_the_bound(monkeypatch):
    """0.99 against a bound of 1.1 is an effect of 11 %, and needs no more than that of 1 % beyond a bound of 1."""
    bounded = [type("Part", (), {"id": "X1", "bound": 1.1})()]
    found = {}
    for bounds in ([], bounded):
        monkeypatch.setattr(power.ledger, "load", lambda bounds=bounds: bounds)
        one = line(value=0.99, relation="below", population="random", n=8, p=0.01)
        found[len(bounds)] = power.table(pd.DataFrame([one]))["power"].iloc[0]
    assert found[1] < found[0], "an effect of 1 % is raised to 5 %, one of 11 % is not"
