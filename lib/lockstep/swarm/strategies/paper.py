"""SwarmGraph as it is described (paper.cu): one graph at a time, a block a source, one launch or two."""

import numpy as np

from lockstep.machine.arguments import named

from . import binning
from .batched import finish_closeness, finish_fixed
from .level import LevelBetweenness, LevelCloseness, LevelDistances, Levels
from .plain import without_repeats
from .shared import Method

_int, _long = np.int32, np.int64


class _Sources:
    """What the measures share: a launch with a block for each vertex of a graph."""

    tuned, tuned_sum = 256, 1024  # threads of a block of the first launch, from part tuning, and of the second's

    def ready(self):
        self.in_global = self.method.strategy_options["placement"] == "global"
        own, on_host = self.method.strategy_options, self.executor.name == "host"
        self.threads = 64 if on_host else own["threads"] or self.tuned
        self.sum_threads = 64 if on_host else own["sum_threads"] or self.tuned_sum
        self.fallbacks = 0  # graphs whose metadata exceeds shared memory
        self.real = "float" if self.options.get("precision") == "single" else "double"
        self.kernels = self.module("paper.cu", STATE_IN_GLOBAL=int(self.in_global), REAL=self.real)

    def fits(self, n):
        return self.in_global or self.need(n) <= self.executor.max_shared

    def scratch(self, most):
        """Global memory for the metadata of the largest graph's blocks, with placement "global"."""
        size = int(binning.up(self.need(most))) * most if self.in_global else 0
        return self.words(size, np.uint8)

    def sources(self, name, graph, n, *args):
        kernel, stride = self.kernels[name], int(binning.up(self.need(n)))
        where = (_int(graph), self.pack.vertex_start, self.pack.arc_start)
        given = named(kernel, (*where, *args[:-1], self.memory, _long(stride), args[-1]))
        self.launch(kernel, n, self.threads, 0 if self.in_global else self.need(n), **given)


class PaperBetweenness(_Sources, LevelBetweenness):
    def need(self, n):
        size = 8 if self.real == "double" else 4
        return int(2 * binning.up(size * n) + binning.up(4 * n) + 16)

    def __init__(self, method, pack):
        super(LevelBetweenness, self).__init__(method, without_repeats(pack, method.executor))
        self.ready()
        n = self.pack.host.n
        transposed = self.transposed()[:2]
        rows = (self.pack.offsets, self.arcs())
        self.fixed = self.words(self.total, np.uint64)
        self.zero(self.fixed)
        large = [g for g in range(self.graphs) if n[g] and not self.fits(int(n[g]))]
        most = int(max((n[g] for g in range(self.graphs) if self.fits(int(n[g]))), default=0))
        self.memory, shares = self.scratch(most), self.words(most * most, np.uint64)
        self.fallbacks = len(large)
        if large:
            self.levels = Levels(self, rows, transposed, counting=True)
        endpoints = _int(self.options["endpoints"])
        for g in range(self.graphs):
            if not n[g]:
                continue
            if not self.fits(int(n[g])):
                self.steps.append(lambda f=int(self.starts[g]), c=int(n[g]): self.part(f, c, c))
                continue
            self.sources("sources_shares", g, int(n[g]), *rows, *transposed, endpoints, shares)
            self.launch(
                self.kernels["sum_shares"], 1, self.sum_threads, graph=_int(g),
                vertex_start=self.pack.vertex_start, shares=shares, fixed=self.fixed,
            )  # fmt: skip
        self.out, self.checks = self.words(self.total, np.float64), self.words(self.graphs, np.uint64)
        finish_fixed(self, self.fixed, self.out, self.checks)


class PaperCloseness(_Sources, LevelCloseness):
    def need(self, n):
        return int(binning.up(4 * n))

    def __init__(self, method, pack):
        super(LevelCloseness, self).__init__(method, pack)
        self.ready()
        n = self.pack.host.n
        transposed = self.transposed()[:2]
        rows = (self.pack.offsets, self.arcs())
        self.sums = [self.words(self.total, kind) for kind in (np.uint64, np.uint64, np.uint32)]
        for array in self.sums:
            self.zero(array)
        large = [g for g in range(self.graphs) if n[g] and not self.fits(int(n[g]))]
        most = int(max((n[g] for g in range(self.graphs) if self.fits(int(n[g]))), default=0))
        self.memory, matrix = self.scratch(most), self.words(most * most, np.int32)
        self.fallbacks = len(large)
        if large:
            self.levels = Levels(self, transposed, rows)
        for g in range(self.graphs):
            if not n[g]:
                continue
            if not self.fits(int(n[g])):
                self.steps.append(lambda f=int(self.starts[g]), c=int(n[g]): self.part(f, c, c))
                continue
            self.sources("sources_int", g, int(n[g]), *transposed, matrix)
            total, reciprocal, reach = self.sums
            self.launch(
                self.kernels["sum_distances"], 1, self.sum_threads, graph=_int(g),
                vertex_start=self.pack.vertex_start, matrix=matrix, total=total, reciprocal=reciprocal, reach=reach,
            )  # fmt: skip
        finish_closeness(self, *self.sums)


class PaperDistances(_Sources, LevelDistances):
    def need(self, n):
        return int(binning.up(4 * n))

    def fill(self, a, b):
        n = self.pack.host.n
        if not hasattr(self, "kernels"):
            self.ready()
            self.memory = self.scratch(int(max((x for x in n if self.fits(int(x))), default=0)))
        name = "sources_short" if self.kind.itemsize == 2 else "sources_int"
        for g in range(a, b):
            if not n[g]:
                continue
            if not self.fits(int(n[g])):
                self.fallbacks += 1
                super().fill(g, g + 1)
                continue
            matrix = self.matrix[int(self.ends[g] - self.ends[a]) :]
            self.sources(name, g, int(n[g]), *self.rows[:2], matrix)


class Paper(Method):
    """One launch (apsp) or two (closeness, betweenness) for each graph: a block a source, metadata in shared memory.

    Options of its own
    ------------------
    placement : {"shared", "global"}
        Of the metadata.
    threads : int
        Of a block of the first launch; 0: 256.
    sum_threads : int
        Of the block of the second launch, which sums; 0: 1,024.
    memory : int
        Bytes for distance matrices at a time.
    """

    name = "paper"
    defaults = {"placement": "shared", "threads": 0, "sum_threads": 0, "memory": 4 << 30}
    tasks = {"betweenness": PaperBetweenness, "closeness": PaperCloseness, "apsp": PaperDistances}


def _captured(task):
    """The same launches, recorded once in a CUDA graph and launched as one."""

    class Captured(task):
        def __init__(self, method, pack):
            super().__init__(method, pack)
            if self.fallbacks:
                raise ValueError("strategy 'graph': a graph exceeds shared memory, whose levels the host must see; use "
                                 "paper")  # fmt: skip
            with self.executor.capture() as graph:
                for step in self.launched:
                    step()
            self.steps = [*self.cleared, graph.launch]

    Captured.__name__ = Captured.__qualname__ = "Captured" + task.__name__
    return Captured


class Graphs(Method):
    """The launches of `paper` for a whole batch in one CUDA graph."""

    name = "graph"
    defaults = Paper.defaults
    tasks = {measure: _captured(task) for measure, task in Paper.tasks.items()}
