"""Verdicts on worlds made up so that the right verdict is known."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from lockstep.evidence import claims, ledger, selecting, telling
from lockstep.evidence.claims import LEVEL
from lockstep.evidence.ledger import Part

SIDES = {"numerator": {"strategy": "a"}, "denominator": {"strategy": "b"}}


def part(relation="above", published=2, **changes):
    select = {"study": "3-toposort-depth", **changes.pop("select", SIDES)}
    base = {
        "id": "X1", "claim": "X1", "paper": "X", "statement": "s", "of": "", "published": published,
        "unit": "x", "relation": relation, "study": "3-toposort-depth",
    }  # fmt: skip
    return Part(**{**base, **changes}, select=select)


def judge(rows, *parts):
    lines = claims.judge({"m": rows}, list(parts))
    return lines.iloc[0] if len(parts) == 1 else lines


@pytest.mark.parametrize(("a", "b", "verdict"), [(3, 1, "holds"), (1, 3, "fails"), (1, 1, "undecided")])
def test_a_direction_holds_fails_or_is_undecided(make_rows, a, b, verdict):
    scatter = [0.95, 1.05] * 4
    found = judge(make_rows({"times": {"a": [a * s for s in scatter], "b": [b] * 8}}), part())
    assert found["verdict"] == verdict
    assert found["low"] <= found["value"] <= found["high"] and found["n"] == 8
    assert bool(found["reason"]) == (verdict == "undecided")


def test_a_bootstrap_stands_beside_the_interval(make_rows):
    found = judge(make_rows({"times": {"a": 3, "b": 1}}, noise=0.1, rounds=40), part())
    ends = found["bootstrap_low"], found["bootstrap_high"]
    assert found["low"] < found["value"] < found["high"] and ends[0] < found["value"] < ends[1]
    assert ends != (found["low"], found["high"])
    assert ends == pytest.approx((found["low"], found["high"]), rel=0.02), "with many rounds the two agree"
    alone = judge(make_rows({"times": {"a": [3.0], "b": [1.0]}}), part())
    assert math.isnan(alone["bootstrap_low"])


def test_below_is_the_other_direction(make_rows):
    rows = make_rows({"times": {"a": 1, "b": 3}})
    assert judge(rows, part("below", published=0.5))["verdict"] == "holds"
    assert judge(rows, part("below", bound=0.1))["verdict"] == "fails"


@pytest.mark.parametrize(
    ("published", "factor"), [(3, "within 2x"), (6.5, "smaller"), (1.4, "larger"), ("yes", ""), (0, "")]
)
def test_the_size_has_its_own_column_and_no_say(make_rows, published, factor):
    found = judge(make_rows({"times": {"a": 3, "b": 1}}), part(published=published))
    assert (found["verdict"], found["factor"]) == ("holds", factor)
    if factor:
        assert found["times"] == pytest.approx(3 / published, rel=0.05)


def test_what_was_not_measured_is_not_testable_and_says_what_is_lacking(make_rows):
    rows = make_rows({"times": {"a": 3}})
    found = judge(rows, part())
    assert found["verdict"] == "needs rows" and "b (wall)" in found["reason"]
    assert math.isnan(found["value"])
    gone = judge(rows, part(select={**SIDES, "dataset": "amazon0302"}))
    assert gone["verdict"] == "needs rows" and "amazon0302" in gone["reason"]
    assert judge(rows, part(untestable="needs a K40"))["reason"] == "needs a K40"


def test_one_sample_decides_nothing(make_rows):
    found = judge(make_rows({"times": {"a": [3.0], "b": [1.0]}}), part())
    assert found["verdict"] == "undecided" and "single sample" in found["reason"]


def test_one_count_tells_all_and_one_time_nothing(make_rows):
    rows = make_rows({"counts": {"levels": 3.0, "minutes": 3.0}})
    count, time = ({"value": {"strategy": "serial", "metric": metric}} for metric in ("levels", "minutes"))
    assert judge(rows, part(kind="identity", bound=2.0, select=count))["verdict"] == "holds"
    assert judge(rows, part(bound=2.0, select=time))["verdict"] == "undecided"


def test_many_parts_are_judged_more_strictly_than_one(make_rows):
    rows = make_rows({"times": {"a": [1.0, 1.1] * 4, "b": [1.0] * 8}})
    alone = judge(rows, part())
    assert alone["verdict"] == "holds" and 0.002 < alone["p"] < 0.05
    crowd = judge(rows, *[part(id=f"X{k}") for k in range(60)])
    assert set(crowd["verdict"]) == {"undecided"}
    assert crowd["adjusted"].iloc[0] == pytest.approx(min(1, 60 * alone["p"]))


def test_pairs_are_taken_within_graphs_and_parameters(make_rows):
    rows = make_rows(
        *[
            {
                "dataset": f"er-{k}",
                "parameters": {"edges": 1000, "instance": k},
                "times": {"a": 3 * s, "b": s},
            }
            for k, s in enumerate((1, 9, 81, 729, 6561))
        ],
        {"dataset": "er-0", "parameters": {"edges": 9}, "times": {"a": 1, "b": 100}},
    )
    found = judge(rows, part(select={**SIDES, "parameters": {"edges": 1000}, "dataset": "er-*"}))
    assert found["graphs"] == 5 and found["n"] == 40
    assert found["value"] == pytest.approx(3, rel=0.02) and found["verdict"] == "holds"


@pytest.mark.parametrize(("a", "verdict"), [(1.0, "holds"), (1.3, "fails"), (1.03, "undecided")])
def test_equal_needs_the_interval_inside_the_margin(make_rows, a, verdict):
    rows = make_rows({"times": {"a": [a * s for s in [0.99, 1.01] * 4], "b": [1.0] * 8}})
    assert judge(rows, part("equal", published=1))["verdict"] == verdict


def test_a_count_needs_no_scatter(make_rows):
    rows = make_rows({"counts": {"depth": 347}})
    value = {"value": {"metric": "depth"}}
    assert judge(rows, part("exact", published=347, select=value))["verdict"] == "holds"
    assert judge(rows, part("exact", published=346, select=value))["verdict"] == "fails"
    less = {"value": {"metric": "depth", "less": 1}}
    assert judge(rows, part("exact", published=346, select=less))["verdict"] == "holds"
    assert judge(rows, part("within", kind="identity", published=200, select=value))["verdict"] == "holds"
    assert judge(rows, part("within", kind="identity", published=100, select=value))["verdict"] == "fails"


def test_an_exact_count_may_be_zero(make_rows):
    rows = make_rows({"counts": {"all_right": 0}})
    right = part("exact", published=1, select={"value": {"metric": "all_right"}}, beside={"again": {}})
    found = judge(rows, right)
    assert (found["verdict"], found["value"]) == ("fails", 0)
    assert json.loads(found["beside"]) == {"again": [0, 0, 0]}
    assert judge(rows, part("exact", published=0, select=right.select))["verdict"] == "holds"
    assert "not positive" in judge(rows, part("above", select=right.select))["reason"]


def test_an_ordering_is_as_good_as_its_weakest_pair(make_rows):
    rows = make_rows({"times": {"a": 1, "b": 2, "c": 3, "d": 3}}, noise=0.02)
    for order, verdict in (("abc", "holds"), ("acb", "fails"), ("abcd", "undecided")):
        found = judge(rows, part("ordering", select={"strategies": list(order)}))
        assert found["verdict"] == verdict, order


def depths(make_rows, **times):
    cells = [
        {
            "dataset": f"d{depth}",
            "parameters": {"depth": depth},
            "times": {name: time(depth) for name, time in times.items()},
            "counts": {"depth": depth, "nodes": 1000 + k % 2},
        }
        for k, depth in enumerate((1, 10, 100, 1000, 10**4, 10**5))
    ]
    return make_rows(*cells, noise=0.02)


def test_a_crossover_is_a_direction_at_both_ends_and_a_place_between(make_rows):
    rows = depths(make_rows, a=lambda d: 25, b=lambda d: d / 10)
    found = judge(rows, part("crossover", published=250, select={**SIDES, "x": "depth"}))
    assert found["verdict"] == "holds" and found["factor"] == "within 2x"
    assert found["low"] < 250 < found["high"]
    never = judge(depths(make_rows, a=lambda d: 25, b=lambda d: 1), part("crossover", select={**SIDES, "x": "depth"}))
    assert never["verdict"] == "fails"


def test_trends(make_rows):
    rows = depths(make_rows, a=lambda d: d / 10, b=lambda d: 3)
    linear = part("slope-within", bounds=(0.9, 1.1), select={"x": "depth", "value": {"strategy": "a"}})
    flat = part("slope-within", bounds=(-0.1, 0.1), select={"x": "metric:depth", "value": {"strategy": "b"}})
    assert judge(rows, linear)["verdict"] == judge(rows, flat)["verdict"] == "holds"
    wrong = part("slope-within", bounds=(-0.1, 0.1), select={"x": "depth", "value": {"strategy": "a"}})
    assert judge(rows, wrong)["verdict"] == "fails"
    grows = part("slope-above", bound=0, select={"x": "depth", "value": {"strategy": "a"}})
    assert judge(rows, grows)["verdict"] == "holds"
    two = {"first": {"strategy": "a", "x": "depth"}, "second": {"strategy": "b", "x": "depth"}}
    assert judge(rows, part("steeper", select=two))["verdict"] == "holds"
    swapped = {"first": two["second"], "second": two["first"]}
    assert judge(rows, part("steeper", select=swapped))["verdict"] == "fails"
    why = {"value": {"strategy": "a"}, "features": ["depth", "nodes"]}
    assert judge(rows, part("explained-by", select=why))["verdict"] == "holds"


def test_a_share_of_several_metrics(make_rows):
    cells = [
        {"dataset": f"d{d}", "parameters": {"depth": d}, "metric": metric, "times": {"naive": ms}}
        for d in (10, 100, 1000)
        for metric, ms in (("scan", d), ("rest", 100))
    ]
    select = {"x": "depth", "value": {"metric": "scan", "of": ["scan", "rest"]}}
    found = judge(make_rows(*cells, noise=0.001), part("slope-above", bound=0, select=select))
    assert found["value"] == pytest.approx(0.5 * math.log10((1000 / 1100) / (10 / 110)), rel=0.05)


def test_sides_from_different_experiments_are_not_paired_and_units_agree(make_rows):
    rows = make_rows(
        *[
            {
                "experiment": "atomics",
                "metric": "throughput",
                "parameters": {"threads": n},
                "times": {"add": rate},
            }
            for n, rate in ((1, 0.1), (64, 1.5))
        ],
        {"experiment": "clocks", "metric": "clock", "times": {"sm": [2e9]}},
    )
    rows.loc[rows["metric"] == "throughput", "unit"] = "G/s"
    rows.loc[rows["metric"] == "clock", "unit"] = "Hz"
    sides = {
        "numerator": {"experiment": "atomics", "metric": "throughput", "pick": "largest"},
        "denominator": {"experiment": "clocks", "metric": "clock"},
    }
    found = judge(rows, part("within", published=1, select=sides))
    assert found["value"] == pytest.approx(0.75, rel=0.02) and found["verdict"] == "holds"


def test_an_arithmetic_mean_is_taken_only_where_the_paper_took_one(make_rows):
    graphs = {"x": 0.1, "y": 0.001}
    rows = make_rows(*[{"dataset": n, "times": {"a": [t] * 3, "b": [1.0] * 3}} for n, t in graphs.items()])
    beside = {"geometric mean": {"mean": "geometric"}}
    population = {"strata": "both graphs"}
    arithmetic = part("below", select={**SIDES, "mean": "arithmetic"}, beside=beside, population=population)
    found = judge(rows, arithmetic)
    assert found["value"] == pytest.approx(0.0505)
    assert json.loads(found["beside"])["geometric mean"][0] == pytest.approx(0.01)
    lacking = part(select={**SIDES, "dataset": ["x", "y", "z"], "complete": True})
    assert judge(rows, lacking)["reason"] == "needs all 3 data sets; not here: z"


def test_named_strata_are_no_sample_of_graphs(make_rows):
    """The same rows: strata far apart decide where every round of every one agrees, a collection does not."""
    graphs = {"x": 100.0, "y": 1.1}
    rows = make_rows(*[{"dataset": n, "times": {"a": t, "b": 1.0}} for n, t in graphs.items()])
    strata, collection = (judge(rows, part(population={kind: "two"})) for kind in ("strata", "collection"))
    assert strata["value"] == pytest.approx(collection["value"])
    assert (strata["verdict"], collection["verdict"]) == ("holds", "undecided")
    assert strata["graphs"] == 2 and strata["high"] / strata["low"] < 1.05
    single = {"dataset": "y", "times": {"a": [9.0], "b": [1.0]}}
    alone = make_rows({"dataset": "x", "times": {"a": 9.0, "b": 1.0}}, single)
    assert judge(alone, part(population={"strata": "two"}))["verdict"] == "undecided", "a stratum of a single round"


def test_a_graph_counts_once(make_rows):
    cells = [{"dataset": "x", "experiment": name, "times": {"a": 3, "b": 1}} for name in ("one", "two")]
    cells.append({"dataset": "x-printed", "times": {"a": 3, "b": 1}})
    found = judge(make_rows(*cells), part(select={**SIDES, "same": {"x-printed": "x"}}))
    assert found["graphs"] == 1 and found["n"] == 24


def test_an_identity_agrees_on_every_graph_or_fails(make_rows):
    rows = make_rows({"dataset": "x", "times": {"a": 3, "b": 1}}, {"dataset": "y", "times": {"a": 1, "b": 2}})
    every, one = part(kind="identity"), part(kind="identity", select={**SIDES, "dataset": "x"})
    assert judge(rows, every)["verdict"] == "fails" and judge(rows, one)["verdict"] == "holds"
    assert math.isnan(judge(rows, one)["p"])
    mean = part(kind="identity", population={"random": "two"})
    assert judge(rows, mean)["verdict"] == "holds", "of random graphs their mean tells"


def test_equal_times_show_no_difference(make_rows):
    rows = make_rows({"times": {"a": 1.0, "b": 1.0}}, rounds=40)
    assert judge(rows, part())["verdict"] == judge(rows, part("below"))["verdict"] == "no difference"


def test_readings_that_differ_are_the_verdict(make_rows):
    rows = make_rows({"times": {"a": 2, "b": 1, "c": 4, "d": 1.5}})
    readings = {"one": {}, "other": {"denominator": {"strategy": "d"}}}
    assert judge(rows, part(readings=readings))["verdict"] == "holds"
    readings["third"] = {"denominator": {"strategy": "c"}}
    found = judge(rows, part(readings=readings))
    assert found["verdict"] == "depends on the reading" and found["reason"].endswith("third: 0.501, disagrees)")
    bounds = {f"{bound}": {"bound": bound} for bound in (1, 3)}
    assert judge(rows, part(readings=bounds))["verdict"] == "depends on the reading"
    sides = {"other side": {"relation": "below"}, "this side": {}}
    assert judge(rows, part(readings=sides))["verdict"] == "depends on the reading"
    near = make_rows({"times": {"a": [1, 2, 1, 0.4], "b": [1] * 4, "c": [0.1] * 4}}, rounds=4)
    unclear = {"one": {"denominator": {"strategy": "c"}}, "other": {}}
    assert judge(near, part("below", readings=unclear))["verdict"] != "depends on the reading"


def test_stale_rows_of_a_reading_and_of_a_figure_beside_are_told(make_rows):
    """The verdict rests on each reading's rows, once each; a figure beside it on its own."""
    rows = make_rows({"times": {"a": 2, "b": 1, "d": 1.5, "e": 3}})
    beside = {"e": {"numerator": {"strategy": "e"}}, "absent": {"numerator": {"strategy": "f"}}}
    one = part(readings={"one": {}, "other": {"denominator": {"strategy": "d"}}}, beside=beside)
    judged = claims.judge({"m": rows}, [one])
    used = claims.builds_of(judged, [one], {"m": rows})
    own = rows["strategy"] != "e"
    assert used.loc[used["beside"] == "", "rows"].sum() == own.sum() and set(used["beside"]) == {"", "e"}
    for strategies, labels in ((["d"], "[]"), (["b", "d"], '["e"]'), (["e"], '["e"]')):
        old = rows["strategy"].isin(strategies) & own
        found = claims.marked(judged, used, {"m": old_of(rows, strategies)}).iloc[0]
        assert (found["stale"], found["measured"]) == (old.sum(), "abc" if old.any() else "")
        assert found["beside_stale"] == labels


