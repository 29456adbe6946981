"""What a function's result depends on, as one short text: a digest of its source and of all it calls here."""

import ast
import hashlib
import inspect
import re
import textwrap

import numpy as np


def source_digest(*starts, package=__package__):
    """SHA-256 (16 hex digits) of the source of functions, or of whole modules, and of all functions that they use.

    Comments, docstrings and spacing do not count.

    Parameters
    ----------
    *starts : function or module
    package : str
        Only functions of this package and of those in it are followed.
    """
    texts, waiting = {}, list(starts)
    whole = {start.__name__ for start in starts if inspect.ismodule(start)}
    while waiting:
        # what Numba compiled, or makes itself (`intrinsic`), wraps the function that was written
        found = inspect.unwrap(waiting.pop())
        named = inspect.ismodule(found)
        key = found.__name__ if named else f"{found.__module__}.{found.__qualname__}"
        if key in texts or (not named and found.__module__ in whole):
            continue
        names = vars(found) if named else found.__globals__
        tree = ast.parse(textwrap.dedent(inspect.getsource(found)))
        texts[key] = _text(tree) + _constants(tree, names, package)
        waiting += _called(tree, names, package)
    return joined(*(texts[key] for key in sorted(texts)))


def joined(*texts):
    """SHA-256 (16 hex digits) of some texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _text(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return re.sub(r'\bf"([^"\n]*)"', _requoted, ast.unparse(tree))


def _requoted(found):
    """An f-string as Python 3.12 quotes it; 3.11 minds quotes inside the braces too, and digests must not differ."""
    plain = re.sub(r"\{[^{}]*\}", "", found[1])
    return found[0] if "'" in plain else f"f'{found[1]}'"


def _constants(tree, names, package):
    """Numbers and words of the modules that the text names: they decide as much as the text does."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found[node.id] = names.get(node.id)
        elif isinstance(node, ast.Attribute) and _inside(module := _module(node, names), package):
            found[f"{module.__name__}.{node.attr}"] = getattr(module, node.attr, None)
    plain = (int, float, str, tuple, np.number)
    return "".join(f"\n{name} = {found[name]!r}" for name in sorted(found) if isinstance(found[name], plain))


def _called(tree, names, package):
    """Functions of the package that the text names, directly or through a module."""
    for node in ast.walk(tree):
        found = None
        if isinstance(node, ast.Name):
            found = names.get(node.id)
        elif isinstance(node, ast.Attribute):
            found = getattr(_module(node, names), node.attr, None)
        plain = inspect.unwrap(found) if callable(found) else None
        if inspect.isfunction(plain) and _inside(plain, package):
            yield plain


def _module(node, names):
    """The module of which the text names an attribute; None if it is of something else."""
    found = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
    return found if inspect.ismodule(found) else None


def _inside(found, package):
    name = getattr(found, "__module__", None) if not inspect.ismodule(found) else found.__name__
    return name is not None and (name == package or name.startswith(f"{package}."))
