"""Digests of host code: the syntax trees of all code of this package reachable from a strategy, without names.

Reachable are functions and classes named by the roots, directly or through modules, closures and containers; and those
members of reachable classes that a reachable function mentions (rapid type analysis: D. Bacon and P. Sweeney, "Fast
static analysis of C++ virtual function calls", OOPSLA 1996), from a base class if no subclass overrides them or the
override calls `super`. Names are resolved as at run time. A named function, class or constant enters by its content,
not by its name or place; local variables, private members and the package's own attributes are numbered in order of
appearance; parameters keep their names, since options are matched by them. Formatting, comments, docstrings,
annotations and texts of errors are ignored; so are guards (an `if` that only raises), since recorded runs passed them,
unless reachable code catches what they raise. Code outside the package enters by its dotted name; `CUT` is ignored.
"""

import ast
import collections
import dataclasses
import functools
import inspect
import sys

from . import lookup
from .device import digest
from .lookup import NAME
from .texts import Dump

CUT = tuple(f"{NAME}.{part}" for part in ("cli", "commands", "compare", "evidence", "explore", "guide", "provenance",
                                          "report", "studies", "workflow"))  # fmt: skip
UNCOUNTED = {"__repr__", "__str__", "__doc__", "__del__"}  # special methods that affect no result


@dataclasses.dataclass(frozen=True)
class Code:
    """The code reachable from some roots.

    Attributes
    ----------
    digest : str
        Digest of all of it.
    pieces : dict
        {readable name: short digest, or the value of a constant}.
    words : str
        Digest of the multiset of literals (except None) and operators, which most refactorings preserve.
    texts : frozenset of str
        String literals, and the fixed parts of f-strings; files and kernels are found by these.
    """

    digest: str
    pieces: dict
    words: str
    texts: frozenset


@functools.cache
def code(*roots, entry=(), given=(), cut=CUT, left=(), guards=False):
    """Collect the code reachable from functions, classes and values.

    Parameters
    ----------
    *roots : object
        Functions (Numba's too), classes, or anything that a name may stand for.
    entry : tuple of str
        Members called on the roots: ``("prepare", "run")``.
    given : tuple of type
        Classes of the roots' arguments; their members are reachable where mentioned.
    cut : tuple of str
        Modules of the package that are not followed.
    left : tuple
        Functions and classes that are not followed.
    guards : bool
        Whether to include all guards; checks consist of nothing else.

    Raises
    ------
    TypeError
        A name refers to a value of a type without a rule in `texts.WRITERS`; the message names it.
    """
    return _Reached(roots, entry, given, cut, left, guards).code()


