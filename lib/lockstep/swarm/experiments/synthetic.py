"""Benchmark II: a million small graphs, R-MAT and random, in the published sizes and numbers (Table 3).

Sizes are a shuffle of the table, so every prefix of the graphs follows the table's shares (as do the
paper's smaller sets). A graph's average degree is uniform from 8 to 16; edges without loops are
drawn until that many are distinct: a simple, undirected graph. Small R-MAT graphs of 32 vertices
saturate their dense quadrant first; drawing stops after eight draws per wanted edge. The paper specifies
neither whether its degrees count repeated edges nor the probabilities of X-Stream's generator: Graph500's
are used.

Everything is drawn from a hash of seed, graph and counter, so graphs are independent of machine and cores.
"""

import concurrent.futures
from pathlib import Path

import numpy as np
from numba import njit, prange

from lockstep.batch import shards
from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack
from lockstep.graphs import draws
from lockstep.graphs.draws import below, word

SIZES = (32, 64, 128, 256, 512, 1024)
TABLE_3 = {
    "rmat": (57_795, 58_881, 110_831, 104_287, 105_780, 107_020),
    "random": (42_205, 41_119, 89_169, 95_713, 94_220, 92_980),
}
DEGREES = (8, 16)  # the average degree lies between
PATIENCE = 8  # most draws per wanted edge of an R-MAT graph
LIMITS = (np.array([0.57, 0.76, 0.95]) * 2.0**32).astype(np.uint64)  # Graph500's quadrants, cumulated


def classes(count=10**6):
    """Kind (0 R-MAT, 1 random) and size of ``count`` graphs in the shares of Table 3, largest remainders up."""
    table = np.array([TABLE_3["rmat"], TABLE_3["random"]], np.int64).ravel()
    exact = table * count
    counts = exact // 10**6
    short = np.argsort(-(exact % 10**6), kind="stable")[: count - counts.sum()]
    counts[short] += 1
    which = np.repeat(np.arange(table.size), counts)
    return which // len(SIZES), np.array(SIZES)[which % len(SIZES)]


@njit(cache=True)
def _edges(kind, levels, wanted, key, limits, taken):
    """Set the bits of ``wanted`` distinct edges, or fewer, in a matrix of bits; returns how many."""
    n, words = np.int64(1) << levels, max(np.int64(1) << levels, 64) // 64
    low = np.uint64(0xFFFFFFFF)
    one, drawn, most = np.uint64(1), 0, np.int64(PATIENCE) * wanted
    for attempt in range(most if kind == 0 else np.int64(2**62)):
        i = np.uint64(attempt) * np.uint64(32)
        u, v = np.int64(0), np.int64(0)
        if kind == 0:
            bits = np.uint64(0)
            for level in range(levels):
                if level % 2 == 0:
                    bits = word(key, i + np.uint64(level))
                draw = bits & low
                bits >>= np.uint64(32)
                u += u + (draw >= limits[1])
                v += v + ((limits[0] <= draw < limits[1]) or draw >= limits[2])
        else:
            bits = word(key, i)
            u, v = np.int64(bits & np.uint64(n - 1)), np.int64((bits >> np.uint64(32)) & np.uint64(n - 1))
        place, bit = u * words + (v >> 6), one << np.uint64(v & 63)
        if u == v or taken[place] & bit:
            continue
        taken[place] |= bit
        taken[v * words + (u >> 6)] |= one << np.uint64(u & 63)
        drawn += 1
        if drawn == wanted:
            break
    return drawn


@njit(cache=True)
def _rows(n, taken, offsets, targets):
    """The rows of a matrix of bits, its columns rising; the matrix is empty afterwards."""
    words = max(n, 64) // 64
    at = 0
    offsets[0] = 0
    for u in range(n):
        for block in range(words):
            bits = taken[u * words + block]
            taken[u * words + block] = np.uint64(0)
            while bits:
                low = bits & (~bits + np.uint64(1))
                position = 0
                for step in (32, 16, 8, 4, 2, 1):
                    if low >> np.uint64(position + step):
                        position += step
                targets[at] = np.uint16(block * 64 + position)
                at += 1
                bits ^= low
        offsets[u + 1] = at


