"""The strategy `auto`: look at the graph, try the GPU for a while, and hand over to the CPU if that will be faster.

How fast the GPU sorts depends on the depth, and no cheap feature tells the depth. So:

1. the serial time is predicted from the numbers of vertices and arcs; a graph that the CPU sorts in less time than a
   launch takes goes to the CPU at once;
2. where there are about as many arcs as vertices, a few vertices are sampled: if nearly all are links of 1-1 runs,
   `chains` is taken, which does not care about depth;
3. else `narrow` runs, but for no more levels than cost a small part of the least that the serial sort may take.
   Most graphs worth sorting on a GPU are done by then. (Where arcs are so few that even a path of all of them would
   be done in time, there is no limit.) Meanwhile the CPU samples arcs: how many of them lead far in memory decides
   the serial time. If the trial is not done, the rest is extrapolated: vertices left over vertices a level in the
   second half of the trial (the first levels of many graphs are far wider than the others), times the time of a
   level so far. Either the kernel is resumed, or the CPU starts anew. So a wrong guess costs a small part, not a
   multiple.
"""

import hashlib
import inspect
import math
import sys
import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from .baselines import Serial
from .plan import Plan
from .result import TopologicalOrder
from .strategies import Chains, Narrow

SAMPLES = 32


@dataclass(frozen=True)
class Costs:
    """What the choice believes about the machine, in microseconds; the defaults were measured on an H200 and its host.

    Attributes
    ----------
    launch
        A cooperative launch, waited for.
    level, level_degree
        A level of `narrow`, and what it costs more for each arc of a mean vertex (up to 8).
    chains, chains_vertex
        `chains` on a small graph, and more for each vertex.
    vertex, push, arc
        Serial Kahn: a vertex looked at, a vertex queued by an arc, an arc.
    far, near
        What an arc costs more for each doubling of the vertices beyond `near` (what a core's second-level cache holds).
    """

    launch: float = 25.0
    level: float = 0.3
    level_degree: float = 0.25
    chains: float = 80.0
    chains_vertex: float = 0.00013
    vertex: float = 0.0012
    push: float = 0.004
    arc: float = 0.0023
    far: float = 0.004
    near: int = 100_000

    def serial(self, n, m, share=1.0):
        """Predicted time of the serial sort, if that share of the arcs leads far."""
        far = self.far * math.log2(n / self.near) * share if n > self.near else 0.0
        return n * self.vertex + min(n, m) * self.push + m * (self.arc + far)


@njit(cache=True)
def count_links(offsets, targets, in_degrees, samples):
    """Of some vertices drawn by a hash: how many begin a link of a 1-1 run."""
    links = 0
    for i in range(samples):
        v = (i * 0x9E3779B1 + 0x7F4A7C15) % in_degrees.size
        links += offsets[v + 1] - offsets[v] == 1 and in_degrees[targets[offsets[v]]] == 1
    return links


@njit(cache=True)
def share_far(offsets, targets, samples, near):
    """Of some vertices' first arcs, the share whose ends are more than `near` vertices apart."""
    arcs = far = 0
    for i in range(samples):
        v = (i * 0x9E3779B1 + 0x7F4A7C15) % (offsets.size - 1)
        if offsets[v + 1] > offsets[v]:
            arcs += 1
            far += abs(targets[offsets[v]] - v) > near
    return far / arcs if arcs else 1.0


