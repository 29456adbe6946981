"""The strategy `swarm`: a launch for each bin of a whole batch.

A lane for each source (lanes.cu), or for each pair of a source and a vertex where graphs are sparse (pairs.cu); a bit
for each source (bits.cu).
"""

import functools

import numpy as np

from lockstep.graphs import GraphError

from . import plan
from .task import LIMIT, DeviceTask, Values

_int, _long = np.int32, np.int64
FORMS = ("networkx", "plain", "harmonic")
PLANES = 5  # of levels (bits.cu)
SIDE = 8  # streams that bins are launched on
HOLDS = {"rows": 2, "metadata": 1, "nothing": 0}  # what lies in shared memory (pack.cuh)


def _betweenness_bytes(real):
    def size(n, width):
        return (plan.up(n * width * real) + plan.up(8 * n) + 3 * plan.up(4 * (n + 1)) + plan.up(4 * n)
                + plan.up(16 * n))  # fmt: skip

    return size


def _distances_bytes(n, words, planes):
    sums = plan.up(4 * planes * n * words) if planes else 2 * plan.up(8 * n) + plan.up(4 * n)
    return 2 * plan.up(4 * (n + 1) * words) + sums


class Bins(DeviceTask):
    """What the measures share: the bins' launches and their queues."""

    def spread(self, *kinds):
        """Launch a kernel for every bin, side by side.

        Parameters
        ----------
        *kinds : tuple
            File, name of the kernel, bins, and ``arguments(scratch, stride, bin)``: what follows items, count, queue.
        """
        executor, knob = self.executor, self.method.knob
        kinds = [(file, name, list(bins), arguments) for file, name, bins, arguments in kinds]
        queues = self.words(sum(len(bins) for _, _, bins, _ in kinds), np.uint32)
        if knob["persistent"]:
            self.zero(queues)
        launches, self.spreads = [], []
        for file, name, bins, arguments in kinds:
            for b in bins:
                kernel = self.module(file, **b.defines)[name]
                threads = min(b.threads, 64) if executor.name == "host" else b.threads
                self.spreads.append((kernel, threads, b))
                count = len(b.items)
                blocks = count
                if knob["persistent"]:
                    blocks = max(1, min(count, kernel.max_blocks(threads, b.shared)))
                    if executor.name == "host":
                        blocks = min(blocks, 2 * executor.multiprocessors)
                if b.scratch:
                    most = max(1, int(knob["memory"] // b.scratch))
                    if blocks > most and not knob["persistent"]:
                        raise ValueError("persistent=False needs scratch memory for every block: leave persistent on")
                    blocks = min(blocks, most)
                scratch = self.words(b.scratch * blocks, np.uint8)
                i = len(launches)
                queue = queues[i : i + 1] if knob["persistent"] else None
                args = (self.send(b.items), _int(count), queue, *arguments(scratch, _long(b.scratch), b))
                launches.append(kernel.bind(blocks, threads, args, shared=b.shared))
        self.launches += len(launches)
        self.steps += launches if len(launches) < 2 else [functools.partial(fan, self.method, launches)]

    def resident(self):
        """Warps that a multiprocessor holds at a time, on average over the arcs that are looked at."""
        host, arcs, warps = self.pack.host, 0.0, 0.0
        for kernel, threads, b in self.spreads:
            graphs = np.unique(b.items[:, 0])
            visits = float((host.n[graphs].astype(np.int64) * host.m[graphs]).sum())
            arcs += visits
            warps += visits * kernel.max_blocks(threads, b.shared) / self.executor.multiprocessors * threads / 32
        return warps / arcs if arcs else 0.0


def fan(method, launches):
    """Launch side by side: a bin's last blocks leave multiprocessors to the next bin's first.

    It knows no task: a task whose steps led back to it would keep its device memory, gigabytes of distances for one,
    until Python looks for such circles.
    """
    if method.executor.name == "host":
        for launch in launches:
            launch()
        return
    cuda = method.executor.xp.cuda
    main = cuda.get_current_stream()
    start = cuda.Event(disable_timing=True)
    start.record(main)
    streams = method.streams(min(len(launches), SIDE))
    for i, launch in enumerate(launches):
        stream = streams[i % SIDE]
        if i < SIDE:
            stream.wait_event(start)
        with stream:
            launch()
    for stream in streams:
        end = cuda.Event(disable_timing=True)
        end.record(stream)
        main.wait_event(end)


class Betweenness(Bins):
    def __init__(self, method, pack):
        super().__init__(method, pack)
        real = 8 if method.options["precision"] == "double" else 4
        self.fixed = self.words(self.total, np.uint64)
        self.zero(self.fixed)
        in_offsets, in_targets, _ = self.turned()
        endpoints = _int(method.options["endpoints"])
        host = pack.host

        def lanes(scratch, stride, b):
            return (pack.vertex_start, pack.arc_start, pack.offsets, self.arcs(), in_offsets,
                    in_targets if in_targets.size else self.words(1, in_targets.dtype), _int(pack.directed), endpoints,
                    scratch, stride, self.fixed)  # fmt: skip

        def pairs(scratch, stride, b):
            return (pack.vertex_start, pack.arc_start, pack.offsets, self.arcs(), _int(b.shared), endpoints,
                    self.fixed)  # fmt: skip

        knob, kind = method.knob, {"REAL": "double" if real == 8 else "float"}
        widths = (knob["width"],) if knob["width"] else (32, 16, 8, 4)
        n, m = np.asarray(host.n, np.int64), np.asarray(host.m, np.int64)
        few = np.zeros(self.graphs, bool)
        if knob["sparse"] and not (pack.directed or knob["width"] or knob["shared"] != "rows"):
            few = plan.paired(host, knob["sparse"], real, self.executor)
        dense, sparse = np.flatnonzero(~few), np.flatnonzero(few)
        dense = plan.bins(n[dense], m[dense], widths, _betweenness_bytes(real), 2 if pack.directed else 1, 4 * 28,
                          self.executor, lambda w: {**kind, "WIDTH": w}, HOLDS[knob["shared"]], knob["busy"],
                          knob["threads"], dense)  # fmt: skip
        sparse = plan.pairs(sparse, n[sparse], m[sparse], real, self.executor, kind, knob["threads"])
        self.spread(("pairs.cu", "pairs", sparse, pairs), ("lanes.cu", "betweenness", dense, lanes))
        self.out = self.words(self.total, np.float64)
        self.checks = self.words(self.graphs, np.uint64)
        finish_fixed(self, self.fixed, self.out, self.checks)

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


def finish_fixed(task, fixed, out, checks):
    """The last launch of betweenness: fixed point to float64, each pair of an undirected graph once."""
    factor = np.float64(1.0 if task.pack.directed else 0.5)
    args = (task.pack.vertex_start, _int(task.graphs), fixed, factor, out, checks)
    task.launch(task.module("finish.cu")["finish_fixed"], *task.warps(task.graphs), args)


class Closeness(Bins):
    def __init__(self, method, pack):
        super().__init__(method, pack)
        total, parts = self.words(self.total, np.uint64), self.words(self.total, np.uint64)
        reach = self.words(self.total, np.uint32)
        for array in (total, parts, reach):
            self.zero(array)
        spread_distances(self, self.turned(), (total, parts, reach), None, 0)
        finish_closeness(self, total, parts, reach)

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


def finish_closeness(task, total, parts, reach):
    """The last launch of closeness: sums of distances to values and checksums."""
    task.out, task.checks = task.words(task.total, np.float64), task.words(task.graphs, np.uint64)
    form, improved = FORMS.index(task.options["form"]), task.options["wf_improved"]
    args = (task.pack.vertex_start, _int(task.graphs), total, parts, reach, _int(form), _int(improved), task.out,
            task.checks)  # fmt: skip
    task.launch(task.module("finish.cu")["finish_closeness"], *task.warps(task.graphs), args)


def spread_distances(task, rows, sums, matrix, output, part=slice(None), matrix_start=None):
    """Launch bits.cu for the graphs of `part`."""
    pack, knob = task.pack, task.method.knob
    n, m = pack.host.n[part], pack.host.m[part]
    first = part.start or 0
    offsets, targets, _ = rows
    targets = targets if targets.size else task.words(1, targets.dtype)

    def arguments(scratch, stride, b):
        return (pack.vertex_start, pack.arc_start, offsets, targets, scratch, stride, *sums, matrix_start, matrix)

    # A set is as wide as the graph, to knob["words"]; of wider graphs several sets are done one after the other.
    if np.max(n, initial=0) * knob["words"] >= LIMIT:  # kernels count the words of all sets with an int
        raise GraphError(
            f"a graph of {np.max(n):,} vertices with sets of {knob['words']} words; at most {LIMIT // knob['words']:,} "
            "vertices: give words=1, or use strategy='cpu'"
        )
    wide = np.maximum(-(-np.asarray(n, np.int64) // 32), 1)
    wide = np.minimum(2 ** np.ceil(np.log2(wide)).astype(np.int64), knob["words"])
    found, planes = [], PLANES if output else 0
    for words in np.unique(wide)[::-1]:
        ids = np.flatnonzero(wide == words)
        options = [32 * w for w in (32, 16, 8, 4, 2, 1) if w <= words]
        bins = plan.bins(n[ids], m[ids], options, lambda n, w: _distances_bytes(n, w // 32, planes), 1, 0,
                         task.executor, lambda w: {"WORDS": w // 32, "OUTPUT": output}, HOLDS[knob["shared"]],
                         knob["busy"], knob["threads"])  # fmt: skip
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
    """Bytes for distance matrices at a time: as the strategy is told, and a sixteenth of a GPU's memory at most, since
    each of several threads may have some on it (`stream`).
    """
    if not hasattr(method, "_room"):
        executor, method._room = method.executor, method.knob["memory"]
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
    args = (task.pack.vertex_start[a:], _int(b - a), task.matrix_start[a:], task.matrix, total[v0:], largest[v0:],
            reach[v0:], None if task.reciprocal is None else task.reciprocal[v0:], task.checks[a:])  # fmt: skip
    task.launch(kernel, *task.warps(v1 - v0), args)
