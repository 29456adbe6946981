"""Closeness and distances of `swarm`: a bit for each source (bits.cu), sums over the rows of matrices (reduce.cu)."""

import numpy as np

from lockstep.graphs import GraphError
from lockstep.plan import LIMIT

from ..result import Values
from . import binning
from .batched import HOLDS, Bins, finish_closeness

_int = np.int32
PLANES = 5  # of levels (bits.cu)


def _distances_bytes(n, words, planes):
    sums = binning.up(4 * planes * n * words) if planes else 2 * binning.up(8 * n) + binning.up(4 * n)
    return 2 * binning.up(4 * (n + 1) * words) + sums


class Closeness(Bins):
    def __init__(self, method, pack):
        super().__init__(method, pack)
        total, parts = self.words(self.total, np.uint64), self.words(self.total, np.uint64)
        reach = self.words(self.total, np.uint32)
        for array in (total, parts, reach):
            self.zero(array)
        spread_distances(self, self.transposed(), (total, parts, reach), None, 0)
        finish_closeness(self, total, parts, reach)

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


def spread_distances(task, rows, sums, matrix, output, part=slice(None), matrix_start=None):
    """Launch bits.cu for the graphs of `part`."""
    pack, chosen = task.pack, task.method.strategy_options
    n, m = pack.host.n[part], pack.host.m[part]
    first = part.start or 0
    offsets, targets, _ = rows
    targets = targets if targets.size else task.words(1, targets.dtype)

    def arguments(scratch, stride, b):
        total, reciprocal, reach = sums
        return dict(
            vertex_start=pack.vertex_start, arc_start=pack.arc_start, offsets=offsets, targets=targets,
            scratch=scratch, stride=stride, total=total, reciprocal=reciprocal, reach=reach,
            matrix_start=matrix_start, matrix=matrix,
        )  # fmt: skip

    # A set is as wide as the graph, to chosen["words"]; of wider graphs several sets are done one after the other.
    if np.max(n, initial=0) * chosen["words"] >= LIMIT:  # kernels count the words of all sets with an int
        raise GraphError(
            f"a graph of {np.max(n):,} vertices with sets of {chosen['words']} words; at most "
            f"{LIMIT // chosen['words']:,} vertices: give words=1, or use strategy='cpu'"
        )
    wide = np.maximum(-(-np.asarray(n, np.int64) // 32), 1)
    wide = np.minimum(2 ** np.ceil(np.log2(wide)).astype(np.int64), chosen["words"])
    found, planes = [], PLANES if output else 0
    for words in np.unique(wide)[::-1]:
        ids = np.flatnonzero(wide == words)
        options = [32 * w for w in (32, 16, 8, 4, 2, 1) if w <= words]
        bins = binning.bins(n[ids], m[ids], options, lambda n, w: _distances_bytes(n, w // 32, planes), 1, 0,
                         task.executor, lambda w: {"WORDS": w // 32, "OUTPUT": output}, HOLDS[chosen["shared"]],
                         chosen["busy"], chosen["threads"])  # fmt: skip
        for b in bins:
            b.items[:, 0] = ids[b.items[:, 0]] + first
            found.append(b)
    task.spread(("bits.cu", "distances", found, arguments))


class Distances(Bins):
    """APSP: the matrices go to global memory, in parts that fit into `memory`, and are then read again and reduced."""

    kind = None  # of an entry; None: 16 bits, or 32 if there are graphs for which that is too little
    reciprocal = None

    def __init__(self, method, pack, reduce=None):
        super().__init__(method, pack)
        self.reduce = reduce or method.options["reduce"]
        n = np.asarray(pack.host.n, np.int64)
        if self.kind is None:
            self.kind = np.dtype(np.int16 if n.max(initial=0) <= 2**15 else np.int32)
        self.ends = np.zeros(self.graphs + 1, np.int64)
        np.cumsum(n * n, out=self.ends[1:])
        self.square = self.reduce == "matrix"
        cuts = [0, self.graphs]
        if not self.square:
            cuts = chunks(self.ends, room(method) // self.kind.itemsize)
        cuts = list(zip(cuts[:-1], cuts[1:], strict=True))
        self.matrix = self.words(max((self.ends[b] - self.ends[a] for a, b in cuts), default=0), self.kind)
        self.sums = [self.words(self.total, kind) for kind in (np.float64, np.float64, np.uint32)]
        self.checks = self.words(self.graphs, np.uint64)
        self.zero(self.checks)
        self.rows = self.rows_of(pack)
        starts = self.ends[:-1].copy()
        for a, b in cuts:
            starts[a:b] -= self.ends[a]
        self.matrix_start = self.send(starts)
        for a, b in cuts:
            self.fill(a, b)
            reduce_rows(self, a, b)

    def rows_of(self, pack):
        return pack.offsets, self.arcs(), pack.weights

    def fill(self, a, b):
        output = 1 if self.kind.itemsize == 2 else 2
        spread_distances(self, self.rows, (None, None, None), self.matrix, output, slice(a, b), self.matrix_start)

    def values(self):
        total, largest, reach = (array[: self.total] for array in self.sums)
        checks = self.checks[: self.graphs]
        if self.square:
            matrix = self.matrix[: int(self.ends[-1])]
            return Values(self.measure.name, matrix, self.ends, checks, True, keep=self)
        extra = {"total": total, "eccentricity": largest, "reached": reach}
        found = total / self.executor.xp.maximum(reach, 1) if self.reduce == "average" else extra[self.reduce]
        return Values(self.measure.name, found, self.starts, checks, extra=extra, keep=self)


def room(method):
    """Bytes for distance matrices at a time: the option `memory`, at most a sixteenth of the GPU's memory, since
    several threads may hold matrices at once (`stream`).
    """
    if not hasattr(method, "_room"):
        executor, method._room = method.executor, method.strategy_options["memory"]
        if executor.name == "cuda":
            method._room = min(method._room, executor.xp.cuda.runtime.memGetInfo()[1] // 16)
    return method._room


def chunks(ends, room):
    """Where to cut so that no part holds more than `room` entries, unless it is a single graph."""
    cuts, graphs = [0], ends.size - 1
    while cuts[-1] < graphs:
        last = int(np.searchsorted(ends, ends[cuts[-1]] + max(int(room), 1), side="right")) - 1
        cuts.append(min(graphs, max(last, cuts[-1] + 1)))
    return cuts if graphs else [0, 0]


def reduce_rows(task, a, b):
    """Launch reduce.cu for the matrices of graphs a to b - 1."""
    if a == b or task.starts[a] == task.starts[b]:
        return
    v0, v1 = int(task.starts[a]), int(task.starts[b])
    entry = {"h": "short", "i": "int", "d": "double"}[task.kind.char]
    kernel = task.module("reduce.cu", ENTRY=entry)["reduce_rows"]
    total, largest, reach = task.sums
    task.launch(
        kernel, *task.warps(v1 - v0), vertex_start=task.pack.vertex_start[a:], graphs=_int(b - a),
        matrix_start=task.matrix_start[a:], matrix=task.matrix, total=total[v0:], largest=largest[v0:],
        reach=reach[v0:], reciprocal=None if task.reciprocal is None else task.reciprocal[v0:],
        checksums=task.checks[a:],
    )  # fmt: skip
