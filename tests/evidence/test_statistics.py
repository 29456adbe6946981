import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lockstep.evidence import recording, statistics, trends
from lockstep.evidence.between import Between
from lockstep.evidence.recording import CELL


def test_a_paired_ratio_is_scipys_paired_t_on_logarithms(make_rows):
    rows = make_rows({"times": {"a": 4.0, "b": 2.0}}, noise=0.1)
    values = {name: group["value"].to_numpy() for name, group in rows.groupby("strategy")}
    logs = np.log(values["a"]) - np.log(values["b"])
    expected = stats.ttest_rel(np.log(values["a"]), np.log(values["b"]))
    found = statistics.ratio(rows, "a", "b")
    low, high = np.exp(expected.confidence_interval(0.95))
    assert (found.value, found.low, found.high) == pytest.approx((np.exp(logs.mean()), low, high))
    assert found.p_value(1.0) == pytest.approx(expected.pvalue)
    assert found.p_value(2.0) == pytest.approx(stats.ttest_1samp(logs, math.log(2)).pvalue)
    assert found.n == 8 and found.graphs == 1


def test_pairing_takes_a_drift_of_the_machine_out():
    drift = np.exp(np.linspace(0, 1, 8))
    lines = [
        {"strategy": name, "metric": "wall", "round": k, "value": base * d * (1 + 0.001 * (k % 2)), **label}
        for label in [dict.fromkeys(CELL, "x")]
        for name, base in (("a", 2.0), ("b", 1.0))
        for k, d in enumerate(drift)
    ]
    found = statistics.ratio(pd.DataFrame(lines), "a", "b")
    assert found.equal(to=2.0) and found.high / found.low < 1.01


def test_rounds_without_a_partner_are_left_out(make_rows):
    rows = make_rows({"times": {"a": [4, 4, 4, 4], "b": [2, 2]}})
    assert statistics.ratio(rows, "a", "b").n == 2
    with pytest.raises(ValueError, match="no round holds both a and c"):
        statistics.ratio(rows, "a", "c")


def test_over_graphs_it_is_a_geometric_mean_and_never_a_mean_of_ratios(make_rows):
    rows = make_rows(
        {"dataset": "g1", "times": {"a": [4] * 3, "b": [1] * 3}},
        {"dataset": "g2", "times": {"a": [1] * 9, "b": [4] * 9}},
    )
    found = statistics.ratio(rows, "a", "b")
    assert found.value == pytest.approx(1.0), "4 and 1/4 cancel, however many rounds each has"
    assert found.graphs == 2 and found.low < 0.01 < 100 < found.high, "two graphs that differ tell little"
    assert statistics.ratio(rows, "a", "b", dataset="g1").value == pytest.approx(4)


def test_the_interval_covers_what_it_says():
    random = np.random.default_rng(7)
    inside = [0, 0]
    for _ in range(400):
        found = statistics.geometric_mean(random.normal(math.log(3), 0.2, 8), seed=int(random.integers(1e9)))
        inside[0] += found.low <= 3 <= found.high
        inside[1] += found.bootstrap[0] <= 3 <= found.bootstrap[1]
    assert 0.92 <= inside[0] / 400 <= 0.98
    assert 0.83 <= inside[1] / 400 <= 0.97, "a bootstrap of eight samples is known to be a little short"


def test_the_bootstrap_is_the_same_for_a_seed():
    logs = np.random.default_rng(0).normal(0, 1, 8)
    one, two, other = (statistics.geometric_mean(logs, seed=seed) for seed in (1, 1, 2))
    assert one == two and one.bootstrap != other.bootstrap


def test_a_single_sample_has_no_interval():
    found = statistics.geometric_mean([math.log(2)])
    assert found.value == pytest.approx(2)
    assert math.isnan(found.low) and math.isnan(found.p_value()) and not found.equal(to=2)


def test_equal_means_inside_the_margin():
    assert statistics.Estimate(1.0, 0.98, 1.02, 8).equal()
    assert not statistics.Estimate(1.0, 0.96, 1.02, 8).equal()


def test_holms_own_steps():
    # Four hypotheses, by hand: 0.005 x 4, 0.01 x 3, then the running maximum of 0.03 x 2 and 0.04 x 1.
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    with_gap = statistics.holm([0.01, math.nan, 0.9])
    assert with_gap[[0, 2]] == pytest.approx([0.02, 0.9]) and math.isnan(with_gap[1])
    assert statistics.holm([]).size == 0


def test_holm_keeps_the_chance_of_any_false_finding_small():
    random = np.random.default_rng(3)
    found = [statistics.holm(random.uniform(size=40)).min() < 0.05 for _ in range(600)]
    assert np.mean(found) < 0.08


