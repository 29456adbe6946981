"""What the Makefile would do; nothing is run."""

import subprocess

import pytest

from lockstep import paths


def make(*words):
    """The commands of a goal, as on a machine where nothing is set up yet."""
    done = subprocess.run(["make", "-n", "VENV=not-there", *words], cwd=paths.ROOT, text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("settings", "lock"), [([], "requirements.lock"), (["CUDA=12"], "requirements-cuda12.lock")])
def test_set_up_takes_the_lock_of_the_driver(settings, lock):
    told = make("setup", *settings)
    assert f'setup.sh "not-there" "{lock}"' in told


def test_make_sets_up_unlocks_and_runs():
    told = make("UV=")
    steps = [told.index(words) for words in ("setup.sh", "workflow unlock", "snakemake --cores 1")]
    assert steps == sorted(steps)
    assert '"requirements.lock" "" ""' in told, "UV= does without uv"


def test_the_test_command_compares_the_notebooks_too():
    told = make("test")
    assert "setup.sh" in told
    assert "pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env tests notebooks" in told


@pytest.mark.parametrize("settings", [[], ["PYTHON=3.12"], ["PYTHON=python3.12"]])
def test_the_wheelhouse_is_for_the_python_that_is_named(settings):
    assert '--python "3.12"' in make("wheelhouse", *settings)


def test_help_lists_every_goal():
    text = (paths.ROOT / "Makefile").read_text()
    goals = text.partition(".PHONY: ")[2].splitlines()[0].split()
    told = subprocess.run(["make", "-s", "help"], cwd=paths.ROOT, text=True, capture_output=True, check=True).stdout
    for goal in goals:
        assert f"make {goal} " in told or goal == "setup"
    assert "CUDA=12" in told
