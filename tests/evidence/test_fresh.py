"""GPU results cannot rot unseen: what is recorded must come from the present text of kernels and code."""

from importlib import import_module

import pytest

from lockstep import paths
from lockstep.evidence import recording
from lockstep.studies import PACKAGES, digests

FILES = sorted(paths.RECORDINGS.glob("*/[0-9]-*.csv"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_recordings_are_fresh(file):
    present = digests(file.stem)
    if present is None:
        pytest.skip(f"{file.stem} has no digests to compare with")
    old = recording.stale(recording.read(file).pipe(recording.current), present)
    names = ", ".join(sorted(set(old["strategy"])))
    command = recording.renew_command(file.parent.name)
    assert old.empty, f"{file.stem} of {file.parent.name} is stale: {names}. Renew it with: {command}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_recordings_are_verified_and_described(file):
    rows = recording.read(file)
    assert set(rows["verified"]) <= set(recording.VERIFIED)
    strategies = getattr(import_module(f"lockstep.{PACKAGES[file.stem]}"), "STRATEGIES", {})
    racy = [name for name, strategy in strategies.items() if not strategy.exact]  # no one result of theirs is right
    without = [*racy, "loading", "loading-one-thread", "reading"]  # which only read, and compute nothing
    timed = rows[rows["metric"].isin(["wall", "device"]) & ~rows["strategy"].isin(without)]
    assert not (timed["verified"] == "not-applicable").any(), "every timed result is verified"
    assert (file.parent / "machine.json").is_file()


def test_the_check_itself_fails_on_a_changed_digest(make_rows):
    rows = make_rows({"times": {"naive": 1.0}})
    assert recording.stale(rows, lambda strategy, dataset: "other")["strategy"].tolist() == ["naive"]
    assert recording.stale(rows, lambda strategy, dataset: "k").empty
