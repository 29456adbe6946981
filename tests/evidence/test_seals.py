"""A value that was edited by hand is noticed, and so is one that cannot be."""

import concurrent.futures
import json

import pandas as pd
import pytest

from lockstep import cli, paths
from lockstep.evidence import Candidate, Study, parts, recording, seals
from lockstep.workflow import plan

STUDY = "3-toposort-depth"


@pytest.fixture
def measured(tmp_path):
    """A machine's folder with two parts measured by the runner of parts."""
    config = {"studies": {STUDY: {"parts": {"one": {"cells": [{}]}, "two": {"cells": [{}]}}}}}
    study = Study(STUDY, "all", config=config, results=tmp_path, machine={"name": "box-1"})

    def timed(study, part, cell, executor):
        one = Candidate("serial", lambda: 1, lambda result: "exact", "k")
        study.measure(part, part, "g", [one], rounds=2, warmup=False)
        yield part

    assert parts.measure({"time": timed}, study, "all", None, say=lambda line: None) == []
    return tmp_path / "box-1"


def test_what_was_measured_is_sealed_at_the_end_of_each_part(measured):
    lines = seals._seals(measured)
    assert [line[:2] for line in lines] == [[STUDY, "one"], [STUDY, "two"]]
    assert seals.broken(measured) == []
    with (measured / f"{STUDY}.csv").open("a") as file:
        file.write((measured / f"{STUDY}.csv").read_text().splitlines()[-1] + "\n")
    assert seals.broken(measured) == [], "what comes later breaks nothing"


@pytest.mark.parametrize("edit", [
    lambda lines: [*lines[:1], lines[1].replace(",serial,", ",other,"), *lines[2:]],
    lambda lines: [lines[0], *lines[2:]],
    lambda lines: [*lines, "a line more"][:2] + lines[1:],
])  # fmt: skip
def test_a_line_that_was_changed_taken_out_or_put_in_is_noticed(measured, edit):
    file = measured / f"{STUDY}.csv"
    file.write_text("\n".join(edit(file.read_text().splitlines())) + "\n")
    found = seals.broken(measured)
    assert any("not as it was written when part one was done (lines 1 to" in what for what in found)


def test_times_that_cannot_be_are_named(measured, make_rows):
    rows = make_rows({"times": {"naive": 1.0}})
    wall = rows[rows["metric"] == "wall"]
    assert seals.impossible(wall) == []
    device = wall.assign(metric="device")
    both = pd.concat([rows, device.assign(value=device["value"] * 1.00005)])
    assert seals.impossible(both) == [], "two clocks differ"
    both = pd.concat([rows, device.assign(value=device["value"] * 1.1)])
    assert len(seals.impossible(both)) == len(wall) and "a device time of" in seals.impossible(both)[0]
    assert "a wall time of 0" in seals.impossible(wall.assign(value=0.0))[0]


def test_the_command_tells_it_and_is_strict_if_asked(measured, monkeypatch, capsys):
    monkeypatch.setattr(paths, "RESULTS", measured.parent)
    from lockstep.provenance import summary

    found = summary.summary(paths.RECORDINGS, measured.parent)
    assert found["broken"] == []
    file = measured / f"{STUDY}.csv"
    file.write_text(file.read_text().replace(",serial,", ",other,"))
    found = summary.summary(paths.RECORDINGS, measured.parent)
    assert len(found["broken"]) == 2 and "broken: " in summary.text(found)
    monkeypatch.setattr(summary, "summary", lambda: found)
    assert cli.main(["provenance", "--json"]) == 0 and json.loads(capsys.readouterr().out)["broken"]
    assert cli.main(["provenance", "--strict"]) == 1


def test_what_is_published_is_as_it_was_written():
    for folder in sorted({file.parent for file in paths.RECORDINGS.glob("**/machine.json")}):
        assert seals.broken(folder) == []
        assert {line[0] for line in seals._seals(folder)} == {file.stem for file in folder.glob("[0-9]-*.csv")}


def test_nothing_follows_the_seal_of_a_published_recording(measured):
    seals.seal(measured, STUDY, seals.PUBLISHED, anew=True)
    assert seals.broken(measured) == []
    with (measured / f"{STUDY}.csv").open("a") as file:
        file.write((measured / f"{STUDY}.csv").read_text().splitlines()[-1] + "\n")
    (told,) = seals.broken(measured)
    assert told.endswith("1 line more than when it was published")


def test_a_published_recording_may_be_continued_elsewhere(measured):
    """Copied back to the results, with a further part measured whole."""
    seals.seal(measured, STUDY, seals.PUBLISHED, anew=True)
    with (measured / f"{STUDY}.csv").open("a") as file:
        file.write((measured / f"{STUDY}.csv").read_text().splitlines()[-1] + "\n")
    seals.seal(measured, STUDY, "one-more")
    assert seals.broken(measured) == []


def measure_anew(folder, rounds=2):
    """The study's first part as a later process would measure it."""
    config = {"studies": {STUDY: {"parts": {"one": {"cells": [{}]}}}}}
    study = Study(STUDY, "all", config=config, results=folder.parent, machine={"name": folder.name})

    def timed(study, part, cell, executor):
        study.measure(part, part, "g", [Candidate("serial", lambda: 1, lambda result: "exact", "k")], rounds=rounds)
        yield part

    assert parts.measure({"time": timed}, study, "all", None, say=lambda line: None) == []


def test_rows_that_were_removed_take_their_runs_and_seals_with_them(measured):
    """Otherwise neither a run on uncommitted code nor a broken seal could be left behind."""
    other = {"study": "2-sssp-sync", "part": "delta", "date": "2026-01-02", "commit": "abc"}
    recording.log_run(measured, {}, other)
    recording.log_run(measured, {}, {"study": STUDY, "part": "one", "date": "2026-01-02", "commit": "abc+"})
    (measured / f"{STUDY}.csv").unlink()
    measure_anew(measured)
    runs = recording.runs(measured)
    assert [run["study"] for run in runs] == ["2-sssp-sync", STUDY] and runs[0] == other
    assert [line[:2] for line in seals._seals(measured)] == [[STUDY, "one"]] and seals.broken(measured) == []


def test_parts_of_two_studies_may_end_at_the_same_time(measured):
    """Each seal is there, and one that a kill cut short seals nothing."""
    (measured / "2-sssp-sync.csv").write_text((measured / f"{STUDY}.csv").read_text())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda k: seals.seal(measured, (STUDY, "2-sssp-sync")[k % 2], f"part-{k}"), range(60)))
    assert len(seals._seals(measured)) == 62 and seals.broken(measured) == []
    with (measured / "seals.csv").open("a") as file:
        file.write(f"{STUDY},one-more")
    assert len(seals._seals(measured)) == 62


def test_no_part_is_taken_for_a_published_recording(measured):
    """Study 2 has a part called published; whatever is measured after it follows no published recording."""
    names = {part for study in plan.load(paths.ROOT / "config/paper.yaml").values() for part in study["parts"]}
    assert "published" in names and seals.PUBLISHED not in names
    for part in ("published", "one-more"):
        with (measured / f"{STUDY}.csv").open("a") as file:
            file.write((measured / f"{STUDY}.csv").read_text().splitlines()[-1] + "\n")
        seals.seal(measured, STUDY, part)
    assert seals.broken(measured) == []
