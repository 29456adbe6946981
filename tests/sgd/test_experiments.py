"""The sweeps as data: what is recorded, what follows from it, and that nothing is measured twice."""

import numpy as np
import pandas as pd
import pytest

from lockstep.evidence import Study
from lockstep.machine import get_executor
from lockstep.sgd import Problem, experiments, model, twins

CONFIG = {
    "studies": {
        experiments.STUDY: {
            "common": {"strategies": {"few": ["agm-edge", "edge-locked", "tiles", "serial", "multicore"]}},
            "parts": {
                "all-kinds": {
                    "rounds": 2,
                    "worked": True,
                    "atomics": {"CAL": 20000},
                    "cells": [
                        {"experiment": "real", "kind": "graph", "dataset": "karate", "strategies": "few"},
                        {"experiment": "road", "kind": "twin", "dataset": "CAL", "factor": 20000, "strategies": "few",
                         "best": True},
                        {"experiment": "sweeps", "kind": "random", "size": [30, 20, 100, 12], "sweeps": 3,
                         "strategies": ["serial", "tiles"]},
                    ],
                }
            },
        }
    }
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    executor = get_executor("host")
    study = Study(experiments.STUDY, part="all", executor=executor, config=CONFIG, results=folder)
    assert experiments.measure(study, "all-kinds", executor, say=lambda line: None) == []
    return study


def test_rows(study):
    rows = study.rows()
    assert set(rows["experiment"]) == {"real", "road", "sweeps", "worked-example", "atomics", "bounds"}
    timed = rows[rows["metric"] == "wall"]
    assert set(timed["strategy"]) == {"serial", "multicore"}, "the hypothetical GPU has no times"
    assert not (rows["verified"] == "measured-wrong").any()
    edge = rows[(rows["experiment"] == "atomics") & (rows["strategy"] == "edge-locked")]["value"].iloc[0]
    assert edge >= 2, "two locks an edge"
    assert (rows[rows["experiment"] == "bounds"].query("metric == 'bound'")["value"] == 1).all()


def test_the_worked_example_is_recorded(study):
    found = study.rows().query("experiment == 'worked-example'").set_index("metric")["value"]
    assert found["agm-edge steps"] == 8 and found["edge-locked second pass begins"] == 6
    assert found["node-locked defers f and g"] == 2 and found["d3 is a and g"] == 1


def test_nothing_is_stale(study):
    from lockstep.evidence import stale

    assert len(stale(study.rows(), experiments.digests)) == 0


def test_cells_are_combinations():
    plan = {"cells": [{"kind": "twin", "dataset": ["A", "B"], "rank": [16, 32], "strategies": ["x"]},
                      {"kind": "random", "size": [[1, 2, 3, 4], [5, 6, 7, 8]], "strategies": "set"}]}  # fmt: skip
    found = list(experiments.cases(plan, {"strategies": {"set": ["y", "z"]}}))
    assert [(c["dataset"], c["rank"]) for c, _ in found[:4]] == [("A", 16), ("A", 32), ("B", 16), ("B", 32)]
    assert found[4] == ({"kind": "random", "size": [1, 2, 3, 4]}, ["y", "z"])


def test_the_predictor_finds_coefficients_that_made_the_times():
    rng = np.random.default_rng(0)
    graphs = [twins.twin(name, factor=2000) for name in ("STACK", "IMDB", "WIKI", "BGG", "CITP", "POKEC", "CAL", "W")]
    known = np.array([model.features(g) for g in graphs])
    truth = np.array([0.02, 1e-3, 2e-6, 0, 0])
    found = model.fit(known, known @ truth * rng.uniform(0.99, 1.01, len(graphs)))
    assert (found >= 0).all()
    assert np.allclose(known @ found, known @ truth, rtol=0.05)
    order = model.predict({"slow": truth * 2, "fast": truth}, graphs[0])
    assert list(order) == ["fast", "slow"]


def test_the_published_model():
    costs = model.Published(p=1.0, b=2.0, l=0.5, call=10.0)
    assert costs.offline(100) == 300 and costs.online(100, 3) == 180


def test_coefficients_out_of_rows():
    lines = []
    for k in range(6):
        degree, edges = 10 * (k + 1), 1000 + 500 * k**2
        values = dict(zip(model.FEATURES, (1, degree, edges, 100 + k, 50 + 7 * k % 5), strict=True))
        lines += [("(graph)", name, f"g{k}", value) for name, value in values.items()]
        lines.append(("tiles", "wall", f"g{k}", 1.0 + 0.1 * degree))
    rows = pd.DataFrame(lines, columns=["strategy", "metric", "dataset", "value"]).assign(experiment="calibration")
    found = model.from_rows(rows)
    assert found["tiles"][:2] == pytest.approx([1.0, 0.1], rel=0.05)
    assert model.from_rows(rows[:0]) == {}


def test_a_star_has_one_critical_path():
    star = experiments.star(50)
    assert star.largest_degree() == 50 and Problem(star).width == 16