def test_what_can_be_holds_with_one_instance_and_never_fails(make_rows):
    rows = make_rows({"dataset": "x", "times": {"a": 1, "b": 3}}, {"dataset": "y", "times": {"a": 2, "b": 1}})
    instances = {name: {"dataset": name} for name in "xy"}
    assert judge(rows, part("exists", readings=instances))["verdict"] == "holds"
    rows.loc[rows["dataset"] == "y", "value"] /= rows["strategy"].map({"a": 2.5, "b": 1})
    found = judge(rows, part("exists", readings=instances))
    assert found["verdict"] == "undecided" and "no instance" in found["reason"]
    assert found["value"] == pytest.approx(0.8, rel=0.1), "the nearest"


def test_a_prediction_must_beat_naming_the_same_side(make_rows):
    def world(winners, predictions):
        cells = []
        for k, (first, right) in enumerate(zip(winners, predictions, strict=True)):
            times, counts = {"a": 1 if first else 3, "b": 2}, {"order": 1 if right else 2}
            cells.append({"dataset": f"g{k}", "times": times, "counts": counts})
        return make_rows(*cells)

    select = {**SIDES, "value": {"strategy": "serial", "metric": "order"}}
    model = part("beats-constant", select=select)
    same = judge(world([True] * 12, [True] * 12), model)
    assert same["verdict"] == "undecided" and same["value"] == 0 and same["reason"].startswith("right on as many")
    better = judge(world([True, False] * 6, [True] * 12), model)
    assert better["verdict"] == "holds" and better["value"] == pytest.approx(0.5)
    assert judge(world([True] * 12, [False] * 12), model)["verdict"] == "fails"


