"""A small decision tree on the features of a graph, in Python, in JSON and in words."""

import math
from dataclasses import dataclass

WORDS = {True: "more than", False: "at most"}


@dataclass(frozen=True)
class Leaf:
    """A leaf: the strategy, and the recorded graphs that lead to it."""

    strategy: str
    observations: tuple


@dataclass(frozen=True)
class Question:
    """An inner node: `high` if a feature is above a threshold, else `low`."""

    feature: str
    threshold: float
    low: "Leaf | Question"
    high: "Leaf | Question"


def decide(tree, features):
    """The leaf for a graph's features, and the questions on the way: [(feature, threshold, above), ...]."""
    way = []
    while isinstance(tree, Question):
        above = features[tree.feature] > tree.threshold
        way.append((tree.feature, tree.threshold, above))
        tree = tree.high if above else tree.low
    return tree, way


def leaves(tree, way=()):
    """All leaves with the questions that lead there, from low to high."""
    if isinstance(tree, Leaf):
        return [(tree, list(way))]
    return [
        *leaves(tree.low, (*way, (tree.feature, tree.threshold, False))),
        *leaves(tree.high, (*way, (tree.feature, tree.threshold, True))),
    ]


def features_of(tree):
    """The features that a rule tests."""
    if isinstance(tree, Leaf):
        return set()
    return {tree.feature} | features_of(tree.low) | features_of(tree.high)


def packed(tree, place):
    """A rule as plain lists and dicts; ``place(observation)`` replaces the observations of a leaf."""
    if tree is None:
        return None
    if isinstance(tree, Leaf):
        return {"strategy": tree.strategy, "graphs": sorted({place(one) for one in tree.observations})}
    sides = {"low": packed(tree.low, place), "high": packed(tree.high, place)}
    return {"feature": tree.feature, "threshold": tree.threshold, **sides}


def unpacked(found, observation=lambda place: place):
    """Inverse of `packed`; ``observation(place)`` returns the observation of a place."""
    if found is None:
        return None
    if "strategy" in found:
        return Leaf(found["strategy"], tuple(map(observation, found["graphs"])))
    sides = (unpacked(found[side], observation) for side in ("low", "high"))
    return Question(found["feature"], found["threshold"], *sides)


def condition(way, units):
    """The questions on the way to a leaf in words; of two bounds on one side the tighter one."""
    tight = {}
    for feature, threshold, above in way:  # a later test is inside the branch of an earlier one
        tight[feature, above] = threshold
    told = []
    for feature in dict.fromkeys(feature for feature, _ in tight):
        sides = [above for above in (True, False) if (feature, above) in tight]
        bounds = " and ".join(f"{WORDS[above]} {number(tight[feature, above])}" for above in sides)
        told.append(f"{bounds} {_unit(units[feature], tight[feature, sides[-1]])}")
    return ", ".join(told) or "the same on every recorded graph"


def branch(units, feature, threshold, above):
    """A branch of a test, in words: "more than 150 vertices and arcs a layer"."""
    return f"{WORDS[above]} {number(threshold)} {_unit(units[feature], threshold)}"


def _unit(unit, count):
    """A unit beside its number: "arcs a vertex", but "1 arc a vertex"."""
    first, _, rest = unit.partition(" ")
    return f"{first.removesuffix('s')} {rest}" if count == 1 and first in ("arcs", "ratings") else unit


def number(value):
    """A threshold as text: thousands separated, no trailing zeros."""
    if value and (abs(value) < 1e-3 or abs(value) >= 1e15 or math.isnan(value)):
        return f"{value:.3g}"
    return f"{value:,.10g}"
