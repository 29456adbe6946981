"""Origins of rows: the interface between a study (`<study>/origins.py`) and provenance."""

from importlib import import_module
from typing import NamedTuple

from lockstep.studies import PACKAGES

CONTRACT = ("build", "reset", "run")  # entry points of plans (`lockstep.plan`)
CHOOSING = ("make", *CONTRACT)  # of plans that choose another plan
ENTRY = ("prepare", "run")  # of batch methods, whose tasks run


class Origin(NamedTuple):
    """The code and data behind the rows of a label on a data set.

    Attributes
    ----------
    roots : tuple
        The plan's class, functions, and values that the label fixes.
    given : tuple of type
        Types of plans' arguments besides a Graph and an executor.
    data : tuple
        Functions that make the data set: generators, and functions that draw weights.
    left : tuple
        Functions named by these that do not affect the data set, such as writing it to disk.
    kernels : tuple of str, optional
        Names of the kernels launched; by default those named in the host code.
    entry : tuple of str
        Entry points of the plan.
    """

    roots: tuple
    given: tuple = ()
    data: tuple = ()
    left: tuple = ()
    kernels: tuple | None = None
    entry: tuple = ENTRY


def origins(study):
    """The module of a study that has `origin` and `PROTOCOL`."""
    package = PACKAGES[study]
    return import_module("lockstep.provenance.costs" if package == "machine" else f"lockstep.{package}.origins")