class _Reached:
    """Worklist of reachable objects in discovery order; an object's index in it replaces its name."""

    def __init__(self, roots, entry, given, cut, left, guards):
        self.left, self.handled = {id(one) for one in left}, frozenset({BaseException} if guards else ())
        while True:
            self._walk(roots, entry, given, cut)
            caught = tuple({kind for text in self.texts for kind in text.catches})
            dropped = {kind for text in self.texts for kind in text.dropped}
            found = frozenset(kind for kind in dropped if issubclass(kind, caught))
            if found <= self.handled:
                return
            self.handled |= found  # their guards affect control flow

    def _walk(self, roots, entry, given, cut):
        self.cut, self.places, self.objects, self.classes = cut, {}, [], []
        self.members = dict.fromkeys(entry)  # mentioned by name, in order
        self.texts = [_value_text(root, "root") for root in roots]
        self._follow(self.texts)
        self.classes += [kind for kind in given if kind not in self.classes]
        done, looked = 0, set()
        while True:
            while done < len(self.objects):
                found = self.objects[done]
                done += 1
                self._add(_class_text(found) if isinstance(found, type) else _function_text(found, self.handled))
            for kind in list(self.classes):
                for member in list(self.members):
                    if (kind, member) not in looked:
                        looked.add((kind, member))
                        self._member(kind, member, looked)
            if done == len(self.objects):
                return

    def _add(self, text):
        self.texts.append(text)
        self._follow([text])

    def _follow(self, texts):
        for text in texts:
            for sort, what in text.slots:
                if sort in ("object", "base"):
                    self._place(what, sort)
                elif sort == "member":
                    self.members.setdefault(what)

    def _place(self, found, sort):
        if found.__module__.startswith(self.cut) or id(found) in self.left:
            return
        if id(found) not in self.places:
            self.places[id(found)] = len(self.places)
            self.objects.append(found)
        if sort == "object" and isinstance(found, type) and found not in self.classes:
            self.classes.append(found)

    def _member(self, kind, name, looked):
        """Add a mentioned member of a reachable class."""
        if name == "name" or (name.startswith("__") and name != "__call__"):
            return
        for owner in kind.__mro__:
            if name not in vars(owner) or not lookup.inside(owner) or owner.__module__.startswith(self.cut):
                continue
            if ("own", owner, name) not in looked:
                looked.add(("own", owner, name))
                self.places.setdefault(id(owner), len(self.places))
                text = _value_text(vars(owner)[name], f"{lookup.shown(owner)}.{name}")
                where = ("object" if owner is kind else "base", owner)
                slots = [("fixed", "member"), ("member", name), where, *text.slots]
                self._add(dataclasses.replace(text, slots=slots))
            if not _asks_super(vars(owner)[name]):
                return

    def code(self):
        fields = {name for text in self.texts for name in text.fields}
        for owner in {owner for kind in self.classes for owner in kind.__mro__ if lookup.inside(owner)}:
            fields |= {name for name in vars(owner) if name in self.members and not name.startswith("__")}
        numbers, lines, pieces, words, texts = {}, [], {}, collections.Counter(), set()
        for text in self.texts:
            line = []
            for sort, what in text.slots:
                if sort == "member":
                    own = what in fields or (what.startswith("_") and not what.endswith("_"))
                    line.append(f".{numbers.setdefault(what, len(numbers))}" if own else f".{what}")
                elif sort in ("object", "base"):
                    line.append(f"#{self.places.get(id(what), 'cut')}")
                else:
                    line.append(what)
            lines.append(" ".join(line))
            words.update(text.words)
            texts |= text.texts
            if text.name != "root":
                own = " ".join(what if sort == "fixed" else sort for sort, what in text.slots)
                pieces[text.name] = text.constant or digest(own)[:8]
            pieces |= text.constants
        told = digest(*(f"{count} {word}" for word, count in sorted(words.items())))
        return Code(digest(*lines), pieces, told, frozenset(texts))


@functools.cache
def _function_text(function, handled=frozenset()):
    node = lookup.definitions(function.__module__)[0][function.__code__.co_firstlineno, function.__code__.co_name]
    around = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            around[name] = cell.cell_contents
        except ValueError:  # not set yet: a name of the function itself
            pass
    names = function.__globals__ | lookup.libraries(function.__module__) | around
    dump = Dump(names, function.__module__, handled)
    dump.visit(node)
    return dump.text(lookup.shown(function))


@functools.cache
def _class_text(kind):
    """Bases, decorators, fields with defaults, special methods; other members are added when mentioned."""
    node, module = lookup.definitions(kind.__module__)[1].get(kind.__qualname__), sys.modules[kind.__module__]
    dump = Dump(vars(module) | lookup.libraries(kind.__module__), kind.__module__)
    if node is None:  # created by a call, without a class statement: only its bases are used
        dump.slots += [("base", base) for base in kind.__bases__ if lookup.inside(base)]
    else:
        dump.fixed("class")
        for base in kind.__bases__:
            dump.slots.append(("base", base) if lookup.inside(base) else ("fixed", lookup.dotted(base)))
        for part in (*node.keywords, *node.decorator_list):
            dump.visit(part)
        filled = dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")  # by the order of its fields
        for part in node.body if filled else ():
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                dump.fields.append(part.target.id)
                dump.slots += [("fixed", "field"), ("member", part.target.id)]
                if part.value is not None:
                    dump.visit(part.value)
    for name, value in sorted(vars(kind).items()):
        plain = inspect.unwrap(value) if callable(value) else None
        written = inspect.isfunction(plain) and plain.__code__.co_filename == module.__file__
        if name.startswith("__") and name.endswith("__") and name not in UNCOUNTED and written:
            dump.fixed(name)
            dump.value(value, name)
    return dump.text(lookup.shown(kind))


def _asks_super(value):
    """Whether a member of a class uses `super`."""
    plain = inspect.unwrap(value.__func__ if hasattr(value, "__func__") else value) if callable(value) else value
    plain = getattr(plain, "fget", getattr(plain, "func", plain))
    return inspect.isfunction(plain) and "super" in plain.__code__.co_names


def _value_text(value, name):
    dump = Dump({}, NAME)
    dump.value(value, name)
    plain = all(sort == "fixed" for sort, _ in dump.slots)
    return dump.text(name, " ".join(what for _, what in dump.slots)[:80] if plain else "")
