"""The first and the last screen, and what `make publish` copies and refuses."""

import io
import json

import nbformat
import pytest

from lockstep.evidence import recording, seals
from lockstep.provenance import builds
from lockstep.workflow import notebooks, publish, screen, wheelhouse

STUDIES = {"0-machine": {"parts": {"costs": {"seconds": 30}}},
           "3-toposort-depth": {"parts": {"depth": {"seconds": 400}, "tables": {"seconds": 20}}}}  # fmt: skip


def greeting(tmp_path, executor="host", **settings):
    told = io.StringIO()
    machine = screen.Machine("box-1", "a box, 2 cores", executor)
    screen.greet(machine, "smoke", STUDIES, str(tmp_path), **{"report": True, **settings}, file=told)
    return told.getvalue()


def test_the_first_screen_tells_machine_parts_and_time(tmp_path):
    (tmp_path / "0-machine").mkdir()
    (tmp_path / "0-machine" / "costs.done").touch()
    told = greeting(tmp_path)
    for words in ("a box, 2 cores", "no GPU", "config/smoke.yaml", "depth 7 min, tables 20 s", "about 7 min"):
        assert words in told
    assert any(line.split() == ["0-machine", "measured"] for line in told.splitlines())
    assert "this GPU is measured" in greeting(tmp_path, executor="cuda")


def test_a_part_whose_rows_are_there_is_no_time_to_measure(tmp_path):
    """Its .done file was removed; once its rows are gone too it is measured again."""
    (tmp_path / "3-toposort-depth.csv").write_text(ROWS)
    seals.seal(tmp_path, "3-toposort-depth", "depth")
    told = greeting(tmp_path)
    assert "to measure: tables 20 s; to complete (rows are there): depth" in told and "about 50 s to measure" in told
    (tmp_path / "3-toposort-depth.csv").unlink()
    assert "depth 7 min, tables 20 s" in greeting(tmp_path)


def test_the_first_screen_says_what_was_found(tmp_path):
    before = greeting(tmp_path / "box-1")
    found = before[before.index("  found") :]
    assert all(words in found for words in (" hold, ", " fail, ", "direction: ", "identity: ", "as published"))
    (tmp_path / "claims.txt").write_text(
        "h200: 14 claims, 30 parts\n  direction: 12 hold\n  D1   holds   slower\nt4: no claim is tested here\n"
    )
    told = greeting(tmp_path / "box-1").splitlines()
    last = ["found" + 20 * " " + "h200: 14 claims, 30 parts", "direction: 12 hold"]
    assert [line.strip() for line in told[-2:]] == last


def test_without_typst_one_line_says_so(tmp_path):
    lines = greeting(tmp_path, report=False).splitlines()
    assert sum("typst is not installed" in line for line in lines) == 1


def test_the_last_screen_keeps_sums_and_warnings(tmp_path):
    keep = [
        "h200: 14 claims, 30 parts",
        "  direction: 12 hold",
        "  stale: 3-toposort-depth/naive",
        "  renew with: snakemake",
    ]
    drop = ["  D1   holds   slower", "  A/A control of x, y: passes"]
    told = tmp_path / "claims.txt"
    told.write_text("\n".join([*keep[:2], *drop, *keep[2:]]))
    assert screen.verdict_lines(told) == keep
    assert screen.verdict_lines(tmp_path / "none") == ["no verdicts yet"]


HEAD = ",".join(recording.COLUMNS) + "\n"
SAMPLE = dict(study="3-toposort-depth", experiment="e", dataset="g", parameters="{}", metric="wall", unit="ms", round=0,
              value=1.5, verified="exact")  # fmt: skip


def line(strategy, kernel):
    return ",".join(str((SAMPLE | {"strategy": strategy, "kernel": kernel})[key]) for key in recording.COLUMNS) + "\n"


CURRENT = line("serial", "fedcba9876543210") + line("rustworkx-of-old", "")
ROWS = HEAD + line("serial", "0123456789abcdef") + CURRENT


@pytest.fixture
def measured(tmp_path):
    """A compendium's folders with one machine's results and a report."""
    facts = {"name": "box-1", "gpu": None, "gpus": 0, "cpu": "a box", "cores": 2}
    (tmp_path / "results/box-1").mkdir(parents=True)
    (tmp_path / "results/box-1/3-toposort-depth.csv").write_text(ROWS)
    (tmp_path / "results/box-1/machine.json").write_text(json.dumps(facts))
    (tmp_path / "paper/generated").mkdir(parents=True)
    (tmp_path / "paper/generated/report.pdf").write_text("pdf")
    return tmp_path


def publish_in(folder):
    written = publish.publish(folder / "results", folder / "recordings", folder / "paper", "box-1")
    return sorted(str(file.relative_to(folder)) for file in written)


