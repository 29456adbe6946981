"""The project's own ledger: complete, well formed, and nothing in it is ever run."""

import subprocess
from collections import Counter

import pytest
import yaml

from lockstep import paths
from lockstep.evidence import ledger
from lockstep.evidence.ledger import ClaimsError, load
from lockstep.studies import PACKAGES

# Published figures an entry has, where there is more than one: every claim of the five papers is named here.
ENTRIES = {"A": 23, "B": 10, "C": 11, "D": 15, "E": 17}
FIGURES = {
    "A6": 3, "A7": 2, "A9": 2, "A10": 3, "A13": 2, "A16": 3, "A18": 7, "A20": 3, "A23": 3,
    "B5": 2, "B9": 10, "B10": 2,
    "C2": 2, "C5": 2, "C6": 3, "C9": 2, "C11": 2,
    "D1": 3, "D2": 2, "D3": 5, "D4": 7, "D5": 2, "D6": 2, "D7": 6, "D10": 4, "D12": 2, "D14": 16,
    "E1": 4, "E2": 2, "E3": 2, "E4": 5, "E6": 5, "E7": 3, "E8": 3, "E9": 3, "E11": 5, "E13": 2, "E16": 5, "E17": 2,
}  # fmt: skip


def write(tmp_path, **changes):
    entry = {"id": "X1", "statement": "a is faster", "relation": "above", "published": 2, **changes}
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump({"papers": {"X": {"title": "t", "study": "s"}}, "claims": [entry]}))
    return file


def test_no_claim_is_lost():
    parts = Counter(part.claim for part in load())
    expected = {f"{paper}{k}": 1 for paper, count in ENTRIES.items() for k in range(1, count + 1)} | FIGURES
    assert parts == expected


def test_parts_are_named_by_letters_in_their_order():
    names = [part.id for part in load()]
    assert [name for name in names if name.startswith("D4")] == [f"D4{letter}" for letter in "abcdefg"]
    assert "D8" in names and "D8a" not in names
    assert len(set(names)) == len(names)


def test_every_part_that_can_be_tested_says_where_its_figure_comes_from():
    for part in load():
        if not part.untestable:
            sides = [{"numerator", "denominator"}, {"value"}, {"first", "second"}, {"strategies"}, {"blocks"}]
            assert any(side <= set(part.select) for side in sides), part.id


def test_an_identity_counts_and_times_nothing():
    for part in load():
        sides = [part.select[side] for side in ("value", "numerator", "denominator") if side in part.select]
        if part.kind == "identity" and sides:
            metrics = [side.get("metric", "wall") for side in sides]
            assert not set(metrics) & {"wall", "device", "total", "minutes", "time", "load_us", "compute_us"}, part.id


def test_what_was_changed_names_a_commit_that_changed_the_ledger_or_its_statistics():
    judging = ("paper/claims.yaml", "lib/lockstep/evidence")
    git = ["git", "-C", paths.ROOT, "log", "--format=%h", "--abbrev=7", "--", *judging]
    known = subprocess.run(git, text=True, capture_output=True).stdout.split()
    named = [change for part in load() for change in part.changed]
    assert named and all(change["what"] and change["why"] for change in named)
    if len(known) > 1:  # a shallow copy has no history
        assert {str(change["commit"]) for change in named if "commit" in change} <= set(known)


def test_published_figures_are_the_papers():
    published = {part.id: part.published for part in load()}
    assert [published[f"D4{k}"] for k in "abcdefg"] == [14, 5.6, 1.9, 0.32, 0.032, 0.003, 0.0003]
    assert [published[f"D1{k}"] for k in "abc"] == [16, 17, 16]
    assert (published["D5a"], published["D8"], published["B2"], published["E1a"]) == (250, 0.012, 9.3, 314)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"relation": "faster"}, "X1: the relation 'faster' is none of above"),
        ({"expression": "a > b"}, "X1: unknown expression"),
        ({"kind": "guess"}, "X1: kind 'guess' is none of direction, magnitude, identity"),
        ({"needs": "luck"}, "X1: needs 'luck' is none of rows, data, hardware, code"),
        ({"population": {"cells": "c"}}, "X1: population cells is none of strata, random, collection"),
        ({"readings": {"one": {"where": "x"}}}, "X1, select: unknown where"),
        ({"select": {"where": "x"}}, "X1, select: unknown where"),
        ({"select": {"numerator": {"eval": "x"}}}, "X1, select, numerator: unknown eval"),
        ({"statement": ""}, "X1: an entry needs an id and a statement"),
        ({"id": "Z9"}, "Z9: there is no paper Z"),
        ({"parts": [{"of": "one", "publishd": 1}]}, "X1: unknown publishd"),
    ],
)
def test_a_slip_in_the_file_is_named(tmp_path, changes, message):
    with pytest.raises(ClaimsError, match=message):
        load(write(tmp_path, **changes))