@njit(parallel=True, cache=True)
def _generate(numbers, kinds, sizes, wanted, seed, limits, vertex_start, room, offsets, targets, m):
    for i in prange(numbers.size):
        n = sizes[i]
        levels = 0
        while (np.int64(1) << levels) < n:
            levels += 1
        key = draws._stream(np.uint64(seed), np.uint64(numbers[i]))
        taken = np.zeros(n * (max(n, 64) // 64), np.uint64)
        m[i] = 2 * _edges(kinds[i], levels, wanted[i], key, limits, taken)
        _rows(n, taken, offsets[vertex_start[i] + i : vertex_start[i + 1] + i + 1], targets[room[i] : room[i + 1]])


@njit(parallel=True, cache=True)
def _compact(room, arc_start, roomy, targets):
    for i in prange(arc_start.size - 1):
        for arc in range(arc_start[i + 1] - arc_start[i]):
            targets[arc_start[i] + arc] = roomy[room[i] + arc]


@njit(cache=True)
def _degrees(seed, numbers, sizes, least, most, wanted):
    for i in range(numbers.size):
        key = draws._stream(np.uint64(seed), np.uint64(numbers[i]))
        arcs = sizes[i] * least + below(key, np.uint64(2**40), np.uint64(sizes[i] * (most - least) + 1))
        wanted[i] = arcs // 2


def generate(numbers, kinds, sizes, seed=0):
    """Graphs of Benchmark II as a Pack.

    Parameters
    ----------
    numbers : int array, shape (k,)
        Numbers of the graphs; each graph depends only on its own number.
    kinds, sizes : int arrays, shape (k,)
        0 R-MAT, 1 random; vertices, a power of two from 2 to 65,536.
    seed : int
    """
    numbers, kinds, sizes = (np.asarray(x, np.int64) for x in (numbers, kinds, sizes))
    wanted = np.empty(numbers.size, np.int64)
    _degrees(seed, numbers, sizes, *DEGREES, wanted)
    wanted = np.minimum(wanted, sizes * (sizes - 1) // 2)
    vertex_start, room = _starts(sizes), _starts(2 * wanted)
    offsets = np.empty(int(sizes.sum()) + numbers.size, np.int32)
    roomy, m = np.empty(int(room[-1]), np.uint16), np.empty(numbers.size, np.int64)
    _generate(numbers, kinds, sizes, wanted, seed, LIMITS, vertex_start, room, offsets, roomy, m)
    arc_start = _starts(m)
    targets = np.empty(int(arc_start[-1]), np.uint16)
    _compact(room, arc_start, roomy, targets)
    words = ("rmat", "random")
    names = [f"{words[k]}-{n}-{i}" for k, n, i in zip(kinds.tolist(), sizes.tolist(), numbers.tolist(), strict=True)]
    return Pack(offsets, targets, vertex_start, arc_start, names=names)


def _starts(sizes):
    return np.concatenate([[0], np.cumsum(sizes)])


def million(folder, count=10**6, seed=0, graphs=4096, sizes=None, say=None):
    """Write Benchmark II, or its first part, as shards; a shard that is there is not made again.

    Parameters
    ----------
    folder : path-like
        Must be for these arguments alone.
    count : int
    seed : int
    graphs : int
        In a shard.
    sizes : sequence of int, optional
        Only graphs of these sizes, ``count`` of them.
    say : callable, optional
        Called with each shard's number.

    Returns
    -------
    GraphBatch
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kinds, all_sizes = classes(10**6)
    order = draws.permutation(10**6, seed)
    if sizes is not None:
        order = order[np.isin(all_sizes[order], sizes)]
    if not 1 <= count <= order.size:
        raise ValueError(f"count is {count}; expected 1 to {order.size} graphs")
    order = order[:count] if count < 10**6 else order
    with concurrent.futures.ThreadPoolExecutor(2) as writers:  # a shard is written while the next is made
        waiting = []
        for shard, first in enumerate(range(0, count, graphs)):
            path = folder / f"shard-{shard:05d}.arrow"
            if path.is_file():
                continue
            some = np.arange(first, min(first + graphs, count))
            pack = generate(some, kinds[order[some]], all_sizes[order[some]], seed)
            while len(waiting) > 2:
                waiting.pop(0).result()
            waiting.append(writers.submit(shards.write_shard, path, pack))
            if say:
                say(shard)
        for one in waiting:
            one.result()
    return GraphBatch(folder)
