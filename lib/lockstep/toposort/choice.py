"""The strategy `auto`: the GPU begins, the CPU does not wait for long, and who is done first stops the other.

How fast the GPU sorts depends on the depth, and no cheap feature tells the depth: graphs of the same numbers of
vertices and arcs have 20 layers or 20,000, and the first layers of a graph are often far wider than all that follow.
But while the GPU sorts, a core of the CPU would do nothing but wait. So depth is not guessed, it is raced for:

1. a graph that the CPU sorts in the time of a few launches goes to the CPU;
2. else the GPU begins. Where there are about as many arcs as vertices, a few vertices are sampled: if nearly all are
   links of 1-1 runs, its strategy is `chains`, which does not care about depth. Otherwise it is `asynchronous` for
   small graphs of fewer arcs than vertices, whose layers hold less than a barrier costs, and `narrow` for the rest;
3. for a small part of the time that it would need itself, the CPU just looks whether the GPU is done. Shallow graphs
   are, and a CPU that sorts pushes out of its caches what is needed to end the run;
4. then the CPU sorts the same graph. Once in a microsecond it looks at a word of its own memory that the kernel sets at
   its end. If it is done first, it sends the GPU a word that the kernel looks at every few levels: in the GPU's
   memory, for to look into the host's takes a kernel as long as a level.

So the price of not knowing is a launch, a small part of the serial time, and the way of a word.
"""

import ctypes
import functools
import hashlib
import inspect
import sys
import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from .baselines import Serial
from .plan import Plan
from .resident import Asynchronous, Chains, Narrow
from .result import TopologicalOrder
from .serial import kahn_racing

SAMPLES = 64
OTHERS = 4  # of the samples that begin none are too many: where runs have fewer than 15 vertices others are as fast
SMALL = 150_000  # vertices, up to which, with fewer arcs than vertices, `asynchronous` is faster on shallow graphs
LOOK_US = 1.5  # of sorting between two of the CPU's looks at whether the GPU is done


@dataclass(frozen=True)
class Costs:
    """What the choice believes about the machine, in microseconds; it decides about small graphs alone.

    Attributes
    ----------
    vertex, push, arc
        Serial Kahn: a vertex looked at, a vertex queued by an arc (few of these branches are foreseen), an arc.
        Measured on an H200's host; within a factor of 2.5 on nearly all graphs that the limits were set by.
    launches
        So many launches the serial sort must take for the GPU to be tried. A race that the CPU wins costs as many as
        five more than its own time, and one that the GPU wins takes four and more.
    patience
        The part of the serial time that the CPU waits before it sorts.
    """

    vertex: float = 0.003
    push: float = 0.025
    arc: float = 0.0015
    launches: float = 8.0
    patience: float = 0.03

    def serial(self, n, m):
        """Predicted time of the serial sort."""
        return n * self.vertex + min(n, m) * self.push + m * self.arc


@functools.cache
def launch_us(executor):
    """What it costs here to have the GPU do next to nothing and to wait for it: the shortest of a few such times."""
    words = executor.zeros(1, np.int32), executor.zeros(1, np.int32)

    def once():
        with executor.timer(events=False) as timer:
            executor.copy(*words)
        return timer.wall_ms

    return 1e3 * min(once() for _ in range(8)) if executor.name == "cuda" else 10.0  # the hypothetical GPU has no times


@njit(cache=True)
def mostly_links(offsets, targets, in_degrees):
    """Whether of some vertices drawn by a hash nearly all begin a link of a 1-1 run."""
    others = 0
    for i in range(SAMPLES):
        v = (i * 0x9E3779B1 + 0x7F4A7C15) % in_degrees.size
        others += offsets[v + 1] - offsets[v] != 1 or in_degrees[targets[offsets[v]]] != 1
        if others == OTHERS:
            return False
    return True


class Race:
    """Two words: `done`, in the host's memory, set by a kernel at its end; `stop`, in the GPU's, set for it."""

    def __init__(self, executor):
        self.executor = executor
        self.stop, self.zero = executor.zeros(1, np.uint64), executor.zeros(1, np.uint64)
        self.on_host = self.done = executor.zeros(16, np.uint64)  # two cache lines: {done}, {a one to send}
        if executor.name == "cuda":
            import cupy
            import cupyx

            self.on_host = cupyx.zeros_pinned(16, np.uint64)
            memory = cupy.cuda.UnownedMemory(self.on_host.ctypes.data, self.on_host.nbytes, self.on_host)
            self.done = cupy.ndarray(16, np.uint64, cupy.cuda.MemoryPointer(memory, 0))
            self.side = cupy.cuda.Stream(non_blocking=True)  # what is sent overtakes the kernel
            one = self.on_host[8:].ctypes.data
            self._send = functools.partial(
                cupy.cuda.runtime.memcpyAsync, self.stop.data.ptr, one, 8, cupy.cuda.runtime.memcpyHostToDevice
            )
        self.on_host[8] = 1
        self.address = self.on_host.ctypes.data
        self.over = ctypes.c_uint64.from_address(self.address)

    def prepare(self):
        self.executor.copy(self.stop, self.zero)
        self.on_host[0] = 0

    def end(self):
        """Have the kernel stop, and wait until it has."""
        if self.executor.name == "cuda":
            self._send(self.side.ptr)
            self.side.synchronize()
        else:
            self.stop[0] = 1
        self.executor.synchronize()


