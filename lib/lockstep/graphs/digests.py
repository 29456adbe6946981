"""What a function's result depends on, as one short text: a digest of its source and of all it calls here."""

import ast
import hashlib
import inspect
import re
import textwrap

import numpy as np


def source_digest(start):
    """SHA-256 (16 hex digits) of the source of a function and of all functions of this package that it uses.

    Comments, docstrings and spacing do not count.
    """
    texts, waiting = {}, [start]
    while waiting:
        function = waiting.pop()
        function = getattr(function, "py_func", function)  # what Numba compiled
        key = f"{function.__module__}.{function.__qualname__}"
        if key in texts:
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        texts[key] = _text(tree) + _constants(tree, function.__globals__)
        waiting += _called(tree, function.__globals__)
    return hashlib.sha256("\n".join(texts[key] for key in sorted(texts)).encode()).hexdigest()[:16]


def _text(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return re.sub(r'\bf"([^"\n]*)"', _requoted, ast.unparse(tree))


def _requoted(found):
    """An f-string as Python 3.12 quotes it; 3.11 minds quotes inside the braces too, and digests must not differ."""
    plain = re.sub(r"\{[^{}]*\}", "", found[1])
    return found[0] if "'" in plain else f"f'{found[1]}'"


def _constants(tree, names):
    """Numbers and words of the module that the text names: they decide as much as the text does."""
    found = {node.id: names.get(node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    plain = (int, float, str, tuple, np.number)
    return "".join(f"\n{name} = {found[name]!r}" for name in sorted(found) if isinstance(found[name], plain))


def _called(tree, names):
    """Functions of this package that the text names, directly or through a module."""
    for node in ast.walk(tree):
        found = None
        if isinstance(node, ast.Name):
            found = names.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found = getattr(names.get(node.value.id), node.attr, None)
        plain = getattr(found, "py_func", found)
        if inspect.isfunction(plain) and plain.__module__.startswith(__package__):
            yield found
