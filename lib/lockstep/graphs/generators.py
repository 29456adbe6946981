"""Graph generators: seeded, bit-identical on every machine, 10^6 vertices in about a second.

Every random choice is a hash of (seed, stream, counter), see `draws`, not a library's generator; the only
floating point is R-MAT's quadrant limits, in IEEE float64. ``ids="ordered"`` numbers the vertices of a DAG in a
topological order, ``"random"`` permutes the ids: memory locality strongly affects a serial algorithm's time.
"""


from typing import Literal

import numpy as np
from numba import njit

from . import csr, draws
from .draws import below, stream, word
from .graph import Graph, GraphError, both_ways

FAMILIES = ("erdos_renyi", "rmat", "road_like", "layered", "disjoint_paths", "window_dag", "random_dag")


@njit(cache=True)
def _distinct_pairs(n, m, key, window, sources, targets):
    """Draw ``m`` distinct pairs (u, v), u != v, by rejection against a hash table with open addressing.

    ``window`` = 0: any ordered pair. Else 0 < v - u <= window. If m is at most half of all pairs, a draw of a
    valid pair is new with probability at least 1/2.
    """
    size = 16
    while size < 2 * m:
        size *= 2
    table = np.full(size, -1, np.int64)
    drawn, i = 0, np.uint64(0)
    count, two = np.uint64(n), np.uint64(2)
    while drawn < m:
        u = np.int64(below(key, two * i, count))
        other = two * i + np.uint64(1)
        i += np.uint64(1)
        if window == 0:
            v = np.int64(below(key, other, count - np.uint64(1)))
            v += v >= u  # the n - 1 vertices other than u
        else:
            v = u + 1 + np.int64(below(key, other, np.uint64(window)))
            if v >= n:
                continue
        pair = u * n + v
        slot = np.int64(draws.mix(np.uint64(pair))) & (size - 1)
        while table[slot] != -1 and table[slot] != pair:
            slot = (slot + 1) & (size - 1)
        if table[slot] == -1:
            table[slot] = pair
            sources[drawn], targets[drawn] = u, v
            drawn += 1


def _sample_pairs(n, m, seed, window=0):
    """``m`` distinct pairs; if that is more than half of all pairs, the complement is drawn instead."""
    span = min(window, n - 1)
    possible = n * (n - 1) if window == 0 else n * span - span * (span + 1) // 2
    if not 0 <= m <= max(possible, 0):
        raise GraphError(f"m is {m}; {n} vertices allow 0 to {max(possible, 0)} distinct arcs here")
    dense = 2 * m > possible
    count = possible - m if dense else m
    kind = csr.index_type(n)
    sources, targets = np.empty(count, kind), np.empty(count, kind)
    if count:
        _distinct_pairs(n, count, stream(seed, 0), span if window else 0, sources, targets)
    if not dense:
        return sources, targets
    u = np.repeat(np.arange(n), n - 1 if window == 0 else np.minimum(span, n - 1 - np.arange(n)))
    step = np.arange(u.size) - np.searchsorted(u, u)
    v = step + (step >= u) if window == 0 else u + 1 + step
    left_out = np.isin(u * n + v, sources.astype(np.int64) * n + targets)
    return u[~left_out], v[~left_out]


def _graph(sources, targets, n, name, directed=True, weights=None, order=None):
    """A Graph with rows sorted, hence independent of the drawing order; ``order`` renumbers the vertices."""
    if order is not None:
        order = order.astype(csr.index_type(n))
        sources, targets = order[sources], order[targets]
    if not directed:
        sources, targets, weights = both_ways(sources, targets, weights)
    return Graph._trusted(*csr.group(targets, sources, n, weights), directed, name).reverse()


def _numbering(ids, n, seed):
    """The ``order`` of `_graph`: None if ordered, else a permutation from stream 1."""
    if ids not in ("ordered", "random"):
        raise GraphError(f"ids is {ids!r}; expected 'ordered' or 'random'")
    return draws.permutation(n, seed, 1) if ids == "random" else None


