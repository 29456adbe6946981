"""A strategy made ready for one graph.

`prepare` puts the input back as it was (in-degrees are destroyed by sorting, counters must be zero); `run` sorts.
Timing covers `run` alone, for CPU and GPU alike: the graph, its in-degrees and the memory are there before, as in the
published study; results stay on the device. An experiment launches next to nothing before each run that launches, so
that loading the driver's code into the caches is not timed (`experiments`).
"""

import hashlib
import inspect
from pathlib import Path

from lockstep.machine import source_digest

KERNELS = Path(__file__).parent / "kernels"


class Plan:
    """A strategy made ready for one graph.

    Parameters
    ----------
    graph : Graph
    executor : Executor or None
        None for strategies of the CPU.
    """

    name = ""
    files: tuple = ()  # of kernels/, whose text decides the result
    functions: tuple = ()  # and of Python functions

    def __init__(self, graph, executor=None):
        self.graph, self.executor = graph, executor

    def prepare(self):
        """Put the input back as it was; not timed."""

    def run(self):
        """Sort; returns a TopologicalOrder of the vertices that could be sorted (all of them, unless there is a
        cycle).
        """
        raise NotImplementedError

    @classmethod
    def digest(cls):
        """Digest of the device text and of the host code that decide this strategy's result and time."""
        classes = [kind for kind in cls.__mro__ if kind is not object]
        text = "".join(inspect.getsource(part) for part in (*classes, *cls.functions))
        text += "".join(source_digest(KERNELS / file) for file in cls.files)
        return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]
