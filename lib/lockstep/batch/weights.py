"""Which weights float32, as packs store them, does not hold."""

from typing import Any

import numpy as np


def unheld(weights):
    """Places of weights that float32, as packs store them, does not hold: whole numbers that would change (all that are
    too large among them), and what is too small. Other fractions are rounded.
    """
    weights = np.asarray(weights)
    if weights.dtype == np.float32 or weights.dtype.kind not in "iuf":
        return np.zeros(0, np.int64)
    with np.errstate(over="ignore", under="ignore"):
        stored = weights.astype(np.float32)
    if weights.dtype.kind != "f":
        back = stored.astype(np.float64)
        wrong = back >= float(np.iinfo(weights.dtype).max) + 1  # which the type itself does not hold
        return np.flatnonzero(wrong | (np.where(wrong, 0, back).astype(weights.dtype) != weights))
    changed = np.isfinite(weights) & (stored != weights)
    return np.flatnonzero(changed & ((np.abs(weights) < np.finfo(np.float32).tiny) | (weights == np.floor(weights))))


def not_held(arc, weight, ends=""):
    """Why a graph with that weight cannot be packed, in words."""
    told = int(weight) if abs(weight) < 2**64 and weight == int(weight) else repr(float(weight))
    return (
        f"weight of arc {arc}{ends} is {told}, which float32, as weights of a batch are stored, does not hold; "
        "expected whole numbers that it holds (all up to 16,777,216) and fractions of at least 1.2e-38: scale the "
        "weights, or leave them out (--unweighted; GraphBatch with weights=False)"
    )


def weight_not_held(graph):
    """What is wrong with the first weight of a Graph that float32 does not hold; None if there is no such weight."""
    places: Any = unheld(graph.weights) if graph.weights is not None else ()
    if not len(places):
        return None
    arc = int(places[0])
    ends = int(np.searchsorted(graph.offsets, arc, side="right")) - 1, int(graph.targets[arc])
    u, v = map(graph.label_of, ends)
    return not_held(arc, graph.weights[arc], f" (from {u} to {v})")
