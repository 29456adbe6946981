"""The strategy `auto`: decide by what is known for nothing, and let CPU and GPU both begin where that decides nothing.

How fast the GPU sorts depends on the depth, and no cheap feature tells the depth: graphs of the same numbers of
vertices and arcs have 20 layers or 20,000, and the first layers of a graph are often far wider than all that follow.
A trial that is looked at when it is over costs what it took, and that is too much for a graph that the CPU sorts in
0.5 ms. But while the GPU sorts, a core of the CPU would do nothing but wait. So:

1. the serial time is predicted from the numbers of vertices and arcs; a graph that the CPU sorts in the time of a few
   launches goes to the CPU at once;
2. where there are about as many arcs as vertices, a few vertices are sampled: if nearly all are links of 1-1 runs,
   the GPU's strategy is `chains`, which does not care about depth; else it is `narrow`;
3. the GPU begins. The CPU does not sort at once: shallow graphs are done before that could help, and it would push out
   of the caches what is needed to end the run. For a while it just looks whether the GPU is done. Then it follows arcs.
   A path bounds the number of layers from below; when one is so long that by then the GPU must lose, the CPU stops it
   and sorts undisturbed;
4. if no such path turns up, the CPU sorts the same graph itself. Who is done first sets a word that the other looks at:
   the kernel once in 16 levels, the CPU about once in a microsecond. The memory that both words lie in is the host's,
   so that neither side needs a transfer.

So the price of not knowing is a launch, a small part of the serial time, and the way to see the other's word. A launch
from a program that has just done other things takes some 50 us; a graph for which that is much is the CPU's.
"""

import ctypes
import hashlib
import inspect
import math
import sys
from dataclasses import dataclass

import numpy as np
from numba import njit

from .baselines import Serial
from .plan import Plan
from .resident import Chains, Narrow
from .result import TopologicalOrder
from .serial import kahn_racing

SAMPLES = 64
OTHERS = 3  # of the samples that begin none are too many: where runs have fewer than 20 vertices `narrow` is as fast
LOOK_US = 1.5  # of sorting between two of the CPU's looks at whether the GPU is done


@dataclass(frozen=True)
class Costs:
    """What the choice believes about the machine, in microseconds; the defaults were measured on an H200 and its host.

    Attributes
    ----------
    launch
        A cooperative launch, waited for.
    worth
        So many launches the serial sort must take for the GPU to be tried.
    vertex, push, arc
        Serial Kahn: a vertex looked at, a vertex queued by an arc, an arc; of a graph that lies in the caches.
    near, far
        A graph of up to `near` vertices does so; pushes and arcs of one of twice as many take the part `far` more.
    level, wider
        A level of `narrow`, and more for each doubling of its arcs.
    patience, look, step
        The part of the predicted serial time that the CPU looks, and again that it follows arcs, before it sorts; one
        look, and one arc.
    chains, chains_vertex
        `chains` on a small graph, and more for each vertex.
    """

    launch: float = 25.0
    worth: float = 12.0
    vertex: float = 0.0012
    push: float = 0.004
    arc: float = 0.0016
    near: float = 1e4
    far: float = 0.35
    level: float = 0.2
    wider: float = 0.18
    patience: float = 0.03
    look: float = 0.05
    step: float = 0.03
    chains: float = 80.0
    chains_vertex: float = 0.00013

    def serial(self, n, m):
        """Predicted time of the serial sort."""
        distance = 1 + self.far * math.log2(max(n / self.near, 1))
        return n * self.vertex + distance * (min(n, m) * self.push + m * self.arc)

    def enough(self, m, time):
        """Layers that take `narrow` so long, if all of them have as many of the m arcs."""
        layers = time / self.level
        for _ in range(30):  # a fixed point: the more layers, the fewer arcs in each
            layers = time / (self.level + self.wider * math.log2(1 + m / layers))
        return math.ceil(layers)


@njit(cache=True)
def count_links(offsets, targets, in_degrees, samples, others):
    """Of some vertices drawn by a hash: how many begin a link of a 1-1 run; -1 as soon as too many others do not."""
    links = 0
    for i in range(samples):
        v = (i * 0x9E3779B1 + 0x7F4A7C15) % in_degrees.size
        links += offsets[v + 1] - offsets[v] == 1 and in_degrees[targets[offsets[v]]] == 1
        if i - links >= others:
            return -1
    return links