def test_publish_copies_report_and_recording(measured):
    expected = ["paper/published/report.pdf", "recordings/box-1/3-toposort-depth.csv",
                "recordings/box-1/machine.json"]  # fmt: skip
    assert publish_in(measured) == expected
    assert publish_in(measured) == expected, "the same machine may publish again"


def test_publish_leaves_out_what_was_measured_again_and_keeps_the_rest_as_it_is(measured):
    publish_in(measured)
    assert (measured / "recordings/box-1/3-toposort-depth.csv").read_text() == HEAD + CURRENT
    assert (measured / "results/box-1/3-toposort-depth.csv").read_text() == ROWS


def test_publish_leaves_out_a_row_that_a_killed_run_was_writing(measured):
    rows = measured / "results/box-1/3-toposort-depth.csv"
    rows.write_text(ROWS + "3-toposort-depth,depth")
    publish._copy_current(rows, measured / "copy.csv")
    assert (measured / "copy.csv").read_text() == HEAD + CURRENT


def test_publish_leaves_out_a_part_that_has_not_ended(measured):
    """One row of a new build must not replace all of the build before."""
    rows = measured / "results/box-1/3-toposort-depth.csv"
    seals.seal(rows.parent, rows.stem, "depth")
    rows.write_text(ROWS + line("serial", "89abcdef01234567"))
    publish_in(measured)
    assert (measured / "recordings/box-1/3-toposort-depth.csv").read_text() == HEAD + CURRENT
    seals.seal(rows.parent, rows.stem, "depth")
    publish_in(measured)
    assert "89abcdef01234567" in (measured / "recordings/box-1/3-toposort-depth.csv").read_text()


def test_publish_adds_the_builds_that_were_measured(measured):
    line = dict.fromkeys(builds.COLUMNS, "x") | {"id": "fedcba9876543210", "study": "3-toposort-depth",
                                                 "strategy": "serial"}  # fmt: skip
    builds.add(measured / "results/box-1", [line], {"x": {"toposort/serial.py: kahn": "0"}})
    publish_in(measured)
    (found,) = builds.read(measured / "recordings" / builds.FILE)
    assert found == line and "kahn" in (measured / "recordings" / builds.PIECES).read_text()
    publish_in(measured)
    assert len(builds.read(measured / "recordings" / builds.FILE)) == 1, "once"


def test_publish_refuses_another_machines_folder(measured):
    publish_in(measured)
    theirs = measured / "recordings/box-1/machine.json"
    theirs.write_text(theirs.read_text().replace('"cores": 2', '"cores": 64'))
    (measured / "results/box-1/3-toposort-depth.csv").write_text("other\n")
    with pytest.raises(ValueError, match=r"another machine \(cores 64, here 2\); it is not overwritten"):
        publish_in(measured)
    assert (measured / "recordings/box-1/3-toposort-depth.csv").read_text() == HEAD + CURRENT


@pytest.mark.parametrize(("commit", "why"), [("abc+", "uncommitted changes"), (None, "commit is not known")])
def test_publish_refuses_rows_of_code_that_no_commit_holds(measured, commit, why):
    file = measured / "results/box-1/machine.json"
    runs = [{"study": "3-toposort-depth", "date": "2026-01-02", "commit": "abc"}]
    file.write_text(json.dumps(json.loads(file.read_text()) | {"runs": runs}))
    publish_in(measured)
    dirty = [*runs, {**runs[0], "commit": commit}]
    file.write_text(json.dumps(json.loads(file.read_text()) | {"runs": dirty}))
    with pytest.raises(ValueError, match=f"run of 3-toposort-depth on 2026-01-02 .*{why}"):
        publish_in(measured)
    (measured / "recordings/box-1/machine.json").write_text(file.read_text())
    publish_in(measured)  # what is published already is not asked again


def test_publish_refuses_small_sizes_on_a_gpu(measured):
    """`size=smoke` is for a try; its graphs would be judged beside those of the papers' sizes."""
    file = measured / "results/box-1/machine.json"
    run = {"study": "3-toposort-depth", "date": "2026-01-02", "commit": "abc", "command": "-p config config/smoke.yaml"}
    facts = json.loads(file.read_text()) | {"runs": [run]}
    file.write_text(json.dumps(facts | {"gpu": "NVIDIA Box"}))
    with pytest.raises(ValueError, match=r"on 2026-01-02 measured the small sizes of config/smoke\.yaml"):
        publish_in(measured)
    file.write_text(json.dumps(facts))  # the sizes for a machine without a GPU
    assert "recordings/box-1/machine.json" in publish_in(measured)


def test_publish_names_a_damaged_file(measured):
    (measured / "results/box-1/2-sssp-sync.csv").touch()  # a run killed before its first row
    publish_in(measured)
    file = measured / "results/box-1/machine.json"
    for text, why in (('{"name": \n', r"line 2: Expecting value"), ("[]", "line 1: a list, not an object")):
        file.write_text(text)
        with pytest.raises(recording.RecordingError, match=rf"machine\.json, {why}; restore it"):
            publish_in(measured)


