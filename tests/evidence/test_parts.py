"""Parts of a parameter file: a cell for each graph, options that are checked, cells that do not stop one another."""

from types import SimpleNamespace

import pytest

from lockstep.evidence import parts
from lockstep.evidence.parts import Cell, Unmeasurable
from lockstep.graphs import DatasetMissing


def test_cells_are_complete():
    common = {"strategies": {"few": ["a", "b"]}}
    block = {"rounds": 3, "cells": [
        {"kind": "x", "strategies": "few"},
        [{"experiment": "y", "strategies": ["c"], "rounds": 5}, {"strategies": {"first": "few", "second": ["d"]}}],
    ]}  # fmt: skip
    found = list(parts.cells(block, common))
    assert [cell.rounds for cell in found] == [3, 5, 3]
    assert [cell.kind for cell in found] == ["x", "time", "time"] and [cell.place for cell in found] == [0, 1, 2]
    assert [cell.experiment for cell in found] == ["x", "y", "time"]
    assert [cell.strategies for cell in found] == [["a", "b"], ["c"], {"first": ["a", "b"], "second": ["d"]}]
    found[0].strategies.append("z")
    assert common["strategies"]["few"] == ["a", "b"], "a cell's list is its own"
    assert next(parts.cells({"cells": [{}]}, rounds=1)) == Cell("time", "time", None, {}, [], 1)
    assert list(parts.cells({"rounds": 2})) == []


def test_a_cell_for_each_graph_and_each_value():
    sizes = {"path": {"n": [1, 2], "ids": "random"}, "star": {"n": 3}}
    block = {"cells": [{"graphs": ["a", "b"], "vary": {"rank": [4, 8]}}, {"graphs": sizes}]}
    found = list(parts.cells(block))
    assert [(cell.graph, cell.options["rank"]) for cell in found[:4]] == [("a", 4), ("b", 4), ("a", 8), ("b", 8)]
    assert [(cell.graph, cell.sizes) for cell in found[4:]] == [
        ("path", {"n": 1, "ids": "random"}), ("path", {"n": 2, "ids": "random"}), ("star", {"n": 3}),
    ]  # fmt: skip


def test_combinations():
    found = parts.combinations({"n": [1, 2], "ids": "random", "seed": [7, 8]})
    assert [(one["n"], one["seed"]) for one in found] == [(1, 7), (1, 8), (2, 7), (2, 8)]
    assert all(one["ids"] == "random" for one in found) and parts.combinations({}) == [{}]


def timed(study, part, cell, executor, *, most=None, together=False):
    yield cell.experiment


def drawn(study, part, cell, executor, *, color="red"):
    yield color


KINDS = {"time": timed, "draw": drawn}


def test_options_of_a_cell_of_its_part_and_of_all_parts():
    common = {"most": {"a": 1, "b": 2}, "strategies": {}, "color": "blue"}
    block = {"together": True, "most": {"b": 3}, "cells": [{"most": {"c": 4}}, {"kind": "draw"}]}
    found = list(parts.cells(block, common, KINDS))
    assert [cell.options for cell in found] == [{"most": {"a": 1, "b": 3, "c": 4}, "together": True}, {"color": "blue"}]


@pytest.mark.parametrize("block, told", [
    ({"cells": [{"strategies": "fwe"}]}, "there is no list of strategies named 'fwe'; the common block has few, all"),
    ({"cells": [{"kind": "tmie"}]}, "there is no kind of cells named 'tmie'; there are time, draw"),
    ({"cells": [{"togther": True}]}, "kind time has no option togther; there are most, together"),
    ({"cells": [{"kind": "draw", "vary": {"size": [1]}}]}, "kind draw has no option size; there are color"),
    ({"slwo": [], "cells": [{}]}, "no kind of its cells has an option slwo"),
])  # fmt: skip
def test_what_a_part_gets_wrong_is_named_before_anything_is_measured(block, told):
    common = {"strategies": {"few": [], "all": []}}
    study = SimpleNamespace(config={"common": common, "parts": {"right": {"cells": [{}]}, "wrong": block}}, seal=None)
    said = []
    with pytest.raises(ValueError, match=told):
        parts.measure(KINDS, study, "all", None, said.append)
    assert not said


def test_cells_in_turn():
    sealed, done, said = [], [], []
    block = {"cells": [{"graphs": ["a", "b", "c"]}, {"experiment": "none", "kind": "other"}]}
    study = SimpleNamespace(config={"parts": {"one": block, "two": block}}, seal=sealed.append)

    def job(study, part, cell, executor):
        done.append(f"{part} {cell.graph}")
        if cell.graph == "b":
            raise DatasetMissing("it is elsewhere")
        if cell.graph is None:
            raise Unmeasurable("it takes two of them")
        yield from (f"{cell.graph} on {executor}", "done")

    kinds = {"time": job, "other": job}
    lost = ["b: it is elsewhere", "none: it takes two of them"]
    assert parts.measure(kinds, study, "one", "host", said.append) == lost
    assert done == ["one a", "one b", "one c", "one None"], "what is missing does not stop the others"
    assert [line.split(",")[0] for line in said] == ["a on host", "done", "c on host", "done"]
    assert said[1].endswith(" s")
    assert len(parts.measure(kinds, study, "all", "host", said.append)) == 4
    assert sealed == ["one", "one", "two"], "at the end of each part"
