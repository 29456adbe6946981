"""What each relation asks of rows that are nearly right: worlds in which one thing alone speaks against it."""

import json

import numpy as np
import pandas as pd
import pytest

from lockstep.evidence import between, claims
from lockstep.evidence.ledger import Part
from lockstep.evidence.recording import REPEAT

SIDES = {"numerator": {"strategy": "a"}, "denominator": {"strategy": "b"}}
UNCLEAR = np.array([0.9, 1.12] * 4)  # a geometric mean just above 1


def judge(rows, relation, select=SIDES, published=2, apart=None, **changes):
    base = {"id": "X1", "claim": "X1", "paper": "X", "statement": "s", "of": "", "published": published, "unit": "x"}
    study = "3-toposort-depth"
    part = Part(**base, relation=relation, study=study, select={"study": study, **select}, **changes)
    return claims.judge({"m": rows}, [part], apart).iloc[0]


def test_an_exact_count_is_that_of_every_graph(make_rows):
    rows = make_rows(*[{"dataset": f"d{depth}", "counts": {"depth": depth}} for depth in (347, 346)])
    assert judge(rows, "exact", {"value": {"metric": "depth"}}, published=347)["verdict"] == "fails"


def test_an_ordering_with_an_unclear_pair_is_undecided(make_rows):
    rows = make_rows({"times": {"a": 1, "b": [2.0] * 8, "c": (2 * UNCLEAR).tolist()}})
    found = judge(rows, "ordering", {"strategies": ["a", "b", "c"]})
    assert found["value"] > 1 and found["verdict"] == "undecided"


def test_an_ordering_fails_by_its_clearest_contradiction(make_rows):
    rows = make_rows({"times": {"a": [1.0] * 8, "b": (1 / UNCLEAR).tolist(), "c": 0.5}})
    assert judge(rows, "ordering", {"strategies": ["a", "b", "c"]})["verdict"] == "fails"


def test_one_wrong_pair_of_many_was_picked(make_rows):
    """p is 3 % of the only wrong pair: of one pair that is a finding, of nine it is none."""
    times = {"a": [1.0, 1.1] * 4, "b": [1.0] * 8, **{name: 2.0 + k for k, name in enumerate("cdefghij")}}
    rows = make_rows({"times": times})
    assert judge(rows, "ordering", {"strategies": ["a", "b"]})["verdict"] == "fails"
    assert judge(rows, "ordering", {"strategies": list(times)})["verdict"] == "undecided"


def test_what_lies_just_outside_of_a_band_is_undecided(make_rows):
    """Its nearer edge, 4, cannot be told from it; the farther one, 1, can."""
    rows = make_rows({"times": {"a": (4.1 * UNCLEAR).tolist(), "b": [1.0] * 8}})
    assert judge(rows, "within", factor=2.0)["verdict"] == "undecided"
    rows = make_rows({"times": {"a": (8 * UNCLEAR).tolist(), "b": [1.0] * 8}})
    assert judge(rows, "within", factor=2.0)["verdict"] == "fails"


def crossing(make_rows, ratios, published, last=1.0):
    """The verdict on a ratio at depths 1, 10, 100...; `last` multiplies the rounds at the last one."""
    rounds = [1 + 0.01 * np.sin(np.arange(8))] * (len(ratios) - 1) + [np.ones(8) * last]
    cells = [
        {"dataset": f"d{k}", "parameters": {"depth": 10**k}, "times": {"a": (ratio * each).tolist(), "b": [1.0] * 8}}
        for k, (ratio, each) in enumerate(zip(ratios, rounds, strict=True))
    ]
    return judge(make_rows(*cells), "crossover", {**SIDES, "x": "depth"}, published=published)["verdict"]


def test_a_crossover_must_begin_above_and_end_below(make_rows):
    assert crossing(make_rows, [4, 2, 0.5, 0.25], published=31.6) == "holds"
    assert crossing(make_rows, [0.25, 4, 4, 0.25], published=3.16) == "fails", "begins below"
    assert crossing(make_rows, [4, 0.25, 0.25, 4], published=3.16) == "fails", "ends above"


def test_a_crossover_elsewhere_fails(make_rows):
    assert crossing(make_rows, [4, 2, 0.5, 0.25], published=3.16) == "fails"


def test_a_crossover_with_an_unclear_end_is_undecided(make_rows):
    assert crossing(make_rows, [4, 2, 0.5, 0.99], published=31.6, last=1 / UNCLEAR) == "undecided"


def test_one_wrong_test_of_a_crossover_is_one_of_three(make_rows):
    """p is 3 % at the wrong end alone."""
    assert crossing(make_rows, [4, 2, 0.5, 1.0], published=31.6, last=np.array([1.0, 1.1] * 4)) == "undecided"