def test_publish_keeps_a_recording_whose_runs_are_not_ours(measured):
    """A fresh checkout on the same machine has a recording of its own, which lies beside the first."""
    file = measured / "results/box-1/machine.json"
    facts, run = json.loads(file.read_text()), {"study": "3-toposort-depth", "date": "2026-01-02", "commit": "abc"}
    for date, folder in (("2026-01-02", ""), ("2026-02-03", "2/"), ("2026-03-04", "3/"), ("2026-03-04", "3/")):
        file.write_text(json.dumps(facts | {"runs": [run | {"date": date}]}))
        assert f"recordings/box-1/{folder}3-toposort-depth.csv" in publish_in(measured)
    told = [json.loads(one.read_text()) for one in measured.glob("recordings/*/**/machine.json")]
    assert sorted(one["runs"][0]["date"] for one in told) == ["2026-01-02", "2026-02-03", "2026-03-04"]


def test_publish_replaces_no_recording_whose_rows_were_removed_here(measured):
    """Rows removed and measured anew with machine.json kept: another recording, even if machine.json lists all runs."""
    publish_in(measured)
    file = measured / "results/box-1/3-toposort-depth.csv"
    file.write_text(ROWS.replace("1.5", "2.5"))
    (measured / "results/box-1/seals.csv").unlink(missing_ok=True)
    assert "recordings/box-1/2/3-toposort-depth.csv" in publish_in(measured)
    assert (measured / "recordings/box-1/3-toposort-depth.csv").read_text() == HEAD + CURRENT
    file.write_text(ROWS.replace("1.5", "2.5") + line("naive", "89abcdef01234567"))
    publish_in(measured)
    assert not (measured / "recordings/box-1/3").exists(), "rows were added, none removed"


def test_publish_without_measurements_says_what_to_run(tmp_path):
    with pytest.raises(ValueError, match="run snakemake --cores 1 first"):
        publish.publish(tmp_path, tmp_path, tmp_path, "box-1")


def stored(tmp_path, source, tags=("parameters",)):
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps({"cells": [{"cell_type": "code", "metadata": {"tags": list(tags)}, "source": source}]}))
    return file


def test_a_parameter_that_a_notebook_lacks_is_an_error(tmp_path):
    notebooks.check(stored(tmp_path, "config = None\npart: str = None\nexecutor = None"))
    with pytest.raises(notebooks.NotebookError, match="missing: executor"):
        notebooks.check(stored(tmp_path, "config = part = None"))
    with pytest.raises(notebooks.NotebookError, match="no cell is tagged"):
        notebooks.check(stored(tmp_path, "config = None", tags=()))
    with pytest.raises(notebooks.NotebookError, match="no such notebook"):
        notebooks.check(tmp_path / "none.ipynb")


def test_stored_notebooks_lose_what_differs_between_machines():
    cell = nbformat.v4.new_code_cell("1", metadata={"execution": {"iopub.execute_input": "2026"}, "tags": ["a"]})
    widget = nbformat.v4.new_output("display_data", {notebooks.WIDGET: {"model_id": "6f"}, "text/plain": "VBox()"})
    cell.outputs = [widget, nbformat.v4.new_output("stream", text="told")]
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"papermill": {"input_path": "/x"}})
    notebooks.strip(notebook)
    assert notebook.cells[0].metadata == {"tags": ["a"]}
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert "papermill" not in notebook.metadata
    assert [one.output_type for one in notebook.cells[0].outputs] == ["stream"]


def test_a_wheelhouse_for_another_python_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"PYTHON=3\.13: the GPU machine's Python must be 3\.11 or 3\.12"):
        wheelhouse.collect("requirements.lock", "3.13", tmp_path)


def test_a_part_runs_no_further_than_its_measuring(tmp_path):
    code = {"parameters": "config = part = executor = None", "measure": "x = 1", "draw": "raise SystemError('drawn')"}
    cells = [nbformat.v4.new_code_cell(text, metadata={"tags": [tag]}) for tag, text in code.items()]
    file, log = tmp_path / "study.ipynb", tmp_path / "log.ipynb"
    python = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=python), file)
    values = {"config": "a.yaml", "part": "depth", "executor": "host"}
    assert notebooks.run(file, log, values, done=tmp_path / "done") == 0 and (tmp_path / "done").is_file()
    executed = nbformat.read(log, as_version=4).cells
    assert executed[-1].source == "x = 1" and 'part = "depth"' in executed[1].source
    assert notebooks.run(file, log, {**values, "part": "None"}) != 0, "who draws a study runs it whole"
    assert "drawn" in str(nbformat.read(log, as_version=4).cells[-1].outputs)
