"""Distances along weights by `swarm` (weighted.cu)."""

import numpy as np

from ..result import Values
from . import binning
from .batched import HOLDS
from .distances import Distances


class Lengths(Distances):
    """Distances along weights: like APSP, with matrices in float64 by weighted.cu."""

    kind = np.dtype(np.float64)

    def fill(self, a, b):
        pack, host = self.pack, self.pack.host
        offsets, targets, weights = self.rows

        def arguments(scratch, stride, b):
            return dict(
                vertex_start=pack.vertex_start, arc_start=pack.arc_start, offsets=offsets, targets=targets,
                weights=weights, scratch=scratch, stride=stride, matrix_start=self.matrix_start, matrix=self.matrix,
            )  # fmt: skip

        found = binning.bins(host.n[a:b], host.m[a:b], [32, 16, 8], lambda n, w: binning.up(8 * n * w), 0, 0,
                             self.executor, lambda w: {"WIDTH": w}, HOLDS[self.method.strategy_options["shared"]],
                             self.method.strategy_options["busy"], self.method.strategy_options["threads"])  # fmt: skip
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
        return self.transposed()

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