def _whole(least, /, **values):
    for name, value in values.items():
        if int(value) != value or not least <= value < 2**32:
            raise GraphError(f"{name} is {value}; expected a whole number from {least} to 2^32 - 1")
    return [int(value) for value in values.values()]


def erdos_renyi(n: int, m: int, seed: int = 0) -> Graph:
    """A directed random graph G(n, m): ``m`` distinct arcs without loops, each such set equally likely.

    The model of SNAP's GenRndGnm, with which the topological-sort thesis made its graphs (then `acyclic`).

    Parameters
    ----------
    n, m : int
        Vertices and arcs, ``m <= n (n - 1)``.
    seed : int

    Raises
    ------
    GraphError
        If ``m > n (n - 1)``.
    """
    n, m, seed = _whole(0, n=n, m=m, seed=seed)
    return _graph(*_sample_pairs(n, m, seed), n, f"erdos-renyi-{n}-{m}")


def random_dag(n: int, m: int, seed: int = 0, ids: Literal["random", "ordered"] = "random") -> Graph:
    """A random DAG: ``m`` distinct arcs u -> v, u before v in a hidden order (of the ids, if ordered)."""
    n, m, seed = _whole(0, n=n, m=m, seed=seed)
    pairs = _sample_pairs(n, m, seed, window=max(n - 1, 1))
    return _graph(*pairs, n, f"random-dag-{n}-{m}-{ids}", order=_numbering(ids, n, seed))


def window_dag(n: int, m: int, window: int, seed: int = 0, ids: Literal["random", "ordered"] = "random") -> Graph:
    """A deep random DAG: ``m`` distinct arcs, each leading at most ``window`` places on in a hidden order."""
    n, m, seed = _whole(0, n=n, m=m, seed=seed)
    (window,) = _whole(1, window=window)
    pairs = _sample_pairs(n, m, seed, window)
    return _graph(*pairs, n, f"window-dag-{n}-{m}-{window}-{ids}", order=_numbering(ids, n, seed))


@njit(cache=True)
def _rmat(levels, key, limits, sources, targets):
    """Each arc descends ``levels`` times into one of four quadrants; a 64-bit hash serves two levels."""
    low = np.uint64(0xFFFFFFFF)
    for arc in range(sources.size):
        u, v, bits = 0, 0, np.uint64(0)
        for level in range(levels):
            if level % 2 == 0:
                bits = word(key, np.uint64(arc) * np.uint64(32) + np.uint64(level))
            draw = bits & low
            bits >>= np.uint64(32)
            u += u + (draw >= limits[1])
            v += v + ((limits[0] <= draw < limits[1]) or draw >= limits[2])
        sources[arc], targets[arc] = u, v


def rmat(
    scale: int, m: int, seed: int = 0, a: float = 0.57, b: float = 0.19, c: float = 0.19,
    ids: Literal["random", "ordered"] = "random", directed: bool = True, simple: bool = False,
) -> Graph:
    """A scale-free graph on 2^scale vertices (R-MAT: Chakrabarti, Zhan, Faloutsos, SDM 2004).

    Parameters
    ----------
    scale, m : int
        Vertices as a power of two (0 to 31), and arcs (or edges, if undirected) to draw.
    a, b, c : float
        Probabilities of the quadrants (low, low), (low, high), (high, low); Graph500's by default.
    ids : "random" or "ordered"
        ``"ordered"`` leaves the heavy vertices at the low ids; Graph500 shuffles.
    simple : bool
        Merge parallel arcs and drop loops, so that fewer than ``m`` may remain; otherwise keep both.
    """
    scale, m, seed = _whole(0, scale=scale, m=m, seed=seed)
    if scale > 31 or min(a, b, c) < 0 or a + b + c > 1:
        raise GraphError(f"scale {scale}, a, b, c = {a}, {b}, {c}; expected scale 0..31 and probabilities of sum <= 1")
    n = 2**scale
    limits = np.array([a, a + b, a + b + c]) * 2.0**32
    sources, targets = np.empty(m, csr.index_type(n)), np.empty(m, csr.index_type(n))
    _rmat(scale, stream(seed, 0), limits.astype(np.uint64), sources, targets)
    order = _numbering(ids, n, seed)
    if simple:
        u, v = (sources, targets) if directed else (np.minimum(sources, targets), np.maximum(sources, targets))
        pairs = np.unique(u[u != v].astype(np.int64) * n + v[u != v])
        sources, targets = pairs // n, pairs % n
    return _graph(sources, targets, n, f"rmat-{scale}-{m}", directed, order=order)


