"""What the arrays of a graph must be, and the error that says which is not."""

import numpy as np

from . import csr


class GraphError(ValueError):
    """A graph, file or request that cannot be used; says what was found and what was expected."""


def integers(values, what):
    array = np.asarray(values)
    if array.ndim != 1:
        raise GraphError(f"{what} has {array.ndim} dimensions; expected a flat array")
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "f" and np.all(np.isfinite(array)) and np.all(array == np.floor(array)):
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise GraphError(f"{what} holds {array.dtype}; expected whole numbers")
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise GraphError(f"{what} holds {array.max()}; expected ids below 2^63")
    return array if array.dtype in (np.int32, np.int64) else array.astype(np.int64)


def arc_weights(weights, m):
    if weights is None:
        return None
    array = np.asarray(weights)
    if array.shape != (m,):
        raise GraphError(f"weights have shape {array.shape}; expected one for each of the {m} arcs")
    if array.dtype == np.uint64 and array.size and array.max() >= 2**63:
        raise OverflowError(f"weight {int(array.argmax())} is {array.max()}; expected whole weights below 2^63")
    if array.dtype.kind in "biu":
        return np.ascontiguousarray(array, np.int64)
    if array.dtype.kind != "f":
        raise GraphError(f"weights hold {array.dtype}; expected numbers")
    bad = np.flatnonzero(np.isnan(array))
    if bad.size:
        raise GraphError(f"weight {bad[0]} is NaN; expected a number for every arc")
    return np.ascontiguousarray(array, np.float64)


def vertex_labels(labels, n):
    if labels is not None and len(labels) != n:
        raise GraphError(f"{len(labels)} labels; expected one for each of the {n} vertices")
    return labels


def check_range(ids, n, what):
    if ids.size and (ids.min() < 0 or ids.max() >= n):
        arc = int(np.flatnonzero((ids < 0) | (ids >= n))[0])
        raise GraphError(f"{what} of arc {arc} is {ids[arc]}; expected an id in 0..{n - 1} (n = {n})")


def check_offsets(offsets, m):
    if offsets.size == 0:
        raise GraphError("offsets is empty; expected n + 1 numbers, at least one")
    if offsets[0] != 0 or offsets[-1] != m:
        raise GraphError(f"offsets run from {offsets[0]} to {offsets[-1]}; expected 0 to {m}, the number of targets")
    falling = np.flatnonzero(np.diff(offsets) < 0)
    if falling.size:
        raise GraphError(f"offsets fall after vertex {falling[0]}; expected them never to fall")


def check_symmetric(graph):
    """An undirected graph must hold every arc both ways equally often, with equal weights."""
    transposed = graph.reverse()
    again = transposed.reverse()  # both now have rows sorted by target, so equal graphs have equal arrays
    if not (np.array_equal(transposed.offsets, again.offsets) and np.array_equal(transposed.targets, again.targets)):
        raise GraphError("directed=False, but some arc is not stored both ways; pass edges once to Graph.from_edges")
    if graph.weights is None:
        return
    sources = csr.rows(again.offsets)
    one = np.lexsort((again.weights, again.targets, sources))
    two = np.lexsort((transposed.weights, transposed.targets, sources))
    if not np.array_equal(again.weights[one], transposed.weights[two]):
        raise GraphError("directed=False, but some edge has different weights in its two directions")
