"""From a selector to a figure: units, picks, parameters, and which intervals feel another recording."""

import math

import pytest

from lockstep.evidence import selecting, statistics
from lockstep.evidence.between import Between

APART = Between(ratio=0.1, time=0.3, freedom=50)


def sides(**each):
    """A selector of two sides that cannot be paired: each in an experiment of its own."""
    return {name: {"experiment": name, **side} for name, side in each.items()}


@pytest.mark.parametrize("units", ["G/s M/s", "GHz MHz", "s ms", "ms us", "us ns"])
def test_of_two_units_one_is_a_thousand_of_the_other(make_rows, units):
    rows = make_rows(*[{"experiment": name, "times": {"a": [1.0] * 3}} for name in ("numerator", "denominator")])
    rows["unit"] = rows["experiment"].map(dict(zip(("numerator", "denominator"), units.split(), strict=True)))
    found = selecting.figure(rows, sides(numerator={"strategy": "a"}, denominator={"strategy": "a"}))
    assert found.value == pytest.approx(1000)


@pytest.mark.parametrize("unit", ["M/s", "MHz"])
def test_a_rate_is_that_of_a_second(make_rows, unit):
    rows = make_rows({"times": {"a": [2.0]}}).assign(unit=unit)
    assert selecting.figure(rows, {"value": {"strategy": "a"}}).value == pytest.approx(2e6)


@pytest.mark.parametrize("pick, value", [("largest", 20), ("smallest", 10)])
def test_cells_are_picked_by_the_geometric_mean_of_their_rounds(make_rows, pick, value):
    rows = make_rows({"dataset": "scattered", "times": {"a": [1, 100]}}, {"dataset": "even", "times": {"a": [20, 20]}})
    found = selecting.figure(rows, {"value": {"strategy": "a", "pick": pick}})
    assert found.value == pytest.approx(value)


def test_a_value_may_be_a_multiple_of_what_was_measured_less_a_constant(make_rows):
    rows = make_rows({"times": {"a": [2.0, 2.0]}})
    found = selecting.figure(rows, {"value": {"strategy": "a", "times": 50, "less": 1}})
    assert found.value == pytest.approx(99)


def test_every_parameter_that_is_named_must_agree(make_rows):
    cells = [({"edges": 1, "kind": "x"}, 2.0), ({"edges": 1, "kind": "y"}, 8.0), ({"edges": 9, "kind": "x"}, 32.0)]
    rows = make_rows(*[{"parameters": parameters, "times": {"a": [time]}} for parameters, time in cells])
    found = selecting.figure(rows, {"parameters": {"edges": 1, "kind": "x"}, "value": {"strategy": "a"}})
    assert found.value == pytest.approx(2) and found.n == 1


def test_all_alternatives_count_and_each_must_be_there(make_rows):
    rows = make_rows(*[{"dataset": name, "times": {"a": [time]}} for name, time in (("x", 2.0), ("y", 8.0))])
    select = {"value": {"strategy": "a"}, "any_of": [{"dataset": "x"}, {"dataset": "y"}]}
    assert selecting.figure(rows, select).value == pytest.approx(4)
    with pytest.raises(selecting.Missing, match="z"):
        selecting.figure(rows, {**select, "any_of": [{"dataset": "x"}, {"dataset": "z"}]})


def test_a_row_of_two_alternatives_is_one_and_equal_rows_of_two_recordings_are_two(make_rows):
    twice = make_rows(*[{"dataset": "x", "times": {"a": [2.0]}}] * 2, {"dataset": "y", "times": {"a": [8.0]}})
    for several in ({"any_of": [{"dataset": "x"}, {"dataset": ["x", "y"]}]}, {}):
        assert len(selecting.rows_of(twice, several)) == 3, several


def test_an_unpaired_quotient_has_the_errors_of_both_sides(make_rows):
    cells = {"exact": [4.0] * 8, "noisy": [0.9, 1.1] * 4, "single": [4.0]}
    rows = make_rows(*[{"experiment": "numerator", "times": cells}, {"experiment": "denominator", "times": cells}])

    def width(above, below):
        found = selecting.figure(rows, sides(numerator={"strategy": above}, denominator={"strategy": below}))
        return found.high / found.low

    assert width("exact", "noisy") == pytest.approx(width("noisy", "exact")) and width("exact", "noisy") > 1.1
    assert width("noisy", "noisy") > width("exact", "noisy")
    assert math.isnan(width("single", "noisy")) and math.isnan(width("noisy", "single")), "a time measured once"
    counted = rows.assign(metric="levels", unit="1")
    one, other = ({"strategy": name, "metric": "levels"} for name in ("single", "exact"))
    found = selecting.figure(counted, sides(numerator=one, denominator=other))
    assert found.low == pytest.approx(found.high, rel=0.1), "a count taken once is exact"


def test_times_and_ratios_feel_another_recording_and_counts_do_not(make_rows):
    rows = make_rows({"times": {"a": 4.0, "b": 1.0}}, {"experiment": "other", "times": {"b": 1.0}})
    levels = make_rows({"metric": "levels", "times": {"a": 4.0}}).assign(unit="1")
    a, b = {"strategy": "a"}, {"strategy": "b"}

    def error(select, rows=rows):
        return selecting.figure(rows, {"experiment": "e", **select}, apart=APART).error

    assert error({"value": a}) == pytest.approx(0.3, rel=0.01)
    assert error({"numerator": a, "denominator": b}) == pytest.approx(0.1, rel=0.01)
    assert error({"numerator": a, "denominator": {**b, "experiment": "other"}}) == pytest.approx(0.3 * 2**0.5, rel=0.01)
    count = {**a, "metric": "levels"}
    assert error({"value": count}, levels) < 0.01 and error({"numerator": count, "denominator": count}, levels) < 0.01
    gains = make_rows({"metric": "gain", "times": {"a": 4.0}}).assign(unit="x")
    assert error({"value": {**a, "metric": "gain"}}, gains) == pytest.approx(0.1, rel=0.01), "a ratio of times"


def test_a_parameter_named_with_null_may_have_any_value(make_rows):
    cells = {"size": 32}, {"size": 32, "measure": "apsp"}
    rows = make_rows(*[{"parameters": cell, "times": {"a": 1.0}} for cell in cells])
    both = {"experiment": "e", "parameters": {"size": 32, "measure": None}}
    assert len(selecting.matching(rows, both)) == len(rows)
    assert 0 < len(selecting.matching(rows, {**both, "parameters": {"measure": "apsp"}})) < len(rows)


def test_two_single_samples_have_a_quotient_and_no_interval():
    single = statistics.Estimate(4.0, math.nan, math.nan, 1, 1)
    found = selecting._unpaired(single, single)
    assert found.value == 1.0 and math.isnan(found.low) and math.isnan(found.high)
