"""The conventional GPU (level.cu): a launch a level. `level` takes one graph at a time, `packed` all at once."""

import functools

import numpy as np

from ..result import Values
from .batched import finish_closeness, finish_fixed
from .distances import Distances
from .plain import without_repeats
from .shared import DeviceTask, Method

_int, _long = np.int32, np.int64


class Levels:
    """The launches of level.cu for a task; work arrays for all vertices of its pack.

    Parameters
    ----------
    task : DeviceTask
    rows, transposed : (offsets, targets)
        The graphs, and the graphs transposed.
    counting : bool
        Path counts too.
    """

    def __init__(self, task, rows, transposed, counting=False, entry="short"):
        self.task, self.executor = task, task.executor
        real = np.float64 if task.options.get("precision", "double") == "double" else np.float32
        self.module = task.module("level.cu", REAL="double" if real is np.float64 else "float", DISTANCE=entry)
        self.pack, self.rows = task.pack, rows
        self.level, self.found = task.words(task.total, np.int32), task.words(1, np.int32)
        self.sigma = task.words(task.total, real) if counting else None
        self.given = task.words(task.total, real) if counting else None
        self.owner = task.words(task.total, np.int32)
        blocks = max(1, min(task.graphs, 1024))
        task.launch(
            task.module("walks.cu")["owners"], blocks, 64, vertex_start=self.pack.vertex_start,
            graphs=_int(task.graphs), owner=self.owner,
        )  # fmt: skip
        self.threads = 64 if self.executor.name == "host" else 256
        in_offsets, in_targets = transposed
        self.begin = self.kernel("begin", sigma=self.sigma)
        self.forward = self.kernel(
            "forward", self.found, arc_start=self.pack.arc_start, in_offsets=in_offsets, in_targets=in_targets,
            sigma=self.sigma, found=self.found,
        )  # fmt: skip

    def kernel(self, name, read=None, **values):
        """A kernel to launch for `count` vertices from `first` on, with its varying arguments; a step
        if words are read back.
        """
        launch = self.module[name].loop(
            self.threads, owner=self.owner, vertex_start=self.pack.vertex_start, level=self.level, **values
        )
        return functools.partial(_launch, launch if read is None else self.executor.step(launch, read), self.threads)

    def search(self, first, count, i):
        """Search from the i-th vertex of each graph; returns the number of the last level."""
        self.begin(first, count, _int(i))
        d = 0
        while True:
            d += 1
            if self.forward(first, count, _int(d))[0] != d:
                return d - 1

    def clear(self):
        self.found.fill(0)


def _launch(launch, threads, first, count, *changing):
    return launch(-(-count // threads), _long(first), _long(count), *changing)


def parts(task, whole):
    """(first vertex, vertices, sources) of each part that is traversed by itself."""
    if whole:
        return [(0, task.total, int(task.pack.host.n.max(initial=0)))] if task.total else []
    return [(int(task.starts[g]), int(task.pack.host.n[g]), int(task.pack.host.n[g])) for g in range(task.graphs)]


class LevelBetweenness(DeviceTask):
    whole = False

    def __init__(self, method, pack):
        super().__init__(method, without_repeats(pack, method.executor))
        rows, transposed = (self.pack.offsets, self.arcs()), self.transposed()[:2]
        self.fixed = self.words(self.total, np.uint64)
        self.zero(self.fixed)
        self.levels = Levels(self, rows, transposed, counting=True)
        for first, count, sources in parts(self, self.whole):
            self.steps.append(lambda f=first, c=count, s=sources: self.part(f, c, s))
        self.out, self.checks = self.words(self.total, np.float64), self.words(self.graphs, np.uint64)
        finish_fixed(self, self.fixed, self.out, self.checks)

    @functools.cached_property
    def backward(self):
        levels, (offsets, targets) = self.levels, self.levels.rows
        return levels.kernel(
            "backward", arc_start=self.pack.arc_start, offsets=offsets, targets=targets,
            endpoints=_int(self.options["endpoints"]), sigma=levels.sigma, given=levels.given, fixed=self.fixed,
        )  # fmt: skip

    def part(self, first, count, sources):
        levels = self.levels
        for i in range(sources):
            levels.clear()
            for d in range(levels.search(first, count, i), 0, -1):
                self.backward(first, count, _int(d), _int(i))

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


class LevelCloseness(DeviceTask):
    whole = False

    def __init__(self, method, pack):
        super().__init__(method, pack)
        self.sums = [self.words(self.total, kind) for kind in (np.uint64, np.uint64, np.uint32)]
        for array in self.sums:
            self.zero(array)
        # Distances towards a vertex: a search from it along the arcs transposed, which looks back along the arcs.
        rows = (self.pack.offsets, self.arcs())
        self.levels = Levels(self, self.transposed()[:2], rows)
        for first, count, sources in parts(self, self.whole):
            self.steps.append(lambda f=first, c=count, s=sources: self.part(f, c, s))
        finish_closeness(self, *self.sums)

    @functools.cached_property
    def count_levels(self):
        total, reciprocal, reach = self.sums
        return self.levels.kernel("count_levels", total=total, reciprocal=reciprocal, reach=reach)

    def part(self, first, count, sources):
        for i in range(sources):
            self.levels.clear()
            self.levels.search(first, count, i)
            self.count_levels(first, count, _int(i))

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


class LevelDistances(Distances):
    whole = False

    def fill(self, a, b):
        if not hasattr(self, "levels"):
            entry = "short" if self.kind.itemsize == 2 else "int"
            self.levels = Levels(self, self.rows[:2], self.transposed()[:2], entry=entry)
        if self.whole:
            first, last = int(self.starts[a]), int(self.starts[b])
            found = [(first, last - first, int(self.pack.host.n[a:b].max(initial=0)))] if last > first else []
        else:
            found = [(int(self.starts[g]), int(self.pack.host.n[g]), int(self.pack.host.n[g])) for g in range(a, b)]
        for first, count, sources in found:
            self.steps.append(lambda f=first, c=count, s=sources: self.part(f, c, s))

    @functools.cached_property
    def keep(self):
        return self.levels.kernel("keep", matrix_start=self.matrix_start, matrix=self.matrix)

    def part(self, first, count, sources):
        for i in range(sources):
            self.levels.clear()
            self.levels.search(first, count, i)
            self.keep(first, count, _int(i))


class Level(Method):
    """A launch for each level of each source of each graph, one graph at a time; a read-back after each level."""

    name = "level"
    defaults = {"memory": 4 << 30}
    tasks = {"betweenness": LevelBetweenness, "closeness": LevelCloseness, "apsp": LevelDistances}


def _whole(task):
    return type("Packed" + task.__name__, (task,), {"whole": True})


class Packed(Method):
    """The batch as one block-diagonal graph: source i of all graphs at once, a launch a level."""

    name = "packed"
    defaults = Level.defaults
    tasks = {measure: _whole(task) for measure, task in Level.tasks.items()}
