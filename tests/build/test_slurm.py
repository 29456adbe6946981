"""The profile for Slurm: it can be read, it plans every job, and parts ask for what they need.

The executor's plugin is not among the dependencies. Where it is installed, the plan is made with it; else with the
local executor, which takes the same profile.
"""

import importlib.util
import os
import re
import subprocess
import sys

import pytest
import yaml

from lockstep import paths

PROFILE = paths.ROOT / "profiles" / "slurm" / "config.yaml"
PLUGIN = importlib.util.find_spec("snakemake_executor_plugin_slurm") is not None


@pytest.fixture(scope="module")
def plan():
    """What `snakemake -n` says with the profile."""
    words = [] if PLUGIN else ["--executor", "local", "--cores", "32"]
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", str(PROFILE.parent), "-n", "--forceall", *words]
    done = subprocess.run(
        [*command, "--config", "size=smoke"], cwd=paths.ROOT, text=True, capture_output=True, check=False,
        env={**os.environ, "LOCKSTEP_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_profile_plans_every_part(plan):
    measured = set(re.findall(r": measure (\S+), part (\S+)", plan))
    assert {study for study, _ in measured} >= {"0-machine", "2-sssp-sync", "3-toposort-depth"}
    assert "profiles/default" not in plan, "the default profile would bring back its one GPU"


def test_parts_ask_for_a_gpu_time_memory_and_a_node_of_their_own(tmp_path):
    """The workflow's own plan shows messages and no resources: a rule of the same name without a message shows them."""
    (tmp_path / "Snakefile").write_text('rule measure:\n    output: "x"\n    resources: gpu=1\n    shell: "true"\n')
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", str(PROFILE.parent), "-n", "--executor",
               "local", "--cores", "32"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    for wanted in ("gpu=1", "runtime=60", "mem_mb=64000", "--exclusive", "threads: 16"):
        assert wanted in done.stdout, done.stdout + done.stderr
    text = (paths.ROOT / "Snakefile").read_text()
    measure = re.search(r"^rule measure:.*?(?=^rule )", text, re.MULTILINE | re.DOTALL)[0]
    assert "resources: gpu=1" in measure


def test_the_profile_names_rules_that_exist_and_no_cluster():
    profile = yaml.safe_load(PROFILE.read_text())
    assert profile["executor"] == "slurm" and profile["rerun-incomplete"] is True
    rules = set(re.findall(r"^rule (\w+):", (paths.ROOT / "Snakefile").read_text(), re.MULTILINE))
    named = {line.split(":")[0].split("=")[0] for key in ("set-resources", "set-threads") for line in profile[key]}
    assert named <= rules
    given = " ".join(profile["default-resources"])
    assert "slurm_account" not in given and "slurm_partition" not in given, "they differ from cluster to cluster"


def test_without_the_plugin_snakemake_says_which_executors_there_are():
    if PLUGIN:
        pytest.skip("the plugin is installed")
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", str(PROFILE.parent), "-n"]
    done = subprocess.run(command, cwd=paths.ROOT, text=True, capture_output=True, check=False)
    assert done.returncode != 0 and "invalid choice: 'slurm'" in done.stderr
