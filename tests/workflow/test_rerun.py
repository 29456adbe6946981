"""The workflow re-runs just what depends on what changed."""

import os

import pytest

ROWS = ["costs-0-0", "depth-0-0", "depth-1-0", "depth-2-0", "tables-0-0"]


@pytest.mark.slow
def test_a_change_reruns_just_what_depends_on_it(compendium):
    compendium.run()
    assert sorted(compendium.measured) == ROWS

    def touched_by(changed):
        files = {compendium.root / name: text for name, text in changed.items()}
        before = {file: (file.read_text(), file.stat()) for file in files}
        for file, text in files.items():
            file.write_text(text)
        jobs = compendium.jobs()
        for file, (text, when) in before.items():
            file.write_text(text)
            os.utime(file, ns=(when.st_atime_ns, when.st_mtime_ns))
        return jobs

    depth, tables = (f"measure 3-toposort-depth, part {part}" for part in ("depth", "tables"))
    draw, draw0 = (f"figures, tables and numbers of {study}" for study in ("3-toposort-depth", "0-machine"))
    notebook = "notebooks/3-toposort-depth.ipynb"
    assert touched_by({"lib/lockstep/toposort/kernels.cu": "// faster"}) == {depth, tables, draw}
    assert touched_by({"lib/lockstep/report/style.py": "# another color"}) == {draw, draw0}
    text = (compendium.root / notebook).read_text()
    assert touched_by({notebook: text.replace("there = set", "there = frozenset")}) == {depth, tables, draw}
    saved = text.replace('"execution_count": null', '"execution_count": 7')
    not_run_here = {"lib/lockstep/sssp/kernels.cu": "// a study that does not run here"}
    again = "a second run has something to do, after a notebook was saved and another study changed"
    assert touched_by({notebook: saved, **not_run_here}) == set(), again

    compendium.configure({"depth": {"rows": 3, "size": 9}, "tables": {"rows": 1}})
    assert compendium.jobs() == {depth, draw}
    compendium.run()
    assert compendium.measured[len(ROWS) :] == ["depth-0-9", "depth-1-9", "depth-2-9"]

    # Its rows' mark is gone, while figures and tables are up to date: what the first screen says is done.
    (compendium.root / compendium.done("tables")).unlink()
    compendium.write("paper/claims.yaml", "")  # which only the whole asks for
    everything = compendium.jobs(goals=())
    assert tables in everything and depth not in everything