def test_blocks_of_the_papers_gpu_are_computed(make_rows):
    blocks = {"threads": 256, "shared": 16384, "shared_at_most": 49152, "threads_at_most": 2048, "blocks_at_most": 16}
    rows = make_rows({"times": {"a": 1}})
    found = judge(rows, part("computed", select={"blocks": blocks}))
    assert found["verdict"] == "holds" and found["value"] == 3 / 8
    assert judge(rows, part("computed", select={"blocks": {**blocks, "shared": 4096}}))["verdict"] == "fails"
    assert judge(rows[:0], part("computed", select={"blocks": blocks}))["verdict"] == "needs rows"


def test_a_run_timed_in_part_is_extrapolated(make_rows):
    def both(whole, some, **rest):
        return [{"times": {"whole": whole}, **rest}, {"dataset": "h", "times": {"some": some}, **rest}]

    against = [{"dataset": name, "times": {"b": 1}} for name in "gh"]
    rows = make_rows(*both(8, 2), *against, *both(1.0, 0.25, metric="share"), *both(2.0, 2.0, metric="made"))
    side = {"strategy": ["whole", "some"], "per": "share"}
    found = judge(rows, part(select={**SIDES, "numerator": side, "denominator": {"strategy": "b"}}))
    assert found["value"] == pytest.approx(8, rel=0.02) and found["graphs"] == 2
    more = judge(rows, part(select={**SIDES, "numerator": {**side, "plus": "made"}, "denominator": {"strategy": "b"}}))
    assert more["value"] == pytest.approx(10, rel=0.02)


