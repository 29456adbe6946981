"""The workflow goes on where it stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest

ROWS = ["depth-0-0", "depth-1-0", "depth-2-0"]


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.slow
def test_an_interrupted_run_goes_on_where_it_stopped(compendium):
    """Interrupted by Ctrl-C during the second of three rows, killed during the third."""
    compendium.configure({"depth": {"rows": 3, "pause": 1}})
    compendium.goals = (compendium.done("depth"),)
    for row, stop in ((0, lambda process: os.killpg(process.pid, signal.SIGINT)), (1, subprocess.Popen.kill)):
        process = compendium.start()
        wait_for(lambda row=row: ROWS[row] in compendium.measured)
        stop(process)
        process.wait(60)
        stopped_with = list(compendium.measured)
        assert stopped_with == ROWS[: row + 1]
        time.sleep(1.5)  # longer than a row takes
        assert compendium.measured == stopped_with, "a notebook goes on measuring although its Snakemake is gone"

    assert "lock" in compendium.run(check=False).stderr.lower()  # and `make` removes it so:
    subprocess.run([sys.executable, "-m", "lockstep.workflow", "unlock"], cwd=compendium.root, check=True)
    compendium.run()
    assert compendium.measured == ROWS, "a row was measured twice or not at all"


@pytest.mark.slow
def test_snakemakes_own_report_shows_the_figures_with_their_captions(compendium):
    compendium.goals = compendium.goals[:1]
    compendium.run()
    compendium.run("--report", "results/workflow.html")
    text = (compendium.root / "results/workflow.html").read_text()
    assert "figures/0-machine/rows.svg" in text and "What was counted." in text


@pytest.mark.slow
def test_a_lock_that_a_live_run_holds_is_left_alone(compendium):
    compendium.configure({"depth": {"rows": 1}}, costs={"pause": 20})
    process = compendium.start()
    try:
        wait_for(lambda: any((compendium.root / ".snakemake/locks").glob("*")))
        done = subprocess.run(
            [sys.executable, "-m", "lockstep.workflow", "unlock"],
            cwd=compendium.root,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1
        assert f"process {process.pid}" in done.stderr
    finally:
        process.kill()
        process.wait(30)


@pytest.mark.slow
def test_an_executed_notebook_survives_a_failure(compendium):
    compendium.configure({"depth": {"rows": 1}}, costs={"rows": 2, "fail": 1})
    done = compendium.run(check=False)
    assert done.returncode != 0
    (executed,) = compendium.root.glob("results/*/0-machine/costs.ipynb")
    assert "row that fails on purpose" in executed.read_text()
    assert str(executed.relative_to(compendium.root)) in done.stderr
    # what was measured before the failure stays; whether the other study came first is Snakemake's choice
    assert "costs-0-0" in compendium.measured and "costs-1-0" not in compendium.measured
