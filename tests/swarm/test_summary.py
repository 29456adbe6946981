"""Sentences and tables say what rows hold, and name what they lack."""

import math

import pandas as pd
import pytest

from lockstep.swarm.results import datasets, summary, views


def rows(*lines):
    columns = ["experiment", "dataset", "strategy", "parameters", "metric", "round", "value"]
    return pd.DataFrame(lines, columns=columns).assign(study="5-swarm-batch")


def million(way, measure, wall, load, compute):
    steps = {"wall": wall * 1e3, "load": load, "copy": 0.1, "plan": 0.5, "compute": compute}
    parameters = f'{{"graphs":1000000,"measure":"{measure}"}}'
    return [("curve", summary.MILLION, way, parameters, metric, 0, value) for metric, value in steps.items()]


def single(group, measure, **times):
    parameters = f'{{"graphs":4,"measure":"{measure}"}}'
    return [("single", f"DD-{group}", name, parameters, "wall", 0, value) for name, value in times.items()]


def test_nothing_is_said_of_nothing():
    assert summary.seen(rows()) == []
    (lacking,) = summary.unmeasured(rows())
    assert "single graphs by group;" in lacking and "several GPUs" in lacking and "all three measures" in lacking


def test_single_graphs_group_by_group():
    lines = [single("G1", "closeness", paper=1, level=300, cpu=2), single("G2", "closeness", paper=2, level=900, cpu=8)]
    more = [("cpu-sources", 0.5), ("paper", 0.25)]  # in an experiment of its own, on a slower day
    lines.append([("parallel", "DD-G1", name, lines[0][0][3], "wall", 0, value) for name, value in more])
    found = rows(*lines[0], *lines[1], *lines[2])
    said = " ".join(summary.seen(found))
    assert said.startswith("Single graphs of the groups G1 and G2")
    assert "One launch a level takes 300 to 450 for closeness (26)." in said
    assert "One core takes 2.00 to 4.00 for closeness." in said and "`swarm`" not in said
    assert "All cores of the CPU take 2.00 for closeness (306)." in said
    assert "single graphs by group (G3 and G4)" in summary.unmeasured(found)[0]
    assert "single graphs of the groups by swarm and alone" in summary.unmeasured(found)[0]
    planned = {name for cell in summary.planned("single") for names in cell.strategies.values() for name in names}
    assert planned == {"cpu", "level", "paper", "swarm", "alone"}


def test_a_million_graphs_and_what_limits_them():
    found = rows(*million("overlapped", "closeness", 8, 40, 1), *million("one-thread", "closeness", 16, 12, 0.5),
                 *million("overlapped", "betweenness", 20, 15, 19))  # fmt: skip
    said = " ".join(summary.seen(found))
    assert "to results, 20.0 s for betweenness (published: 218 min) and 8.00 s for closeness" in said
    assert "1 round each, of which the GPU computes 19.0 s and 1.00 s" in said
    assert "Speed-up of overlap over one thread: 2.00 for closeness." in said
    again = [(*line[:5], 1, line[6]) for line in million("overlapped", "closeness", 8, 40, 1)]
    assert "1 to 2 rounds each" in " ".join(summary.million(pd.concat([found, rows(*again)])))
    assert "the GPU limits betweenness" in said and "For closeness the GPU computes less than half" in said
    lacking = summary.unmeasured(found)[0]
    assert "with one thread (betweenness and all distances)" in lacking
    assert "with several threads (all distances)" in lacking


def test_no_floor_where_loading_alone_was_not_measured():
    lines = [*million("overlapped", "closeness", 8, 40, 1), *million("one-thread", "closeness", 16, 12, 0.5)]
    line = views.overlap(rows(*lines)).iloc[0]
    assert line["computing s"] == pytest.approx(0.5), "of the run in which nothing disturbs it"
    assert line["gain of all"] == pytest.approx(2) and math.isnan(line["over floor"])
    alone = views.overlap(rows(*lines, *million("loading", "closeness", 4, 30, 0)[:1])).iloc[0]
    assert alone["over floor"] == pytest.approx(2)


def test_a_part_is_named_only_while_it_has_no_rows():
    there = [(name, "x", "swarm", "{}", "wall", 0, 1.0) for name in summary.EXPERIMENTS]
    lacking = summary.unmeasured(rows(*there))[0]
    assert not any(words in lacking for words in summary.EXPERIMENTS.values())


def test_batches_and_further_measures_are_named_one_by_one():
    nothing = summary.unmeasured(rows())[0]
    assert "whole batches of real graphs;" in nothing and "further measures;" in nothing, "of none no list"
    *others, last = dict.fromkeys(cell.graph for cell in summary.planned("batch"))
    assert others and last == "REDDIT-BINARY"
    some = [("batch", name, "swarm", '{"measure":"closeness"}', "wall", 0, 1.0) for name in others]
    for name in ("components", "walks"):
        some.append(("further", "PROTEINS", "swarm", f'{{"measure":"{name}"}}', "right", 0, 1))
    lacking = summary.unmeasured(rows(*some))[0]
    assert "whole batches of real graphs (REDDIT-BINARY)" in lacking
    assert "further measures (strongly connected components, triangles and PageRank)" in lacking


