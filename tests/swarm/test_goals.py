"""What was set out to be reached, on rows made up so that the answer is known."""

import numpy as np
import pandas as pd
import pytest

from lockstep.machine.costs import Costs
from lockstep.report.goals import told
from lockstep.swarm.results import goals, summary, views

COSTS = Costs("made up", {("clocks", "{}"): 1000.0, ("dependent-load", '{"memory":"shared"}'): 10.0,
                          ("launch", "{}"): 4.0, ("copy", '{"direction":"device"}'): 1000.0})  # fmt: skip


def row(experiment, dataset, strategy, metric, value, **parameters):
    text = "{" + ",".join(f'"{key}":{value}' for key, value in sorted(parameters.items())) + "}"
    return {"experiment": experiment, "dataset": dataset, "strategy": strategy, "parameters": text, "metric": metric,
            "round": 0, "value": value}  # fmt: skip


def million(strategy, seconds, compute=None, size=None):
    parameters = {"graphs": 10**6, "measure": '"closeness"'}
    values = {"wall": seconds * 1e3, "compute": compute, "bytes": size}
    cell = ("curve", "benchmark-1000000", strategy)
    return [row(*cell, metric, value, **parameters) for metric, value in values.items() if value is not None]


def test_nothing_is_aimed_at_without_rows():
    rows = pd.DataFrame([row("batch", "DD-small", "cpu", "wall", 1.0, measure='"betweenness"')])
    assert goals.reached(rows).empty and goals.floors(rows, COSTS).empty and told(goals.reached(rows)) == []


def test_a_million_graphs_against_disk_and_kernels():
    rows = pd.DataFrame(million("overlapped", 6.0, 1.5) + million("one-thread", 20.0, 1.0)
                        + million("loading", 5.0) + million("reading", 4.0, size=12e9))  # fmt: skip
    found = goals.reached(rows).set_index("goal")
    whole = found.loc["a million graphs from disk, closeness"]
    assert whole["measured"] == pytest.approx(6) and whole["floor"] == pytest.approx(4) and whole["reached"]
    over = found.loc["a million graphs overlapped, closeness"]
    assert over["measured"] == pytest.approx(1.2) and not over["reached"]
    assert len(found) == 2
    (line,) = views.disk(rows).to_dict("records")
    assert line["reading GB/s"] == pytest.approx(3) and line["loading over reading"] == pytest.approx(1.25)
    seen = " ".join(summary.seen(rows))
    assert "12.0 GB of shards are read at 3.00 GB/s" in seen
    assert "the total is 1.50 times the time of reading the bytes alone" in seen


def test_no_floor_is_said_where_reading_was_not_measured():
    rows = pd.DataFrame(million("overlapped", 6.0, 1.5) + million("one-thread", 20.0, 1.0))
    assert np.isnan(goals.reached(rows)["floor"].iloc[0])


def test_floors_of_betweenness_follow_from_edge_visits():
    figures = {"visits": 32e9, "sources": 1, "levels": 3200, "multiprocessors": 10, "warps": 16}
    rows = [row("floor", "DD-small", "swarm", metric, value) for metric, value in figures.items()]
    rows.append(row("batch", "DD-small", "swarm", "device", 2000.0, measure='"betweenness"'))
    (line,) = goals.floors(pd.DataFrame(rows), COSTS).to_dict("records")
    # 2 looks of 8 bytes; 10 multiprocessors give 128 bytes a clock of a nanosecond
    assert line["shared memory ms"] == pytest.approx(2 * 32e9 * 8 / (10 * 128) * 1e-6)
    # 2 looks, 32 lanes, 10 ns each, in 160 warps
    assert line["a load a visit ms"] == pytest.approx(2 * 32e9 / 32 * 10 / 160 * 1e-6)
    assert line["floor ms"] == line["shared memory ms"] and line["occupancy"] == pytest.approx(0.25)
    assert line["loads a visit"] == pytest.approx(2000 / line["a load a visit ms"])
    dd = goals.reached(pd.DataFrame(rows), costs=COSTS).set_index("goal").loc["DD, kernels, betweenness"]
    assert dd["floor"] == pytest.approx(line["floor ms"]) and not dd["reached"]


def test_one_graph_alone_and_several_gpus():
    cell = ("alone", "benchmark-512-8", "swarm")
    rows = [row(*cell, "wall", 0.4, graphs=8, measure='"betweenness"'),
            row(*cell, "launches", 3, graphs=8, measure='"betweenness"')]  # fmt: skip
    gpus = [row("gpus", "benchmark-1000", f"gpus@{gpus}-dynamic", metric, value, graphs=1000, measure='"betweenness"')
            for gpus, work, compute, busiest in ((1, 2.0, 1.8, 1.8), (2, 1.25, 1.9, 1.0)) for metric, value in
            (("work", work), ("compute", compute), ("busiest", busiest))]  # fmt: skip
    cached = [{**line, "parameters": line["parameters"].replace("{", '{"disk":"cached",')} for line in gpus]
    gpus += cached
    found = goals.reached(pd.DataFrame(rows), COSTS, {"two": pd.DataFrame(gpus)}).set_index("goal")
    alone = found.loc["one graph of 512 vertices, betweenness"]
    assert alone["measured"] == pytest.approx(50) and alone["reached"] and alone["floor"] == pytest.approx(12)
    rows += [{**line, "strategy": "alone", "value": line["value"] / 2} for line in rows]
    mine = goals.reached(pd.DataFrame(rows), costs=COSTS).iloc[0]
    assert (alone["by"], mine["by"]) == ("swarm", "alone") and mine["measured"] == pytest.approx(25)
    linear = found.loc["computing on 2 GPUs, betweenness"]
    assert linear["measured"] == pytest.approx(0.9) and linear["reached"]
    whole = found.loc["from the page cache to results on 2 GPUs, betweenness"]
    assert whole["measured"] == pytest.approx(0.8) and not whole["reached"] and len(found) == 3
    more = [{**line, "strategy": "gpus@3-dynamic"} for line in cached if line["strategy"] == "gpus@2-dynamic"]
    hosts = {"two": pd.DataFrame(gpus), "three": pd.DataFrame(cached + more)}
    named = goals.reached(pd.DataFrame(rows[:0], columns=list(rows[0])), COSTS, hosts)["goal"]
    assert [goal for goal in named if goal.startswith("computing on")] == [
        f"computing on {count} GPUs, betweenness" for count in ("2", "2 of 3", "3")
    ]


def test_overlap_is_judged_round_by_round():
    times = {"overlapped": (6.6, 4.2, 5.5), "loading": (6.0, 4.0, 5.0)}
    rows = [
        {**million(way, seconds)[0], "round": turn} for way, each in times.items() for turn, seconds in enumerate(each)
    ]
    line = views.overlap(pd.DataFrame(rows)).iloc[0]
    assert line["over floor"] == pytest.approx((1.1 * 1.05 * 1.1) ** (1 / 3))
    assert line["low"] < line["over floor"] < line["high"] < 1.2
    rows += million("one-thread", 20.0, 5.5)
    assert views.overlap(pd.DataFrame(rows)).iloc[0]["over floor"] == pytest.approx((1.1 * 4.2 / 5.5) ** (1 / 3))
