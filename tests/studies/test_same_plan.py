"""Five studies with the same inner plan: who knows one finds the way in the others."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import lockstep
from lockstep import paths, report
from lockstep.evidence import Study
from lockstep.evidence.recording import COLUMNS
from lockstep.graphs import DatasetMissing
from lockstep.provenance import builds
from lockstep.studies import PACKAGES

LIB = Path(lockstep.__file__).parent
STUDIES = {package: study for study, package in PACKAGES.items() if study != "0-machine"}
# The rooms of a study, besides what its strategies are made of.
ROOMS = ("problem", "result", "oracle", "origins", "strategies.table", "strategies.shared", "strategies.baselines",
         "strategies.auto", "experiments", "experiments.cases", "results.views", "results.goals")  # fmt: skip
OTHERS = {  # kernels that a module of another name loads
    "near": "waiting", "score": "shared", "turn": "shared", "finish": "batched", "lanes": "betweenness",
    "pairs": "betweenness", "bits": "distances", "reduce": "distances", "groups": "structure", "rank": "structure",
    "weighted": "lengths",
}  # fmt: skip
CELLS = {  # two data sets that are not there, as each study names them
    "sgd": {"graphs": ["a", "b"], "strategies": ["serial"]},
    "sssp": {"graphs": ["a", "b"], "strategies": ["dijkstra"]},
    "toposort": {"graphs": ["a", "b"], "strategies": ["serial"]},
    "coloring": {"graphs": ["a", "b"], "strategies": ["greedy"]},
    "swarm": {"kind": "batch", "graphs": ["a", "b"], "strategies": {"betweenness": ["cpu"]}},
}


def imported(file):
    """The packages of this project that a file imports from, as far as their names stand in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            path = (node.module or "").split(".") if node.module else []
            if node.level:
                path = [*file.relative_to(LIB.parent).parts[: -node.level], *path]
            if path[:1] == ["lockstep"]:
                found |= {path[1]} if path[1:] else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("lockstep.")}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # for import_module
            found |= set(re.findall(r"^lockstep\.([a-z]+)", node.value))
    return found


@pytest.mark.parametrize("package", STUDIES)
def test_files_and_public_names(package):
    study = import_module(f"lockstep.{package}")
    for name in ROOMS:
        import_module(f"lockstep.{package}.{name}")
    kernels = list((LIB / package / "strategies").glob("*.cu"))
    assert kernels
    for file in kernels:  # loaded by one module, of its name if it is a strategy's
        loading = [one.stem for one in file.parent.glob("*.py") if f'"{file.name}"' in one.read_text(encoding="utf-8")]
        also = ["level"] if file.stem == "walks" else []
        assert sorted(loading) == sorted([OTHERS.get(file.stem, file.stem), *also]), f"{file.name}: {loading}"
    assert {"STRATEGIES", "Strategy"} <= set(study.__all__)
    assert all(hasattr(study, name) for name in study.__all__)
    experiments = study.experiments
    assert experiments.STUDY == STUDIES[package]
    assert list(inspect.signature(experiments.measure).parameters) == ["study", "part", "executor", "say"]
    origins = import_module(f"lockstep.{package}.origins")
    assert list(inspect.signature(origins.origin).parameters) == ["label", "dataset"] and origins.PROTOCOL
    assert list(inspect.signature(origins.trial).parameters) == ["label"] and experiments.STUDY in PACKAGES


@pytest.mark.parametrize("package", STUDIES)
def test_goals_are_judged_and_told_alike(package):
    goals = import_module(f"lockstep.{package}.results.goals")
    nothing = goals.reached(pd.DataFrame(columns=list(COLUMNS)))
    assert tuple(nothing) == report.goals.COLUMNS and nothing.empty
    first, second, *own = inspect.signature(goals.reached).parameters.values()
    assert (first.name, second.name) == ("rows", "costs") and all(one.default is None for one in (second, *own))
    study = STUDIES[package]
    notebook, text = ((folder / f"{study}{end}").read_text(encoding="utf-8")
                      for folder, end in ((paths.NOTEBOOKS, ".ipynb"), (paths.PAPER, ".typ")))  # fmt: skip
    assert "## Goals" in notebook and "report.goals.told(aims)" in notebook
    assert "*Goals.* #goals(name)" in text


@pytest.mark.parametrize("package", STUDIES)
def test_strategies(package):
    study = import_module(f"lockstep.{package}")
    for name, entry in study.STRATEGIES.items():
        assert isinstance(entry, study.Strategy) and entry.name == name
        assert entry.what and entry.published and entry.family and entry.exact in (True, False)
        parts, pieces = builds.present(STUDIES[package], name, "karate")
        assert bool(parts.device) == (entry.gpu or entry.family == "choice") and parts.host
        assert len(pieces[parts.host]) > 3


@pytest.mark.parametrize("package", STUDIES)
def test_a_data_set_that_is_missing_stops_nothing(package, monkeypatch, tmp_path):
    experiments = import_module(f"lockstep.{package}.experiments")

    def missing(name, *_, **__):
        raise DatasetMissing(f"{name} is not here")

    if package == "swarm":
        monkeypatch.setattr(experiments, "case", missing)
    else:
        cases = f"lockstep.{package}.experiments.cases"
        monkeypatch.setattr(import_module(cases), "load", missing)
    block = {"seconds": 1, "cells": [{"experiment": "none", **CELLS[package]}]}
    config = {"studies": {STUDIES[package]: {"parts": {"ladder": block}}}}
    study = Study(STUDIES[package], "all", None, config=config, results=tmp_path, machine={"name": "test", "cores": 1})
    for part in ("ladder", "all"):
        found = experiments.measure(study, part, None, say=lambda line: None)
        assert [line.split(": ")[1] for line in found] == ["a is not here", "b is not here"]
    assert len(study.rows()) == 0


@pytest.mark.parametrize("package", STUDIES)
def test_a_study_knows_no_other(package):
    for file in (LIB / package).rglob("*.py"):
        others = imported(file) & (set(STUDIES) - {package})
        assert not others, f"{file.name} imports {', '.join(others)}"


@pytest.mark.parametrize("room", ["batch", "evidence", "graphs", "machine"])
def test_what_studies_build_on_knows_no_study(room):
    for file in (LIB / room).rglob("*.py"):
        assert not imported(file) & set(STUDIES), file.name


def test_every_module_says_what_it_is():
    for file in LIB.rglob("*.py"):
        assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))), f"{file.name} has no docstring"
