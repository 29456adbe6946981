"""Rows of earlier code are told wherever a verdict rests on them, and nothing fails because of them."""

import io

import pandas as pd
import pytest

from lockstep import cli, paths
from lockstep.evidence import claims, reading, selecting, telling
from lockstep.report import typeset
from lockstep.workflow import readme, screen

MARKED = f"rest on rows of earlier code ({telling.STALE})"


def of_earlier_code(rows):
    """The rows of `naive`, and of study 5, as stale ones."""
    old = rows[(rows["strategy"] == "naive") | (rows["study"] == "5-swarm-batch")]
    return old[["study", "strategy", "dataset", "kernel"]].drop_duplicates().assign(commit="abc")


def none(rows):
    return of_earlier_code(rows[:0])


@pytest.fixture(params=[of_earlier_code, none], ids=["stale", "fresh"])
def world(request, two_machines, tmp_path):
    """Verdicts of two machines' rows, and whether some of these are of earlier code."""
    places = {"recordings": two_machines, "results": tmp_path / "none", "stale": request.param}
    return claims.summary(**places), places, request.param is of_earlier_code


def test_the_ledger_marks_the_parts_that_rest_on_stale_rows(world):
    found, _, old = world
    parts = found.verdicts[found.verdicts["machine"] == "nvidia-test-1"].set_index("part")
    marked = set(parts.index[parts["stale"] > 0])
    assert ("D4a" in marked) == old and not marked & {"A1", "E1a"}, "of the strategy's study and cells alone"
    assert (parts.loc[list(marked), "measured"] == "abc").all()
    (sums,) = [line for line in found.text.splitlines() if line.startswith("nvidia-test-1")]
    assert (MARKED in sums) == old and (sums.endswith(MARKED) or not old)
    entry = next(line for line in found.text.splitlines() if line.split()[:1] == ["D4"])
    assert (telling.STALE in entry) == old
    assert ("measured at abc" in found.text) == old


def test_the_first_screen_says_how_many_parts(world, tmp_path):
    found, _, old = world
    (tmp_path / "claims.txt").write_text(found.text)
    told = io.StringIO()
    machine = screen.Machine("box-1", "a box, 2 cores", "host")
    screen.greet(machine, "smoke", {}, str(tmp_path / "box-1"), report=True, file=told)
    (line,) = [line for line in told.getvalue().splitlines() if line.split()[:1] == ["found"]]
    assert (MARKED in line) == old


def test_the_readme_says_how_many_and_which(world):
    found, places, old = world
    table = readme.verdicts(found, places["recordings"])
    assert (MARKED in table) == old
    lines = [line for line in table.splitlines() if line.startswith(f"{telling.STALE} nvidia-test-1: ")]
    assert bool(lines) == old and all("D4a" in line and line.endswith("measured at abc.") for line in lines)


def test_the_report_marks_verdict_and_commit(world, tmp_path):
    pytest.importorskip("typst")
    _, places, old = world
    typeset.build(tmp_path / "paper", **places, drawn=tmp_path / "drawn")
    text = (tmp_path / "paper" / "report.html").read_text(encoding="utf-8")
    assert ("measured at abc, and the code has changed since" in text) == old
    assert (MARKED in text) == old
    assert ("Some rows of this study are of earlier code: " in text) == old
    assert ("recorded at abc" in text) == old


def test_what_is_of_earlier_code_is_told_study_by_study():
    sort, swarm = "3-toposort-depth", "5-swarm-batch"
    cells = [(sort, "naive", "a"), (sort, "naive", "b"), (sort, "chains", "a"), (swarm, "paper", "c"),
             (swarm, "(best of all)", "c")]  # fmt: skip
    lines = pd.DataFrame(cells, columns=["study", "strategy", "dataset"]).assign(commit="0123456789")
    assert telling.earlier(lines) == {
        sort: "`chains` (a), `naive` (a, b); recorded at 0123456",
        swarm: "`paper` (c); recorded at 0123456",
    }
    many = pd.DataFrame({"study": sort, "strategy": "naive", "dataset": list("abcde"), "commit": "0123456789"})
    assert telling.earlier(many) == {sort: "`naive` (5 data sets); recorded at 0123456"}


def test_every_judged_part_of_the_project_names_the_rows_that_it_rests_on():
    machine, rows = max(reading.machines(results=paths.RECORDINGS).items(), key=lambda one: len(one[1]))
    judged = claims.judge({machine: rows}).set_index("part")
    for part in claims.load():
        if judged.loc[part.id, "n"] and part.relation != "computed":  # which rests on no row
            used = selecting.support(rows[rows["study"] == part.study], part.select)
            assert len(used) >= judged.loc[part.id, "n"], f"{part.id} is judged on rows that it does not name"


def test_the_command_ends_with_0_where_rows_are_stale(monkeypatch, recordings, capsys):
    summary = claims.summary
    monkeypatch.setattr(claims, "summary", lambda **given: summary(recordings=recordings, results=recordings, **given))
    assert cli.main(["claims"]) == 0
    assert "stale: 3-toposort-depth" in capsys.readouterr().out