class Race:
    """Two words of the host's memory that a kernel sees as well: `done`, set by the kernel, and `stop`, set for it."""

    def __init__(self, executor):
        self.words = executor.zeros(16, np.uint64)
        self.on_host = self.words
        if executor.name == "cuda":
            import cupy
            import cupyx

            self.on_host = cupyx.zeros_pinned(16, np.uint64)
            memory = cupy.cuda.UnownedMemory(self.on_host.ctypes.data, self.on_host.nbytes, self.on_host)
            self.words = cupy.ndarray(16, np.uint64, cupy.cuda.MemoryPointer(memory, 0))
        # A cache line each.
        self.done, self.stop = self.words[0:1], self.words[8:9]
        self.over = ctypes.c_uint64.from_address(self.on_host.ctypes.data)
        self.addresses = tuple(self.on_host[i:].ctypes.data for i in (0, 8))


class _Racing:
    """A strategy of the GPU that tells when it is done, and ends when it is told to."""

    def load(self):
        self.race = Race(self.executor)
        self.stop, self.done = self.race.stop, self.race.done
        super().load()

    def prepare(self):
        self.executor.synchronize()  # a kernel that lost may still be on its way out
        self.race.on_host[:] = 0
        super().prepare()


class RacingNarrow(_Racing, Narrow):
    """`narrow`."""


class RacingChains(_Racing, Chains):
    """`chains`."""


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
        n, m, cost = graph.n, graph.m, self.costs
        self.serial = cost.serial(n, m)
        self.by_cpu = executor is None or self.serial < cost.worth * cost.launch
        self.small = Reason("the CPU needs about {:.0f} us, a launch {:.0f}", self.serial, cost.launch)
        if executor is None:
            self.small = Reason("no GPU here")
        self.enough = cost.enough(m, self.serial)
        self.often = int(np.clip(LOOK_US * max(n, 1) / self.serial, 4, 1024))
        self.steps = int(cost.patience * self.serial / cost.step)
        chains = cost.chains + n * cost.chains_vertex
        self.maybe_chains = 0.5 * n < m < 1.2 * n and chains < self.serial
        self.looks = {RacingNarrow: cost.patience * self.serial, RacingChains: 2 * chains}

    @classmethod
    def digest(cls):
        parts = (inspect.getsource(sys.modules[__name__]), inspect.getsource(kahn_racing.py_func))
        parts += tuple(kind.digest() for kind in (Serial, Narrow, Chains))
        return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]

    def plan(self, kind):
        if kind not in self._plans:
            self._plans[kind] = kind(self.graph, self.executor)
            self._plans[kind].prepare()
        return self._plans[kind]

    def warm(self):
        for kind in () if self.by_cpu else (RacingNarrow, RacingChains):
            self.plan(kind)

    def prepare(self):
        for plan in (self.cpu, *self._plans.values()):
            plan.prepare()

    def run(self):
        cpu = self.cpu
        if self.by_cpu:
            result = cpu.run()
            result.stats["reason"] = self.small
            return result
        graph, cost = self.graph, self.costs
        kind, why = RacingNarrow, ""
        if self.maybe_chains:
            links = count_links(graph.offsets, graph.targets, cpu.degrees, SAMPLES, OTHERS)
            if links >= 0:
                kind, why = RacingChains, f"{links} of {SAMPLES} sampled vertices begin links of 1-1 runs; "
        gpu = self.plan(kind)
        result = gpu.run()  # begins; what it returns waits only when it is looked at
        result.stats["reason"] = reason = Reason(GPU_FIRST, why, gpu.name, self.serial)
        over = gpu.race.over
        # In Python: to enter a compiled function and to leave it takes as long as some graphs.
        for _ in range(int(self.looks[kind] / cost.look)):
            if over.value:
                reason.also(0, graph.n)
                return result
        # chains does not care how long a path is
        enough = self.enough if kind is RacingNarrow else graph.n + 1
        arrays = graph.offsets, graph.targets, cpu.left, cpu.order
        sorted_, path, first = kahn_racing(*arrays, *gpu.race.addresses, enough, self.steps, self.often)
        if first:
            self.executor.synchronize()  # until the one that lost has stopped
            result = TopologicalOrder(graph, cpu.order[:sorted_], cpu.name)
            result.stats["reason"] = reason = Reason(CPU_FIRST if path < enough else DEEP, why, gpu.name, self.serial)
        reason.also(sorted_, graph.n, path)
        return result


CPU_FIRST = "{0}CPU and {1} both began, and the CPU was done first"
GPU_FIRST = "{0}CPU and {1} both began, and {1} was done when the CPU had sorted {3} of {4} vertices"
DEEP = "a path of {5} arcs was found while {1} began, and the CPU needs about {2:.0f} us"


class Reason:
    """Why a strategy was chosen. Put into words when somebody reads it: that takes longer than some graphs to sort."""

    def __init__(self, text, *numbers):
        self.text, self.numbers = text, numbers

    def also(self, *numbers):
        self.numbers += numbers

    def __str__(self):
        return self.text.format(*self.numbers)

    __repr__ = __str__