def test_papers_are_families_of_their_own(make_rows):
    rows = make_rows({"times": {"a": [1.06, 0.99] * 6, "b": [1.0] * 12}})
    alone = judge(rows, part())
    assert LEVEL / 12 < alone["p"] < LEVEL
    others = [part(id=f"Y{k}", paper="Y") for k in range(12)]
    assert judge(rows, part(), *others).iloc[0]["adjusted"] == alone["p"]
    assert judge(rows, part(), *[part(id=f"X{k}") for k in range(2, 14)]).iloc[0]["adjusted"] > LEVEL


def test_figures_beside_a_verdict_have_no_say(make_rows):
    rows = make_rows({"times": {"a": 3, "b": 1, "c": 9}})
    found = judge(rows, part(beside={"c": {"denominator": {"strategy": "c"}}, "d": {"dataset": "none"}}))
    assert found["verdict"] == "holds"
    beside = json.loads(found["beside"])
    assert list(beside) == ["c"] and beside["c"][0] == pytest.approx(1 / 3, rel=0.02)
    lacking = part(select={**SIDES, "numerator": {"strategy": "d"}}, beside={"a": {"numerator": {"strategy": "a"}}})
    found = judge(rows, lacking)
    assert found["verdict"] == "needs rows" and json.loads(found["beside"])["a"][0] == pytest.approx(3, rel=0.02)


