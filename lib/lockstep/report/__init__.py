"""The report: house style, figures, tables, goals and numbers for the paper, and the paper itself.

Its parts are imported lazily: the guide formats numbers by it without importing a plotting library.
"""

from importlib import import_module

_PLACES = {
    "Page": "page", "build": "typeset", "collect": "typeset", "numbers": "output", "save": "output",
    "shown": "output", "table": "output",
}  # fmt: skip
_PARTS = ("figures", "goals", "output", "page", "style", "typeset", "wording")

__all__ = ["Page", "build", "collect", "figures", "goals", "numbers", "save", "shown", "style", "table"]


def __getattr__(name):
    if name in _PARTS:
        return import_module(f"{__name__}.{name}")
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
