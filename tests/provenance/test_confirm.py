"""A refactoring is confirmed where launches, literals and operators are the same, and refused where they are not."""

import pandas as pd
import pytest

from lockstep import paths
from lockstep.evidence import reading
from lockstep.provenance import builds, confirm, staleness, trace

STUDY, GRAPH = "3-toposort-depth", "layered-60-20-random"


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A recorded row of `naive`, measured with host code of another shape, and the tables that tell of it."""
    monkeypatch.setattr(builds, "_folders", lambda: [tmp_path])
    parts = builds.present(STUDY, "naive", GRAPH)[0]
    line = {"id": "0123456789abcdef", "study": STUDY, "strategy": "naive", **parts._asdict(), "host": "earlier",
            "commit": "abc", "date": "", "why": ""}  # fmt: skip
    rows = pd.DataFrame([{"study": STUDY, "strategy": "naive", "dataset": GRAPH, "kernel": line["id"]}])
    monkeypatch.setattr(reading, "machines", lambda *places: {"box-1": rows})

    def world(left=None, words=None, **changes):
        builds.add(tmp_path, [line | changes])
        origin = builds.origin(STUDY, "naive", GRAPH)
        now = builds.code(origin.roots, origin.given, origin.entry)
        before = [STUDY, "naive", "earlier", left or trace.trace(STUDY, "naive"), words or now.words]
        confirm.append(tmp_path / confirm.TRACES, ["study", "strategy", "host", "trace", "words"], [before])
        return tmp_path, rows

    return world


def test_what_does_the_same_is_confirmed_and_fresh(world):
    folder, rows = world()
    assert len(staleness.stale(rows)) == 1
    (told,) = confirm.confirm(["naive"], "a helper was taken out", folder)
    assert told.startswith(f"confirmed {STUDY}/naive: earlier -> ")
    assert staleness.stale(rows).empty
    (line,) = builds.read(folder / builds.CONFIRMED)
    assert line["why"] == "a helper was taken out" and line["before"] == "earlier"
    with pytest.raises(ValueError, match="no recorded row of a known build of that is stale"):
        confirm.confirm(["naive"], "once more", folder)


@pytest.mark.parametrize(("given", "why"), [
    ({"left": "other"}, "another trace of launches"),
    ({"words": "other"}, "other literals or operators"),
    ({"device": "other"}, "device host differ; measure again"),
    ({"protocol": "0"}, "host protocol differ; measure again"),
])  # fmt: skip
def test_what_differs_is_refused(world, given, why):
    folder, rows = world(**given)
    (told,) = confirm.confirm([], "nothing has changed, surely", folder)
    assert told.startswith(f"refused {STUDY}/naive: ") and why in told
    assert len(staleness.stale(rows)) == 1 and not (folder / builds.CONFIRMED).exists()


def test_a_reason_and_a_known_strategy_are_asked_for(world):
    folder, _ = world()
    with pytest.raises(ValueError, match="say why"):
        confirm.confirm(["naive"], " ", folder)
    with pytest.raises(ValueError, match="no-such: no recorded row of a known build of that is stale"):
        confirm.confirm(["no-such"], "why not", folder)


def test_a_launch_of_another_shape_leaves_another_trace(monkeypatch):
    from lockstep.toposort.strategies.frontier import Frontier

    before = trace.trace(STUDY, "frontier")
    trace.trace.cache_clear()
    assert trace.trace(STUDY, "frontier") == before, "the same each time"
    monkeypatch.setattr(Frontier, "per_block", 32)  # of a GPU's 256 and the emulator's 64
    trace.trace.cache_clear()
    try:
        assert trace.trace(STUDY, "frontier") != before
    finally:
        trace.trace.cache_clear()


def test_the_project_keeps_what_each_recorded_build_leaves():
    known = {(line["study"], line["strategy"], line["host"]) for line in builds.read(paths.RECORDINGS / confirm.TRACES)}
    for line in builds.read(paths.RECORDINGS / builds.FILE):
        key = line["study"], line["strategy"]
        if line["host"] and builds.origin(*key, "") is not None:  # that is, with a plan
            assert (*key, line["host"]) in known, "/".join(key)
