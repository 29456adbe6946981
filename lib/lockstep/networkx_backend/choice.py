"""Predict the faster backend of a call, conversion and transfer included, by a decision tree for each function.

`fitted` fits the trees to the times in `data/networkx-times.csv` and writes them to `data/networkx-rules.json`, which
this module reads.
"""

import functools
import json

from lockstep import paths
from lockstep.choose import tree
from lockstep.machine import gpu_available

FILE = paths.DATA / "networkx-rules.json"


def arcs(G):
    """Number of pairs (node, neighbor) of a NetworkX graph: two for an undirected edge, one for parallel edges."""
    return sum(map(len, G._adj.values()))


# {feature of a graph: (unit, function)}; a further one, `gpu`, is 1 if a GPU is usable, else 0
FEATURES = {
    "nodes": ("nodes", len),
    "arcs": ("arcs", arcs),
    "degree": ("arcs a node", lambda G: arcs(G) / max(len(G), 1)),
}
UNITS = {name: unit for name, (unit, _) in FEATURES.items()}


@functools.cache
def rules():
    """{function: tree} for machines with and without a GPU."""
    return {name: tree.unpacked(one) for name, one in json.loads(FILE.read_text(encoding="utf-8")).items()}


@functools.cache
def rule(name):
    """The tree of a function on this machine."""
    return restricted(rules()[name], gpu_available())


def restricted(found, gpu):
    """A tree with its questions on `gpu` resolved."""
    if isinstance(found, tree.Leaf):
        return found
    if found.feature == "gpu":
        return restricted(found.high if gpu else found.low, gpu)
    low, high = restricted(found.low, gpu), restricted(found.high, gpu)
    if isinstance(low, tree.Leaf) and isinstance(high, tree.Leaf) and low.strategy == high.strategy:
        return low
    return tree.Question(found.feature, found.threshold, low, high)


def never(name):
    """Whether NetworkX is predicted to be faster on every graph, on this machine."""
    return all(leaf.strategy == "networkx" for leaf, _ in tree.leaves(rule(name)))


def faster(name, G):
    """The backend predicted to be faster, "lockstep" or "networkx", and the condition in words."""
    own = rule(name)
    leaf, way = tree.decide(own, {feature: FEATURES[feature][1](G) for feature in tree.features_of(own)})
    return leaf.strategy, tree.condition(way, UNITS)
