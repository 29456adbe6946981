"""Plans of every other graph of a part are built in reverse order, since device addresses depend on the order."""

import importlib

import pytest

from lockstep.evidence import Study, measuring

STUDIES = {
    "sssp": {"experiment": "time", "graphs": ["karate", "les-miserables"], "strategies": ["dijkstra"]},
    "coloring": {"experiment": "ladder", "graphs": ["karate", "les-miserables"], "strategies": ["greedy"]},
}


@pytest.mark.parametrize("package", STUDIES)
def test_a_cell_s_place_decides_the_order(package, tmp_path, monkeypatch):
    experiments, places = importlib.import_module(f"lockstep.{package}.experiments"), []
    monkeypatch.setattr(measuring, "candidates", lambda *a, place=0, **k: places.append(place) or [])
    config = {"studies": {experiments.STUDY: {"parts": {"one": {"cells": [STUDIES[package]]}}}}}
    study = Study(experiments.STUDY, part="one", executor=None, config=config, results=tmp_path)
    assert experiments.measure(study, "one", None, say=lambda line: None) == []
    assert places == [0, 1]
