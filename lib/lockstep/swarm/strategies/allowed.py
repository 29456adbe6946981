"""Values that the options of measures and strategies may have. Kernels validate nothing: 5 sources for each group of 32
lanes, for example, would read another graph's memory, or skip sources without an error.
"""

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple


class Allowed(NamedTuple):
    """Values that an option may have: in words, and whether one is among them."""

    says: str
    holds: Callable[[Any], bool]


def _whole(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def one_of(*values):
    """One of a few."""
    words = ", ".join(map(repr, values))
    return Allowed(f"one of {words}", lambda v: any(type(v) is type(one) and v == one for one in values))


def whole(low, high):
    """A whole number of a range."""
    return Allowed(f"a whole number from {low:,} to {high:,}", lambda v: _whole(v) and low <= v <= high)


def number(low, high=None):
    """A number of a range, perhaps without an upper end."""
    says = f"a number of at least {low}" if high is None else f"a number from {low} to {high}"

    def holds(value):
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return real and low <= value <= (float("inf") if high is None else high)

    return Allowed(says, holds)


def power(low, high, *also):
    """A power of two of a range, or one of a few other numbers."""
    before = "".join(f"{value}, or " for value in also)
    return Allowed(f"{before}a power of two from {low:,} to {high:,}",
                   lambda v: _whole(v) and (v in also or (low <= v <= high and v & (v - 1) == 0)))  # fmt: skip


def multiple(of, low, high, *also):
    """A multiple of a number, of a range, or one of a few other numbers."""
    before = "".join(f"{value}, or " for value in also)
    return Allowed(f"{before}a multiple of {of} from {low:,} to {high:,}",
                   lambda v: _whole(v) and (v in also or (low <= v <= high and v % of == 0)))  # fmt: skip


_MEMORY = {"memory": whole(1, 2**62)}
_BATCHED = {
    "shared": one_of("rows", "metadata", "nothing"),
    "persistent": one_of(False, True),
    "width": power(4, 32, 0),
    "sparse": number(0),
    "words": power(1, 32),
    "busy": whole(1, 2**20),
    "threads": power(32, 1024, 0),
    **_MEMORY,
}
_PUBLISHED = {
    "placement": one_of("shared", "global"),
    "threads": multiple(32, 32, 1024, 0),
    "sum_threads": multiple(32, 32, 1024, 0),
    **_MEMORY,
}
STRATEGY_OPTIONS = {
    "level": _MEMORY,
    "packed": _MEMORY,
    "paper": _PUBLISHED,
    "graph": _PUBLISHED,
    "swarm": _BATCHED,
    "alone": {**_BATCHED, "sources": whole(0, 32)},
}


def check(allowed, given, whose):
    """Refuse a value that is not allowed; names that nothing is known of are left to others.

    Parameters
    ----------
    allowed : mapping
        {name: Allowed}.
    given : mapping
        {name: value}.
    whose : str
        Of what these are options, for the error.

    Raises
    ------
    ValueError
        Names the first such option, its value and what it may be.
    """
    for name, value in given.items():
        if name in allowed and not allowed[name].holds(value):
            raise ValueError(f"{whose}: {name}={value!r}; expected {allowed[name].says}")
