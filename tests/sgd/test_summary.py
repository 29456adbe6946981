"""Sentences say what rows hold, and name what they lack."""

import json

import pandas as pd

from lockstep.sgd.experiments import twins
from lockstep.sgd.results import coverage, summary, views


def rows(*lines):
    found = pd.DataFrame(lines, columns=["experiment", "dataset", "strategy", "value"])
    return found.assign(parameters='{"rank":16}', metric="wall", round=0)


def test_nothing_is_said_of_nothing():
    assert summary.seen(rows()) == summary.star(rows()) == []
    (lacking,) = coverage.unmeasured(rows())
    assert all(name in lacking for name in twins.TABLE) and coverage.REAL in lacking


def test_the_fastest_serializable_schedule_of_each_twin():
    times = {"edge-locked": 90.0, "tiles": 3.0, "hogwild": 1.0, "multicore": 2.0}
    graphs = ("STACK", "STACK-printed", "IMDB")
    found = rows(*[("scale-free", f"twin-{name}", *one) for name in graphs for one in times.items()])
    (said,) = summary.seen(found)
    assert said.startswith("Scale-free twins measured: 2, STACK in two sizes.")
    assert "is `tiles` on all 3, 30 times as fast as `edge-locked`" in said, "neither lossy nor a CPU's"
    best = rows(*[("scale-free", f"twin-{name}", "(best)", 3.0) for name in graphs[:2]])
    (said,) = summary.seen(pd.concat([found, best]))
    assert "is `tiles` on all 2" in said, "a graph half measured has no winner"
    assert "(IMDB not by all schedules)" in said
    lacking = coverage.unmeasured(found)[0]
    assert "scale-free twins of WIKI" in lacking and "road twins CAL" in lacking and "IMDB" not in lacking


def test_schedules_share_the_first_place():
    lines = [("STACK", "agm-edge", 1), ("STACK", "diagonal", 2), ("BGG", "agm-edge", 2), ("BGG", "diagonal", 1)]
    lines += [("WIKI", "agm-edge", 1), ("WIKI", "tiles", 0.5)]
    (said,) = summary.seven(rows(*[("scale-free", f"twin-{name}", *line) for name, *line in lines]))
    first = "on the scale-free twins `agm-edge` on 2 of 3 and `diagonal` on 1 (BGG)"
    assert first in said, "tiles are none of the seven"


def test_what_a_conflict_costs_and_what_a_rating():
    def counted(experiment):
        own = {"largest degree": 100, "ratings": 1e6}
        lines = [("(graph)", metric, value) for metric, value in own.items()]
        lines += [("edge-locked", "passes", 50), ("edge-locked", "wall", 2.5), ("agm-edge", "supersteps", 100)]
        lines += [("agm-edge", "wall", 0.2)]
        found = pd.DataFrame(lines, columns=["strategy", "metric", "value"])
        return found.assign(experiment=experiment, dataset="twin-X", parameters="{}", round=0)

    (hubs,), (roads,) = summary.conflicts(counted("scale-free")), summary.traffic(counted("road"))
    assert "takes 50 us and completes 2 ratings of the largest node" in hubs and "takes 2 us and completes 1." in hubs
    assert "takes 50 passes and `agm-edge` 100 steps" in roads
    assert "2.50 ns each with two locks, 0.200 ns without" in roads
    assert summary.conflicts(counted("road")) == summary.traffic(counted("scale-free")) == summary.seven(rows()) == []
    inside = counted("scale-free").iloc[2:4].assign(strategy="edge-locked-resident", value=[25, 0.5])
    _, launched, turned = summary.conflicts(pd.concat([counted("scale-free"), inside]))
    assert "take 0.200 of that time: 5 us a rating of the largest node, against 2 us of `agm-edge`" in launched
    assert "still faster on all of them: passing a hub's lock on" in turned
    short = " ".join(summary.brief(pd.concat([counted("scale-free"), inside])))
    assert "completes 2 of them in a pass through the host of 50 us, " in short and "1 in a step of 2 us, " in short
    assert short.endswith("take 0.200 of that time; the best offline schedule is still faster on all of them.")
    assert summary.brief(counted("scale-free"))[1:] == summary.brief(rows()) == []
    faster = inside.assign(value=[25, 0.1])
    *_, turned = summary.conflicts(pd.concat([counted("scale-free"), faster]))
    assert turned.startswith("Host synchronization, not the locks, ")
    blocks = counted("scale-free").iloc[5:].assign(strategy="block-diagonal", value=0.05)
    *_, turned = summary.conflicts(pd.concat([counted("scale-free"), faster, blocks]))
    assert "still faster on all of them: some of them complete several" in turned
    other = summary.conflicts(pd.concat([counted("scale-free"), inside.assign(dataset="twin-Y")]))
    assert len(other) == 1, "a ratio needs both"
    patches = (
        counted("road")
        .iloc[:2]
        .assign(strategy="patches", metric=["wall", "edges_after_first_level"], value=[0.05, 7e4])
    )
    _, moved = summary.traffic(pd.concat([counted("road"), patches]))
    assert "0.0500 ns a rating; 7 % of the ratings connect two patches" in moved