def test_the_best_is_chosen_on_one_half_and_judged_on_the_other(make_rows):
    rows = make_rows({"times": {name: 1.0 for name in "abcdefgh"} | {"base": 1.0}}, noise=0.3, rounds=20)
    judged = statistics.best(rows, list("abcdefgh"))
    assert len(judged[judged["strategy"] == "best"]) == 10
    honest = statistics.ratio(judged, "base", "best")
    assert honest.low < 1 < honest.high, "eight equal strategies have no best one"
    clear = statistics.best(make_rows({"times": {"slow": 2.0, "fast": 1.0}}), ["slow", "fast"])
    assert set(clear[clear["strategy"] == "best"]["chosen"]) == {"fast"}


def test_the_best_of_equals_over_many_graphs_is_no_better(make_rows):
    cells = [{"dataset": f"g{k}", "times": {name: 1.0 for name in ("base", *"abcdefgh")}} for k in range(30)]
    judged = statistics.best(make_rows(*cells, noise=0.3), list("abcdefgh"))
    assert statistics.ratio(judged, "base", "best").value == pytest.approx(1, abs=0.1)


def test_a_round_that_was_measured_again_counts_as_it_was_last(make_rows):
    once, again = (make_rows({"times": {"a": [a] * 4, "b": [1.0] * 4}}) for a in (8.0, 2.0))
    assert statistics.ratio(pd.concat([once, again]), "a", "b").value == pytest.approx(2)


def test_over_graphs_both_intervals_are_over_the_graphs(make_rows):
    logs, graphs = np.repeat([0.0, 1.0, 5.0], 4), np.repeat(list("xyz"), 4)
    found = statistics.geometric_mean(logs, graphs)
    low, high = stats.ttest_1samp([0.0, 1.0, 5.0], 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((np.exp(low), np.exp(high)))
    assert found.bootstrap == pytest.approx((1, np.exp(5))), "three draws of one graph are 1 of 27"


def test_degrees_of_freedom_are_welchs_and_satterthwaites():
    logs, apart, freedom = np.array([0.0, 0.2, 0.1, 0.5]), 0.3, 7
    within, between = logs.var(ddof=1) / 4, apart**2
    _, error, known = statistics.over_rounds(logs, apart=apart, freedom=freedom)
    assert error == pytest.approx(np.sqrt(within + between))
    assert known == pytest.approx((within + between) ** 2 / (within**2 / 3 + between**2 / freedom))


def test_one_round_a_recording_has_the_interval_of_the_recordings():
    far, near = np.array([0.0, 0.2, 0.1]), np.array([0.0, 0.02, 0.01])
    rounds = np.arange(3) * recording.REPEAT  # the first round of three recordings
    apart, freedom = 0.05, 7
    mean, error, known = statistics.over_rounds(far, rounds, apart, freedom)
    assert (mean, error, known) == pytest.approx((0.1, far.std(ddof=1) / np.sqrt(3), freedom))
    _, error, known = statistics.over_rounds(near, rounds, apart, freedom)
    assert (error, known) == pytest.approx((apart / np.sqrt(3), freedom)), "recordings are known to lie further apart"
    assert np.isnan(statistics.over_rounds(far[:1], rounds[:1], apart, freedom)[1])
    assert statistics.over_rounds(far, rounds)[2] == 2, "its own where nothing else is known"


def test_an_arithmetic_mean_of_strata_is_off_as_much_as_they_are():
    logs, labels = np.log([9, 11, 0.9, 1.1]), ["x", "x", "y", "y"]
    found = statistics.over_strata(logs, labels, arithmetic=True)
    means = np.exp([logs[:2].mean(), logs[2:].mean()])
    error = np.std(logs[:2], ddof=1) / np.sqrt(2)  # of both, on logarithms
    assert found.value == pytest.approx(means.mean())
    assert found.error == pytest.approx(np.hypot(*(means * error)) / 2)


def test_a_crossover_is_found_where_it_is():
    x = np.repeat([1.0, 10, 100, 1000, 1e4], 8)
    noise = np.random.default_rng(0).normal(0, 0.05, len(x))
    found = trends.crossover(x, 0.8 * np.log(250 / x) + noise)
    assert found.low < 250 < found.high and found.high / found.low < 1.3
    assert found.first.value > 1 > found.last.value
    assert found == trends.crossover(x, 0.8 * np.log(250 / x) + noise), "the seed is fixed"


def test_no_crossover_is_not_invented():
    x = np.repeat([1.0, 10, 100], 4)
    found = trends.crossover(x, np.log(2) + 0 * x)
    assert math.isnan(found.value)
    with pytest.raises(ValueError, match="two places"):
        trends.crossover([1, 1], [0, 0])


def test_a_crossover_interval_covers():
    random = np.random.default_rng(5)
    x = np.repeat([10.0, 100, 1000, 1e4], 8)
    found = [trends.crossover(x, np.log(300 / x) + random.normal(0, 0.3, len(x))) for _ in range(60)]
    assert np.mean([one.low <= 300 <= one.high for one in found]) > 0.8


def straight(noise, places=(0.0, 2.0)):
    """Logarithms of places, and of ratios that fall from e to 1/e between them; rounds differ by `noise`."""
    return np.exp(np.repeat(places, len(noise))), np.concatenate([1 + noise, -1 + noise[::-1]])


def test_a_crossovers_interval_leaves_out_as_much_at_both_ends():
    noise = np.random.default_rng(1).normal(size=400)
    noise = 0.2 * (noise - noise.mean()) / noise.std()
    found = trends.crossover(*straight(noise))
    half = 1.96 * 0.2 / np.sqrt(2 * len(noise))  # the place is 1 + (e1 + e2) / 2
    assert math.log(found.value) == pytest.approx(1)
    assert math.log(found.high / found.value) == pytest.approx(half, rel=0.1)
    assert math.log(found.value / found.low) == pytest.approx(half, rel=0.1)
    place = found.place(8)
    assert place.error * stats.t.ppf(0.975, 8) == pytest.approx(math.log(found.high / found.low) / 2)
    wider = trends.crossover(*straight(noise), apart=Between(ratio=0.2, freedom=50))
    assert wider.high / wider.low > 1.3 > found.high / found.low


def test_a_crossover_that_a_tenth_of_the_draws_do_not_show_has_no_interval():
    noise = np.array([-1.0, 1.0] * 8)
    found = trends.crossover(*straight(3 * noise))  # the last mean lies 1.3 errors below 0
    assert found.value == pytest.approx(math.e) and math.isnan(found.low) and math.isnan(found.high)


def test_the_first_of_several_crossovers_is_meant():
    x = np.repeat([1.0, 10, 100, 1000], 4)
    found = trends.crossover(x, np.repeat([1.0, -1, 1, -1], 4) + 0.01 * np.tile([-1, 1], 8))
    assert found.value == pytest.approx(10**0.5) and 3 < found.low < found.high < 3.3


def test_a_slope_is_scipys_and_covers():
    random = np.random.default_rng(2)
    x = np.repeat([10.0, 100, 1000, 1e4, 1e5], 4)
    y = 3 * x**0.9 * np.exp(random.normal(0, 0.05, len(x)))
    found = trends.slope(x, y)
    means = [np.log(y[x == place]).mean() for place in np.unique(x)]
    expected = stats.linregress(np.log(np.unique(x)), means)
    assert found.value == pytest.approx(expected.slope) and found.error == pytest.approx(expected.stderr)
    assert found.low < 0.9 < found.high
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 3) * expected.stderr), "of five places"
    assert found.p_value(expected.slope) == pytest.approx(1) and found.p_value(0.0) < 1e-4
    with pytest.raises(ValueError, match="three places"):
        trends.slope([1, 2], [1, 2])