@njit(cache=True)
def _road(n, width, key, sources, targets, weights):
    """Candidate edges right, down and diagonally down, both ways; one hash gives presence and length."""
    edges = 0
    for v in range(n):
        column = v % width
        for way in range(4):
            if way == 0:
                w, inside = v + 1, column + 1 < width
            elif way == 1:
                w, inside = v + width, True
            elif way == 2:
                w, inside = v + width + 1, column + 1 < width
            else:
                w, inside = v + width - 1, column > 0
            if not inside or w >= n:
                continue
            bits = word(key, np.uint64(4 * v + way))
            per_mille = (bits >> np.uint64(32)) * np.uint64(1000) >> np.uint64(32)
            if per_mille >= (np.uint64(660) if way < 2 else np.uint64(40)):
                continue
            length = np.int64((bits & np.uint64(0xFFFFFFFF)) * np.uint64(1900) >> np.uint64(32)) + 100
            sources[edges], targets[edges] = v, w
            weights[edges] = length if way < 2 else length * 7 // 5
            edges += 1
    return edges


def road_like(n: int, seed: int = 0) -> Graph:
    """An undirected weighted graph like a road network: a grid with 66 % of its edges and 4 % of the diagonals.

    Ids are row-major, the largest degree is at most 8, the mean about 2.8 stored arcs a vertex (New York road
    network: 2.78), lengths are integers from 100 to 2,798. The graph is not connected: about one vertex in twenty
    lies outside the largest component.
    """
    n, seed = _whole(0, n=n, seed=seed)
    width = max(int(np.ceil(np.sqrt(n))), 1)
    kind = csr.index_type(n)
    arrays = np.empty(4 * n, kind), np.empty(4 * n, kind), np.empty(4 * n, np.int64)
    edges = _road(n, width, stream(seed, 0), *arrays)
    sources, targets, weights = (array[:edges] for array in arrays)
    return _graph(sources, targets, n, f"road-like-{n}", directed=False, weights=weights)


@njit(cache=True)
def _predecessors(starts, offsets, key, sources):
    """For every vertex after layer 0, predecessors in the previous layer, distinct if it is wide enough."""
    i = np.uint64(0)
    for layer in range(1, starts.size - 1):
        base, width = starts[layer - 1], starts[layer] - starts[layer - 1]
        for v in range(starts[layer], starts[layer + 1]):
            first, last = offsets[v], offsets[v + 1]
            for arc in range(first, last):
                again = True
                while again:
                    u = base + np.int64(below(key, i, np.uint64(width)))
                    i += np.uint64(1)
                    again = False
                    if width >= last - first:
                        for other in range(first, arc):
                            again = again or sources[other] == u
                sources[arc] = u


