"""Checks of every result: that it is a coloring and, for priority strategies, the defined
one.
"""


from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from lockstep.plan import WrongResult

if TYPE_CHECKING:
    from collections.abc import Collection

    from lockstep.graphs import Graph

SMALLEST, BY_PRIORITY, EMPTIED = "smallest", "by-priority", "emptied"  # traits of strategies


class WrongColoring(WrongResult):
    """A strategy gave colors that are not a coloring, or not the one that its rule defines."""


@njit(cache=True)
def _check(offsets, targets, colors):
    """A vertex without a color, or the first edge within a color, as (kind, u, v); (0, -1, -1) if there is
    none.
    """
    for v in range(offsets.size - 1):
        if colors[v] < 0:
            return 1, v, -1
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            if u != v and colors[u] == colors[v]:
                return 2, v, u
    return 0, -1, -1


def check(graph, colors, bound=None):
    """None if ``colors`` colors ``graph``, else one line naming the error.

    Parameters
    ----------
    graph : Graph
        Self-loops are ignored.
    colors : int array, shape (n,)
    bound : int, optional
        The most colors there may be.
    """
    colors = np.asarray(colors)
    if colors.shape != (graph.n,):
        return f"colors of shape {colors.shape} for {graph.n} vertices"
    if colors.dtype.kind not in "iu":
        return f"colors of type {colors.dtype}; expected whole numbers"
    kind, v, u = _check(graph.offsets, graph.targets, colors)
    if kind == 1:
        return f"vertex {v} has no color"
    if kind == 2:
        return f"the edge {v} - {u} lies within color {colors[v]}"
    if colors.size:
        count = int(colors.max()) + 1
        if np.unique(colors).size < count:
            return f"the colors 0..{count - 1} are not all used"
        if bound is not None and count > bound:
            return f"{count} colors where at most {bound} are needed"
    return None


def verify(result: Any, graph: "Graph", bound: int | None = None) -> Any:
    """Check one result: no edge within a color, none uncolored, no more colors than ``bound``. Returns
    'invariant'.

    'invariant', since a graph has many colorings; `Checker` returns 'exact' where the rule defines the
    colors.

    Raises
    ------
    WrongColoring
        Naming the strategy, the graph and what is wrong.
    """
    wrong = check(graph, result.colors, bound)
    if wrong:
        raise WrongColoring(f"{result.strategy} on {graph.name or 'the graph'}: {wrong}")
    return "invariant"


def mix(x):
    """The kernels' 32-bit bijective hash (priority.cuh)."""
    x = np.asarray(x).astype(np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    return x * np.uint32(0x846CA68B)


def degree_class(degrees):
    """The kernels' classes of degree: exact below 32, then 16 an octave, 255 the last."""
    degrees = np.asarray(degrees, np.int64)
    octave = np.frexp(degrees.astype(float))[1] - 1
    fine = 32 + (octave - 5) * 16 + (degrees >> np.maximum(octave - 4, 0)) % 16
    return np.where(degrees < 32, degrees, np.minimum(fine, 255))


def largest_first(graph, seed=0):
    """The vertices in the ladder's order of priority: largest degree class first, ties by a seeded hash."""
    return np.lexsort((mix(np.arange(graph.n, dtype=np.uint32) ^ np.uint32(seed)), degree_class(graph.out_degrees())))[
        ::-1
    ]


def peers_order(graph):
    """The order of priority in which ECL-GC colors: largest degree first, ties by a hash of the id, then by the id.

    Its shortcuts change no color, so a greedy loop in this order computes exactly its number of colors on a graph,
    without running it.
    """
    hashed = np.arange(graph.n, dtype=np.uint32)
    for _ in range(2):
        hashed = (hashed ^ hashed >> np.uint32(16)) * np.uint32(0x45D9F3B)
    hashed ^= hashed >> np.uint32(16)
    return np.lexsort((np.arange(graph.n), hashed, graph.out_degrees()))[::-1]


@njit(cache=True)
def _greedy(offsets, targets, order, colors, mark):
    """Smallest free color for one vertex after the other; mark: work array of largest degree + 2, any values < 0."""
    colors[:] = -1
    for i in range(order.size):
        v = order[i]
        for arc in range(offsets[v], offsets[v + 1]):
            color = colors[targets[arc]]
            if color >= 0:
                mark[color] = i
        color = 0
        while mark[color] == i:
            color += 1
        colors[v] = color


def greedy(graph, order):
    """Colors of a greedy loop over ``order``: each vertex gets the smallest color unused by its neighbors.

    Parameters
    ----------
    graph : Graph
        Undirected, without self-loops.
    order : int array, shape (n,)

    Returns
    -------
    colors : int32 array, shape (n,)
    """
    colors = np.empty(graph.n, np.int32)
    mark = np.full(int(graph.out_degrees().max(initial=0)) + 2, -1, np.int64)
    _greedy(graph.offsets, graph.targets, order, colors, mark)
    return colors


# The constants of emptying.cu, under its names.
MOST_COLORS, MOST_MEMBERS, BASE_STEPS, STEPS_PER_MEMBER = 1024, 64, 4, 2
MOST_CONFLICTS, LONGEST_ROW, TENURE, QUEUE_CAPACITY = 8, 4096, 10, 512


@njit(cache=True)
def _elsewhere(offsets, targets, colors, top, u, used):
    """The smallest color below top, not its own, that no neighbor of u has; -1 if there is none."""
    used[:] = False
    used[colors[u]] = True
    for arc in range(offsets[u], offsets[u + 1]):
        used[colors[targets[arc]]] = True
    for color in range(top):
        if not used[color]:
            return color
    return -1


@njit(cache=True)
def _empty(offsets, targets, colors, top):
    """Empty class top of colors; whether that worked, and the steps it took. If not, colors is no coloring any more."""
    queue = [(v, -1, -TENURE) for v in np.flatnonzero(colors == top)]
    if len(queue) > MOST_MEMBERS:
        return False, 0
    used = np.zeros(top + 1, np.bool_)
    steps = min(MOST_MEMBERS, BASE_STEPS + STEPS_PER_MEMBER * len(queue))
    for step in range(steps):
        v = queue[step][0]
        row = targets[offsets[v] : offsets[v + 1]]
        if row.size > LONGEST_ROW:
            return False, step
        count = np.bincount(colors[row], minlength=top + 1)
        for who, origin, when in queue:
            if who == v and when + TENURE > step and count[origin]:
                count[origin] = MOST_CONFLICTS + 1
        stuck = np.zeros(top, np.int64)
        for u in row:
            if offsets[u + 1] - offsets[u] > LONGEST_ROW:
                count[colors[u]] = MOST_CONFLICTS + 1
        for u in row:
            if colors[u] < top and count[colors[u]] <= MOST_CONFLICTS:
                stuck[colors[u]] += _elsewhere(offsets, targets, colors, top, u, used) < 0
        best, least = -1, np.int64(0)
        for color in range(top):
            cost = stuck[color] * (MOST_CONFLICTS + 1) + count[color]
            if count[color] <= MOST_CONFLICTS and (best < 0 or cost < least):
                best, least = color, cost
        if best < 0:
            return False, step + 1
        leave = row[colors[row] == best]
        to = [_elsewhere(offsets, targets, colors, top, u, used) for u in leave]
        for i in range(leave.size):
            colors[leave[i]] = to[i] if to[i] >= 0 else top
            if to[i] < 0:
                queue.append((leave[i], best, step))
        colors[v] = best
        if len(queue) > QUEUE_CAPACITY:
            return False, step + 1
        if len(queue) == step + 1:
            return True, step + 1
    return False, steps


def emptied(graph, colors):
    """A coloring from which the highest classes are taken one by one, as emptying.cu describes.

    Parameters
    ----------
    graph : Graph
        Undirected, each neighbor once, without self-loops.
    colors : int array, shape (n,)
        A coloring with the colors 0..count-1.

    Returns
    -------
    colors : int32 array, shape (n,)
        At most as many colors.
    steps : int
        Sequential steps, with two grid barriers each.
    """
    colors, steps = np.array(colors, np.int32), 0
    for top in range(int(colors.max(initial=0)), 0, -1):
        if top >= MOST_COLORS:
            break
        tried = colors.copy()
        worked, more = _empty(graph.offsets, graph.targets, tried, top)
        steps += more
        if not worked:
            break
        colors = tried
    return colors, steps


@njit(cache=True)
def _chain(offsets, targets, order, place, depth):
    deepest = 0
    for i in range(order.size):
        v = order[i]
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            if place[u] < i and depth[u] > depth[v]:
                depth[v] = depth[u]
        depth[v] += 1
        deepest = max(deepest, depth[v])
    return deepest


def chain(graph, seed=0):
    """Vertices on the longest path of decreasing priority, which must be colored one after the
    other.
    """
    order = largest_first(graph, seed)
    place = np.empty(graph.n, np.int64)
    place[order] = np.arange(graph.n)
    return int(_chain(graph.offsets, graph.targets, order, place, np.zeros(graph.n, np.int64)))


def stuck(graph):
    """The highest degree that two neighbors share, at which the phase by degree gets stuck; -1 if none.

    Neither of the two ever is "the only local maximum"; every vertex of higher degree is in some round.
    """
    degrees = graph.out_degrees()
    sources, targets = graph.edges()
    same = degrees[sources] == degrees[targets]
    return int(degrees[sources[same]].max(initial=-1))


def stuck_expected(degrees):
    """Estimate of `stuck` from degrees alone: the highest degree with one expected such pair at or above it.

    Two vertices of degree d are adjacent with probability about d^2 / m in a random graph of given
    degrees (F. Chung, L. Lu, "Connected components in random graphs with given expected degree sequences", 2002).

    Parameters
    ----------
    degrees : int array, shape (n,)
        Stored arcs of each vertex, m in all.
    """
    count = np.bincount(degrees, minlength=1).astype(float)
    pairs = count * (count - 1) / 2 * np.arange(count.size, dtype=float) ** 2 / max(count @ np.arange(count.size), 1)
    return int(np.flatnonzero(np.cumsum(pairs[::-1])[::-1] >= 1).max(initial=-1))


class Checker:
    """`verify` for many results on one graph, and the oracle's colors for strategies that must give exactly
    these.

    Parameters
    ----------
    graph : Graph
        Undirected, without self-loops.
    seed : int
    """

    def __init__(self, graph: "Graph", seed: int = 0) -> None:
        self.graph, self.seed = graph, seed
        self._expected = {}
        self._bound = int(graph.out_degrees().max(initial=0)) + 1

    def expected(self, fewer: bool = False) -> np.ndarray:
        """The colors that priorities define; fewer: after `emptied`."""
        if fewer not in self._expected:
            self._expected[fewer] = (emptied(self.graph, self.expected())[0] if fewer
                                     else greedy(self.graph, largest_first(self.graph, self.seed)))  # fmt: skip
        return self._expected[fewer]

    def __call__(self, result: Any, traits: "Collection[str]" = ()) -> str:
        """'exact' if the colors are the oracle's, 'invariant' if only validity is checked.

        Parameters
        ----------
        result : Coloring
        traits : set of str
            Of its strategy: `smallest`, each vertex has the smallest free color, so at most the largest degree plus
            one colors; `by-priority`, exactly the colors of a greedy loop in the ladder's order of priority;
            `emptied`, the result of `emptied` on these.
        """
        verify(result, self.graph, self._bound if SMALLEST in traits else None)
        if not {BY_PRIORITY, EMPTIED} & set(traits):
            return "invariant"
        expected = self.expected(EMPTIED in traits)
        if not np.array_equal(result.colors, expected):
            v = int(np.flatnonzero(result.colors != expected)[0])
            raise WrongColoring(
                f"{result.strategy} on {self.graph.name or 'the graph'}: vertex {v} has color "
                f"{result.colors[v]}, by its priority it must have {expected[v]}"
            )
        return "exact"
