"""The guide: which strategy to choose for a graph, from recorded times.

A small decision tree for each problem is fitted to recorded times; its regret is measured on graphs outside the fit.
`fitted` writes the trees to data/rules.json, which `auto` follows (`choose`).

>>> from lockstep.graphs import load
>>> from lockstep.guide import advise
>>> advice = advise(load("karate"))
>>> sorted(advice.choices)
['coloring', 'sgd', 'sssp', 'toposort']
"""

from .advice import Advice, Choice, UnknownMachine, advise, machine_of
from .lessons import Gain, Lesson, learn, lessons
from .problems import PROBLEMS, Problem

__all__ = [
    "PROBLEMS", "Advice", "Choice", "Gain", "Lesson", "Problem", "UnknownMachine", "advise", "learn", "lessons",
    "machine_of",
]
