"""Labels of vertices by `swarm`: components, triangles (groups.cu), PageRank (rank.cu)."""

import numpy as np

from ..result import Values
from . import binning
from .batched import HOLDS, Bins

_int = np.int32
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
            return dict(
                vertex_start=pack.vertex_start, arc_start=pack.arc_start, offsets=pack.offsets, targets=self.arcs(),
                scratch=scratch, stride=stride, out=self.out, checksums=self.checks,
            )  # fmt: skip

        # The rows are read from global memory: once, or a few times.
        found = binning.bins(pack.host.n, pack.host.m, [WHOLE], self.size, 0, 0, self.executor, lambda w: {},
                          HOLDS[method.strategy_options["shared"]], 1, method.strategy_options["threads"])  # fmt: skip
        self.spread(("groups.cu", self.kernel, found, arguments))

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


class Components(_Labels):
    kernel = "components"

    def size(self, n, width):
        return binning.up(4 * n)


class Strong(_Labels):
    kernel = "strong"

    def size(self, n, width):
        return 2 * binning.up(4 * n)


class Triangles(_Labels):
    kernel = "triangles"

    def size(self, n, width):
        return binning.up(4 * n * ((n + 31) // 32))


class PageRank(Bins):
    def __init__(self, method, pack):
        super().__init__(method, pack)
        self.out, self.checks = self.words(self.total, np.float64), self.words(self.graphs, np.uint64)
        self.rounds = self.words(self.graphs, np.int32)
        self.zero(self.checks)
        in_offsets, in_targets, _ = self.transposed()
        given = method.options
        in_targets = in_targets if in_targets.size else self.words(1, in_targets.dtype)

        def arguments(scratch, stride, b):
            return dict(
                vertex_start=pack.vertex_start, arc_start=pack.arc_start, offsets=pack.offsets, targets=self.arcs(),
                in_offsets=in_offsets, in_targets=in_targets, directed=_int(pack.directed),
                damping=np.float64(given["damping"]), tolerance=np.float64(given["tolerance"]),
                limit=_int(given["limit"]), scratch=scratch, stride=stride, out=self.out, rounds=self.rounds,
                checksums=self.checks,
            )  # fmt: skip

        def size(n, width):
            return 32 + binning.up(8 * n) + binning.up(8 * (n + 1)) + binning.up(4 * n)

        # Ranks and rows are both in shared memory, or both in global.
        holds = 2 if method.strategy_options["shared"] == "rows" else 0
        found = binning.bins(pack.host.n, pack.host.m, [WHOLE], size, 2 if pack.directed else 1, 0, self.executor,
                          lambda w: {}, holds, 1, method.strategy_options["threads"])  # fmt: skip
        self.spread(("rank.cu", "pagerank", found, arguments))

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      extra={}, keep=self)  # fmt: skip