class Auto(Plan):
    """Chooses among the strategies of CPU and GPU for one graph.

    `warm` makes all plans ready beforehand, as an experiment does, so that transfers are not timed; else each is made
    when it is first needed.
    """

    name = "auto"
    costs = Costs()
    stake = 0.06  # of the predicted serial time that a trial may cost
    least = 24  # levels: fewer would not tell how wide the graph is

    def __init__(self, graph, executor=None):
        super().__init__(graph, executor)
        self.degrees = graph.in_degrees()
        self._plans = {}
        # What n and m alone decide is decided with the plan, as other strategies choose their grids.
        n, m, cost = graph.n, graph.m, self.costs
        self.serial = cost.serial(n, m, 0.0)
        self.level = cost.level + cost.level_degree * min(m / n, 8)
        self.limit = int(max(self.least, self.stake * self.serial / self.level))
        self.unlimited = m * self.level < self.serial
        self.by_cpu = executor is None or self.serial < 2 * cost.launch
        self.maybe_chains = 0.5 * n < m < 1.2 * n and cost.chains + n * cost.chains_vertex < self.serial

    @classmethod
    def digest(cls):
        parts = (inspect.getsource(sys.modules[__name__]), *(kind.digest() for kind in (Serial, Narrow, Chains)))
        return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]

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
        plan, *reason = self.choose()
        result = plan if isinstance(plan, TopologicalOrder) else plan.run()
        result.stats["reason"] = Reason(*reason)
        return result

    def choose(self):
        """The plan to run, or the result if a trial came to its end; then the reason: a text and its numbers."""
        graph, cost = self.graph, self.costs
        if self.executor is None:
            return self.plan(Serial), "no GPU here"
        if self.by_cpu:
            return self.plan(Serial), "the CPU needs about {:.0f} us, a launch {:.0f}", self.serial, cost.launch
        if self.maybe_chains:
            links = count_links(graph.offsets, graph.targets, self.degrees, SAMPLES)
            if links > 0.9 * SAMPLES:
                return self.plan(Chains), "{} of {} sampled vertices begin links of 1-1 runs", links, SAMPLES
        trial, limit, level = self.plan(Trial), self.limit, self.level
        if self.unlimited:
            return (
                trial,
                "even a path of all {} arcs would be done before the CPU is (about {:.0f} us)",
                graph.m,
                self.serial,
            )
        begin = time.perf_counter()
        trial.go(limit)
        share = share_far(graph.offsets, graph.targets, SAMPLES, cost.near // 2)  # the GPU is at work
        left = trial.unreached()
        spent = (time.perf_counter() - begin) * 1e6
        serial = cost.serial(graph.n, graph.m, share)
        if not left:
            text = "narrow was done within its trial of {} levels (the CPU needs about {:.0f} us)"
            return trial.result(trial.summary, trial.levels[2:]), text, limit, serial
        if self.executor.name == "cuda":  # elsewhere times mean nothing
            level = min(level, max(spent - cost.launch, 0) / limit)
        width = max(1.0, trial.recent_width(limit))
        rest = left / width * level
        text = "after {} levels, lately of {:.1f} vertices, narrow would need {:.0f} us more, the CPU about {:.0f}"
        return trial.resume() if rest < serial else self.plan(Serial), text, limit, width, rest, serial


class Reason:
    """Why a strategy was chosen. Put into words when somebody reads it: that takes longer than some graphs to sort."""

    def __init__(self, text, *numbers):
        self.text, self.numbers = text, numbers

    def __str__(self):
        return self.text.format(*self.numbers)

    __repr__ = __str__


class Trial(Narrow):
    """`narrow` with a limit, and a look at how far it came that costs no transfer of its own."""

    name = "narrow"

    def load(self):
        self.host_outcome = None
        self._outcome = self.counters[4:8]
        if self.executor.name == "cuda":
            # Memory of the host that the kernel writes to: after the launch is waited for, the host just reads it.
            import cupy
            import cupyx

            self.host_outcome = cupyx.zeros_pinned(4, np.int32)
            memory = cupy.cuda.UnownedMemory(self.host_outcome.ctypes.data, 16, self.host_outcome)
            self._outcome = cupy.ndarray(4, np.int32, cupy.cuda.MemoryPointer(memory, 0))
        super().load()
        self._launches = {}
        self._go_on = self.bind_narrow(self.first, self.last, resume=1)

    @property
    def outcome(self):
        return self._outcome

    def go(self, limit):
        """Begin to sort, for at most `limit` levels."""
        if limit not in self._launches:
            self._launches[limit] = self.bind_narrow(self.first, self.last, limit, hot=False)
        self._launches[limit]()

    def unreached(self):
        """Wait; how many vertices were not reached within the limit, 0 if the sort came to its end."""
        if self.host_outcome is None:
            begin, size, _, _ = self.executor.get(self._outcome).tolist()
        else:
            self.executor.synchronize()
            begin, size, _, _ = self.host_outcome.tolist()
        return self.graph.n - begin if size else 0

    def recent_width(self, limit):
        """Vertices a level in the second half of the levels sorted."""
        return float(self.executor.get(self.levels[2 + limit // 2 : 2 + limit]).mean())

    def resume(self):
        self.executor.copy(self.gates, self.zeros[:5])
        self._go_on()
        return self.result(self.summary, self.levels[2:])