class _Racing:
    """A strategy of the GPU that tells when it is done, and ends when it is told to."""

    def load(self):
        self.race = Race(self.executor)
        self.stop, self.done = self.race.stop, self.race.done
        super().load()

    def prepare(self):
        self.race.prepare()
        super().prepare()


class RacingNarrow(_Racing, Narrow):
    """`narrow`."""


class RacingChains(_Racing, Chains):
    """`chains`."""


class RacingAsynchronous(_Racing, Asynchronous):
    """`asynchronous`."""


class Auto(Plan):
    """Chooses among the strategies of CPU and GPU for one graph.

    `warm` makes all plans ready beforehand, as an experiment does, so that transfers are not timed; else each is made
    when it is first needed.
    """

    name = "auto"
    costs = Costs()

    def __init__(self, graph, executor=None):
        super().__init__(graph, executor)
        self.cpu = Serial(graph)
        self._plans = {}
        # What n and m alone decide is decided with the plan, as other strategies choose their grids.
        n, m, costs = graph.n, graph.m, self.costs
        self.serial = costs.serial(n, m)
        launch = launch_us(executor) if executor is not None else np.inf
        self.by_cpu = self.serial < costs.launches * launch
        self.small = Reason("the CPU needs about {:.0f} us, a launch {:.0f}", self.serial, launch)
        if executor is None:
            self.small = Reason("no GPU here")
        self.often = int(np.clip(LOOK_US * max(n, 1) / max(self.serial, LOOK_US), 4, 1024))
        self.patience = costs.patience * self.serial * 1e-6
        self.maybe_chains = 0.5 * n < m < 1.2 * n
        self.usual = RacingAsynchronous if m < n <= SMALL else RacingNarrow

    @classmethod
    def digest(cls):
        parts = (inspect.getsource(sys.modules[__name__]), inspect.getsource(kahn_racing.py_func))
        parts += tuple(kind.digest() for kind in (Serial, Narrow, Chains, Asynchronous))
        return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]

    def plan(self, kind):
        if kind not in self._plans:
            self._plans[kind] = kind(self.graph, self.executor)
            self._plans[kind].prepare()
        return self._plans[kind]

    def warm(self):
        if not self.by_cpu:
            self.plan(self.usual)
            if self.maybe_chains:
                self.plan(RacingChains)

    def prepare(self):
        for plan in (self.cpu, *self._plans.values()):
            plan.prepare()

    def run(self):
        cpu, graph = self.cpu, self.graph
        if self.by_cpu:
            result = cpu.run()
            result.stats["reason"] = self.small
            return result
        links = self.maybe_chains and mostly_links(graph.offsets, graph.targets, cpu.degrees)
        gpu = self.plan(RacingChains if links else self.usual)
        result = gpu.run()  # begins; what it returns waits only when it is looked at
        why = LINKS if links else ""
        result.stats["reason"] = Reason(GPU_FIRST, why, gpu.name, 0, graph.n)  # now, while the GPU works
        over, until = gpu.race.over, time.perf_counter() + self.patience
        while not over.value:
            if time.perf_counter() > until:
                arrays = graph.offsets, graph.targets, cpu.left, cpu.order
                sorted_, first = kahn_racing(*arrays, gpu.race.address, self.often)
                if first:
                    gpu.race.end()
                    result = TopologicalOrder(graph, cpu.order[:sorted_], cpu.name)
                text = CPU_FIRST if first else GPU_FIRST
                result.stats["reason"] = Reason(text, why, gpu.name, sorted_, graph.n)
                break
        return result


LINKS = "nearly all of a few vertices sampled begin links of 1-1 runs; "
CPU_FIRST = "{0}CPU and {1} both began, and the CPU was done first"
GPU_FIRST = "{0}CPU and {1} both began, and {1} was done when the CPU had sorted {2} of {3} vertices"


class Reason:
    """Why a strategy was chosen. Put into words when somebody reads it: that takes longer than some graphs to sort."""

    def __init__(self, text, *numbers):
        self.text, self.numbers = text, numbers

    def __str__(self):
        return self.text.format(*self.numbers)

    __repr__ = __str__