def layered(
    n: int, depth: int, in_degree: tuple[int, int] = (2, 8), seed: int = 0,
    ids: Literal["random", "ordered"] = "random",
) -> Graph:
    """A DAG of exactly ``depth`` layers; with in-degrees of at least two it has no chain to contract.

    Parameters
    ----------
    n, depth : int
        Vertices, spread evenly over ``depth`` layers, ``1 <= depth <= n`` (or both 0).
    in_degree : (int, int)
        Smallest and largest number of arcs from the previous layer, inclusive; uniform over vertices after the
        first layer. Arcs come from distinct vertices; the number is capped at the width of the previous layer,
        but not below the smallest: if that exceeds the width, there are parallel arcs.
    ids : "random" or "ordered"

    Raises
    ------
    GraphError
        If the depth or the degrees are impossible.
    """
    n, depth, seed = _whole(0, n=n, depth=depth, seed=seed)
    low, high = _whole(1, low=in_degree[0], high=in_degree[1])
    if low > high or not min(n, 1) <= depth <= n:
        raise GraphError(
            f"depth {depth}, in_degree {in_degree} with {n} vertices; expected 1 <= depth <= n, low <= high"
        )
    starts = np.arange(depth + 1, dtype=np.int64) * n // max(depth, 1)
    above = np.repeat(np.diff(starts)[:-1], np.diff(starts)[1:])
    degrees = _uniform(stream(seed, 2), above.size, low, high)
    degrees = np.minimum(degrees, np.maximum(above, low))
    offsets = np.concatenate([np.zeros(n - above.size + 1, np.int64), np.cumsum(degrees)])
    sources = np.empty(int(offsets[-1]), csr.index_type(n))
    _predecessors(starts, offsets, stream(seed, 0), sources)
    return _graph(sources, csr.rows(offsets), n, f"layered-{n}-{depth}-{ids}", order=_numbering(ids, n, seed))


@njit(cache=True)
def _uniform(key, count, low, high):
    out = np.empty(count, np.int64)
    for i in range(count):
        out[i] = low + np.int64(below(key, np.uint64(i), np.uint64(high - low + 1)))
    return out


def disjoint_paths(n: int, depth: int, seed: int = 0, ids: Literal["random", "ordered"] = "random") -> Graph:
    """The thesis's layered family: ``n // depth`` paths of ``depth`` vertices, and a shorter one of the rest.

    Parameters
    ----------
    n, depth : int
        Vertices, and layers, ``1 <= depth <= n`` (or both 0). What is left over is one shorter path.
    ids : "random" or "ordered"
        Ordered is layer by layer: vertex ``v`` leads to ``v + n // depth``.

    Notes
    -----
    The thesis's table 4.3 counts depth in edges, at least in its first row: "depth 1" has 5 x 10^5 edges on
    10^6 vertices, which are 2 layers here (one layer has no edge at all). Its last row, "depth 10^6" with
    10^6 vertices, can only be 10^6 layers: the longest path that there can be has 999,999 edges.
    """
    n, depth, seed = _whole(0, n=n, depth=depth, seed=seed)
    if not min(n, 1) <= depth <= n:
        raise GraphError(f"depth is {depth} with {n} vertices; expected 1 <= depth <= n")
    width = n // max(depth, 1)
    full = width * depth
    v = np.arange(n, dtype=csr.index_type(n))
    sources = np.concatenate([v[: max(full - width, 0)], v[full:-1]])
    targets = np.concatenate([v[width:full], v[full + 1 :]])
    return _graph(sources, targets, n, f"disjoint-paths-{n}-{depth}-{ids}", order=_numbering(ids, n, seed))


@njit(cache=True)
def _pair_weights(sources, targets, key, low, high, both):
    out = np.empty(sources.size, np.int64)
    for arc in range(sources.size):
        u, v = np.uint64(sources[arc]), np.uint64(targets[arc])
        if both and v < u:
            u, v = v, u
        out[arc] = low + np.int64(below(draws.mix(key + u), v, np.uint64(high - low + 1)))
    return out


def with_weights(graph: "Graph", low: int = 1, high: int = 100, seed: int = 0) -> Graph:
    """The same graph with whole-number weights ``low..high``, drawn for each pair of ends.

    Both arcs of an undirected edge get the same weight, as do parallel arcs.
    """
    graph = Graph.of(graph)
    low, high, seed = _whole(0, low=low, high=high, seed=seed)
    if low > high:
        raise GraphError(f"weights from {low} to {high}; expected low <= high")
    weights = _pair_weights(*graph.edges(), stream(seed, 3), low, high, not graph.directed)
    return Graph._trusted(graph.offsets, graph.targets, weights, graph.directed, graph.name, graph.labels)
