"""The sweeps as data: what is recorded, what follows from it, and that nothing is measured twice."""

import gc
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lockstep.evidence import Study, parts
from lockstep.machine import get_executor
from lockstep.provenance import stale
from lockstep.sgd import STRATEGIES, Problem, experiments
from lockstep.sgd.experiments import cases, preparation, twins
from lockstep.sgd.results import views
from lockstep.sgd.strategies import model

from .conftest import skewed

TWIN = {"twin": {"dataset": "CAL", "factor": 20000}}
CONFIG = {
    "studies": {
        experiments.STUDY: {
            "common": {"strategies": {"few": ["agm-edge", "edge-locked", "tiles", "serial", "multicore"]}},
            "parts": {
                "all-kinds": {
                    "rounds": 2,
                    "cells": [
                        {"kind": "paper-example", "experiment": "worked-example"},
                        {"kind": "atomics", "experiment": "atomics", "graphs": TWIN},
                        {"experiment": "real", "graphs": ["karate"], "strategies": "few"},
                        {"experiment": "road", "graphs": TWIN, "strategies": "few",
                         "best": True},
                        {"kind": "sweeps", "experiment": "sweeps", "graphs": {"random": {"size": [[30, 20, 100, 12]]}},
                         "sweeps": 3, "strategies": ["serial", "tiles"]},
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
    assert set(timed["strategy"]) == {"serial", "multicore"}, "the emulator has no times"
    assert not (rows["verified"] == "measured-wrong").any()
    edge = rows[(rows["experiment"] == "atomics") & (rows["strategy"] == "edge-locked")]["value"].iloc[0]
    assert edge >= 2, "two locks an edge"
    assert (rows[rows["experiment"] == "bounds"].query("metric == 'bound'")["value"] == 1).all()


def test_the_worked_example_is_recorded(study):
    found = study.rows().query("experiment == 'worked-example'").set_index("metric")["value"]
    assert found["agm-edge steps"] == 8 and found["edge-locked second pass begins"] == 6
    assert found["node-locked defers f and g"] == 2 and found["d3 is a and g"] == 1


def test_nothing_is_stale(study):
    rows = study.rows()
    assert len(stale(rows)) == 0
    changed = set(stale(rows.assign(kernel="other"))["strategy"])
    assert {"(two threads)", "(graph)", "matchings", "diagonals", "block diagonals", "edge-locked"} <= changed


def test_the_predictor_finds_coefficients_that_made_the_times():
    rng = np.random.default_rng(0)
    graphs = [twins.twin(name, factor=2000) for name in ("STACK", "IMDB", "WIKI", "BGG", "CITP", "POKEC", "CAL", "W")]
    known = np.array([model.features(g) for g in graphs])
    truth = np.zeros(len(model.FEATURES))
    truth[:3] = 0.02, 1e-3, 2e-6
    found = model.fit(known, known @ truth * rng.uniform(0.99, 1.01, len(graphs)))
    assert (found >= 0).all()
    assert np.allclose(known @ found, known @ truth, rtol=0.05)
    order = model.predict({"slow": truth * 2, "fast": truth}, known[0])
    assert list(order) == ["fast", "slow"]


def test_the_published_model():
    costs = model.Published(p=1.0, b=2.0, l=0.5, call=10.0)
    assert costs.offline(100) == 300 and costs.online(100, 3) == 180


def test_coefficients_out_of_rows():
    lines = []
    for k in range(6):
        degree, edges = 10 * (k + 1), 1000 + 500 * k**2
        values = dict.fromkeys(model.FEATURES, 0.0)
        values |= zip(model.FEATURES, (1, degree, edges, 100 + k, 50 + 7 * k % 5), strict=False)
        lines += [("(graph)", name, f"g{k}", value) for name, value in values.items()]
        lines.append(("tiles", "wall", f"g{k}", 1.0 + 0.1 * degree))
    rows = pd.DataFrame(lines, columns=["strategy", "metric", "dataset", "value"]).assign(experiment="calibration")
    found = model.from_rows(rows)
    assert found["tiles"][:2] == pytest.approx([1.0, 0.1], rel=0.05)
    assert model.from_rows(rows[:0]) == {}


def test_a_star_has_one_critical_path():
    star = experiments.star(50)
    assert star.largest_degree() == 50 and Problem(star).width == 16


def test_cells_in_a_row_share_ratings_and_problem():
    last, sizes = cases.Last(), {"dataset": "CAL", "factor": 20000}
    first = last.ratings(cell(twin=sizes), None)
    problem = last.of_rank(4)
    assert last.ratings(cell(twin=dict(sizes)), None) is first and last.of_rank(4) is problem
    assert last.of_rank(8) is not problem
    other = last.ratings(cell(twin={**sizes, "shuffled": True}), None)
    assert other is not first and last.of_rank(8).ratings is other


def cell(**graphs):
    [found] = parts.cells({"cells": [{"graphs": graphs}]})
    return found


def test_a_strategy_that_refuses_a_graph_is_left_out_and_named(tmp_path):
    refuser, graphs = "patches", {"star": {"edges": 3000}}  # it is for small degrees
    config = {"studies": {experiments.STUDY: {"parts": {"one": {"rounds": 1, "cells": [
        {"experiment": "real", "graphs": graphs, "strategies": ["hogwild", refuser]}]}}}}}  # fmt: skip
    said = []
    study = Study(experiments.STUDY, part="one", executor=get_executor("host"), config=config, results=tmp_path)
    experiments.measure(study, "one", study.executor, say=said.append)
    assert any(f"{refuser} is left out" in line for line in said)
    assert set(study.rows()["strategy"]) == {"(graph)", "hogwild"}


class Counted:
    """Plans that are counted as they are built; the first one compiles."""

    def __init__(self, first=3.0, slow=0.0, name="cuda"):
        self.executor, self.problem = SimpleNamespace(name=name), SimpleNamespace(_cache={})
        self.first, self.slow, self.plans = first, slow, 0
        self.problem._cache["first fit", id(self.executor)] = "found by another strategy"

    def make(self, problem, executor, **options):
        self.plans += 1
        known = bool(problem._cache.get(("first fit", id(executor))))
        problem._cache["first fit", id(executor)] = "found"
        time.sleep(self.slow)
        seconds = self.first if self.plans == 1 else 0.1
        return SimpleNamespace(preprocessing=seconds, options=options, known=known)


def test_compilation_is_not_charged_to_preprocessing_which_is_timed_more_than_once_if_quick(monkeypatch):
    quick = Counted()
    plan, seconds = preparation.built(quick.make, quick.problem, quick.executor, rows=4)
    assert (quick.plans, seconds, plan.options) == (1 + preparation.SAMPLES, [0.1] * preparation.SAMPLES, {"rows": 4})
    assert not plan.known, "each has to find its matchings itself"
    monkeypatch.setattr(preparation, "SPENT", 0.02)
    lasting = Counted(slow=0.03)
    assert preparation.built(lasting.make, lasting.problem, lasting.executor)[1] == [0.1] and lasting.plans == 2
    slow = Counted(first=100.0, slow=0.03)
    assert preparation.built(slow.make, slow.problem, slow.executor)[1] == [0.1], "it was compilation"
    slow = Counted(first=100.0, slow=0.03)
    assert preparation.built(slow.make, slow.problem, None)[1] == [100.0] and slow.plans == 1, "no compilation is"
    host = Counted(name="host")
    preparation.built(host.make, host.problem, host.executor)
    assert host.plans == 1, "no times there, so nothing to be gained"


def test_a_round_has_a_sample_of_the_preprocessing_as_long_as_there_are_any(monkeypatch, ratings):
    plan = STRATEGIES["multicore"].plan_for(Problem(ratings, 4), None)
    monkeypatch.setattr(preparation, "built", lambda *a, **k: (plan, [0.5, 0.25]))
    one = preparation.candidate("multicore", plan.problem, None, "file")
    told = [one.counts(plan).get("preparation") for _ in range(3)]
    assert told == [(500.0, "ms"), (250.0, "ms"), None]


@pytest.mark.parametrize("name", [name for name, one in STRATEGIES.items() if name != "serial"])
def test_a_plan_goes_when_it_is_let_go(name, ratings):
    """Else the second plan of a graph that fills the memory would find the first one in its place."""
    STRATEGIES[name].plan_for(
        Problem(ratings, 16), get_executor("host") if STRATEGIES[name].gpu else None
    )  # may compile
    gc.collect()
    gc.disable()
    try:
        plan = STRATEGIES[name].plan_for(Problem(ratings, 16), get_executor("host") if STRATEGIES[name].gpu else None)
        gone = weakref.ref(plan)
        del plan
        assert gone() is None
    finally:
        gc.enable()


def test_plans_of_every_other_graph_are_built_in_reverse_order(tmp_path, monkeypatch):
    """Device addresses depend on the order of allocation."""
    cell = {"experiment": "road", "strategies": ["serial", "multicore"]}
    cells = [cell | {"graphs": {"twin": {"dataset": name, "factor": 40000}}} for name in ("CAL", "E")]
    config = {"studies": {experiments.STUDY: {"parts": {"one": {"rounds": 1, "cells": cells}}}}}
    built, real = [], experiments.candidate
    monkeypatch.setattr(experiments, "candidate", lambda name, *a, **k: built.append(name) or real(name, *a, **k))
    study = Study(experiments.STUDY, part="one", executor=None, config=config, results=tmp_path)
    assert experiments.measure(study, "one", None, say=lambda line: None) == []
    assert built == ["serial", "multicore", "multicore", "serial"]
    timed = study.rows().query("metric == 'wall'")
    assert list(timed.groupby("dataset")["strategy"].count()) == [2, 2]


def test_what_is_recorded_is_not_made_ready_again(tmp_path, monkeypatch):
    """One strategy's rows are gone: its plan alone is built; with all rows there, not even the ratings are made."""
    cell = {"experiment": "road", "graphs": TWIN}
    cell["strategies"] = ["serial", "multicore"]
    config = {"studies": {experiments.STUDY: {"parts": {"one": {"rounds": 2, "cells": [cell]}}}}}
    built, made, real, ratings = [], [], experiments.candidate, cases.make
    monkeypatch.setattr(experiments, "candidate", lambda name, *a, **k: built.append(name) or real(name, *a, **k))
    monkeypatch.setattr(cases, "make", lambda cell, executor: made.append(cell.graph) or ratings(cell))
    monkeypatch.setattr(experiments, "_compiled", lambda *a: None)
    pool = SimpleNamespace(free_all_blocks=lambda: None)
    stand_in = SimpleNamespace(name="cuda", xp=SimpleNamespace(get_default_memory_pool=lambda: pool))

    def measured():
        built.clear(), made.clear()
        monkeypatch.setattr(experiments, "LAST", cases.Last())
        study = Study(experiments.STUDY, part="one", executor=None, config=config, results=tmp_path)
        assert experiments.measure(study, "one", stand_in, say=lambda line: None) == []
        return study.folder / f"{experiments.STUDY}.csv"

    file = measured()
    assert built == ["serial", "multicore"] and len(made) == 1
    measured()
    assert built == [] and made == []
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if ",multicore," not in line))
    measured()
    assert built == ["multicore"] and len(made) == 1


def test_learning_is_compared_after_as_many_sweeps_as_one_thread_made():
    lines = [("serial", k, 1.0 / (k + 1)) for k in range(3)] + [("tiles", k, 1.1 / (k + 1)) for k in range(5)]
    rows = pd.DataFrame(lines, columns=["strategy", "round", "value"])
    rows = rows.assign(experiment="sweeps", metric="test rmse", dataset="twin-X")
    curves, table = views.learned(rows)
    assert len(curves) == 8
    tiles = table.set_index("strategy").loc["tiles"]
    assert tiles["sweeps"] == 5 and tiles["sweeps of one thread"] == 3
    assert tiles["over one thread's"] == pytest.approx(1.1) and tiles["test RMSE"] == pytest.approx(0.22)
    empty = views.learned(rows[:0])
    assert all(len(part) == 0 for part in empty)


def test_cores_get_every_edge_once_in_a_random_order():
    ratings = skewed()
    plan = STRATEGIES["multicore"].plan_for(Problem(ratings, 4), threads=3)
    users, items, values = plan.arrays
    assert sorted(zip(users, items, values, strict=True)) == sorted(
        zip(ratings.users, ratings.items, ratings.values, strict=True)
    )
    assert plan.offsets[-1] == ratings.m
    tiles = [slice(*plan.offsets[k : k + 2]) for k in range(9)]
    for one in range(9):  # two tiles of one round share no node
        for other in range(one):
            if one // 3 != other // 3 and (one - one // 3) % 3 == (other - other // 3) % 3:
                assert not set(users[tiles[one]]) & set(users[tiles[other]])
                assert not set(items[tiles[one]]) & set(items[tiles[other]])
    first = items[tiles[0]]
    assert np.any(first[1:] < first[:-1]), "shuffled inside a tile"


def test_delays_of_the_platform(tmp_path):
    """A delay of 0 is the schedule without one: the cells of config/paper.yaml begin with it."""
    executor = get_executor("host")
    graphs = {"random": {"size": [[30, 20, 100, 12]]}}
    cell = {"experiment": "platform", "graphs": graphs, "strategies": ["edge-locked", "sgm"]}
    delays = {"lock_delay": [0, 100]}, {"barrier_delay": [0, 1000]}
    part = {"rounds": 1, "cells": [{**cell, "vary": delay} for delay in delays]}
    config = {"studies": {experiments.STUDY: {"parts": {"platform": part}}}}
    study = Study(experiments.STUDY, part="all", executor=executor, config=config, results=tmp_path)
    assert experiments.measure(study, "platform", executor, say=lambda line: None) == []
    rows = study.rows()
    found = rows[rows["strategy"] == "edge-locked"]["parameters"].unique()
    assert {f'{{"{option}_delay":{cycles},"rank":16}}' for option, cycles in
            (("lock", 0), ("lock", 100), ("barrier", 0), ("barrier", 1000))} == set(found)  # fmt: skip
    assert (rows["verified"] != "measured-wrong").all()


def test_a_tuned_option_is_measured_beside_its_default(tmp_path):
    executor, both = get_executor("host"), "node-then-edge@blocks=1,edge_blocks=2"
    cell = {"experiment": "tuning-hybrid", "graphs": {"random": {"size": [[30, 20, 100, 12]]}},
            "strategies": ["node-then-edge", both]}  # fmt: skip
    config = {"studies": {experiments.STUDY: {"parts": {"tuning-hybrid": {"rounds": 2, "cells": [cell]}}}}}
    study = Study(experiments.STUDY, part="all", executor=executor, config=config, results=tmp_path)
    assert experiments.measure(study, "tuning-hybrid", executor, say=lambda line: None) == []
    rows = study.rows()
    assert set(rows["parameters"]) == {'{"rank":16}'} and (rows["verified"] != "measured-wrong").all()
    passes = rows[rows["metric"] == "node_passes"].groupby("strategy")["value"].nunique()
    assert set(passes.index) == {"node-then-edge", both}
    assert STRATEGIES.resolve(both)[1] == {"blocks": 1, "edge_blocks": 2}
