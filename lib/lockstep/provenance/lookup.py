"""Resolve names in the modules of this package from their source and from the loaded modules."""

import ast
import functools
import sys
from pathlib import Path

import numpy as np

PACKAGE = Path(__file__).resolve().parents[1]
NAME = PACKAGE.name
SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Outside:
    """Something of a library, by its dotted name."""

    def __init__(self, name):
        self.name = name


def inside(found):
    module = getattr(found, "__module__", None) or ""
    return module == NAME or module.startswith(f"{NAME}.")


def shown(found):
    """Readable name: the module's file and the qualified name."""
    return f"{found.__module__.removeprefix(f'{NAME}.').replace('.', '/')}.py: {found.__qualname__}"


@functools.cache
def syntax(module):
    return ast.parse(Path(sys.modules[module].__file__).read_text(encoding="utf-8"))


@functools.cache
def definitions(module):
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

    visit(syntax(module), "")
    return functions, classes


@functools.cache
def state(module):
    """Names of a module that change while a program runs: declared global by a function, or empty at first."""
    tree = syntax(module)
    declared = {name for part in ast.walk(tree) if isinstance(part, ast.Global) for name in part.names}
    begun = [part for part in tree.body if isinstance(part, ast.Assign)
             and ast.unparse(part.value) in ("{}", "[]", "set()", "dict()", "list()")]  # fmt: skip
    return declared | {target.id for part in begun for target in part.targets if isinstance(target, ast.Name)}


@functools.cache
def libraries(module):
    """{local name: `Outside`} of a module's imports from outside the package."""
    found, waiting = {}, list(syntax(module).body)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Import):
            for alias in part.names:
                if alias.name.split(".")[0] != NAME:
                    name = alias.name if alias.asname else alias.name.split(".")[0]
                    found[alias.asname or name] = Outside(name)
        elif isinstance(part, ast.ImportFrom) and not part.level and part.module.split(".")[0] != NAME:
            found |= {alias.asname or alias.name: Outside(f"{part.module}.{alias.name}") for alias in part.names}
        elif isinstance(part, ast.Try | ast.If | ast.With | ast.ExceptHandler):
            waiting += ast.iter_child_nodes(part)
    return found


def dotted(found):
    return f"{found.__module__}.{found.__qualname__}"


def absolute(name, module):
    """The absolute name of a relative import in a module."""
    is_package = hasattr(sys.modules[module], "__path__")
    level = len(name) - len(name.lstrip("."))
    base = module.split(".")[: None if is_package and level == 1 else -level + is_package]
    return ".".join([*base, *filter(None, [name.lstrip(".")])])


def imported(module, name=""):
    whole = f"{module}.{name}" if name else module
    if module != NAME and not module.startswith(f"{NAME}."):
        return Outside(whole)
    __import__(module)
    if name and not hasattr(sys.modules[module], name):
        __import__(whole)
    return getattr(sys.modules[module], name) if name else sys.modules[module]


def plain(value):
    if isinstance(value, tuple | list | set | frozenset):
        return all(map(plain, value))
    if isinstance(value, dict):
        return all(map(plain, value)) and all(map(plain, value.values()))
    return isinstance(value, (*PLAIN, np.generic))


def bound(function):
    """Names bound in a function by parameters, assignments and definitions, but not by imports."""
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
