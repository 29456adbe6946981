"""The digest of host code follows what it does, not how it is spelled or where it stands."""

import importlib
import itertools
import sys
import textwrap

import pytest

from lockstep.provenance import host

CODE = '''
"""A module."""
import numpy as np
from dataclasses import dataclass

LIMIT = 3
_TABLE = {"a": (1, 2.5), "b": (2, 3.5)}
cache = {}

def _half(value):
    """Half of it."""
    return value // 2

@dataclass
class Shape:
    grid: int
    block: int = 256

class Base:
    threads = 128

    def __init__(self, graph):
        self.graph, self._kept = graph, None

    def load(self):
        return self.threads

    def run(self):
        raise NotImplementedError

    def unused(self):
        return 17

class Plan(Base):
    name = "plan"

    def run(self, rounds=4):
        total = 0
        for number in range(rounds):  # each round
            if number > LIMIT:
                total += _half(number) + self._step(number)
        shape = Shape(total)
        return np.maximum(total, _TABLE["a"][0]), shape.grid, self.load()

    def _step(self, number):
        if number < 0:
            raise ValueError(f"{number} is below 0")
        return number - 1

class Other(Base):
    def run(self):
        return LIMIT + 1
'''
NUMBERS = itertools.count()  # a module's text is remembered by its name
SAME = {
    "a local variable": [("total", "whole"), ("for number in", "for turn in"), ("number >", "turn >"),
                         ("_half(number) + self._step(number)", "_half(turn) + self._step(turn)")],
    "a private function": [("_half", "_halved")],
    "a private member": [("_step", "_next"), ("_kept", "_memo")],
    "a constant's name": [("LIMIT", "MOST"), ("_TABLE", "_ROWS")],
    "a class's name": [("Shape", "Form"), ("Base", "Root")],
    "the package's own attribute": [("threads", "width"), ("load(", "fetch(")],
    "a docstring": [("Half of it.", "Division by two.")],
    "a comment": [("# each round", "# one after the other")],
    "an annotation": [("def _half(value):", "def _half(value: int) -> int:")],
    "the wording of an error": [("is below 0", "must not be negative")],
    "what nothing reaches": [("return 17", "return 18"), ("LIMIT + 1", "LIMIT + 2")],
    "a guard": [("        total = 0", "        if rounds > 99:\n            raise ValueError\n        total = 0")],
    "a guard's limit": [("number < 0", "number < -1")],
    "the plan's own name": [('name = "plan"', 'name = "scheme"')],
    "the order of definitions": [("def _half(value):\n    \"\"\"Half of it.\"\"\"\n    return value // 2\n", ""),
                                 ("class Other", "def _half(value):\n    return value // 2\n\nclass Other")],
}  # fmt: skip
OTHER = {
    "a constant": [("LIMIT = 3", "LIMIT = 4")],
    "a number in a table": [("2.5", "2.6")],
    "a default": [("rounds=4", "rounds=5")],
    "a field's default": [("block: int = 256", "block: int = 512")],
    "an operator": [("value // 2", "value * 2")],
    "a comparison": [("number > LIMIT", "number >= LIMIT")],
    "a class attribute": [("threads = 128", "threads = 64")],
    "a library's function": [("np.maximum", "np.minimum")],
    "a statement": [("        shape = Shape(total)", "        total += 1\n        shape = Shape(total)")],
    "two variables changed over": [("(number) + self._step(number)", "(total) + self._step(number)")],
    "a parameter's name, which options are matched by": [("rounds", "sweeps")],
    "the order of fields": [("    grid: int\n    block: int = 256", "    block: int = 256\n    grid: int = 0")],
}


@pytest.fixture
def reached(tmp_path, monkeypatch):
    """The `Code` of the plan in a module of the package with changes."""
    package = importlib.import_module("lockstep.graphs")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    made = []

    def of(changes, entry=("run",)):
        text, name = CODE, f"trial{next(NUMBERS)}"
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        made.append(name)
        importlib.invalidate_caches()
        module = importlib.import_module(f"lockstep.graphs.{name}")
        return host.code(module.Plan, entry=entry)

    yield of
    for name in made:
        sys.modules.pop(f"lockstep.graphs.{name}", None)


@pytest.mark.parametrize("what", SAME)
def test_what_does_the_same_has_the_same_digest(reached, what):
    assert reached(SAME[what]).digest == reached([]).digest


@pytest.mark.parametrize("what", OTHER)
def test_what_does_something_else_has_another_digest(reached, what):
    assert reached(OTHER[what]).digest != reached([]).digest


def test_a_guard_counts_where_its_error_is_caught(reached):
    caught = [("total += _half(number) + self._step(number)",
               "try:\n                    total += self._step(number)\n                except ArithmeticError:\n"
               "                    total = 0")]  # fmt: skip
    assert reached([*caught, ("number < 0", "number < -1")]).digest == reached(caught).digest, "not this one"
    caught[0] = (caught[0][0], caught[0][1].replace("ArithmeticError", "ValueError"))
    assert reached([*caught, ("number < 0", "number < -1")]).digest != reached(caught).digest
    caught[0] = (caught[0][0], caught[0][1].replace("total = 0", "raise"))
    assert reached([*caught, ("number < 0", "number < -1")]).digest == reached(caught).digest, "raised again"


def test_a_helper_may_stand_in_another_file(reached, tmp_path):
    (tmp_path / "elsewhere.py").write_text("def half(value):\n    return value // 2\n")
    moved = [('def _half(value):\n    """Half of it."""\n    return value // 2\n', ""),
             ("import numpy as np", "import numpy as np\nfrom .elsewhere import half as _half")]  # fmt: skip
    assert reached(moved).digest == reached([]).digest
    sys.modules.pop("lockstep.graphs.elsewhere")


def test_what_changed_is_told_by_name(reached):
    before, after = reached([]).pieces, reached([("LIMIT = 3", "LIMIT = 4"), ("value // 2", "value // 3")]).pieces
    before, after = ({name.partition(".py: ")[2]: what for name, what in pieces.items()} for pieces in (before, after))
    assert {name for name in before if before[name] != after[name]} == {"LIMIT", "_half"} and after["LIMIT"] == "4"


def test_literals_and_operators_stand_through_a_move_and_not_through_a_change(reached):
    inlined = [("_half(number) + self", "number // 2 + self"),
               ('def _half(value):\n    """Half of it."""\n    return value // 2\n', "")]  # fmt: skip
    assert reached(inlined).words == reached([]).words and reached(inlined).digest != reached([]).digest
    assert reached([("LIMIT = 3", "LIMIT = 4")]).words != reached([]).words


def test_a_value_of_an_unknown_kind_is_an_error(reached):
    with pytest.raises(TypeError, match="LIMIT is a .*say in host.py how it counts"):
        reached([("LIMIT = 3", "LIMIT = iter(())")])
