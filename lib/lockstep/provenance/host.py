"""Host code as what it does: the syntax trees of all that a strategy reaches in this package, without their names.

Reached is what the roots name: functions and classes directly, through modules, closures and containers; and of the
classes that are reached, those members that some reached function mentions (rapid type analysis: D. Bacon and
P. Sweeney, "Fast static analysis of C++ virtual function calls", OOPSLA 1996), from a base where no class below it has
them or where that asks `super`. Names are resolved as they are at run time. A function, class or constant that is named
counts by its content, never by its name or place; local variables, private members and the package's own attributes are
numbered in the order of their appearance; parameters keep their names, for options are matched by them. Formatting,
comments, docstrings, annotations and the wording of errors do not count; nor do guards (an `if` that only raises),
unless something reached catches what they raise: a run that was recorded passed them. What is outside the package
counts by its dotted name, and `CUT` not at all.
"""

import ast
import builtins
import collections
import dataclasses
import functools
import hashlib
import inspect
import re
import sys
import types
from pathlib import Path

import numpy as np

from .device import digest

PACKAGE = Path(__file__).resolve().parents[1]
NAME = PACKAGE.name
CUT = tuple(f"{NAME}.{part}" for part in ("cli", "commands", "compare", "evidence", "explore", "guide", "provenance",
                                          "report", "studies", "workflow"))  # fmt: skip
UNCOUNTED = {"__repr__", "__str__", "__doc__", "__del__"}  # special methods that no result depends on
SILENT = {"lineno", "col_offset", "end_lineno", "end_col_offset", "ctx", "type_comment", "kind", "annotation",
          "returns", "type_params", "type_ignores"}  # fmt: skip
SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclasses.dataclass(frozen=True)
class Code:
    """What some roots reach.

    Attributes
    ----------
    digest : str
        Of all of it.
    pieces : dict
        {name for people: short digest, or the value of a constant}.
    words : str
        Digest of the multiset of literals (but None) and operators: what no refactoring changes.
    texts : frozenset of str
        Literal texts, and the fixed pieces of formatted ones; files and kernels are named by such.
    """

    digest: str
    pieces: dict
    words: str
    texts: frozenset


@functools.cache
def code(*roots, entry=(), given=(), cut=CUT, left=(), guards=False):
    """What functions, classes and values come down to.

    Parameters
    ----------
    *roots : object
        Functions (Numba's too), classes, or anything that a name may stand for.
    entry : tuple of str
        Members by which the roots are entered: ``("prepare", "run")``.
    given : tuple of type
        Classes of what the roots are handed, whose members count where they are mentioned.
    cut : tuple of str
        Modules of the package that are not followed.
    left : tuple
        Functions and classes that are not followed.
    guards : bool
        Whether guards count, whatever they raise: of checks they are all there is.

    Raises
    ------
    TypeError
        A name stands for a value of which nothing says how it counts; the message names it.
    """
    return _Reached(roots, entry, given, cut, left, guards).code()


class _Reached:
    """All that is reached from some roots, in the order in which it is met: a place in it replaces the name."""

    def __init__(self, roots, entry, given, cut, left, guards):
        self.left, self.handled = {id(one) for one in left}, frozenset({BaseException} if guards else ())
        while True:
            self._walk(roots, entry, given, cut)
            caught = tuple({kind for text in self.texts for kind in text.catches})
            dropped = {kind for text in self.texts for kind in text.dropped}
            found = frozenset(kind for kind in dropped if issubclass(kind, caught))
            if found <= self.handled:
                return
            self.handled |= found  # their guards decide which way is taken

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
        """A member that is mentioned and that a reached class has."""
        if name == "name" or (name.startswith("__") and name != "__call__"):
            return
        for owner in kind.__mro__:
            if name not in vars(owner) or not _inside(owner) or owner.__module__.startswith(self.cut):
                continue
            if ("own", owner, name) not in looked:
                looked.add(("own", owner, name))
                self.places.setdefault(id(owner), len(self.places))
                text = _value_text(vars(owner)[name], f"{_shown(owner)}.{name}")
                where = ("object" if owner is kind else "base", owner)
                slots = [("fixed", "member"), ("member", name), where, *text.slots]
                self._add(dataclasses.replace(text, slots=slots))
            if not _asks_super(vars(owner)[name]):
                return

    def code(self):
        fields = {name for text in self.texts for name in text.fields}
        for owner in {owner for kind in self.classes for owner in kind.__mro__ if _inside(owner)}:
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