def test_where_dearer_barriers_turn_the_verdict():
    def timed(name, option, *times):
        delays = (0, 99, 9999)
        lines = [(json.dumps({option: delay}), name, ms) for delay, ms in zip(delays, times, strict=True)]
        return pd.DataFrame(lines, columns=["parameters", "strategy", "value"])

    parts = [timed("agm-edge", "barrier_delay", 1, 1, 4), timed("sgm", "barrier_delay", 2, 2, 8)]
    parts += [timed("edge-locked", "barrier_delay", 2, 2, 2), timed("agm-edge", "lock_delay", 1, 1, 1)]
    parts += [timed("node-locked", "lock_delay", 2, 3, 4)]
    known = {"experiment": "platform", "dataset": "twin-X", "metric": "wall", "round": 0}
    (said,) = summary.turning(pd.concat(parts, ignore_index=True).assign(**known))
    assert "on X online schedules overtake at about 1,000 cycles more a barrier" in said, "half-way from 100 to 10,000"
    assert "on X offline ones stay faster up to 9,999 cycles more a lock" in said
    assert summary.turning(rows()) == []


def test_what_float16_brings_by_rank():
    lines = [(16, None, 10, 8), (16, "float16", 9, 8.8), (64, None, 20, 20), (64, "float16", 26, 10)]
    found = pd.concat([
        rows(("fast", "twin-X", "tiles", tiles), ("fast", "twin-X", "hogwild", lossy)).assign(
            parameters=json.dumps({"rank": rank} | ({"storage": storage} if storage else {}))
        )
        for rank, storage, tiles, lossy in lines
    ])  # fmt: skip
    (said,) = summary.halved(found)
    assert "`tiles` takes 0.900 and 1.30 at ranks 16 and 64" in said and "`hogwild` takes 1.10 and 0.500" in said
    assert "`tiles` is slower with float16 at rank 64: " in said
    (said,) = summary.halved(found[found["parameters"].str.contains("16")])
    assert "`tiles` takes 0.900 at rank 16; " in said and "slower" not in said
    assert summary.halved(rows()) == summary.halved(found[~found["parameters"].str.contains("float16")]) == []


def test_an_update_of_a_star():
    locks = "edge-locked +one group"
    lines = [("star-4", locks, 0.1), ("star-1000", "tiles", 0.2), ("star-1000", locks, 2.0)]
    (said,) = summary.star(rows(*[("costs", *line) for line in lines]))
    assert "star of 1,000 ratings" in said and "200 ns by `tiles` and 2,000 ns with two locks for each" in said


def test_all_is_measured():
    lines = [(size.kind, f"twin-{name}", "tiles", 1.0) for name, size in twins.TABLE.items()]
    lines += [("real", "karate", "tiles", 1.0), *[(name, "twin-CAL", "tiles", 1.0) for name in coverage.OTHERS]]
    assert coverage.unmeasured(rows(*lines)) == []


def test_a_schedule_that_some_twins_of_a_class_lack_is_named_with_them():
    names = {"CAL": ("tiles", "sgm", "edge-locked-again"), "E": ("tiles", "sgm"), "W": ("tiles",)}
    found = rows(*[("road", f"twin-{graph}", name, 1.0) for graph, own in names.items() for name in own])
    assert coverage.partly(found) == {("W",): ["sgm"], ("E", "W"): ["edge-locked-again"]}, "CTR has nothing at all"
    assert "sgm on W; edge-locked-again on E and W" in coverage.unmeasured(found)[0]
    assert not coverage.partly(rows(("road", "twin-CAL", "tiles", 1.0)))


def test_better_twins_stand_for_their_class_where_there_are_any():
    lines = [("scale-free", "twin-STACK"), ("road", "twin-CAL"), ("road-curved", "twin-CAL-curved"),
             ("road-curved", "twin-CAL-by-8-seed-1-curved"), ("real", "gowalla")]  # fmt: skip
    found = views.better_twins(pd.DataFrame(lines, columns=["experiment", "dataset"]))
    assert found.values.tolist() == [
        ["scale-free", "twin-STACK"], ["road", "twin-CAL"], ["road", "twin-CAL-by-8-seed-1"], ["real", "gowalla"],
    ]  # fmt: skip
    assert views.full_size(found)["dataset"].tolist() == ["twin-STACK", "twin-CAL", "gowalla"]
