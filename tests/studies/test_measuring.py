"""What all studies promise of a part that was measured: verified rows, none stale, and nothing measured twice."""

from importlib import import_module

import pytest

from lockstep.evidence import Study
from lockstep.machine import get_executor
from lockstep.provenance import stale
from lockstep.studies import PACKAGES

STUDIES = {package: study for study, package in PACKAGES.items() if study != "0-machine"}
GRAPH = {"rmat-6": {"make": {"rmat": {"scale": 6, "m": 200, "seed": 1, "directed": False, "simple": True}}}}
PARTS = {  # each with a baseline of the CPU, which is timed, and a strategy of the emulator, which is counted
    "sgd": {"cells": [{"experiment": "real", "graphs": ["karate"], "strategies": "two"}]},
    "sssp": {"cells": [{"experiment": "time", "graphs": ["karate"], "strategies": "two"}]},
    "toposort": {"cells": [{"experiment": "deep", "strategies": "two",
                            "graphs": {"layered": {"nodes": 60, "depth": [3, 20], "ids": "random"}}}]},
    "coloring": {"cells": [{"kind": "ladder", "graphs": ["karate", "rmat-6"], "strategies": "two"}]},
    "swarm": {"cells": [{"experiment": "batch", "kind": "batch", "graphs": ["rmat-5"],
                         "strategies": {"closeness": "two"}}]},
}  # fmt: skip
TWO = {
    "sgd": ["serial", "tiles"],
    "sssp": ["dijkstra", "atomic"],
    "toposort": ["serial", "naive"],
    "coloring": ["greedy", "randomized"],
    "swarm": ["cpu", "swarm"],
}


@pytest.mark.parametrize("package", STUDIES)
def test_a_part_is_measured_once_and_verified(package, tmp_path):
    experiments, said = import_module(f"lockstep.{package}.experiments"), []
    common = {"strategies": {"two": TWO[package]}, "made": GRAPH, "most_levels": {"naive": 10}}
    part = {"seconds": 1, "rounds": 2, **PARTS[package]}
    config = {"studies": {experiments.STUDY: {"common": common, "parts": {"ladder": part}}}}

    def measured():
        executor = get_executor("host")
        study = Study(experiments.STUDY, "ladder", executor, config=config, results=tmp_path, machine={"name": "test"})
        assert experiments.measure(study, "ladder", executor, said.append) == []
        return study.rows()

    first = measured()
    assert said and all(line.endswith(" s") for line in said), "what is done is said, with its seconds"
    cpu, gpu = TWO[package]
    assert set(first[first["metric"] == "wall"]["strategy"]) == {cpu}
    assert set(first[first["metric"] == "wall"]["round"]) == {0, 1}
    assert gpu in set(first[first["metric"] == "runs"]["strategy"])
    judged = first[first["metric"].isin(["wall", "runs"])]
    assert set(judged["verified"]) <= {"exact", "invariant"}
    assert stale(first).empty
    if package == "toposort":
        deep = first[first["dataset"] == "layered-60-20-random"]
        assert set(deep["strategy"]) == {"serial", "(graph)"}, "beyond its depth a strategy is left out"
    assert measured().equals(first), "what is there is not measured again"
