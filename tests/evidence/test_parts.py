"""Parts of a parameter file: complete cells, every combination, and jobs that do not stop one another."""

from types import SimpleNamespace

import pytest

from lockstep.evidence import parts


class Absent(Exception):
    pass


def test_cells_are_complete():
    common = {"strategies": {"few": ["a", "b"]}}
    block = {"rounds": 3, "cells": [
        {"kind": "x", "strategies": "few"},
        {"kind": "y", "strategies": ["c"], "rounds": 5},
        {"kind": "z", "strategies": {"first": "few", "second": ["d"]}},
        {"kind": "none"},
    ]}  # fmt: skip
    found = list(parts.cells(block, common))
    assert [cell["rounds"] for cell in found] == [3, 5, 3, 3]
    assert [cell["strategies"] for cell in found] == [["a", "b"], ["c"], {"first": ["a", "b"], "second": ["d"]}, []]
    found[0]["strategies"].append("z")
    assert common["strategies"]["few"] == ["a", "b"], "a cell's list is its own"
    assert next(parts.cells({"cells": [{}]}, rounds=1)) == {"rounds": 1, "strategies": []}
    assert list(parts.cells({"graphs": ["a"]})) == []


def test_a_list_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no list of strategies named 'fwe'; the common block has few, all"):
        list(parts.cells({"cells": [{"strategies": "fwe"}]}, {"strategies": {"few": [], "all": []}}))


def test_combinations():
    cell = {"n": [1, 2], "ids": "random", "seed": [7, 8], "strategies": ["a", "b"]}
    found = list(parts.combinations(cell, ["n", "ids", "seed"]))
    assert [(one["n"], one["seed"]) for one in found] == [(1, 7), (1, 8), (2, 7), (2, 8)]
    assert all(one["ids"] == "random" and one["strategies"] == ["a", "b"] for one in found)


def test_jobs_in_turn():
    sealed = []
    study = SimpleNamespace(config={"parts": {"one": {}, "two": {}}}, seal=sealed.append)
    done, said = [], []

    def job(name, lines):
        done.append(name)
        if lines is None:
            raise Absent("it is elsewhere")
        yield from lines

    def jobs(study, part, executor, say):
        say(f"{part} on {executor}")
        yield "a", job(f"{part} a", ["first", "second"])
        yield "b", job(f"{part} b", None)
        yield "c", job(f"{part} c", ["third"])

    assert parts.measure(jobs, study, "one", "host", said.append, Absent) == ["b: it is elsewhere"]
    assert done == ["one a", "one b", "one c"], "a job that lacks its data set does not stop the others"
    assert [line.split(",")[0] for line in said] == ["one on host", "first", "second", "third"]
    assert said[1].endswith(" s")
    assert len(parts.measure(jobs, study, "all", "host", said.append, Absent)) == 2
    assert done[3:] == [f"{part} {name}" for part in ("one", "two") for name in "abc"]
    assert sealed == ["one", "one", "two"], "at the end of each part"
    with pytest.raises(Absent):
        parts.measure(jobs, study, "one", "host", said.append)
