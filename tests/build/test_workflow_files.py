"""The Snakefile as a whole: it plans, and git tracks nothing that its rules make."""

import json
import os
import re
import subprocess
import sys

import pytest

from lockstep import paths


def snakemake(*words, **settings):
    environment = {**os.environ, "LOCKSTEP_OFFLINE": "1", **settings}
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", *words],
        cwd=paths.ROOT,
        text=True,
        capture_output=True,
        check=False,
        env=environment,
    )


@pytest.fixture(scope="module")
def outputs():
    """Every file that a rule would write, at either size."""
    found = set()
    for size in ("smoke", "paper"):
        done = snakemake("--config", f"size={size}", "--summary")
        assert done.returncode == 0, done.stderr
        rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
        column = rows[0].index("output_file") if "output_file" in rows[0] else 0
        found |= {row[column] for row in rows[1:]}
    return found


def git(*words):
    return subprocess.run(["git", *words], cwd=paths.ROOT, text=True, capture_output=True, check=False)


def test_the_workflow_plans_every_step(outputs):
    for name in ("results/datasets.csv", "results/claims.csv", "paper/generated/report.pdf"):
        assert name in outputs
    for study in paths.NOTEBOOKS.glob("[0-9]-*.ipynb"):
        assert f"paper/generated/{study.stem}.json" in outputs


def test_nothing_that_a_rule_makes_is_tracked(outputs):
    if git("rev-parse", "--git-dir").returncode:
        pytest.skip("not a git checkout")
    assert git("ls-files", "--", *outputs).stdout == ""
    # a directory is ignored as a whole: ask for a file in it
    ignored = git("check-ignore", "--no-index", *(f"{name}/file" if "." not in name else name for name in outputs))
    assert len(ignored.stdout.split()) == len(outputs), "git would offer to add what a rule makes"


def test_without_typst_the_report_is_left_out_with_one_line(tmp_path):
    hide = "lambda name, *more: None if name == 'typst' else real(name, *more)"
    code = f"import importlib.util as util\nreal = util.find_spec\nutil.find_spec = {hide}\n"
    (tmp_path / "sitecustomize.py").write_text(code)
    here = os.environ.get("PYTHONPATH", "")
    done = snakemake("-n", "--forceall", PYTHONPATH=f"{tmp_path}{os.pathsep}{here}")
    assert done.returncode == 0, done.stderr
    told = (done.stdout + done.stderr).splitlines()
    assert sum("typst is not installed" in line for line in told) == 1
    assert any(line.endswith(": verdicts") for line in told)
    assert not any(line.startswith("Job ") and line.endswith(": report") for line in told)


def test_an_unknown_size_is_one_clear_line():
    done = snakemake("--config", "size=huge", "-n")
    assert done.returncode != 0
    assert "lockstep: config/huge.yaml: no such parameter file; there is: paper, smoke" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("notebook", sorted(paths.NOTEBOOKS.glob("*.ipynb")), ids=lambda p: p.stem)
def test_a_notebook_is_fit_to_be_run_and_compared(notebook):
    content = json.loads(notebook.read_text())
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert sum("parameters" in cell["metadata"].get("tags", []) for cell in cells) == 1
    measuring = [cell for cell in cells if "measure" in cell["metadata"].get("tags", [])]
    assert len(measuring) == (notebook.stem != "explore"), "a part's job ends with the cell that measures"
    assert all("if part" in "".join(cell["source"]) for cell in measuring)
    # nbval compares only cells that were run and stored: without outputs it would pass whatever happens
    assert any(cell["outputs"] for cell in cells)
    skipped = [cell for cell in cells if {"nbval-ignore-output", "nbval-skip"} & set(cell["metadata"].get("tags", []))]
    assert len(skipped) <= len(cells) / 2
    stored = json.dumps([cell["outputs"] for cell in cells])
    assert not re.search(r"/(home|root|Users|tmp|work)/", stored), "an output holds a path of the machine it ran on"
    assert "papermill" not in content["metadata"], "store a notebook by `make notebooks`, not by papermill"