def test_several_gpus_against_linear_and_the_disk():
    def on(gpus, work, compute):
        parameters = '{"graphs":1000,"measure":"betweenness"}'
        own = {"work": work, "compute": compute, "busiest": compute / gpus * 1.25 if gpus > 1 else compute}
        return [("gpus", "benchmark-1000", f"gpus@{gpus}-dynamic", parameters, m, 0, v) for m, v in own.items()]

    alone = ("curve", "benchmark-1000", "loading", '{"measure":"closeness"}', "wall", 0, 500.0)
    recorded = {"one": rows(alone), "four": rows(*on(1, 2.0, 1.8), *on(2, 1.25, 1.8))}
    whole, disk = summary.several(recorded)
    assert "1,000 graphs from a cold disk, betweenness: 2 take 1.25 s, 0.800 of linear" in whole
    assert whole.endswith("(computing alone 0.800) (four).")
    assert "takes 0.500 s" in disk
    assert summary.several({"one": rows(alone)}) == []
    cached = [
        (*line[:3], line[3].replace("{", '{"disk":"cached",'), *line[4:]) for line in on(1, 2.0, 1.8) + on(2, 1, 1.8)
    ]
    (said,) = summary.several({"four": rows(*cached)})
    assert "graphs from the page cache" in said
    more = {"three": rows(*on(1, 2.0, 1.8), *on(2, 1.25, 1.8), *on(3, 1.0, 1.8)), "two": recorded["four"]}
    (said,) = summary.several(more)
    assert said.endswith("(computing alone 0.800) (two); 2 take 1.25 s, 0.800 of linear (computing alone 0.800) and 3 "
                         "take 1.00 s, 0.667 of linear (computing alone 0.800) (three).")  # fmt: skip
    assert views.several(more)["machine"].tolist() == ["two"] * 2 + ["three"] * 3


def test_variants_stand_beside_the_strategy_as_it_is():
    lines = [("design", "b", label, '{"measure":"closeness"}', "device", 0, value)
             for label, value in (("swarm@shared=metadata", 3.0), ("swarm", 2.0), ("paper", 8.0))]  # fmt: skip
    table = views.ablation(rows(*lines)).set_index(["strategy", "variant"])
    assert list(table.index) == [("paper", "as it is"), ("swarm", "as it is"), ("swarm", "graph in global memory")]
    assert table["b ms"].tolist() == pytest.approx([8, 2, 3])
    assert table["b over"].iloc[2] == pytest.approx(1.5) and table["b over"].isna().sum() == 2


def test_tables_of_several_measures_are_one():
    tables = {"apsp": pd.DataFrame({"group": ["G1"], "cpu": [1.0]}), "closeness": pd.DataFrame()}
    assert views.stacked(tables).to_dict("records") == [{"measure": "all distances", "group": "G1", "cpu": 1.0}]
    assert views.stacked({}).empty


def test_what_was_checked():
    """Of rows from before every graph was checked that is said, as long as there are any."""

    def runs(*lines):
        return pd.DataFrame(lines, columns=["experiment", "dataset", "metric", "verified"])

    whole = runs(("curve", "benchmark-100", "wall", "exact"), ("sizes", "benchmark-64-10", "wall", "exact"),
                 ("curve", "benchmark-100", "load", "invariant"), ("batch", "DD", "wall", "exact"))  # fmt: skip
    assert summary.checked({}) == []
    assert summary.checked({"a": whole}) == [
        "For batches from disk all timed runs are checked on every graph by the CPU's checksum."
    ]
    old = runs(("gpus", "benchmark-300000", "wall", "invariant"), ("curve", "benchmark-20000", "wall", "invariant"),
               ("curve", "benchmark-1000000", "wall", "invariant"))  # fmt: skip
    first, *others = summary.checked({"a": whole, "b": old})
    assert first.startswith(
        "In timed runs on 20,000 and 1,000,000 graphs on one GPU (b); 300,000 graphs on several GPUs the CPU checked "
        "the first thousand graphs by checksum;"
    )
    (other,) = others
    assert other == "For batches from disk all other timed runs are checked on every graph by the CPU's checksum."
    assert summary.checked({"b": old}) == [first.replace(" (b)", "")]
    two = runs(("gpus", "benchmark-300000", "wall", "exact"))
    assert "300,000 graphs on several GPUs (b) the CPU" in summary.checked({"a": whole, "b": old, "two": two})[0]
    sizes = runs(*(("sizes", f"benchmark-{n}-{64000 // n}", "wall", "invariant") for n in (32, 64, 128, 256)))
    assert "on 250 to 2,000 graphs of one size the" in summary.checked({"b": sizes})[0]


def test_what_several_recordings_count_is_told_once():
    rows = pd.DataFrame([
        {"experiment": "table-2", "dataset": "DD-G1", "metric": metric, "value": value, "round": turn}
        for turn in (0, 1000) for metric, value in (("graphs", 246), ("vertices", 89), ("edges", 215))
    ])  # fmt: skip
    assert datasets.table_2(rows)[["graphs", "vertices", "edges"]].values.tolist() == [[246, 89, 215]]


def test_what_computing_takes_is_told_of_each_strategy():
    lines = [("sizes", f"benchmark-{size}-9", way, "{}", metric, 0, value) for size in (64, 32)
             for way, metric, value in (("one-thread", "compute_us", 1.0), ("paper-one-thread", "compute_us", 9.0),
                                        ("one-thread", "load_us", 2.0))]  # fmt: skip
    found = views.by_size(rows(*lines))
    assert found["vertices"].tolist() == [32, 64]
    ours, paper = found["computing"], found["by SwarmGraph's design"]
    assert ours.round(9).tolist() == [1, 1] and paper.round(9).tolist() == [9, 9]
