"""What stands under data/recordings: verified rows, and machines that are described."""

from importlib import import_module

import pytest

from lockstep import paths
from lockstep.evidence import recording
from lockstep.studies import PACKAGES

FILES = sorted(paths.RECORDINGS.glob("*/[0-9]-*.csv"))


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
