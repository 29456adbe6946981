"""The sweeps measure what their parameters say, once, and recordings can be told stale."""

import numpy as np
import pandas as pd
import pytest

from lockstep.evidence import Study
from lockstep.machine import get_executor
from lockstep.provenance import build
from lockstep.sssp import STRATEGIES, experiments
from lockstep.sssp.results import forecast, views

CELLS = [
    {"kind": "degrees", "experiment": "degrees", "graphs": ["karate"], "histogram": True},
    {"experiment": "time", "graphs": ["road-like-256"],
     "strategies": ["dijkstra", "atomic", "semaphores-1", "asynchronous", "auto"]},
    {"kind": "sources", "experiment": "layers", "graphs": ["karate"], "sources": 2,
     "strategies": ["semaphores-1", "semaphores-2"]},
    {"kind": "delta", "experiment": "delta", "graphs": ["karate"], "deltas": [1, 0], "strategies": ["near-far"]},
    {"kind": "race", "experiment": "race", "seeds": {"semaphores-1": 30, "checked": 30}},
]  # fmt: skip


@pytest.fixture
def study(tmp_path):
    config = {"studies": {experiments.STUDY: {"parts": {"all-kinds": {"seconds": 5, "rounds": 2, "cells": CELLS}}}}}
    return Study(experiments.STUDY, part="all-kinds", executor=get_executor("host"), config=config, results=tmp_path)


def test_measured_once(study):
    machine = get_executor("host")
    assert experiments.measure(study, "all-kinds", machine, say=lambda _: None) == []
    rows = study.rows()
    experiments.measure(study, "all-kinds", machine, say=lambda _: None)
    assert len(study.rows()) == len(rows)
    assert set(rows["experiment"]) == {"degrees", "time", "layers", "delta", "race"}
    timed = rows[rows["metric"] == "wall"]
    assert set(timed["strategy"]) == {"dijkstra", "auto"}  # the emulator is never timed
    assert set(rows[rows["strategy"] == "atomic"]["verified"]) == {"exact"}
    for row in rows.itertuples():
        assert build(experiments.STUDY, row.strategy, row.dataset) == row.kernel


def test_views_of_the_rows(study):
    experiments.measure(study, "all-kinds", get_executor("host"), say=lambda _: None)
    rows = study.rows()
    layers = views.layers(rows)
    assert layers["graph"].tolist() == ["karate"]
    assert layers["layers_needed"].between(1, 2).all()
    races = views.races(rows).set_index("strategy")
    assert races.loc["checked", "wrong_seeds"] == 0 < races.loc["semaphores-1", "wrong_seeds"]
    assert views.times(rows, ["dijkstra", "atomic"])["strategy"].tolist() == ["dijkstra"]
    assert views.deltas(rows, "karate").empty  # no times, no curve
    assert forecast.tried(rows)[0].empty  # one graph, and none to fit on
    assert views.unfinished(rows, "layers") == views.unfinished(rows, "delta") == ""


def test_a_sweep_that_was_cut_says_so(study):
    experiments.measure(study, "all-kinds", get_executor("host"), say=lambda _: None)
    rows = study.rows()
    other = rows[(rows["experiment"] == "layers") & (rows["strategy"] == "semaphores-1")].assign(dataset="elsewhere")
    text = views.unfinished(pd.concat([rows, other]), "layers", "semaphores-")
    assert "elsewhere was not finished" in text
    assert "elsewhere lacks 1 of 2 points (semaphores-2)" in text
    assert "karate" not in text


def test_the_forecast_of_layers_on_a_world_made_up():
    """Errors a source fall by the same factor with each layer, everywhere: then four layers tell what eight will do."""
    rows = []
    random = np.random.default_rng(1)
    graphs = [*(f"rmat-{k}" for k in range(6)), "road-like-9", "town", "village"]
    for place, (graph, bad) in enumerate(zip(graphs, (0, 1, 2, 3, 4, 0, 2, 4, 0), strict=True)):
        cell = {"experiment": "layers", "dataset": graph, "parameters": '{"sources":64,"weights":"random"}'}
        figures = [("(graph)", "nodes", 1000 * (place + 1)), ("(graph)", "hops", 20)]
        for k in forecast.LAYERS:
            wrong = random.binomial(64, -np.expm1(-np.exp(1.5 + 0.5 * bad - 0.6 * k)))
            figures += [(f"semaphores-{k}", "sources", 64), (f"semaphores-{k}", "wrong_sources", wrong)]
        rows += [{**cell, "strategy": s, "metric": m, "value": v} for s, m, v in figures]
    few = [{**row, "parameters": '{"sources":4,"weights":"random"}', "value": 4} for row in rows]  # counts for nothing
    found, error = forecast.tried(pd.DataFrame(rows + few))
    assert found["graph"].tolist() == ["town", "village"]
    assert error["four tried"] < 0.08 < 0.1 < error["layers"]
    assert (found["needed, by four tried"] - found["needed"]).abs().max() <= 6


def test_a_missing_data_set_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("LOCKSTEP_MIRROR", raising=False)
    monkeypatch.setenv("LOCKSTEP_OFFLINE", "1")
    monkeypatch.setattr("lockstep.paths.CACHE", tmp_path)
    cells = [{"kind": "degrees", "experiment": "degrees", "graphs": ["amazon0302"]}]
    config = {"studies": {experiments.STUDY: {"parts": {"one": {"seconds": 1, "cells": cells}}}}}
    study = Study(experiments.STUDY, part="one", config=config, results=tmp_path)
    missing = experiments.measure(study, "one", None, say=lambda _: None)
    assert len(missing) == 1 and missing[0].startswith("amazon0302")


def test_labels_have_strategies():
    for label in (*STRATEGIES, *STRATEGIES.variants):
        strategy, options = STRATEGIES.resolve(label)
        assert set(options) <= set(strategy.keywords), label
        assert len(build(experiments.STUDY, label, "karate")) == 16
