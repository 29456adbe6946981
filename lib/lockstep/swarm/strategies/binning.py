"""Assignment of work to blocks: graphs in bins by their memory needs, sources in groups or distributed over warps.

A block holds one graph in shared memory. Its size follows from the numbers of vertices and arcs; a bin collects
graphs with the same number of resident blocks per multiprocessor, so that large graphs do not lower the occupancy
of small ones. Within a bin the largest come first, and each is cut into enough items to keep all multiprocessors
busy.
"""

from dataclasses import dataclass

import numpy as np

RESERVED = 1024  # bytes of shared memory reserved by the system for every block
SLOT = 16  # bytes at the begin of shared memory: the number of the item
NARROW = 2**16 - 1  # rows of 16-bit ids: fewer vertices than this, and fewer quads
AT_ONCE = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32])  # blocks of a bin that one multiprocessor holds
THREADS = np.array([1024, 512, 512, 256, 256, 128, 128, 64, 64, 32])
BUSY = 16  # items per block, if there is enough work


def up(size):
    """Rounded up to 16 bytes, as pack.cuh's BumpAllocator does."""
    return (np.asarray(size, np.int64) + 15) & ~np.int64(15)


def rows_bytes(n, m, wide=False):
    """Bytes of a graph's rows, padded to four ids (pack.cuh)."""
    return up(n * (8 if wide else 4)) + up(((m + 3 * n + 3) & ~3) * (4 if wide else 2))


@dataclass
class Bin:
    """Items that one launch works on.

    Attributes
    ----------
    defines : dict
        What the kernel is compiled with.
    items : int32 array, shape (count, 3)
        Graph, first group, groups.
    threads, at_once : int
        Of a block; blocks on a multiprocessor.
    shared : int
        Bytes of shared memory a block gets.
    scratch : int
        Bytes of global memory a block gets.
    """

    defines: dict
    items: np.ndarray
    threads: int
    at_once: int
    shared: int
    scratch: int


