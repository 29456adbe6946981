"""Detection of unusable graphs in a pack: with an id out of range a kernel would read another graph's memory."""

from typing import NamedTuple

import numpy as np
from numba import njit

GOOD, EMPTY, LARGE, RANGE, OFFSETS, COUNT, WEIGHT = range(7)


class Problem(NamedTuple):
    """A graph that was left out: its number in the batch, its name, and the reason."""

    graph: int
    name: str
    reason: str


@njit(nogil=True, cache=True)
def _judge(vertex_start, arc_start, offsets, targets, most, code, place):
    for i in range(code.size):
        n, m = vertex_start[i + 1] - vertex_start[i], arc_start[i + 1] - arc_start[i]
        rows, arcs = vertex_start[i] + i, arc_start[i]
        if n < 0:
            code[i] = COUNT
            continue
        if n == 0:
            code[i] = EMPTY
            continue
        if n > most:
            code[i] = LARGE
            continue
        wrong = offsets[rows] != 0 or offsets[rows + n] != m
        for v in range(n):
            wrong |= offsets[rows + v] > offsets[rows + v + 1]
        if wrong:
            code[i] = OFFSETS
            continue
        outside = False
        for arc in range(m):  # without early exit, so that the compiler vectorizes
            outside |= (targets[arcs + arc] < 0) | (targets[arcs + arc] >= n)
        if outside:
            code[i] = RANGE
            for arc in range(m):
                if targets[arcs + arc] < 0 or targets[arcs + arc] >= n:
                    place[i] = arc
                    break


def judge(pack, most=2**31 - 1, lengths=False):
    """Codes of the graphs of a host pack (GOOD or what is wrong), and the first arc at fault, int8 and int64.

    ``lengths``: weights are lengths of arcs, which are above 0.
    """
    code, place = np.zeros(len(pack), np.int8), np.zeros(len(pack), np.int64)
    _judge(pack.vertex_start, pack.arc_start, pack.offsets, pack.targets, most, code, place)
    if pack.weights is not None:
        usable = np.isfinite(pack.weights)
        usable &= pack.weights > 0 if lengths else True
        for arc in np.flatnonzero(~usable)[::-1]:  # backwards, so that the first one stays
            i = int(np.searchsorted(pack.arc_start, arc, side="right")) - 1
            if code[i] in (GOOD, WEIGHT):
                code[i], place[i] = WEIGHT, arc - pack.arc_start[i]
    return code, place


@njit(nogil=True, cache=True)
def _one_way(vertex_start, arc_start, offsets, targets, code, found):
    for i in range(code.size):
        if code[i] != GOOD:
            continue
        n, rows, arcs = vertex_start[i + 1] - vertex_start[i], vertex_start[i] + i, arc_start[i]
        m = arc_start[i + 1] - arcs
        there, back = np.empty(m, np.int64), np.empty(m, np.int64)
        for v in range(n):
            for arc in range(offsets[rows + v], offsets[rows + v + 1]):
                there[arc] = v * n + np.int64(targets[arcs + arc])
                back[arc] = np.int64(targets[arcs + arc]) * n + v
        there.sort()
        back.sort()
        for arc in range(m):
            if there[arc] != back[arc]:
                found[i] = there[arc] if there[arc] < back[arc] else back[arc] % n * n + back[arc] // n
                break


def one_way(pack, code):
    """{number: why} of the graphs of a host pack that are not undirected: an arc is not reversed equally often, or not
    with the same weight.

    ``code``: as returned by `judge`; only GOOD graphs are checked.
    """
    found = np.full(len(pack), -1, np.int64)
    _one_way(pack.vertex_start, pack.arc_start, pack.offsets, pack.targets, code, found)
    wrong = {}
    for i in np.flatnonzero(found >= 0):
        u, v = divmod(int(found[i]), int(pack.vertex_start[i + 1] - pack.vertex_start[i]))
        wrong[int(i)] = (
            f"it has an arc from {u} to {v} and none back; expected both of every edge (or that graphs are told to be "
            "directed: directed=True, --directed)"
        )
    if pack.weights is not None:
        even = np.flatnonzero((code == GOOD) & (found < 0))
        for i in even[_uneven(pack.take(even))]:
            wrong[int(i)] = (
                "an edge has different weights in its two directions; expected one weight (or that graphs are told to "
                "be directed: directed=True, --directed)"
            )
    return wrong


def _uneven(pack):
    """Which graphs of a pack that hold every arc both ways have an edge with different weights in its directions."""
    owner, within = np.repeat(np.arange(len(pack)), np.diff(pack.arc_start)), np.diff(pack.offsets)
    within = np.delete(within, pack.vertex_start[1:-1] + np.arange(len(pack) - 1))  # from a graph's end to the next
    sources = np.repeat(np.arange(within.size), within)
    targets = pack.targets + pack.vertex_start[owner]
    forth, back = np.lexsort((pack.weights, targets, sources)), np.lexsort((pack.weights, sources, targets))
    return np.unique(owner[forth][pack.weights[forth] != pack.weights[back]])


def reason(pack, i, code, place, most, why=""):
    """Description of graph ``i``'s error; ``why`` explains the limit ``most`` on its vertices."""
    n, m = int(pack.vertex_start[i + 1] - pack.vertex_start[i]), int(pack.arc_start[i + 1] - pack.arc_start[i])
    if code == EMPTY:
        return "it is empty; expected at least one vertex"
    if code == LARGE:
        return f"it has {n:,} vertices; expected at most {most:,}{why}"
    if code == COUNT:
        return "it has no offsets; expected n + 1 of them, beginning with 0"
    if code == OFFSETS:
        return f"its offsets do not rise from 0 to {m}, the number of its targets"
    arc = int(place)
    if code == WEIGHT:
        weight = pack.weights[int(pack.arc_start[i]) + arc]
        return f"weight of arc {arc} is {weight}; expected a finite number{' above 0' if np.isfinite(weight) else ''}"
    return f"target of arc {arc} is {int(pack.targets[int(pack.arc_start[i]) + arc])}; expected an id in 0..{n - 1}"
