"""Random walks by `swarm` (walks.cu)."""

import numpy as np

from ..result import Values
from .batched import Bins

_int, _long = np.int32, np.int64


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
        self.launch(module["owners"], blocks, 64, vertex_start=pack.vertex_start, graphs=_int(self.graphs), owner=owner)
        self.launch(
            module["walks"], *self.warps(-(-self.total * each // 32)), vertex_start=pack.vertex_start,
            arc_start=pack.arc_start, owner=owner, offsets=pack.offsets, targets=self.arcs(),
            vertices=_long(self.total), each=_int(each), length=_int(length), seed=np.uint64(seed), out=self.out,
            checksums=self.checks,
        )  # fmt: skip

    def values(self):
        inner = self.inner[0] * self.inner[1]
        return Values(self.measure.name, self.out[: self.total * inner], self.starts * inner,
                      self.checks[: self.graphs], inner=self.inner, keep=self)  # fmt: skip
