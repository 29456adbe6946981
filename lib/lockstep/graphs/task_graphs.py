"""Task graphs: dynamic programming, FFT, reduction, calls, Cholesky and LU factorization, fork-join, stencil.

Seeded and bit-identical on every machine, like `generators`; ``ids`` as there.
"""

import numpy as np
from numba import njit

from . import csr
from .draws import below, stream
from .generators import _graph, _numbering, _whole

FAMILIES = ("wavefront", "butterfly", "reduction", "call_tree", "cholesky", "fork_join", "lu", "stencil")


def _numbered(sources, targets, n, name, ids, seed):
    kind = csr.index_type(n)
    return _graph(sources.astype(kind), targets.astype(kind), n, f"{name}-{ids}", order=_numbering(ids, n, seed))


def wavefront(rows, columns, seed=0, ids="random"):
    """Dynamic programming on a table: a cell depends on those above, to the left, and diagonally above left.

    Sequence alignment is an example. Layers are the ``rows + columns - 1`` antidiagonals, of width at most
    ``min(rows, columns)``.
    """
    rows, columns = _whole(1, rows=rows, columns=columns)
    (seed,) = _whole(0, seed=seed)
    cell = np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
    pairs = ((cell[:-1], cell[1:]), (cell[:, :-1], cell[:, 1:]), (cell[:-1, :-1], cell[1:, 1:]))
    ends = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    return _numbered(*ends, rows * columns, f"wavefront-{rows}-{columns}", ids, seed)


def butterfly(levels, seed=0, ids="random"):
    """An FFT of ``2^levels`` points: ``levels + 1`` layers of ``2^levels`` vertices, in- and out-degree 2 between."""
    levels, seed = _whole(0, levels=levels, seed=seed)
    width = 1 << levels
    v = np.arange(levels * width, dtype=np.int64)
    partner = v ^ (1 << (v // width))  # layer l flips bit l of the index, which stays in the layer
    sources, targets = np.concatenate([v, v]), np.concatenate([v, partner]) + width
    return _numbered(sources, targets, (levels + 1) * width, f"butterfly-{levels}", ids, seed)


def reduction(n, seed=0, ids="random"):
    """A pairwise sum: a complete binary tree of ``n`` vertices with all arcs towards the root."""
    n, seed = _whole(0, n=n, seed=seed)
    v = np.arange(1, n, dtype=np.int64)
    return _numbered(v, (v - 1) // 2, n, f"reduction-{n}", ids, seed)


@njit(cache=True)
def _callers(n, key, caller):
    for v in range(1, n):
        caller[v - 1] = np.int64(below(key, np.uint64(v), np.uint64(v)))


def call_tree(n, seed=0, ids="random"):
    """A call tree: every vertex but the first has an arc from a random earlier one (a random recursive tree)."""
    n, seed = _whole(0, n=n, seed=seed)
    caller = np.empty(max(n - 1, 0), np.int64)
    _callers(n, stream(seed, 0), caller)
    return _numbered(caller, np.arange(1, n, dtype=np.int64), n, f"call-tree-{n}", ids, seed)


def cholesky(tiles, seed=0, ids="random"):
    """A matrix of ``tiles`` by ``tiles`` tiles factorized by Cholesky's method, one vertex for each task on a tile.

    Tile (i, j) has tasks 0 to j in sequence. Task k < j, the update by column k, depends on the last tasks of tiles
    (i, k) and (j, k); the last task of a tile below the diagonal depends on that of tile (j, j).
    """
    tiles, seed = _whole(1, tiles=tiles)[0], _whole(0, seed=seed)[0]
    side = np.arange(tiles)
    i, j, k = np.nonzero((side[:, None] >= side)[:, :, None] & (side[:, None] >= side))
    number = np.zeros((tiles, tiles, tiles), np.int64)
    number[i, j, k] = v = np.arange(i.size)
    later, update, below_diagonal = k > 0, k < j, j < i
    ends = (
        (later, number[i, j, k - 1]),
        (update, number[i, k, k]),
        (update & below_diagonal, number[j, k, k]),
        (~update & below_diagonal, number[j, j, j]),
    )
    sources = np.concatenate([source[at] for at, source in ends])
    targets = np.concatenate([v[at] for at, _ in ends])
    return _numbered(sources, targets, v.size, f"cholesky-{tiles}", ids, seed)


def fork_join(stages, width, seed=0, ids="random"):
    """``stages`` successive fork-join sections of ``width`` parallel tasks each."""
    stages, width = _whole(1, stages=stages, width=width)
    (seed,) = _whole(0, seed=seed)
    task = np.arange(stages * (width + 1), dtype=np.int64).reshape(stages, width + 1)[:, 1:]
    fork = np.repeat(task[:, :1] - 1, width, axis=1)
    sources, targets = np.concatenate([fork, task]).ravel(), np.concatenate([task, fork + width + 1]).ravel()
    return _numbered(sources, targets, stages * (width + 1) + 1, f"fork-join-{stages}-{width}", ids, seed)


def lu(tiles, seed=0, ids="random"):
    """A matrix of ``tiles`` by ``tiles`` tiles factorized into L and U, no pivots, one vertex for each task on a tile.

    Tile (i, j) has tasks 0 to min(i, j) in sequence. Task k < min(i, j), the update by step k, depends on the last
    tasks of tiles (i, k) and (k, j); the last task of an off-diagonal tile depends on that of tile (k, k),
    k = min(i, j).
    """
    tiles, seed = _whole(1, tiles=tiles)[0], _whole(0, seed=seed)[0]
    side = np.arange(tiles)
    last = np.minimum(side[:, None], side)
    i, j, k = np.nonzero(last[:, :, None] >= side)
    number = np.zeros((tiles, tiles, tiles), np.int64)
    number[i, j, k] = v = np.arange(i.size)
    later, update, off_diagonal = k > 0, k < last[i, j], i != j
    ends = (
        (later, number[i, j, k - 1]),
        (update, number[i, k, k]),
        (update, number[k, j, k]),
        (~update & off_diagonal, number[k, k, k]),
    )
    sources = np.concatenate([source[at] for at, source in ends])
    targets = np.concatenate([v[at] for at, _ in ends])
    return _numbered(sources, targets, v.size, f"lu-{tiles}", ids, seed)


def stencil(steps, cells, seed=0, ids="random"):
    """A one-dimensional three-point stencil: a cell depends on itself and its two neighbours in the previous step."""
    steps, cells = _whole(1, steps=steps, cells=cells)
    (seed,) = _whole(0, seed=seed)
    cell = np.arange(steps * cells, dtype=np.int64).reshape(steps, cells)
    before, after = cell[:-1], cell[1:]
    pairs = ((before, after), (before[:, :-1], after[:, 1:]), (before[:, 1:], after[:, :-1]))
    ends = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    return _numbered(*ends, steps * cells, f"stencil-{steps}-{cells}", ids, seed)