def test_one_clear_instance_of_many_was_picked(make_rows):
    """p is 3 % in one of ten: with so many to choose from that is no finding."""
    clear = [1.0, 1.1] * 4
    worlds = [{"dataset": "g0", "times": {"a": clear, "b": [1.0] * 8}}]
    worlds += [{"dataset": f"g{k}", "times": {"a": 1, "b": 3}} for k in range(1, 10)]
    readings = {f"g{k}": {"dataset": f"g{k}"} for k in range(10)}
    few = dict(list(readings.items())[:1])
    assert judge(make_rows(*worlds), "exists", readings=few, bound=1)["verdict"] == "holds"
    assert judge(make_rows(*worlds), "exists", readings=readings, bound=1)["verdict"] == "undecided"


@pytest.mark.parametrize(("bound", "verdict"), [(0.5, "holds"), (1.5, "fails")])
def test_a_slope_is_held_against_its_bound(make_rows, bound, verdict):
    cells = [{"dataset": f"d{d}", "parameters": {"depth": d}, "times": {"a": d}} for d in (1, 10, 100, 1000)]
    select = {"x": "depth", "value": {"strategy": "a"}}
    assert judge(make_rows(*cells), "slope-above", select, bound=bound)["verdict"] == verdict


def test_a_figure_of_a_graph_is_the_geometric_mean_of_its_rounds(make_rows):
    """Rounds that scatter more where a graph has more nodes: their arithmetic means grow with the nodes."""
    random = np.random.default_rng(3)
    depths, scatters = np.exp(random.uniform(0, 2, 12)), np.exp(random.uniform(0, 6, 12))
    cells = [
        {"dataset": f"d{k}", "times": {"a": [depth / scatter, depth * scatter]},
         "counts": {"depth": depth, "nodes": depth * (scatter + 1 / scatter)}}
        for k, (depth, scatter) in enumerate(zip(depths, scatters, strict=True))
    ]  # fmt: skip
    select = {"value": {"strategy": "a"}, "features": ["depth", "nodes"]}
    assert judge(make_rows(*cells), "explained-by", select)["verdict"] == "holds"


def test_the_better_of_both_constants_must_be_beaten(make_rows):
    cells = [{"dataset": f"g{k}", "times": {"a": 3, "b": 2}, "counts": {"order": 1}} for k in range(12)]
    found = judge(make_rows(*cells), "beats-constant", {**SIDES, "value": {"strategy": "serial", "metric": "order"}})
    assert found["verdict"] == "undecided" and found["value"] == 0, "b is the faster one everywhere"


@pytest.mark.parametrize("relation", ["slope-above", "slope-within", "steeper"])
def test_a_figure_beside_a_slope_is_a_slope(make_rows, relation):
    rows = make_rows(*[{"dataset": f"d{x}", "parameters": {"x": x}, "times": {"a": x, "b": 1.0, "c": x**2}}
                       for x in (10, 100, 1000)], noise=1e-4)  # fmt: skip
    sides = {name: {"strategy": "a", "x": "x"} for name in ("value", "first")} | {"second": {"strategy": "b", "x": "x"}}
    change = {"value": {"strategy": "c"}, "first": {"strategy": "c"}}
    found = judge(rows, relation, {"x": "x", **sides}, bound=0.5, bounds=(0.5, 1.5), beside={"of the square": change})
    assert json.loads(found["beside"])["of the square"][0] == pytest.approx(2.0, abs=0.01)


def test_a_sample_without_an_interval_decides_nothing_wherever_it_stands(make_rows):
    rows = make_rows({"times": {"a": 1.0, "b": 2.0, "c": [2.02]}})
    for order in (["a", "b", "c"], ["c", "b", "a"]):
        found = judge(rows, "ordering", {"strategies": order})
        assert found["verdict"] == ("undecided" if order[0] == "a" else "fails"), order
    once = {"once": {"denominator": {"strategy": "c"}}, "often": {}}
    for readings in (once, dict(reversed(once.items()))):
        assert judge(rows, "below", SIDES, readings=readings)["verdict"] == "undecided"


def test_recordings_of_a_verdict_hold_both_of_its_sides(make_rows):
    first = make_rows({"times": {"a": 1.0, "b": 2.0}})
    second = make_rows({"times": {"a": 1.0}})
    second["round"] += REPEAT
    found = judge(pd.concat([first, second]), "below", SIDES)
    assert found["recordings"] == 1 and found["n"] == 8


def test_a_count_has_no_scatter_between_recordings_and_minutes_have(make_rows):
    apart = {"": between.Between(time=0.2, ratio=0.1, freedom=30.0)}

    def width(metric, unit, select):
        rows = make_rows({"metric": metric, "times": {"a": 8.0, "b": 2.0}}, noise=1e-9).assign(unit=unit)
        found = judge(rows, "above", {name: {**side, "metric": metric} for name, side in select.items()}, apart=apart)
        return found["high"] / found["low"]

    for select in (SIDES, {"value": {"strategy": "a"}}):
        assert width("launches", "1", select) == pytest.approx(1.0) and width("minutes", "min", select) > 1.2
