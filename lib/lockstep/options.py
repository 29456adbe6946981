"""Options of strategies: their base class, and the checks of types and values that the five studies share."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

Natural = Annotated[int, 0]  # a whole number of 0 or more; what is annotated with int is 1 or more

# What a field of each annotated type takes, and its words in errors; bool is an int to Python, not here.
TYPES: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool, np.bool_), "True or False"),
    int: ((Integral,), "a whole number"),
    float: ((Real,), "a number that float64 holds"),
    str: ((str,), "text"),
    NoneType: ((NoneType,), "None"),
    object: ((object,), "anything"),
}


@dataclass(frozen=True)
class Options:
    """Options of a plan; a subclass for each plan that has any.

    Fields are annotated with bool, int (1 or more), Natural (0 or more), float, str, Literal or object, and ``| None``
    where None lets the strategy choose. `__post_init__` raises ValueError for what else is out of range: kernels check
    nothing.
    """


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """NumPy's scalars as Python's."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def check_types(kind: type[Options], values: Mapping[str, Any]) -> None:
    """ValueError unless each value is of the type that its field of the class `kind` is annotated with."""
    hints = get_type_hints(kind, include_extras=True)
    for name, value in values.items():
        hint = hints[name]
        choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if not any(_is(value, choice) for choice in choices):
            raise ValueError(f"{name}={value!r}; expected {', or '.join(map(_words, choices))}")


def _is(value, choice):
    if get_origin(choice) is Literal:
        return isinstance(value, str) and value in get_args(choice)
    kind, least = _kind(choice)
    if kind in (int, float) and isinstance(value, TYPES[bool][0]):
        return False
    return isinstance(value, TYPES[kind][0]) and (value >= least if kind is int else kind is not float or _held(value))


def _kind(choice):
    """(type, lowest value of a whole number)."""
    return get_args(choice) if get_origin(choice) is Annotated else (choice, 1)


def _held(number):
    """Whether float64 holds a number."""
    try:
        return float(number) is not None
    except OverflowError:
        return False


def _words(choice):
    if get_origin(choice) is Literal:
        return " or ".join(map(repr, get_args(choice)))
    kind, least = _kind(choice)
    return TYPES[kind][1] + f", {least} or more" * (kind is int)


def check_threads(threads: int | None) -> None:
    """ValueError unless `threads` of a block are None or whole warps, 1,024 threads at most."""
    if threads is not None and (type(threads) is not int or threads % 32 or not 0 < threads <= 1024):
        raise ValueError(f"threads={threads!r}; expected a multiple of 32, 1024 at most: whole warps of a block")


def check_lanes(options: Options) -> None:
    """ValueError for `lanes` or a `group` of a GPU strategy that divide no warp, and for blocks that they do not
    divide or that are too large: such a kernel hangs or errs.
    """
    if (getattr(options, "threads", None) or 0) > 1024:
        raise ValueError(f"threads={options.threads!r}; expected 1024 at most, a block's largest")
    for name in ("lanes", "group"):
        value, threads = getattr(options, name, None), getattr(options, "threads", None)
        if value is not None and value not in (1, 2, 4, 8, 16, 32):
            raise ValueError(f"{name}={value!r}; expected 1, 2, 4, 8, 16 or 32: lanes of a warp")
        if value is not None and threads is not None and threads % value:
            raise ValueError(f"threads={threads!r}; expected a multiple of {name}={value}")
    if hasattr(options, "group"):  # their lists take a ballot of a whole warp
        check_threads(getattr(options, "threads", None))
