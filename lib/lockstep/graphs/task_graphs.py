"""DAGs that programs make: what a table, a transform, a sum and a tree of calls wait for.

Seeded and the same bits everywhere, like all of `generators`; ``ids`` as there.
"""

import numpy as np
from numba import njit

from . import csr
from .draws import below, stream
from .generators import _graph, _numbering, _whole

FAMILIES = ("wavefront", "butterfly", "reduction", "call_tree")


def _numbered(sources, targets, n, name, ids, seed):
    kind = csr.index_type(n)
    return _graph(sources.astype(kind), targets.astype(kind), n, f"{name}-{ids}", order=_numbering(ids, n, seed))


def wavefront(rows, columns, seed=0, ids="random"):
    """A table filled in by dynamic programming: a cell waits for those above, to the left, and above to the left.

    Alignment of two texts is one. Layers are the ``rows + columns - 1`` antidiagonals, at most the shorter side wide.
    """
    rows, columns = _whole(1, rows=rows, columns=columns)
    (seed,) = _whole(0, seed=seed)
    cell = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    pairs = ((cell[:-1], cell[1:]), (cell[:, :-1], cell[:, 1:]), (cell[:-1, :-1], cell[1:, 1:]))
    ends = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    return _numbered(*ends, rows * columns, f"wavefront-{rows}-{columns}", ids, seed)


def butterfly(levels, seed=0, ids="random"):
    """A fast Fourier transform of ``2^levels`` points: ``levels + 1`` layers of as many, two arcs in and out each."""
    levels, seed = _whole(0, levels=levels, seed=seed)
    width = 1 << levels
    v = np.arange(levels * width, dtype=np.int64)
    partner = v ^ (1 << (v // width))  # that bit is one of the place in the layer
    sources, targets = np.concatenate([v, v]), np.concatenate([v, partner]) + width
    return _numbered(sources, targets, (levels + 1) * width, f"butterfly-{levels}", ids, seed)


def reduction(n, seed=0, ids="random"):
    """A sum taken in pairs: a binary tree of ``n`` vertices with all arcs towards the root."""
    n, seed = _whole(0, n=n, seed=seed)
    v = np.arange(1, n, dtype=np.int64)
    return _numbered(v, (v - 1) // 2, n, f"reduction-{n}", ids, seed)


@njit(cache=True)
def _callers(n, key, caller):
    for v in range(1, n):
        caller[v - 1] = np.int64(below(key, np.uint64(v), np.uint64(v)))


def call_tree(n, seed=0, ids="random"):
    """Who called whom: every vertex but the first has an arc from one of those before it (a random recursive tree)."""
    n, seed = _whole(0, n=n, seed=seed)
    caller = np.empty(max(n - 1, 0), np.int64)
    _callers(n, stream(seed, 0), caller)
    return _numbered(caller, np.arange(1, n, dtype=np.int64), n, f"call-tree-{n}", ids, seed)