def test_an_open_question_gets_an_answer_and_no_verdict(make_rows):
    found = judge(make_rows({"times": {"a": 3, "b": 1}}), part("open-question", published="open"))
    assert found["verdict"] == "open question, answered" and found["value"] == pytest.approx(3, rel=0.02)


def test_an_entry_counts_its_parts(make_rows):
    rows = make_rows({"times": {"a": 3, "b": 1}})
    judged = judge(
        rows,
        part(id="X1a"),
        part("below", id="X1b"),
        part(id="X1c", needs="hardware", untestable="a K40"),
        part(id="X2", claim="X2", twins=True),
        part(id="X3a", claim="X3", needs="hardware", untestable="a K40"),
        part(id="X3b", claim="X3", needs="hardware", untestable="a K40"),
    )
    found = telling.entries(judged).set_index("claim")["summary"]
    assert found["X1"] == "1 of 3 parts holds; 1 fails, 1 needs hardware"
    assert found["X2"] == "holds on twins"
    assert found["X3"] == "needs hardware"


def test_machines_stand_side_by_side(make_rows):
    fast, slow = make_rows({"times": {"a": 3, "b": 1}}), make_rows({"times": {"a": 1, "b": 3}})
    found = claims.judge({"one": fast, "two": slow}, [part()])
    assert found.set_index("machine")["verdict"].to_dict() == {"one": "holds", "two": "fails"}


@pytest.mark.parametrize(("again", "passes"), [(1.0, True), (1.1, False)])
def test_a_control_passes_when_a_strategy_equals_itself(make_rows, again, passes):
    times = {"persistent": 1.0, "persistent-again": again}
    found = claims.controls({"m": make_rows({"experiment": "control", "times": times}, noise=0.005)})
    assert found[["strategy", "passes"]].values.tolist() == [["persistent", passes]]


def old_of(rows, strategies):
    """The rows of these strategies as stale ones."""
    columns = ["study", "strategy", "dataset", "kernel"]
    return rows[rows["strategy"].isin(strategies)][columns].drop_duplicates().assign(commit="abc")


