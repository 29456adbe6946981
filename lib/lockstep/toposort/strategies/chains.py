"""A sort that contracts runs of 1-1 vertices first."""

import numpy as np

from .narrow import Narrow
from .shared import KERNELS

_int = np.int32


class Chains(Narrow):
    name = "chains"
    layered = False
    per_block = 1024  # of contract and unfold
    gap = 8  # one vertex in `gap` is a splitter
    code = None  # the contracted graphs are narrow, and their rows are short

    def load(self):
        ex, n = self.executor, _int(self.graph.n)
        (following, linked, splitters, number, run_of, place, run_first, run_last, length, starts, self.unfolded) = (
            ex.empty(max(n, 1), _int) for _ in range(11)
        )
        jumps, parts = ex.empty(max(n, 1), np.uint64), ex.empty(4096, _int)
        splitter_count, self.placed = self.counters[24:25], self.counters[25:26]
        kernels = ex.load(KERNELS / "chains.cu")
        contract, unfold = kernels["contract"], kernels["unfold"]
        blocks = min(self.resident(contract, 0), self.resident(unfold, self.buffers))
        self.steps = (
            contract.bind(
                blocks, self.threads, cooperative=True, first=self.first, last=self.last, targets=self.targets,
                in_degrees=self.left, next=following, linked=linked, splitters=splitters, number=number, jumps=jumps,
                run=run_of, place=place, run_first=run_first, run_last=run_last, length=length, counts=splitter_count,
                barrier=self.barrier, n=n, gap=_int(self.gap),
            ),  # fmt: skip
            self.bind_narrow(run_first, run_last, self.stop, None),
            unfold.bind(
                blocks, self.threads, shared=self.buffers, cooperative=True, heads=self.order,
                heads_levels=self.levels, length=length, run=run_of, place=place, starts=starts, parts=parts,
                order=self.unfolded, placed=self.placed, barrier=self.barrier, done=self.done, n=n,
            ),  # fmt: skip
        )

    def summary(self):
        return None, self.executor.read(self.placed)

    def run(self):
        for step in self.steps:
            step()
        return self.result(self.summary, order=self.unfolded)