@dataclasses.dataclass(frozen=True)
class _Text:
    """A piece as slots: fixed words, values of constants, members, and places where an object goes.

    `fields` are attributes that it assigns, `words` its literals and operators, `texts` its literal texts, `constant`
    the value of a plain constant, `constants` those that it names; `dropped` are errors that left-out guards raise,
    `catches` those that it catches.
    """

    slots: list
    name: str
    fields: list
    words: list
    texts: set
    constant: str = ""
    constants: dict = dataclasses.field(default_factory=dict)
    dropped: tuple = ()
    catches: tuple = ()


# -- from objects to texts


def _inside(found):
    module = getattr(found, "__module__", None) or ""
    return module == NAME or module.startswith(f"{NAME}.")


def _shown(found):
    """What people call it: its module's file and its name there."""
    return f"{found.__module__.removeprefix(f'{NAME}.').replace('.', '/')}.py: {found.__qualname__}"


@functools.cache
def _tree(module):
    return ast.parse(Path(sys.modules[module].__file__).read_text(encoding="utf-8"))


@functools.cache
def _definitions(module):
    """{(first line, name): node} of all functions, and {qualified name: node} of all classes of a module."""
    functions, classes = {}, {}

    def visit(node, around):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FUNCTIONS):
                functions[min([child.lineno, *(d.lineno for d in child.decorator_list)]), child.name] = child
                visit(child, f"{around}{child.name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                classes[f"{around}{child.name}"] = child
                visit(child, f"{around}{child.name}.")
            else:
                if isinstance(child, ast.Lambda):
                    functions.setdefault((child.lineno, "<lambda>"), child)
                visit(child, around)

    visit(_tree(module), "")
    return functions, classes


@functools.cache
def _state(module):
    """Names of a module that change while a program runs: declared global by a function, or empty at first."""
    tree = _tree(module)
    declared = {name for part in ast.walk(tree) if isinstance(part, ast.Global) for name in part.names}
    begun = [part for part in tree.body if isinstance(part, ast.Assign)
             and ast.unparse(part.value) in ("{}", "[]", "set()", "dict()", "list()")]  # fmt: skip
    return declared | {target.id for part in begun for target in part.targets if isinstance(target, ast.Name)}


@functools.cache
def _libraries(module):
    """What a module imports from outside the package, by the names that it gives to it."""
    found, waiting = {}, list(_tree(module).body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Import):
            for alias in part.names:
                if alias.name.split(".")[0] != NAME:
                    name = alias.name if alias.asname else alias.name.split(".")[0]
                    found[alias.asname or name] = _Outside(name)
        elif isinstance(part, ast.ImportFrom) and not part.level and part.module.split(".")[0] != NAME:
            found |= {alias.asname or alias.name: _Outside(f"{part.module}.{alias.name}") for alias in part.names}
        elif isinstance(part, ast.Try | ast.If | ast.With | ast.ExceptHandler):
            waiting += ast.iter_child_nodes(part)
    return found


@functools.cache
def _function_text(function, handled=frozenset()):
    node = _definitions(function.__module__)[0][function.__code__.co_firstlineno, function.__code__.co_name]
    around = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            around[name] = cell.cell_contents
        except ValueError:  # not set yet: a name of the function itself
            pass
    names = function.__globals__ | _libraries(function.__module__) | around
    dump = _Dump(names, function.__module__, handled)
    dump.visit(node)
    return dump.text(_shown(function))


@functools.cache
def _class_text(kind):
    """Bases, decorators, fields with defaults, and special methods; others when they are mentioned."""
    node, module = _definitions(kind.__module__)[1].get(kind.__qualname__), sys.modules[kind.__module__]
    dump = _Dump(vars(module) | _libraries(kind.__module__), kind.__module__)
    if node is None:  # made by a call: what it was made from says it
        dump.slots += [("base", base) for base in kind.__bases__ if _inside(base)]
    else:
        dump.fixed("class")
        for base in kind.__bases__:
            dump.slots.append(("base", base) if _inside(base) else ("fixed", _dotted(base)))
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
    return dump.text(_shown(kind))


def _asks_super(value):
    """Whether a member of a class goes on to what the next class says of it."""
    plain = inspect.unwrap(value.__func__ if hasattr(value, "__func__") else value) if callable(value) else value
    plain = getattr(plain, "fget", getattr(plain, "func", plain))
    return inspect.isfunction(plain) and "super" in plain.__code__.co_names


def _value_text(value, name):
    dump = _Dump({}, NAME)
    dump.value(value, name)
    plain = all(sort == "fixed" for sort, _ in dump.slots)
    return dump.text(name, " ".join(what for _, what in dump.slots)[:80] if plain else "")


class _Outside:
    """Something of a library, by its dotted name."""

    def __init__(self, name):
        self.name = name


_unknown = object()


class _Dump(ast.NodeVisitor):
    """Writes a syntax tree, or a value, as slots."""

    def __init__(self, names, module, handled=frozenset()):
        self.names, self.module, self.handled, self.dropped, self.catches = names, module, handled, [], []
        self.slots, self.fields, self.words, self.texts, self.constants = [], [], [], set(), {}
        self.scopes, self.count = [], 0  # names bound in a function and in those around it, with their numbers

    def text(self, name, constant=""):
        told = (self.slots, name, self.fields, self.words, self.texts, constant, self.constants)
        return _Text(*told, tuple(self.dropped), tuple(self.catches))

    def fixed(self, word):
        self.slots.append(("fixed", word))

    def literal(self, value):
        self.fixed(repr(value))
        self.words += [] if value is None else [repr(value)]  # the default of what is not given says nothing
        if isinstance(value, str):
            self.texts.add(value)

    # -- syntax

    def generic_visit(self, node):
        if isinstance(node, ast.operator | ast.unaryop | ast.boolop | ast.cmpop):
            self.words.append(type(node).__name__)
        self.fixed(f"({type(node).__name__}")
        for field, value in ast.iter_fields(node):
            if field in SILENT or value is None or value == []:
                continue
            self.fixed(field)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    self.visit(part)
                else:
                    named = not isinstance(node, ast.keyword)  # which is a parameter's name
                    self.fixed(named and self.locally(part) or str(part))
        self.fixed(")")

    def locally(self, name):
        """What stands for a variable: a parameter's own name, else its number; None if it is none of a function."""
        for scope in reversed(self.scopes):
            if name in scope:
                if scope[name] is None:
                    scope[name], self.count = f"_{self.count}", self.count + 1
                return scope[name]
        return None

    def inside(self, bound, *parts, parameters=()):
        """Visit parts that see names of their own."""
        self.scopes.append(dict.fromkeys(bound) | {name: f"${name}" for name in parameters})
        for part in parts:
            self.visit(part)
        self.scopes.pop()

    def visit_Constant(self, node):
        if isinstance(node.value, str) and re.fullmatch(r"_[a-z]\w*", node.value):  # a field, for getattr and the like
            self.slots.append(("member", node.value))
        else:
            self.literal(node.value)

    def visit_FunctionDef(self, node):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        self.fixed(f"(def {self.locally(node.name) or ''}")
        for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        parameters = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        self.inside(_bound(node), node.args, *body, parameters=parameters)
        self.fixed(")")

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.fixed("(lambda")
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self.inside(_bound(node), node.args, node.body)
        self.fixed(")")

    def visit_arguments(self, node):
        for kind in ("posonlyargs", "args", "vararg", "kwonlyargs", "kwarg"):
            found = getattr(node, kind)
            for part in found if isinstance(found, list) else filter(None, [found]):
                self.fixed(f"{kind} {self.locally(part.arg)}")

    def visit_ListComp(self, node):
        first, *others = node.generators
        self.fixed(f"({type(node).__name__}")
        self.visit(first.iter)  # is evaluated outside
        bound = {part.id for one in node.generators for part in ast.walk(one.target) if isinstance(part, ast.Name)}
        given = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.inside(bound, first.target, *first.ifs, *others, *given)
        self.fixed(")")

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_AnnAssign(self, node):
        if node.value is not None:  # as without the annotation
            self.visit(ast.Assign([node.target], node.value))

    def visit_Raise(self, node):
        """What an error says counts for nothing; that it is raised, and which one, does."""
        self.fixed("(raise")
        if node.exc is not None:
            self.visit(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        self.fixed(")")

    def visit_If(self, node):
        """A guard counts only if what it raises is caught somewhere."""
        guard = len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and node.body[0].exc and not node.orelse
        if guard and not any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
            raised = self._errors(node.body[0].exc)
            if raised and not issubclass(raised[0], tuple(self.handled)):
                self.dropped += raised
                return
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
        self.catches += [] if again else [BaseException] if node.type is None else self._errors(node.type)
        self.generic_visit(node)

    def _errors(self, node):
        """The classes of errors that an expression names: an error, a call of one, or a tuple of them."""
        if isinstance(node, ast.Tuple):
            return [kind for part in node.elts for kind in self._errors(part)]
        node = node.func if isinstance(node, ast.Call) else node
        found = self.static(node)
        if found is _unknown and isinstance(node, ast.Name):
            found = getattr(builtins, node.id, None)
        return [found] if isinstance(found, type) and issubclass(found, BaseException) else []

    def visit_Assert(self, node):
        self.fixed("(assert")
        self.visit(node.test)
        self.fixed(")")

    def visit_Global(self, node):
        """Says of which scope a name is, which the name's own places show."""

    visit_Nonlocal = visit_Global

    def visit_Import(self, node):
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.split(".")[0]
            self.names = {**self.names, alias.asname or name: _imported(name)}

    def visit_ImportFrom(self, node):
        package = "." * node.level + (node.module or "")
        base = _absolute(package, self.module) if node.level else package
        for alias in node.names:
            self.names = {**self.names, alias.asname or alias.name: _imported(base, alias.name)}

    def visit_Name(self, node):
        local = self.locally(node.id)
        if local:
            self.fixed(local)
        elif self.module in sys.modules and node.id in _state(self.module):
            self.fixed("state")
        elif node.id in self.names:
            self.named(self.names[node.id], node.id)
        else:
            self.fixed(node.id if hasattr(builtins, node.id) else f"?{node.id}")

    def visit_Attribute(self, node):
        found = self.static(node)
        if found is not _unknown:
            self.named(found, node.attr)
            return
        self.fixed("(.")
        self.visit(node.value)
        if isinstance(node.ctx, ast.Store):
            self.fields.append(node.attr)
        self.slots.append(("member", node.attr))
        self.fixed(")")

    def static(self, node):
        """What a name, or an attribute of a module or class, stands for, where the text alone tells it."""
        if isinstance(node, ast.Name):
            return _unknown if self.locally(node.id) else self.names.get(node.id, _unknown)
        if not isinstance(node, ast.Attribute):
            return _unknown
        owner = self.static(node.value)
        if isinstance(owner, _Outside):
            return _Outside(f"{owner.name}.{node.attr}")
        if isinstance(owner, types.ModuleType):
            inside = _inside(types.SimpleNamespace(__module__=owner.__name__))
            return getattr(owner, node.attr, _unknown) if inside else _Outside(f"{owner.__name__}.{node.attr}")
        if isinstance(owner, type) and _inside(owner):
            return next((vars(kind)[node.attr] for kind in owner.__mro__ if node.attr in vars(kind)), _unknown)
        return _unknown

    # -- values

    def named(self, value, name):
        """What a global name, or a member of a module, stands for."""
        begin = len(self.slots)
        self.value(value, name)
        if _plain(value):  # a piece of its own
            file = self.module.removeprefix(f"{NAME}.").replace(".", "/")
            self.constants[f"{file}.py: {name}"] = repr(value)[:80]
            self.slots[begin:] = [("value", what) for _, what in self.slots[begin:]]

    def value(self, value, name):
        for kinds, write in _WRITERS:
            if isinstance(value, kinds):
                write(self, value, name)
                return
        plain = inspect.unwrap(value) if callable(value) else None
        kind = type(value)
        if inspect.isfunction(plain):
            self.slots.append(("object", plain) if _inside(plain) else ("fixed", _dotted(plain)))
        elif _inside(kind):
            self.slots.append(("object", kind))
            self.many(vars(value).values(), name)
        elif callable(value):
            self.fixed(_dotted(value) if hasattr(value, "__qualname__") else kind.__name__)
        elif kind.__name__ in ("member_descriptor", "_tuplegetter", "CField") or kind.__module__.split(".")[0] in (
            "_thread", "threading", "weakref", "_weakref", "numba",
        ):  # fmt: skip
            self.fixed(kind.__name__)
        else:
            raise TypeError(f"{name} is a {kind.__module__}.{kind.__qualname__}: say in host.py how it counts")

    def many(self, values, name):
        self.fixed("[")
        for part in values:
            self.value(part, name)
        self.fixed("]")

    def module_value(self, value, name):
        if _inside(types.SimpleNamespace(__module__=value.__name__)):
            raise TypeError(f"{name} stands for a whole module: name what is used of it")
        self.fixed(value.__name__)

    def type_value(self, value, name):
        self.slots.append(("object", value) if _inside(value) else ("fixed", _dotted(value)))

    def path_value(self, value, name):
        self.fixed("path")
        if value.suffix == ".cu":  # which file it is, the digest of its kernels says
            self.texts.add(value.name)

    def wrapped(self, value, name):
        self.fixed(type(value).__name__)
        for part in ("__func__", "fget", "func", "args", "keywords"):
            if hasattr(value, part) and getattr(value, part) is not None:
                self.value(getattr(value, part), name)

    def array_value(self, value, name):
        self.fixed(f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}")


_WRITERS = (
    (PLAIN, lambda dump, value, name: dump.literal(value)),
    (_Outside, lambda dump, value, name: dump.fixed(value.name)),
    (types.ModuleType, _Dump.module_value),
    ((staticmethod, classmethod, property, functools.cached_property, functools.partial, types.MethodType),
     _Dump.wrapped),
    (type, _Dump.type_value),
    (np.dtype, lambda dump, value, name: dump.fixed(f"dtype {value.str if value.names is None else value.descr}")),
    (np.generic, lambda dump, value, name: dump.literal(value.item())),
    (np.ndarray, _Dump.array_value),
    ((tuple, list), _Dump.many),
    ((set, frozenset), lambda dump, value, name: dump.fixed(" ".join(sorted(map(repr, value))))),
    (dict, lambda dump, value, name: dump.many([part for pair in value.items() for part in pair], name)),
    (re.Pattern, lambda dump, value, name: dump.literal(value.pattern)),
    (Path, _Dump.path_value),
)  # fmt: skip


def _dotted(found):
    return f"{found.__module__}.{found.__qualname__}"


def _absolute(name, module):
    """The absolute name of a relative import in a module."""
    is_package = hasattr(sys.modules[module], "__path__")
    level = len(name) - len(name.lstrip("."))
    base = module.split(".")[: None if is_package and level == 1 else -level + is_package]
    return ".".join([*base, *filter(None, [name.lstrip(".")])])


def _imported(module, name=""):
    whole = f"{module}.{name}" if name else module
    if module != NAME and not module.startswith(f"{NAME}."):
        return _Outside(whole)
    __import__(module)
    if name and not hasattr(sys.modules[module], name):
        __import__(whole)
    return getattr(sys.modules[module], name) if name else sys.modules[module]


def _plain(value):
    if isinstance(value, tuple | list | set | frozenset):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(map(_plain, value)) and all(map(_plain, value.values()))
    return isinstance(value, (*PLAIN, np.generic))


def _bound(function):
    """Names that a function binds by itself: what it assigns and defines; what it imports is looked up instead."""
    found, free = {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}, set()
    waiting = list(function.body) if isinstance(function.body, list) else [function.body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.ExceptHandler) and part.name:
            found.add(part.name)
        elif isinstance(part, ast.Global | ast.Nonlocal):
            free |= set(part.names)
        if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            found.add(part.name)
            waiting += part.decorator_list
        elif isinstance(part, SCOPES):  # a walrus inside binds here
            found |= {own.target.id for own in ast.walk(part) if isinstance(own, ast.NamedExpr)}
        elif not isinstance(part, ast.Lambda):
            waiting += ast.iter_child_nodes(part)
    return frozenset(found - free)