def test_the_summary_says_all_and_tells_of_stale_recordings(make_rows, tmp_path):
    from lockstep.evidence.recording import Recording

    rows = make_rows({"experiment": "table-4.1", "times": {"naive": 1.0}})
    Recording(tmp_path / "rec" / "nvidia-h200-1" / "3-toposort-depth.csv").append(rows.to_dict("records"))
    where = {"recordings": tmp_path / "rec", "results": tmp_path / "none"}
    fine = claims.summary(**where, stale=lambda rows: old_of(rows, []))
    assert "nvidia-h200-1: 76 claims, 180 parts" in fine.text and not fine.stale
    old = claims.summary(**where, stale=lambda rows: old_of(rows, ["naive"]))
    assert "stale: 3-toposort-depth/naive" in old.text and "snakemake --cores 1 && make publish" in old.text
    many = make_rows({"experiment": "table-4.1", "times": {f"s{k}": 1.0 for k in range(20)}})
    Recording(tmp_path / "rec" / "nvidia-h200-1" / "3-toposort-depth.csv").append(many.to_dict("records"))
    text = claims.summary(**where, stale=lambda rows: old_of(rows, rows["strategy"])).text
    (line,) = [line for line in text.splitlines() if line.startswith("  stale: ")]
    assert line.count("/") == telling.NAMED and f" and {21 - telling.NAMED} more; measured at abc" in line
    none = claims.summary(recordings=tmp_path / "no", results=tmp_path / "no")
    assert "No machine is recorded yet" in none.text


def test_statements_stand_below_one_another():
    told = ("holds", "9 of 16 parts hold on twins; 1 fails, 3 undecided, 3 need data")
    lines = [("m", f"D{k}", summary, "It is so.", 13, 16) for k, summary in enumerate(told)]
    entries = pd.DataFrame(lines, columns=["machine", "claim", "summary", "statement", "tested", "parts"])
    none = pd.DataFrame(columns=["machine", "verdict", "kind", "stale"])
    _, *shown = telling.lines(claims.Summary(none, entries, none), ["m"])
    assert len(shown) == 2 and len({line.index("It is so.") for line in shown}) == 1


def test_a_strategy_over_another_is_a_figure_of_its_own(make_rows):
    """The gain on one kind of graph over the gain on another: each taken within rounds."""
    rows = make_rows(
        {"dataset": "a", "parameters": {"kind": "a"}, "times": {"plain": 8, "quick": 2}},
        {"dataset": "b", "parameters": {"kind": "b"}, "times": {"plain": 2, "quick": 2}},
    )
    sides = [{"strategy": "plain", "over": "quick", "parameters": {"kind": kind}} for kind in "ab"]
    found = judge(rows, part(select={"numerator": sides[0], "denominator": sides[1]}))
    assert found["value"] == pytest.approx(4, rel=0.05) and found["verdict"] == "holds"
    gone = judge(rows, part(select={"value": {"strategy": "plain", "over": "slow"}}))
    assert gone["verdict"] == "needs rows" and "no round holds plain and slow" in gone["reason"]


def test_a_control_counts_wherever_it_was_timed(make_rows):
    rows = make_rows(
        {"experiment": "main", "dataset": "g", "times": {"a": 1.0, "a-again": 1.3, "b": 2.0}},
        {"experiment": "main", "dataset": "h", "times": {"a": 9.0}},  # without its twin: no part of the control
    )
    (line,) = claims.controls({"m": rows}).to_dict("records")
    assert (line["strategy"], line["passes"], line["n"]) == ("a", False, 8)


def test_a_control_is_judged_where_the_ledger_says_and_shows_the_rest(make_rows):
    rows = make_rows(
        {"experiment": "calm", "times": {"a": 1.0, "a-again": 1.0}},
        {"experiment": "wild", "times": {"a": [1.0, 2.0] * 4, "a-again": [2.0, 1.0] * 4}},
    )
    beside = {"wild ones": {"experiment": "wild"}, "nowhere": {"experiment": "none"}}
    control = ledger.Control("3-toposort-depth", "a", "calm ones", "because", {"experiment": "calm"}, beside)
    (line,) = claims.controls({"m": rows}, {("3-toposort-depth", "a"): control}).to_dict("records")
    assert (line["of"], line["reason"], line["passes"], line["n"]) == ("calm ones", "because", True, 8)
    assert line["scatter"] == pytest.approx(1.014, abs=0.01), "two noises of 1 %"
    ((label, (value, low, high, scatter)),) = json.loads(line["beside"]).items()
    assert (label, value) == ("wild ones", pytest.approx(1)) and low < 0.97 and high > 1.03
    assert scatter == pytest.approx(np.exp(np.log(2) * np.sqrt(8 / 7)))
    assert not claims.controls({"m": rows}, {})["passes"].item(), "all cells together do not pass"
    elsewhere = {("3-toposort-depth", "a"): ledger.Control("3-toposort-depth", "a", select={"experiment": "none"})}
    assert claims.controls({"m": rows}, elsewhere).empty