def items(graphs, groups, blocks, busy=BUSY):
    """Graphs cut into ranges of groups, so that there are about `busy` items for each block; whole graphs if there are
    more anyway.
    """
    return ranges(graphs, groups, max(1, int(groups.sum()) // max(busy * blocks, 1)))


def ranges(graphs, groups, each):
    """Graphs cut into ranges of at most `each` groups, alike in size: graph, first group, groups."""
    pieces = -(-groups // each)
    graph, groups, pieces_of = (np.repeat(x, pieces) for x in (graphs, groups, pieces))
    number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    first, last = number * groups // pieces_of, (number + 1) * groups // pieces_of
    return np.column_stack([graph, first, last - first]).astype(np.int32)


def bins(n, m, width, size, rows, far, machine, defines, holds=2, busy=BUSY, threads=None, ids=None):
    """Sort graphs into bins.

    Parameters
    ----------
    n, m : int arrays
        Vertices and arcs of each graph.
    width : sequence of int
        Sources of a group, in order of preference; the first that fits into shared memory is used.
    size : callable
        ``size(n, width)``: bytes of metadata.
    rows : int
        Copies of the rows that a block keeps: 1, or 2 for a graph and itself transposed.
    far : int
        Bytes per vertex always in global memory.
    machine : Executor
    defines : callable
        ``defines(width)``: macro definitions that go with it.
    holds : {2, 1, 0}
        What lies in shared memory: rows and metadata, metadata, nothing.
    busy : int
        Items for each block.
    threads : int, optional
        Of a block, for all bins.
    ids : int array, optional
        Numbers of the graphs, if they are not all of the pack.

    Yields
    ------
    Bin
    """
    n, m = np.asarray(n, np.int64), np.asarray(m, np.int64)
    width = list(width)
    narrow = (n < NARROW) & (m + 3 * n < 4 * NARROW)
    graph_bytes = np.where(narrow, rows_bytes(n, m), rows_bytes(n, m, True)) * rows
    chosen, held = np.full(n.size, -1), np.full(n.size, holds)
    for w in width:
        inside = size(n, w) * (holds > 0) + graph_bytes * (holds > 1)
        chosen[(chosen < 0) & (SLOT + inside <= machine.max_shared)] = w
    held[chosen < 0], chosen[chosen < 0] = 0, width[0]
    # A batch too small for all multiprocessors is cut finer, and its blocks are as large as may be.
    room, few = 2 * machine.multiprocessors, False
    for w in sorted(width, reverse=True):
        finer = np.minimum(chosen, w)
        if int((-(-n // finer)).sum()) <= room:
            chosen, few = finer, True
    state = np.array([0]) if n.size == 0 else np.select([chosen == w for w in width], [size(n, w) for w in width])
    inside = SLOT + state * (held > 0) + graph_bytes * (held > 1)
    outside = up(far * n) + np.where(held == 0, state, 0) + np.where(held < 2, graph_bytes, 0)
    most = np.array([min(233472 // k - RESERVED, machine.max_shared) for k in AT_ONCE])
    place = (inside[:, None] <= most[None, :]).sum(axis=1) - 1
    place[held == 0] = 1
    groups = -(-n // chosen)
    key = ((chosen * 64 + place) * 4 + held) * 2 + narrow
    for value in np.unique(key[n > 0]):
        members = np.flatnonzero((key == value) & (n > 0))
        members = members[np.argsort(-(groups * (m + 4 * n))[members], kind="stable")]
        one = members[0]
        k, w, h, fits = int(place[one]), int(chosen[one]), int(held[one]), bool(narrow[one])
        at_once = int(AT_ONCE[k])
        if not threads:
            useful = 1 << (int(n[members].max()) * min(w, 1024) - 1).bit_length()
            block = min(1024, max(32, useful)) if few else int(THREADS[k])
        yield Bin(
            {**defines(w), "HOLDS": h, "WIDE": 0 if fits else 1},
            items(members if ids is None else ids[members], groups[members], at_once * machine.multiprocessors, busy),
            int(threads or block),
            at_once,
            int(inside[members].max()),
            int(outside[members].max()),
        )


PAIRED = 2048  # fewer vertices than this: a pair of vertex and source in 16 bits (pairs.cu)
ROW = 32  # neighbors at most: those of a row that are new, in a word
SOURCES = 32  # of a warp at most
PAIRS = 512  # target pairs (vertex, source) per warp: fewer do not fill its lanes, more reduce the number of warps
PAIR_THREADS = 128  # of a block


def pair_bytes(n, real):
    """Bytes of shared memory of a warp that go with each of its sources, and of the warp itself (pairs.cu)."""
    return (real + 3) * (n + 1), 2 * (n + 1) + 6 * 16


def paired(host, sparse, real, machine):
    """Which graphs of an undirected pack suit pairs.cu: fewer than ``sparse`` arcs a vertex, no row too long, and room
    for at least one source.

    Returns
    -------
    bool array
    """
    n, m = np.asarray(host.n, np.int64), np.asarray(host.m, np.int64)
    found = (n > 1) & (n < PAIRED) & (m < sparse * n)
    found &= graph_bytes(n, m) + sum(pair_bytes(n, real)) <= machine.max_shared
    if not found.any():
        return found
    degrees = np.append(np.diff(host.offsets), 0)  # differences between graphs are negative
    return found & (np.maximum.reduceat(degrees, np.asarray(host.vertex_start)[:-1] + np.arange(n.size)) <= ROW)


def graph_bytes(n, m):
    """Bytes of shared memory that the warps of a block share (pairs.cu)."""
    return SLOT + rows_bytes(n, m) + 2 * up(4 * n)


def pairs(ids, n, m, real, machine, defines, threads=None):
    """Bins of pairs.cu: as many blocks on a multiprocessor as there is memory for.

    Parameters
    ----------
    ids, n, m : int arrays
        Numbers of the graphs (those that are `paired`), their vertices and arcs.
    real : int
        Bytes of a path count.
    machine : Executor
    defines : dict
    threads : int, optional
        Of a block, to 512.

    Yields
    ------
    Bin
    """
    n, m = np.asarray(n, np.int64), np.asarray(m, np.int64)
    warps = min(threads or PAIR_THREADS, 512) // 32
    each, rest = pair_bytes(n, real)
    sources = np.clip(np.minimum(np.round(PAIRS / n), -(-n // warps)), 1, SOURCES).astype(np.int64)
    need = graph_bytes(n, m) + warps * (rest + each * sources)
    at_once = np.clip(233472 // (need + RESERVED), 1, 32 // warps)  # 64 registers a thread
    whole = int((n * n).sum())
    for k in np.unique(at_once):
        members = np.flatnonzero(at_once == k)
        members = members[np.argsort(-n[members], kind="stable")]
        # An item is a range of sources, at least one for each warp.
        size = np.clip(whole // (BUSY * int(k) * machine.multiprocessors) // n[members], warps, n[members])
        room = int(min(233472 // k - RESERVED, machine.max_shared))
        yield Bin(defines, ranges(ids[members], n[members], size), 32 * warps, int(k), room, 0)