def test_a_curve_bent_against_the_line_widens_the_slopes_interval():
    x = np.repeat([10.0, 100, 1000, 1e4], 50)
    straight, bent = trends.slope(x, x), trends.slope(x, 100 + x)
    assert bent.high - bent.low > 0.2 > straight.high - straight.low, "many rounds do not make it a line"


def test_a_difference_of_slopes_is_welchs():
    one = statistics.Estimate(2.0, 0, 0, 5, error=0.3, freedom=4, logarithmic=False)
    two = statistics.Estimate(1.0, 0, 0, 9, error=0.4, freedom=8, logarithmic=False)
    found = trends.difference(one, two)
    freedom = 0.25**2 / (0.09**2 / 4 + 0.16**2 / 8)
    assert found.value == 1.0 and found.freedom == pytest.approx(freedom)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, freedom) * 0.5)


def test_the_feature_that_makes_the_figure_explains_it():
    random = np.random.default_rng(1)
    depth, nodes = np.exp(random.uniform(0, 10, 30)), np.exp(random.uniform(5, 10, 30))
    time = 2 * depth * np.exp(random.normal(0, 0.3, 30))
    assert trends.explains(time, {"depth": depth, "nodes": nodes}).low > 0
    assert trends.explains(time, {"nodes": nodes, "depth": depth}).high < 0
    found = trends.explains(time, {"depth": depth, "constant": np.ones(30)})
    assert found.value > 0.9 and found.high - found.low > 0.005, "another draw of graphs gives another figure"
    assert trends.explains(time, {"nodes": nodes, "depth": depth, "constant": np.ones(30)}).high < 0, "the best counts"


def test_the_center_leaves_out_what_is_not_above_zero():
    assert statistics.center([1.0, 100.0, 0.0, -1.0]) == pytest.approx(10)
    assert np.isnan(statistics.center([])) and np.isnan(statistics.center([0.0]))