def test_a_machine_with_few_rows_says_in_a_line_what_another_one_tested(make_rows, tmp_path):
    from lockstep.evidence.recording import Recording

    cell = {"experiment": "table-4.1", "parameters": {"nodes": 1000000, "edges": 1000}}
    many = make_rows({**cell, "times": {"serial": 9}}, {**cell, "metric": "device", "times": {"naive": 1}})
    times = {"gpus@1-dynamic": 2, "gpus@2-dynamic": 1}
    few = make_rows({"study": "5-swarm-batch", "experiment": "gpus", "times": times})
    cell = {"experiment": "table-4.1", "parameters": {"nodes": 1000000, "edges": 1000000}}
    others = make_rows({**cell, "times": {"serial": 9}}, {**cell, "metric": "device", "times": {"naive": 1}})
    for name, rows in (("gpu-1", many), ("gpu-2", few), ("gpu-3", others)):
        study = rows["study"].iloc[0]
        Recording(tmp_path / name / f"{study}.csv").append(rows.to_dict("records"))
    found = claims.summary(recordings=tmp_path, results=tmp_path / "none")
    told = dict(block.split(": ", 1) for block in re.split(r"(?m)^(?=gpu-)", found.text) if block)
    first, second, third = (told[f"gpu-{number}"] for number in (1, 2, 3))
    assert "  D1 " in first and "tested on another machine alone: D2" in first
    assert "  D2 " in third and "tested on another machine alone: D1" in third
    assert second.startswith("no claim is tested by what it recorded") and len(second.splitlines()) == 1


def test_an_identity_that_fails_on_some_graphs_names_them(make_rows):
    rows = make_rows(*[{"dataset": f"g{k}", "counts": {"steps": k}} for k in (1, 2, 9)])
    select = {"experiment": "e", "value": {"strategy": "serial", "metric": "steps"}}
    for bound, reason in ((3, "not on 1 of 3 graphs: g9 9"), (1, "")):  # on some, and nowhere
        line = judge(rows, part("below", kind="identity", bound=bound, select=select))
        assert (line["verdict"], line["reason"]) == ("fails", reason)


def test_small_twins_of_several_seeds_count_once_with_their_original_where_asked(make_rows):
    names = ("twin-A", "twin-A-by-8-seed-1", "twin-A-by-8-seed-2", "twin-B")
    rows = make_rows(*[{"dataset": name, "times": {"a": 2, "b": 1}} for name in names])
    for once, graphs in ((False, 4), ("seed", 3), ("original", 2)):
        assert judge(rows, part(select={**SIDES, "once": once}))["graphs"] == graphs


def test_a_ratio_of_cpu_to_gpu_says_how_slow_the_host_was(make_rows):
    probes = {"metric": "host", "times": {"(clocks)": [300.0, 450.0, 900.0]}}
    calm = {"dataset": "elsewhere", "metric": "host", "times": {"(clocks)": [150.0]}}
    timed = {"times": {"serial": 9, "naive": 1, "graph": 1}}
    rows = make_rows(timed, {"metric": "device", "times": {"naive": 1, "graph": 1}}, probes, calm)
    sides = {"numerator": {"strategy": "serial"}, "denominator": {"strategy": "naive"}}
    select = {"experiment": "e", "dataset": "g", **sides}
    assert selecting.host(rows, select) == [3.0, 2.0, 6.0]
    assert selecting.host(rows, {**select, "numerator": {"strategy": "graph"}}) == [], "both on the GPU"
    assert selecting.host(rows[rows["strategy"] != "(clocks)"], select) == [], "no probe"


def world(make_rows, *graphs, **how):
    return make_rows(*[{"dataset": f"g{k}", "times": times} for k, times in enumerate(graphs)], **how)


NONE = part("none-dominates", published="yes", select={"strategies": ["a", "b", "c"]})


def test_none_dominates_where_winners_differ_and_the_mean_over_graphs_does_not_matter(make_rows):
    # over all graphs a is far ahead of everyone; on g1 it still loses
    rows = world(make_rows, {"a": 1, "b": 9, "c": 9}, {"a": 1.2, "b": 1, "c": 9}, {"a": 1, "b": 9, "c": 9})
    found = judge(rows, NONE)
    assert (found["verdict"], found["graphs"]) == ("holds", 3)
    assert found["value"] == pytest.approx(1.2, rel=0.02) and found["low"] > 1
    asked = judge(rows, part("none-dominates", select=NONE.select, beside={"C": {"value": {"strategy": "c"}}}))
    assert json.loads(asked["beside"])["C"][0] == pytest.approx(9, rel=0.02)


def test_one_strategy_that_is_ahead_everywhere_dominates(make_rows):
    found = judge(world(make_rows, {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 1.3, "c": 2}), NONE)
    assert found["verdict"] == "fails" and found["value"] == pytest.approx(1 / 1.3, rel=0.02)


def test_a_strategy_that_is_level_with_the_fastest_leaves_dominance_open(make_rows):
    level = world(make_rows, {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 1, "c": 2}, noise=0.05)
    assert judge(level, NONE)["verdict"] == "undecided"