def test_an_entrys_words_hold_for_its_parts_unless_they_say_otherwise(tmp_path):
    select = {"experiment": "e", "numerator": {"strategy": "a"}, "denominator": {"strategy": "b"}}
    parts = [{"of": "one"}, {"of": "two", "published": 3, "select": {"numerator": {"strategy": "c"}}}]
    one, two = load(write(tmp_path, select=select, parts=parts))
    assert (one.published, two.published) == (2, 3)
    assert one.select["numerator"] == {"strategy": "a"} and two.select["numerator"] == {"strategy": "c"}
    assert one.select["experiment"] == two.select["experiment"] == "e" and one.study == "s"


def test_nothing_in_the_file_is_evaluated(tmp_path):
    trap = tmp_path / "ran"
    word = f"__import__('pathlib').Path({str(trap)!r}).touch()"
    load(write(tmp_path, statement=word, published=word, unit=word, select={"dataset": word}))
    with pytest.raises(ClaimsError):
        load(write(tmp_path, relation=word))
    file = tmp_path / "object.yaml"
    file.write_text(f"!!python/object/apply:os.mkdir ['{trap}']")
    with pytest.raises(ClaimsError):
        load(file)
    assert not trap.exists()
    for name in ("ledger", "selecting", "relations", "claims", "controls", "statistics", "trends"):
        source = (paths.ROOT / "lib" / "lockstep" / "evidence" / f"{name}.py").read_text()
        assert not any(word in source for word in ("eval(", "exec(", "unsafe_load", ".query(", "compile("))


def test_a_control_says_where_and_why(tmp_path):
    for control in ledger.controls().values():
        assert control.study in PACKAGES and control.of and control.select, control
    file = write(tmp_path)
    content = yaml.safe_load(file.read_text())
    good = {"study": "s", "strategy": "a", "reason": "it is steady there"}
    slips = {
        "control of s, a: unknown wher": {**good, "wher": "here"},
        "control of s, a: unknown eval": {**good, "select": {"eval": "x"}},
        "control of s, None: a control needs a study, a strategy and a reason": {"study": "s", "reason": "r"},
    }
    for message, entry in slips.items():
        file.write_text(yaml.safe_dump({**content, "controls": [entry]}))
        with pytest.raises(ClaimsError, match=message):
            ledger.controls(file)
    file.write_text(yaml.safe_dump({**content, "controls": [good]}))
    assert ledger.controls(file) == {("s", "a"): ledger.Control("s", "a", reason="it is steady there")}


def test_an_id_may_not_be_used_twice(tmp_path):
    file = write(tmp_path)
    content = yaml.safe_load(file.read_text())
    content["claims"] *= 2
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(ClaimsError, match="X1 is there twice"):
        load(file)


def test_merging_lays_changes_over_and_leaves_the_base_alone():
    base = {"a": {"x": 1, "y": 2}, "b": [1]}
    assert ledger.merge(base, {"a": {"y": 3}, "b": [2]}) == {"a": {"x": 1, "y": 3}, "b": [2]}
    assert base == {"a": {"x": 1, "y": 2}, "b": [1]}


def test_a_gain_is_over_the_same_engine():
    """A figure beside a part inherits its selector: `over` must not stay the paper's where the strategy is ours."""
    seen = 0
    for part in ledger.load():
        for change in ({}, *part.beside.values()):
            selected = ledger.merge(part.select, change)
            for side in (selected.get("numerator", {}), selected.get("denominator", {})):
                if part.paper == "E" and "over" in side:
                    seen += 1
                    assert side["strategy"].startswith("paper") == side["over"].startswith("paper"), (part.id, change)
    assert seen >= 16
