"""One verdict, one place: notebooks, report, README, first screen and command line read one store."""

import ast
import json

import pandas as pd

from lockstep import cli, paths
from lockstep.evidence import Study, claims


def judging(source):
    """Whether a source calls the engine: `claims.judge`, `controls`, or a relation of `JUDGES`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "JUDGES":
            return True
        if isinstance(node, ast.Call):
            of, name = getattr(getattr(node.func, "value", None), "id", None), getattr(node.func, "attr", None)
            if (of, name) in (("claims", "judge"), ("claims", "controls"), ("relations", name)):
                return True
            if getattr(node.func, "id", "") in ("judge", "controls"):
                return True
    return False


def test_nothing_else_computes_a_verdict():
    callers = {file.name for file in (paths.ROOT / "lib").rglob("*.py") if judging(file.read_text(encoding="utf-8"))}
    for notebook in paths.NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        callers |= {notebook.name for source in code if judging(source)}
    assert callers - {"batch.py"} == {"claims.py"}, callers  # whose `judge` looks at graphs that are read
    assert all(map(judging, ("claims.judge(rows)", "JUDGES[x](1)", "controls(rows)", "a = relations.above(part)")))
    assert not judging("ledger.controls(); claims.load()")


def test_a_notebook_shows_what_the_command_line_says():
    study = Study("3-toposort-depth")
    judged, controls = claims.of_study(study)
    told = claims.summary(recordings=paths.RECORDINGS, results=paths.RECORDINGS)
    known = told.verdicts[told.verdicts["study"] == study.name]
    known = known[known["machine"].isin(judged["machine"])].reset_index(drop=True)
    own = ["part", "verdict", "value", "low", "high", "adjusted"]
    pd.testing.assert_frame_equal(judged[own], known[own])
    assert len(judged["machine"].unique()) > 1 and set(controls["study"]) == {study.name}


def test_one_machine_alone():
    study = Study("3-toposort-depth")
    name = claims.of_study(study)[0]["machine"].iloc[0]
    judged, controls = claims.of_study(study, name)
    assert set(judged["machine"]) == {name} and set(controls["machine"]) <= {name}


def test_a_part_is_a_record(capsys):
    assert cli.main(["claims", "--claim", "D4a", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    line = next(line for line in lines if line["verdict"] == "holds")
    assert line["part"] == "D4a" and line["kind"] == "direction" and line["recordings"] >= 1 and line["n"] > 1
    assert line["low"] < line["value"] < line["high"] and isinstance(line["beside"], dict)
