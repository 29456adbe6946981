"""What a study says of its rows: the one thing that provenance asks of it (`<study>/origins.py`)."""

from importlib import import_module
from typing import NamedTuple

from lockstep.studies import PACKAGES

CONTRACT = ("build", "reset", "run")  # by which plans of `lockstep.plan` are entered
CHOOSING = ("make", *CONTRACT)  # and one that chooses another
ENTRY = ("prepare", "run")  # and methods of batches, whose tasks run


class Origin(NamedTuple):
    """What rows of a label on a data set follow from.

    Attributes
    ----------
    roots : tuple
        The plan's class, functions, and values that the label fixes.
    given : tuple of type
        What plans are handed besides a Graph and an executor.
    data : tuple
        What makes the data set: generators, and functions that draw weights.
    left : tuple
        What decides nothing in the data set, though its makers name it: how it is written to disk.
    kernels : tuple of str, optional
        Names of the kernels that are launched; by default those that the host code names.
    entry : tuple of str
        Members by which the plan is entered.
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