def test_the_clearest_of_many_chance_losses_is_no_loss(make_rows):
    """a never loses in truth; of 40 graphs some show it behind, and the clearest of them was picked."""
    even = {"a": 1, "b": 1, "c": 2}
    calls = [judge(world(make_rows, *[even] * 40, seed=seed), NONE)["verdict"] for seed in range(6)]
    assert "holds" not in calls
    rows = world(make_rows, *[even] * 40)
    alone = [judge(rows, part(select={**SIDES, "dataset": f"g{k}"}))["p"] for k in range(40)]
    assert min(alone) < 0.05, "without the correction one graph would have spoken"


def test_dominance_names_what_is_lacking(make_rows):
    lacking = judge(world(make_rows, {"a": 1, "b": 2}), NONE)
    assert lacking["verdict"] == "needs rows" and "c (wall)" in lacking["reason"]
    single = judge(world(make_rows, {"a": [1.0], "b": [2.0], "c": [3.0]}), NONE)
    assert single["verdict"] == "needs rows" and "two rounds" in single["reason"]


def test_verdicts_are_chosen_by_study_claim_machine_and_word(make_rows):
    judged = claims.judge({"box-1": make_rows({"experiment": "table-4.1", "times": {"naive": 1.0}})})
    assert set(telling.chosen(judged, study="3-")["study"]) == {"3-toposort-depth"}
    assert set(telling.chosen(judged, study="sgd")["study"]) == {"1-sgd-schedules"}
    assert set(telling.chosen(judged, claim="D1")["claim"]) == {"D1"}, "and not D10"
    assert set(telling.chosen(judged, claim="d1a")["part"]) == {"D1a"}
    assert set(telling.chosen(judged, claim="D")["paper"]) == {"D"}
    assert len(telling.chosen(judged, machine="box", verdict="needs rows")) == (judged["verdict"] == "needs rows").sum()
    with pytest.raises(ValueError, match="no part 'Z9' among these verdicts; there are A1, A2"):
        telling.chosen(judged, claim="Z9")
    with pytest.raises(ValueError, match="there are 0-machine, 1-sgd-schedules, 2-sssp-sync, 3-"):
        telling.chosen(judged.iloc[::-1], study="9")
    lines = list(telling.listed(telling.chosen(judged, claim="D1")))
    assert lines[0] == "box-1" and lines[1].startswith("  D1a")


def test_a_listed_verdict_has_its_figure_with_all_its_digits():
    """Counts to the last digit, codes as words, no exponents."""
    lines = {
        "B9b": {"value": 88234.0, "low": math.nan, "high": math.nan, "unit": "edges"},
        "D5b": {"value": 1318.2, "low": 1221.0, "high": 1408.0, "unit": "layers"},
        "B4": {"value": 0.0, "low": math.nan, "high": math.nan, "unit": "1: right, 0: wrong"},
        "D6a": {"value": 1.0004, "low": 0.99, "high": 1.0101, "unit": "slope"},
    }
    rest = {"machine": "box", "verdict": "holds", "stale": 0, "reason": "", "statement": "", "of": "it"}
    judged = pd.DataFrame([{"part": part, **line, **rest} for part, line in lines.items()])
    assert list(telling.listed(judged)) == [
        "box", "  B9b   holds: 88,234 edges; it", "  D5b   holds: 1,320 layers (1,220 to 1,410); it",
        "  B4    holds: wrong; it", "  D6a   holds: 1.00 (0.990 to 1.01) slope; it",
    ]  # fmt: skip


def test_verdicts_are_judged_once_as_long_as_nothing_is_written(make_rows, tmp_path, monkeypatch):
    from lockstep.evidence import store
    from lockstep.evidence.recording import Recording

    monkeypatch.setattr(store.paths, "CACHE", tmp_path / "cache")
    judge, asked = claims.judge, []
    monkeypatch.setattr(claims, "judge", lambda *given: asked.append(1) or judge(*given))
    rows = make_rows({"experiment": "table-4.1", "times": {"naive": 1.0}})
    recording = Recording(tmp_path / "rec" / "box-1" / "3-toposort-depth.csv")
    recording.append(rows.to_dict("records"))
    where = {"recordings": tmp_path / "rec", "results": tmp_path / "none"}
    first, again = claims.summary(**where), claims.summary(**where)
    assert len(asked) == 1 and first.text == again.text and first.verdicts.equals(again.verdicts)
    recording.append(rows.assign(round=rows["round"] + 100).to_dict("records"))
    claims.summary(**where)
    assert len(asked) == 2, "a row more, and all is judged anew"
    again = Recording(tmp_path / "rec" / "box-1" / "2" / "3-toposort-depth.csv")
    again.append(rows.to_dict("records"))
    claims.summary(**where)
    assert len(asked) == 3, "a further recording counts at once"
    for file in (tmp_path / "cache").rglob("*.pickle"):
        file.write_bytes(b"damaged")
    claims.summary(**where)
    assert len(asked) == 4
