"""Betweenness of `swarm`: a lane for each source (lanes.cu), or for each pair of a source and a vertex where graphs are
sparse (pairs.cu)."""

import numpy as np

from ..result import Values
from . import binning
from .batched import HOLDS, Bins, finish_fixed

_int = np.int32


def _betweenness_bytes(real):
    def size(n, width):
        return (binning.up(n * width * real) + binning.up(8 * n) + 3 * binning.up(4 * (n + 1)) + binning.up(4 * n)
                + binning.up(16 * n))  # fmt: skip

    return size


class Betweenness(Bins):
    def __init__(self, method, pack):
        super().__init__(method, pack)
        real = 8 if method.options["precision"] == "double" else 4
        self.fixed = self.words(self.total, np.uint64)
        self.zero(self.fixed)
        in_offsets, in_targets, _ = self.transposed()
        endpoints = _int(method.options["endpoints"])
        host = pack.host

        def lanes(scratch, stride, b):
            return dict(
                vertex_start=pack.vertex_start, arc_start=pack.arc_start, offsets=pack.offsets, targets=self.arcs(),
                in_offsets=in_offsets, in_targets=in_targets if in_targets.size else self.words(1, in_targets.dtype),
                directed=_int(pack.directed), endpoints=endpoints, scratch=scratch, stride=stride, fixed=self.fixed,
            )  # fmt: skip

        def pairs(scratch, stride, b):
            return dict(
                vertex_start=pack.vertex_start, arc_start=pack.arc_start, offsets=pack.offsets, targets=self.arcs(),
                room=_int(b.shared), endpoints=endpoints, fixed=self.fixed,
            )  # fmt: skip

        chosen, kind = method.strategy_options, {"REAL": "double" if real == 8 else "float"}
        widths = (chosen["width"],) if chosen["width"] else (32, 16, 8, 4)
        n, m = np.asarray(host.n, np.int64), np.asarray(host.m, np.int64)
        few = np.zeros(self.graphs, bool)
        if chosen["sparse"] and not (pack.directed or chosen["width"] or chosen["shared"] != "rows"):
            few = binning.paired(host, chosen["sparse"], real, self.executor)
        dense, sparse = np.flatnonzero(~few), np.flatnonzero(few)
        dense = binning.bins(n[dense], m[dense], widths, _betweenness_bytes(real), 2 if pack.directed else 1, 4 * 28,
                          self.executor, lambda w: {**kind, "WIDTH": w}, HOLDS[chosen["shared"]], chosen["busy"],
                          chosen["threads"], dense)  # fmt: skip
        sparse = binning.pairs(sparse, n[sparse], m[sparse], real, self.executor, kind, chosen["threads"])
        self.spread(("pairs.cu", "pairs", sparse, pairs), ("lanes.cu", "betweenness", dense, lanes))
        self.out = self.words(self.total, np.float64)
        self.checks = self.words(self.graphs, np.uint64)
        finish_fixed(self, self.fixed, self.out, self.checks)

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip
