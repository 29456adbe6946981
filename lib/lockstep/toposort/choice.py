"""The strategy `auto`: look at the graph, try the GPU for a while, and hand over to the CPU if that will be faster.

How fast the GPU sorts depends on the depth, and no cheap feature tells the depth. So:

1. the serial time is predicted from vertices, arcs, and how far apart a few sampled arcs' ends lie in memory;
2. a graph that the CPU sorts in less time than a launch takes goes to the CPU at once;
3. where nearly all sampled vertices are links of 1-1 runs, `chains` is taken: it does not care about depth;
4. else `narrow` runs, but for no more levels than cost a small part of the predicted serial time. Most graphs worth sorting
   on a GPU are done by then. If not, the rest is extrapolated: vertices left over vertices a level, times the time of a
   level so far; either the kernel is resumed, or the CPU starts anew. So a wrong guess costs a small part, not a multiple.
   (Where arcs are so few that even a path of all of them would be done in time, there is no limit.)
"""

import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from .result import TopologicalOrder
from .strategies import Chains, Narrow, Plan, Serial

SAMPLES = 24


@dataclass(frozen=True)
class Costs:
    """What the choice believes about the machine, in microseconds; the defaults were measured on an H200 and its host.

    Attributes
    ----------
    launch : a cooperative launch, waited for
    level : a level of `narrow`, taken broadly
    chains : the floor of `chains`, and its time for a vertex
    vertex, near, far : serial Kahn for a vertex, and for an arc whose ends lie near or far apart in memory
    """

    launch: float = 25.0
    level: float = 0.4
    chains: float = 60.0
    chains_vertex: float = 0.00013
    vertex: float = 0.0013
    near: float = 0.0032
    far: float = 0.0085


@njit(cache=True)
def sample(offsets, targets, in_degrees, count, near):
    """Of `count` vertices drawn by a hash: how many are links of a 1-1 run, and how many of their arcs lead far."""
    n = in_degrees.size
    links = arcs = far = 0
    for i in range(count):
        v = (i * 0x9E3779B1 + 0x7F4A7C15) % n
        begin, end = offsets[v], offsets[v + 1]
        if end > begin:
            w = targets[begin]
            arcs += 1
            far += abs(w - v) > near
            links += end - begin == 1 and in_degrees[w] == 1
    return links, arcs, far


class Auto(Plan):
    """Chooses among the strategies of CPU and GPU for one graph.

    `warm` makes all plans ready beforehand, as an experiment does, so that transfers are not timed; else each is made
    when it is first needed.
    """

    name = "auto"
    costs = Costs()
    part = 0.2  # of the predicted serial time that a try may cost

    def __init__(self, graph, executor=None):
        super().__init__(graph, executor)
        self.degrees = graph.in_degrees()
        self._plans = {}

    def plan(self, kind):
        if kind not in self._plans:
            self._plans[kind] = kind(self.graph, self.executor)
            self._plans[kind].prepare()
        return self._plans[kind]

    def warm(self):
        for kind in (Serial, Trial, Chains) if self.executor is not None else (Serial,):
            self.plan(kind)

    def prepare(self):
        for plan in self._plans.values():
            plan.prepare()

    def run(self):
        plan, reason = self.choose()
        result = plan if isinstance(plan, TopologicalOrder) else plan.run()
        result.stats["reason"] = reason
        return result

    def choose(self):
        """The plan to run, or the result if a trial came to its end; and why."""
        graph, cost = self.graph, self.costs
        n, m = graph.n, graph.m
        if self.executor is None:
            return self.plan(Serial), "no GPU here"
        near = 2**16  # vertices: what the second-level cache of a core holds of a four-byte array
        # A sample is a few cache misses; with few arcs there are no runs to find, and the vertices set the serial time.
        links, arcs, far = sample(graph.offsets, graph.targets, self.degrees, SAMPLES, near) if 2 * m > n else (0, 1, 1)
        serial = n * cost.vertex + m * (cost.near + (cost.far - cost.near) * far / max(arcs, 1))
        if serial < 1.5 * cost.launch:
            return self.plan(Serial), f"the CPU needs about {serial:.0f} us, a launch {cost.launch:.0f}"
        chains = cost.chains + n * cost.chains_vertex
        if links > 0.9 * SAMPLES and chains < serial:
            return self.plan(Chains), f"{links} of {SAMPLES} sampled vertices are links of 1-1 runs: depth does not matter"
        trial = self.plan(Trial)
        if m * cost.level < serial:
            return trial, f"even a single path of {m} arcs would be done before the CPU is (about {serial:.0f} us)"
        limit = int(max(8, self.part * serial / cost.level))
        start = time.perf_counter()
        result, left = trial.go(limit)
        spent = (time.perf_counter() - start) * 1e6
        if not left:
            return result, f"narrow was done within its trial ({limit} levels, the CPU needs about {serial:.0f} us)"
        done, depth = trial.done
        level = max(spent - cost.launch, 0) / depth if self.executor.name == "cuda" else cost.level
        rest = left / max(done / depth, 1.0) * level
        seen = f"{depth} levels of {done / depth:.1f} vertices took {spent:.0f} us" if self.executor.name == "cuda" else (
            f"{depth} levels of {done / depth:.1f} vertices")  # fmt: skip
        if rest < serial:
            return trial.resume(), f"{seen}: the rest would take {rest:.0f}, the CPU about {serial:.0f}"
        return self.plan(Serial), f"{seen}: the rest would take {rest:.0f}, the CPU about {serial:.0f}: handed over"


class Trial(Narrow):
    """`narrow` with a limit, and a look at how far it came that costs no transfer of its own."""

    name = "narrow"

    def load(self):
        ex = self.executor
        self.host_outcome = None
        self._outcome = self.counters[4:8]
        if ex.name == "cuda":
            # Memory of the host that the kernel writes to: after the launch is waited for, the host just reads it.
            import cupy
            import cupyx

            self.host_outcome = cupyx.zeros_pinned(4, np.int32)
            pointer = cupy.cuda.UnownedMemory(self.host_outcome.ctypes.data, 16, self.host_outcome)
            self._outcome = cupy.ndarray(4, np.int32, cupy.cuda.MemoryPointer(pointer, 0))
        self.launch = self.bind_narrow(self.first, self.last)
        self._launches = {}
        self.go_on = self.bind_narrow(self.first, self.last, resume=1)

    @property
    def outcome(self):
        return self._outcome

    def go(self, limit):
        """Sort for at most `limit` levels; returns the result and how many vertices were left."""
        if limit not in self._launches:
            self._launches[limit] = self.bind_narrow(self.first, self.last, limit, hot=False)
        self._launches[limit]()
        begin, size, level, _ = self.look()
        self.done = begin, level
        return self.result(self.summary, self.levels[2:]), self.graph.n - begin if size else 0

    def look(self):
        if self.host_outcome is None:
            return self.executor.get(self._outcome).tolist()
        self.executor.synchronize()
        return self.host_outcome.tolist()

    def resume(self):
        self.executor.copy(self.gates, self.zeros[:5])
        self.go_on()
        return self.result(self.summary, self.levels[2:])
