"""Serialize syntax trees and values as slots: fixed words, values, members, and references to objects; see `host`."""

import ast
import builtins
import dataclasses
import functools
import hashlib
import inspect
import re
import sys
import types
from pathlib import Path

import numpy as np

from . import lookup
from .lookup import NAME, PLAIN, Outside

SILENT = {"lineno", "col_offset", "end_lineno", "end_col_offset", "ctx", "type_comment", "kind", "annotation",
          "returns", "type_params", "type_ignores"}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Text:
    """A function, class or value as slots: fixed words, values of constants, members, and references to objects.

    `fields` are attributes that it assigns, `words` its literals and operators, `texts` its string literals, `constant`
    the value of a plain constant, `constants` those that it names; `dropped` are errors raised by omitted guards,
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


UNKNOWN = object()


class Dump(ast.NodeVisitor):
    """Writes a syntax tree, or a value, as slots."""

    def __init__(self, names, module, handled=frozenset()):
        self.names, self.module, self.handled, self.dropped, self.catches = names, module, handled, [], []
        self.slots, self.fields, self.words, self.texts, self.constants = [], [], [], set(), {}
        self.scopes, self.count = [], 0  # names bound in a function and in those around it, with their numbers

    def text(self, name, constant=""):
        told = (self.slots, name, self.fields, self.words, self.texts, constant, self.constants)
        return Text(*told, tuple(self.dropped), tuple(self.catches))

    def fixed(self, word):
        self.slots.append(("fixed", word))

    def literal(self, value):
        self.fixed(repr(value))
        self.words += [] if value is None else [repr(value)]  # None is usually just a default
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
        """Replacement of a local variable: a parameter's name, else a number; None if it is not local."""
        for scope in reversed(self.scopes):
            if name in scope:
                if scope[name] is None:
                    scope[name], self.count = f"_{self.count}", self.count + 1
                return scope[name]
        return None

    def inside(self, bound, *parts, parameters=()):
        """Visit parts in a new scope."""
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
        self.inside(lookup.bound(node), node.args, *body, parameters=parameters)
        self.fixed(")")

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.fixed("(lambda")
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self.inside(lookup.bound(node), node.args, node.body)
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
        """An error enters with its class, without its arguments."""
        self.fixed("(raise")
        if node.exc is not None:
            self.visit(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        self.fixed(")")

    def visit_If(self, node):
        """A guard is omitted unless its error is in `handled`, i.e. caught by reachable code."""
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
        if found is UNKNOWN and isinstance(node, ast.Name):
            found = getattr(builtins, node.id, None)
        return [found] if isinstance(found, type) and issubclass(found, BaseException) else []

    def visit_Assert(self, node):
        self.fixed("(assert")
        self.visit(node.test)
        self.fixed(")")

    def visit_Global(self, node):
        """Omitted: the uses of the name already reflect its scope."""

    visit_Nonlocal = visit_Global

    def visit_Import(self, node):
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.split(".")[0]
            self.names = {**self.names, alias.asname or name: lookup.imported(name)}

    def visit_ImportFrom(self, node):
        package = "." * node.level + (node.module or "")
        base = lookup.absolute(package, self.module) if node.level else package
        for alias in node.names:
            self.names = {**self.names, alias.asname or alias.name: lookup.imported(base, alias.name)}

    def visit_Name(self, node):
        local = self.locally(node.id)
        if local:
            self.fixed(local)
        elif self.module in sys.modules and node.id in lookup.state(self.module):
            self.fixed("state")
        elif node.id in self.names:
            self.named(self.names[node.id], node.id)
        else:
            self.fixed(node.id if hasattr(builtins, node.id) else f"?{node.id}")

    def visit_Attribute(self, node):
        found = self.static(node)
        if found is not UNKNOWN:
            self.named(found, node.attr)
            return
        self.fixed("(.")
        self.visit(node.value)
        if isinstance(node.ctx, ast.Store):
            self.fields.append(node.attr)
        self.slots.append(("member", node.attr))
        self.fixed(")")

    def static(self, node):
        """Value of a name, or of an attribute of a module or class, if it can be resolved statically."""
        if isinstance(node, ast.Name):
            return UNKNOWN if self.locally(node.id) else self.names.get(node.id, UNKNOWN)
        if not isinstance(node, ast.Attribute):
            return UNKNOWN
        owner = self.static(node.value)
        if isinstance(owner, Outside):
            return Outside(f"{owner.name}.{node.attr}")
        if isinstance(owner, types.ModuleType):
            inside = lookup.inside(types.SimpleNamespace(__module__=owner.__name__))
            return getattr(owner, node.attr, UNKNOWN) if inside else Outside(f"{owner.__name__}.{node.attr}")
        if isinstance(owner, type) and lookup.inside(owner):
            return next((vars(kind)[node.attr] for kind in owner.__mro__ if node.attr in vars(kind)), UNKNOWN)
        return UNKNOWN

    # -- values

    def named(self, value, name):
        """Add the value of a global name or of a module's member."""
        begin = len(self.slots)
        self.value(value, name)
        if lookup.plain(value):  # a piece of its own
            file = self.module.removeprefix(f"{NAME}.").replace(".", "/")
            self.constants[f"{file}.py: {name}"] = repr(value)[:80]
            self.slots[begin:] = [("value", what) for _, what in self.slots[begin:]]

    def value(self, value, name):
        for kinds, write in WRITERS:
            if isinstance(value, kinds):
                write(self, value, name)
                return
        plain = inspect.unwrap(value) if callable(value) else None
        kind = type(value)
        if inspect.isfunction(plain):
            self.slots.append(("object", plain) if lookup.inside(plain) else ("fixed", lookup.dotted(plain)))
        elif lookup.inside(kind):
            self.slots.append(("object", kind))
            self.many(vars(value).values(), name)
        elif callable(value):
            self.fixed(lookup.dotted(value) if hasattr(value, "__qualname__") else kind.__name__)
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
        if lookup.inside(types.SimpleNamespace(__module__=value.__name__)):
            raise TypeError(f"{name} stands for a whole module: name what is used of it")
        self.fixed(value.__name__)

    def type_value(self, value, name):
        self.slots.append(("object", value) if lookup.inside(value) else ("fixed", lookup.dotted(value)))

    def path_value(self, value, name):
        self.fixed("path")
        if value.suffix == ".cu":  # its content enters by the digests of its kernels
            self.texts.add(value.name)

    def wrapped(self, value, name):
        self.fixed(type(value).__name__)
        for part in ("__func__", "fget", "func", "args", "keywords"):
            if hasattr(value, part) and getattr(value, part) is not None:
                self.value(getattr(value, part), name)

    def array_value(self, value, name):
        self.fixed(f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}")


WRITERS = (
    (PLAIN, lambda dump, value, name: dump.literal(value)),
    (Outside, lambda dump, value, name: dump.fixed(value.name)),
    (types.ModuleType, Dump.module_value),
    ((staticmethod, classmethod, property, functools.cached_property, functools.partial, types.MethodType),
     Dump.wrapped),
    (type, Dump.type_value),
    (np.dtype, lambda dump, value, name: dump.fixed(f"dtype {value.str if value.names is None else value.descr}")),
    (np.generic, lambda dump, value, name: dump.literal(value.item())),
    (np.ndarray, Dump.array_value),
    ((tuple, list), Dump.many),
    ((set, frozenset), lambda dump, value, name: dump.fixed(" ".join(sorted(map(repr, value))))),
    (dict, lambda dump, value, name: dump.many([part for pair in value.items() for part in pair], name)),
    (re.Pattern, lambda dump, value, name: dump.literal(value.pattern)),
    (Path, Dump.path_value),
)  # fmt: skip
