"""The strategy `swarm` for what is computed of a graph as a whole (groups.cu, rank.cu, walks.cu), and for distances
along weights (weighted.cu)."""

import numpy as np

from . import plan
from .batched import HOLDS, Bins, Distances
from .task import Values

_int, _long = np.int32, np.int64
WHOLE = 2**31  # more sources than a graph has: an item is a graph


class _Labels(Bins):
    """A value in 32 bits for each vertex, by one kernel of groups.cu."""

    kernel = ""

    def size(self, n, width):
        raise NotImplementedError

    def __init__(self, method, pack):
        super().__init__(method, pack)
        self.out, self.checks = self.words(self.total, np.int32), self.words(self.graphs, np.uint64)
        self.zero(self.checks)

        def arguments(scratch, stride, b):
            return (pack.vertex_start, pack.arc_start, pack.offsets, self.arcs(), scratch, stride, self.out,
                    self.checks)  # fmt: skip

        # The rows are read from global memory: once, or a few times.
        found = plan.bins(pack.host.n, pack.host.m, [WHOLE], self.size, 0, 0, self.executor, lambda w: {},
                          HOLDS[method.knob["shared"]], 1, method.knob["threads"])  # fmt: skip
        self.spread(("groups.cu", self.kernel, found, arguments))

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


class Components(_Labels):
    kernel = "components"

    def size(self, n, width):
        return plan.up(4 * n)


class Strong(_Labels):
    kernel = "strong"

    def size(self, n, width):
        return 2 * plan.up(4 * n)


class Triangles(_Labels):
    kernel = "triangles"

    def size(self, n, width):
        return plan.up(4 * n * ((n + 31) // 32))


class PageRank(Bins):
    def __init__(self, method, pack):
        super().__init__(method, pack)
        self.out, self.checks = self.words(self.total, np.float64), self.words(self.graphs, np.uint64)
        self.rounds = self.words(self.graphs, np.int32)
        self.zero(self.checks)
        in_offsets, in_targets, _ = self.turned()
        given = method.options
        in_targets = in_targets if in_targets.size else self.words(1, in_targets.dtype)

        def arguments(scratch, stride, b):
            return (pack.vertex_start, pack.arc_start, pack.offsets, self.arcs(), in_offsets, in_targets,
                    _int(pack.directed), np.float64(given["damping"]), np.float64(given["tolerance"]),
                    _int(given["limit"]), scratch, stride, self.out, self.rounds, self.checks)  # fmt: skip

        def size(n, width):
            return 32 + plan.up(8 * n) + plan.up(8 * (n + 1)) + plan.up(4 * n)

        # Ranks go where the rows go: all in shared memory, or all in global.
        holds = 2 if method.knob["shared"] == "rows" else 0
        found = plan.bins(pack.host.n, pack.host.m, [WHOLE], size, 2 if pack.directed else 1, 0, self.executor,
                          lambda w: {}, holds, 1, method.knob["threads"])  # fmt: skip
        self.spread(("rank.cu", "pagerank", found, arguments))

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      extra={}, keep=self)  # fmt: skip


class Walks(Bins):
    def __init__(self, method, pack):
        super().__init__(method, pack)
        each, length, seed = (method.options[k] for k in ("walks", "length", "seed"))
        self.inner = (each, length + 1)
        self.out = self.words(self.total * each * (length + 1), np.int32)
        self.checks, owner = self.words(self.graphs, np.uint64), self.words(self.total, np.int32)
        self.zero(self.checks)
        module = self.module("walks.cu")
        blocks = max(1, min(self.graphs, 16 * self.executor.multiprocessors))
        self.launch(module["owners"], blocks, 64, (pack.vertex_start, _int(self.graphs), owner))
        args = (pack.vertex_start, pack.arc_start, owner, pack.offsets, self.arcs(), _long(self.total), _int(each),
                _int(length), np.uint64(seed), self.out, self.checks)  # fmt: skip
        self.launch(module["walks"], *self.warps(-(-self.total * each // 32)), args)

    def values(self):
        inner = self.inner[0] * self.inner[1]
        return Values(self.measure.name, self.out[: self.total * inner], self.starts * inner,
                      self.checks[: self.graphs], inner=self.inner, keep=self)  # fmt: skip


class Lengths(Distances):
    """Distances along weights: like APSP, with matrices in float64 by weighted.cu."""

    kind = np.dtype(np.float64)

    def fill(self, a, b):
        pack, host = self.pack, self.pack.host
        offsets, targets, weights = self.rows

        def arguments(scratch, stride, b):
            return (pack.vertex_start, pack.arc_start, offsets, targets, weights, scratch, stride, self.matrix_start,
                    self.matrix)  # fmt: skip

        found = plan.bins(host.n[a:b], host.m[a:b], [32, 16, 8], lambda n, w: plan.up(8 * n * w), 0, 0, self.executor,
                          lambda w: {"WIDTH": w}, HOLDS[self.method.knob["shared"]], self.method.knob["busy"],
                          self.method.knob["threads"])  # fmt: skip
        found = list(found)
        for one in found:
            one.items[:, 0] += a
        self.spread(("weighted.cu", "lengths", found, arguments))


class ClosenessByLengths(Lengths):
    """Closeness along weights: distances towards each vertex, then summed."""

    def __init__(self, method, pack):
        self.reciprocal = method.executor.empty(max(int(pack.host.vertex_start[-1]), 1), np.float64)
        super().__init__(method, pack, "total")

    def rows_of(self, pack):
        return self.turned()

    def values(self):
        found = super().values()
        total, reach = found.extra["total"], found.extra["reached"].astype(np.float64)
        form, xp = self.options["form"], self.executor.xp
        if form == "harmonic":
            values = self.reciprocal[: self.total]
        else:
            far = xp.where(total > 0, total, 1.0)
            values = xp.where(total > 0, (1.0 if form == "plain" else reach) / far, 0.0)
            if form == "networkx" and self.options["wf_improved"]:
                n = xp.asarray(np.repeat(np.maximum(self.pack.host.n - 1, 1), self.pack.host.n).astype(np.float64))
                values = values * (reach / n)
        return Values(self.measure.name, values, self.starts, found.checksums, extra=found.extra, keep=self)
