"""The parts that the notebook runs, small, without a GPU: rows as the ledger and the figures expect them."""

import networkx as nx
import numpy as np
import pytest

from lockstep.evidence import Study, VerificationError
from lockstep.machine import get_executor
from lockstep.provenance import build
from lockstep.swarm import STRATEGIES, experiments, problem
from lockstep.swarm.experiments import cases, scaling
from lockstep.swarm.problem import Case
from lockstep.swarm.strategies.engine import Engine

MACHINE = {"name": "test", "cores": 2}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A function that measures a part of these cells and gives the study."""
    monkeypatch.setattr(cases.paths, "CACHE", tmp_path / "cache")
    cases.case.cache_clear()

    def measured(cells, rounds=1):
        config = {"studies": {experiments.STUDY: {"parts": {"p": {"seconds": 1, "rounds": rounds, "cells": cells}}}}}
        found = Study(experiments.STUDY, "p", get_executor("host"), config=config, results=tmp_path, machine=MACHINE)
        measured.missing = experiments.measure(found, "p", found.executor, lambda line: None)
        return found

    return measured


def values(rows, **labels):
    for column, value in labels.items():
        rows = rows[rows[column] == value]
    return rows["value"].tolist()


def test_batches_by_every_strategy(study):
    cell = {"kind": "batch", "experiment": "batch", "graphs": ["benchmark-32-6"]}
    both = {measure: ["cpu", "swarm"] for measure in ("betweenness", "closeness", "apsp")}
    rows = study([{**cell, "strategies": both}], rounds=2).rows()
    assert set(rows["verified"]) == {"exact", "not-applicable"}
    assert len(values(rows, strategy="cpu", metric="wall")) == 6
    assert len(values(rows, strategy="swarm", metric="runs")) == 3  # the emulator has no times
    assert min(values(rows, strategy="swarm", metric="launches")) >= 1
    assert values(rows, strategy="(batch)", metric="graphs") == [6]
    visits = cases.case("benchmark-32-6").visits
    assert values(rows, metric="visits") == [visits] and visits > 6 * 32 * 200


def test_one_graph_after_the_other(study):
    cell = {"kind": "single", "experiment": "single", "graphs": ["benchmark-32-5", "benchmark-64-5"], "count": 3}
    both = {"strategies": {"betweenness": ["cpu", "cpu-again"]}}
    gains = {"kind": "gains", "experiment": "single", "groups": cell["graphs"], **both}
    rows = study([{**cell, **both}, gains], rounds=3).rows()
    assert rows[rows["strategy"] == "cpu"]["parameters"].iloc[0] == '{"graphs":3,"measure":"betweenness"}'
    gains = rows[rows["experiment"] == "groups"]
    assert set(gains["metric"]) == {"others_over_first", "last_over_others"} and len(gains) == 6
    wall = {d: values(rows, experiment="single", dataset=d, strategy="cpu", metric="wall") for d in cell["graphs"]}
    again = {d: values(rows, experiment="single", dataset=d, strategy="cpu-again", metric="wall") for d in wall}
    small, large = (again[d][0] / wall[d][0] for d in cell["graphs"])
    assert values(gains, metric="last_over_others", round=0)[0] == pytest.approx(large / small, rel=1e-3)


def test_a_wrong_result_is_not_recorded(study, monkeypatch):
    found = cases.case("benchmark-32-4")
    result = Engine("betweenness", None, "cpu").run(found.pack).get()
    assert found.check("betweenness", {}, result) == "exact"
    result.checksums[2] += np.uint64(1)
    with pytest.raises(VerificationError, match="1 of 4 graphs of benchmark-32-4 have other checksums"):
        found.check("betweenness", {}, result)
    result.checksums[2] -= np.uint64(1)
    result.values[:] += 1
    with pytest.raises(VerificationError, match="other values than the reference"):
        found.check("betweenness", {}, result)


def test_batches_from_disk(study):
    cells = [
        {"kind": "stream", "experiment": "curve", "graphs": ["benchmark-3", "benchmark-12"],
         "strategies": {"closeness": ["overlapped", "one-thread", "loading", "reading"]}},
        {"kind": "sizes", "experiment": "sizes", "graphs": ["benchmark-32-6", "benchmark-64-4"], "files": 2,
         "strategies": {"apsp": ["one-thread"]}, "options": {"apsp": {"reduce": "total"}}},
        {"kind": "writing", "experiment": "writing", "graphs": ["benchmark-9"], "shard": 4,
         "strategies": {"apsp": ["written", "overlapped"]}},
        {"kind": "stream", "experiment": "curve-text", "graphs": ["benchmark-12"], "text": True,
         "strategies": {"closeness": ["one-loader"], "betweenness": ["one-loader"]}},
    ]  # fmt: skip
    rows = study(cells, rounds=2).rows()
    curve = rows[rows["experiment"] == "curve"]
    assert len(values(curve, dataset="benchmark-12", strategy="overlapped", metric="wall")) == 2
    assert values(curve, dataset="benchmark-12", strategy="one-thread", metric="compute")[0] > 0
    assert set(curve[curve["dataset"] == "benchmark-3"]["verified"]) == {"exact", "not-applicable"}
    assert "invariant" not in set(rows["verified"])  # every graph of every run is checked
    assert "not-applicable" in set(curve[curve["strategy"] == "loading"]["verified"])
    read, held = (values(curve, dataset="benchmark-12", metric="bytes", strategy=s) for s in ("reading", "(batch)"))
    assert read == held * 2 and len(values(curve, strategy="reading", metric="wall")) == 4
    sizes = rows[rows["experiment"] == "sizes"]
    assert len(values(sizes, strategy="one-thread", metric="load_us")) == 4
    assert len(values(rows, experiment="edge-lists", metric="load_us")) == 4
    text = rows[rows["experiment"] == "curve-text"]
    assert values(text, strategy="one-loader", metric="bytes") != held  # text, not shards
    assert set(text[text["metric"] == "wall"]["verified"]) == {"exact"} and values(text, metric="shards")[0] > 1
    written = values(rows, strategy="written", metric="written_bytes")
    assert written and written[0] > 9 * 32 * 32 / 4
    assert not list((cases.paths.CACHE / "swarm").glob("results*"))


def test_more_rounds_of_a_size_keep_what_is_there(study):
    """A second cell asks for more rounds of some ways through one of the sizes: only these are run."""
    cell = {"kind": "stream", "experiment": "curve", "graphs": ["benchmark-3", "benchmark-8"]}
    cell["strategies"] = {"closeness": ["overlapped", "one-loader", "one-thread"]}
    more = {**cell, "graphs": ["benchmark-8"], "rounds": 3, "strategies": {"closeness": ["one-loader", "one-thread"]}}
    before = study([cell])
    file = before.folder / f"{experiments.STUDY}.csv"
    kept = file.read_text()
    rows = study([cell, more]).rows()
    assert file.read_text().startswith(kept)
    walls = rows[rows["metric"] == "wall"].groupby(["dataset", "strategy"])["round"].apply(list).to_dict()
    assert walls.pop(("benchmark-8", "one-loader")) == walls.pop(("benchmark-8", "one-thread")) == [0, 1, 2]
    assert len(walls) == 4 and set(map(tuple, walls.values())) == {(0,)}


def test_a_graph_too_large_for_the_slow_reference_is_held_against_checksums(monkeypatch):
    monkeypatch.setattr(problem, "WORK", 100)
    monkeypatch.setattr(problem, "FIRST", 1000)
    large = Case("large", cases._pack("rmat-6-2"))
    values = Engine("closeness", None, "cpu").run(large.pack)
    monkeypatch.setattr(problem.oracle, "reference", _refuse)
    assert large.check("closeness", {}, values) == "exact"
    values.checksums[0] += 1
    with pytest.raises(VerificationError, match="1 of 1 graphs of large have other checksums"):
        large.check("closeness", {}, values)


def test_several_gpus_need_several(study):
    cell = {"kind": "gpus", "experiment": "gpus", "graphs": ["benchmark-10"], "gpus": [1]}
    cell["strategies"] = {"betweenness": ["dynamic"]}
    assert len(study([cell]).rows()) == 0
    assert study.missing == ["benchmark-10: this machine has 1 GPU; two or more are needed"]


@pytest.mark.slow
def test_several_gpus(study, monkeypatch):
    """Two workers without GPUs stand in: the same code path. What the machine lacks is named and stops nothing."""
    monkeypatch.setattr(scaling, "gpus_of", lambda executor, asked: 2)
    cell = {"kind": "gpus", "experiment": "gpus", "graphs": ["benchmark-12"], "gpus": [1, 2, 4, 8]}
    cell["strategies"] = {"closeness": ["dynamic", "static"]}
    rows = study([cell, {**cell, "gpus": [8]}]).rows()
    assert study.missing == [
        "benchmark-12: not on 4 or 8 GPUs, this machine has 2",
        "benchmark-12: this machine has 2 GPUs; 8 are asked for",
    ]
    assert set(rows["strategy"]) == {"gpus@1-dynamic", "gpus@2-dynamic", "gpus@2-static"}
    assert set(rows["verified"]) == {"exact"}
    sums = rows[rows["strategy"] == "gpus@2-static"].pivot_table("value", "round", "metric")
    assert (sums["busiest"] <= sums["compute"]).all() and (sums["busiest"] >= sums["compute"] / 2).all()
    with monkeypatch.context() as patched:
        patched.setattr(scaling.cases, "benchmark", _refuse)
        patched.setattr(scaling, "connected", _refuse)
        assert len(study([cell]).rows()) == len(rows)
    again = study([{**cell, "cached": True, "strategies": {"closeness": ["dynamic"]}}]).rows()
    more = again[again["parameters"].str.contains('"disk":"cached"')]
    assert set(more["strategy"]) == {"gpus@1-dynamic", "gpus@2-dynamic"} and len(again) == len(rows) + len(more)


def test_labels():
    assert STRATEGIES.resolve("swarm@shared=metadata,busy=8")[1] == {"shared": "metadata", "busy": 8}
    assert STRATEGIES.resolve("swarm-again")[0].name == "swarm"
    assert STRATEGIES.resolve("(batch)") == (None, {})
    assert build(experiments.STUDY, "(batch)", "DD") == ""
    labels = [build(experiments.STUDY, label, "DD") for label in ("cpu", "swarm", "overlapped")]
    assert len({*labels, build(experiments.STUDY, "swarm", "benchmark-9")}) == 4 and "" not in labels


def _refuse(*args, **options):
    raise AssertionError("made ready, though its rows are all there")


def test_what_is_recorded_costs_nothing(study, monkeypatch):
    both = {"betweenness": ["cpu", "swarm"], "closeness": ["cpu"]}
    cells = [
        {"kind": "batch", "experiment": "batch", "graphs": ["benchmark-32-4"], "strategies": both},
        {"kind": "single", "experiment": "single", "graphs": ["benchmark-32-5"], "count": 3, "strategies": both},
        {"kind": "right", "experiment": "further", "graphs": ["benchmark-32-4"], "strategies": ["cpu", "swarm"],
         "measures": ["components"]},
        {"kind": "stream", "experiment": "curve", "graphs": ["benchmark-6"],
         "strategies": {"closeness": ["overlapped", "loading"]}},
        {"kind": "sizes", "experiment": "sizes", "graphs": ["benchmark-32-4"], "files": 2,
         "strategies": {"closeness": ["one-thread"]}},
        {"kind": "writing", "experiment": "writing", "graphs": ["benchmark-6"],
         "strategies": {"closeness": ["written"]}},
    ]  # fmt: skip
    before = study(cells, rounds=2)
    rows = before.rows()
    with monkeypatch.context() as patched:
        for module, name in ((experiments, "case"), (experiments, "engine_of"), (scaling, "engine_of"),
                             (scaling.cases, "benchmark"), (scaling, "_warm")):  # fmt: skip
            patched.setattr(module, name, _refuse)
        assert len(study(cells, rounds=2).rows()) == len(rows)
    file = before.folder / f"{experiments.STUDY}.csv"
    lines = file.read_text().splitlines(keepends=True)
    gone = [line for line in lines if ",batch," in line and ",cpu," in line and "closeness" in line]
    file.write_text("".join(line for line in lines if line not in gone))
    built, real = [], experiments.engine_of
    monkeypatch.setattr(experiments, "engine_of", lambda label, *a: built.append(label) or real(label, *a))
    again = study(cells, rounds=2).rows()
    assert gone and built == ["cpu"] and len(again) == len(rows)


def test_what_bounds_betweenness_from_below(study):
    cell = {"kind": "floor", "experiment": "floor", "graphs": ["benchmark-32-4"], "strategies": ["swarm"]}
    rows = study([cell]).rows()
    figures = rows.set_index("metric")["value"]
    pack = cases.case("benchmark-32-4").pack
    assert figures["visits"] == (pack.n.astype(int) * pack.m).sum() and figures["sources"] == 4 * 32
    graphs = [pack[i].to_networkx() for i in range(4)]
    levels = [max(nx.single_source_shortest_path_length(graph, v).values()) for graph in graphs for v in graph]
    assert figures["levels"] == sum(levels)
    assert 1 <= figures["warps"] <= 64
    assert len(study([cell]).rows()) == len(rows)
