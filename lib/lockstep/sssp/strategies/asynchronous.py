"""No rounds: ranges of vertices in the multiprocessors' shared memory; see asynchronous.cu."""

from dataclasses import dataclass

import numpy as np

from lockstep.plan import Skip

from .shared import DevicePlan, OnDevice, road_delta

_int = np.int32


@dataclass(frozen=True)
class AsynchronousOptions(OnDevice):
    """Options of `asynchronous`.

    Attributes
    ----------
    group : int
        Lanes that share a vertex's arcs.
    blocks : int, optional
    local : bool, optional
        Arcs in shared memory; by default where they fit.
    list : int
        Most entries of a block's lists.
    count : bool
        Count relaxations.
    """

    group: int = 4
    blocks: int | None = None
    local: bool | None = None
    list: int = 8192
    count: bool = False


class Asynchronous(DevicePlan):
    """No rounds: blocks own ranges in shared memory, send messages, and relax below a horizon."""

    Options = AsynchronousOptions
    file = "asynchronous.cu"
    threads = 512

    def load(self):
        ex, graph = self.executor, self.problem.graph
        n = max(graph.n, 1)
        self.size_up(self.options.blocks)
        if ex.name == "cuda" and not self.options.threads and self.range > 8192 and self.inside:
            self.threads = 1024  # larger ranges have wider fronts; outside, two blocks share the registers
        self.counting = self.options.count
        defines = {
            "GROUP": self.options.group,
            "THREADS": self.threads,
            "ARCS_IN_SHARED": int(self.local),
            "COUNT": int(self.counting),
            "STATE_IN_GLOBAL": int(not self.inside),
        }
        self.kernel = self.kernels(**defines)["asynchronous"]
        self.inbox = ex.empty(n, self.problem.dtype)
        self.receives = ex.empty(n, _int)
        self.block_minima = ex.empty(self.blocks, self.problem.dtype)
        self.vote = ex.zeros(2, np.uint32)

    @staticmethod
    def ranges(problem, executor, blocks=None):
        """Vertices of a block; Skip if their distances and short lists exceed its shared memory."""
        n, word = max(problem.graph.n, 1), problem.dtype.itemsize
        size = -(-n // (blocks or min(executor.multiprocessors, -(-n // 64))))
        room = executor.max_shared - 2048
        if size > 65535 or size * word + size // 8 + 4 * min(size, 1024) > room:
            raise Skip(
                f"{n:,} vertices are more than the shared memories of {executor.multiprocessors} multiprocessors hold"
            )
        return size

    def size_up(self, blocks):
        """Lay out shared memory: distances and lists of a range, and its arcs if they fit."""
        graph, word = self.problem.graph, self.problem.dtype.itemsize
        room = self.executor.max_shared - 1024
        try:
            self.range, self.inside = self.ranges(self.problem, self.executor, blocks), True
        except Skip:  # in global memory: correct but slower, never chosen by `auto`
            resident = self.executor.multiprocessors * (2 if self.executor.name == "cuda" else 16)
            self.range, self.inside = -(-graph.n // resident), False
            if self.range > 65535:
                raise
            room = 2**31
        self.blocks = max(1, -(-graph.n // self.range))
        ends = np.minimum(np.arange(self.blocks + 1) * self.range, graph.n)
        most_arcs = int(np.diff(graph.offsets[ends]).max(initial=0))
        # The kernel's layout: distances, arcs, counters, offsets, pending bits (wide), two lists of ids.
        fixed = self.range * word + 16 + 8 * word + 8 * 4 + (-(-self.range // 32) * 4 if self.problem.wide else 0)
        arcs = most_arcs * (16 if self.problem.wide else 8) + (self.range + 1) * 4
        fits = self.inside and fixed + arcs + 4 * min(self.range, 1024) <= room
        if self.options.local and not fits:
            raise ValueError(f"local=True: a range of up to {most_arcs:,} arcs exceeds the shared memory of a block")
        self.local = fits if self.options.local is None else self.options.local
        used = fixed + (arcs if self.local else 0)
        self.list_capacity = min(self.options.list, self.range, (room - used) // 4)
        self.local_arcs = most_arcs if self.local else 0
        needed = used + 4 * self.list_capacity + 16
        self.shared, self.stride = (needed, 0) if self.inside else (0, -(-needed // 16) * 16)
        self.global_state = None if self.inside else self.executor.empty(self.blocks * self.stride, np.uint8)

    def default_delta(self):
        return road_delta(self.problem)

    def reset(self):
        super().reset()
        if self.counting:  # the kernel adds to what the word holds
            self.control = self.executor.zeros(self.control.size, self.control.dtype)

    def run(self):
        self.kernel(
            self.blocks, self.threads, shared=self.shared, cooperative=True, offsets=self.offsets, arcs=self.arcs,
            n=self.n, source=_int(self.problem.source), range=_int(self.range), local_arcs=_int(self.local_arcs),
            list_capacity=_int(self.list_capacity), delta=self.width, limit=self.limit, inbox=self.inbox,
            receives=self.receives, block_minima=self.block_minima, vote=self.vote, control=self.control,
            dist=self.dist, barrier=self.barrier, global_state=self.global_state, stride=np.int64(self.stride),
        )  # fmt: skip
        control = self.executor.get(self.control)
        self.overflowed(control[0])
        counted = {"relaxations": int(control[2:4].view(np.int64)[0])} if self.counting else {}
        return self.result(self.raw(), steps=int(control[1]), blocks=self.blocks, **counted)
