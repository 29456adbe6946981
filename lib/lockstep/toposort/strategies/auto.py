"""The strategy `auto`: races CPU and GPU on one graph; the first to finish cancels the other.

How fast the GPU sorts depends on the depth, and no cheap feature predicts the depth: graphs of the same numbers of
vertices and arcs have 20 layers or 20,000, and the first layers of a graph are often far wider than all later ones.
While the GPU sorts, one core would idle; it sorts the same graph, which makes a prediction of depth unnecessary:

1. a graph that the CPU sorts in the time of a few launches goes to the CPU;
2. where there are about as many arcs as vertices, a few vertices are sampled: if nearly all lie within 1-1 runs, the
   GPU's strategy is `chains`, whose time does not depend on depth. Otherwise it is `asynchronous` for small graphs of
   at most as many arcs as vertices, whose layers take less time than a barrier, unless hardly any of a few sampled
   vertices is a source: such graphs are trees with few sources and wide layers; and `narrow` for the rest;
3. on small graphs a launch costs as much as the sort. If there are few sources, the CPU begins and measures the widths
   of the levels: it continues while they are narrow, and to the end if the rest, at its measured rate, takes no longer
   than a few launches;
4. else the GPU begins. If the CPU's predicted time is long, the CPU only polls the completion flag for a small part of
   that time: shallow graphs are sorted by then, and sorting would evict from the caches the data that ending needs;
5. then the CPU sorts the same graph. It polls, once a microsecond, a completion flag in pinned memory that the kernel
   sets at its end. When the rest, at the measured rate, takes no longer than the cancellation latency, it sets a
   cancellation flag, and the kernel ends when the CPU does: every few levels one thread copies that flag to shared
   memory asynchronously, since a read of it takes two levels.

The overhead of the race is a launch, and where the CPU is slow a small part of its time. From the second step on it is
one compiled function, `cpu_gpu_race.race`.
"""

import functools
from dataclasses import dataclass

import numpy as np

from lockstep.options import Options

from ..result import TopologicalOrder
from . import competitors, cpu_gpu_race
from .competitors import RacingAsynchronous, RacingChains, RacingNarrow
from .serial import Serial
from .shared import DevicePlan, SortPlan

SMALL = 150_000  # vertices, up to which, with no more arcs than vertices, `asynchronous` is faster on shallow graphs
ROOTS = 128  # sources with arcs at most: expanding more takes the CPU much of the time in which the GPU finishes
WIDTH, SLACK = 8, 64  # mean vertices per level up to which the CPU continues alone; allowance for the first levels
LOOK_US = 1.5  # of sorting between two of the CPU's polls of the completion flag


@dataclass(frozen=True)
class Costs:
    """Cost model of the machine, in microseconds, for race and small graphs.

    Attributes
    ----------
    vertex, push, arc
        Serial Kahn: a vertex read, a vertex queued by an arc (these branches are mostly mispredicted), an arc.
        Measured on an H200's host; within a factor of 2.5 on nearly all graphs that the limits were fitted on.
    launches
        Serial time, in launches, from which the GPU is tried: by the figures above and, where the CPU has begun, also
        at its measured rate.
    brief
        Serial time up to which the CPU measures levels before it launches, and sorts without waiting first.
    patience
        Share of a longer serial time spent polling first.
    farewell
        Cancellation latency, flag set to kernel end.
    """

    vertex: float = 0.003
    push: float = 0.025
    arc: float = 0.0015
    launches: float = 8.0
    brief: float = 1000.0
    patience: float = 0.03
    farewell: float = 12.0

    def serial_us(self, n, m):
        """Predicted time of the serial sort."""
        return n * self.vertex + min(n, m) * self.push + m * self.arc


@functools.cache
def launch_us(executor):
    """Time of a launch of a minimal copy and of the wait for its end, in us: the minimum of eight measurements."""
    words = executor.zeros(1, np.int32), executor.zeros(1, np.int32)

    def once():
        with executor.timer(events=False) as timer:
            executor.copy(*words)
        return timer.wall_ms

    return 1e3 * min(once() for _ in range(8)) if executor.name == "cuda" else 10.0  # the emulator is not timed


@dataclass(frozen=True)
class AutoOptions(Options):
    """Options of `auto`.

    Attributes
    ----------
    eager : bool
        Build all plans beforehand, as an experiment does, so that transfers are not timed; else each is built when it
        is first needed.
    """

    eager: bool = False


class Auto(SortPlan):
    """Races the strategies of CPU and GPU on one graph."""

    name, gpu = "auto", False
    Options = AutoOptions
    costs = Costs()

    @classmethod
    def skip(cls, problem, executor, options):
        return None if executor is None else DevicePlan.skip(problem, executor, options)

    def build(self):
        graph, executor = self.graph, self.executor
        self.cpu = Serial(self.strategy, self.problem)
        self.cpu.build()
        self._plans = {}
        # Decisions that depend on n and m alone are made with the plan, as other strategies choose their grids.
        n, m, costs = graph.n, graph.m, self.costs
        self.serial_us = costs.serial_us(n, m)
        launch = launch_us(executor) if executor is not None else np.inf
        self.by_cpu = self.serial_us < costs.launches * launch
        self.small = Reason("the CPU needs about {:.0f} us, a launch {:.0f}", self.serial_us, launch)
        if executor is None:
            self.small = Reason("no GPU here")
        in_us = n / max(self.serial_us, 1.0)  # vertices that the CPU sorts in a microsecond
        brief = self.serial_us < costs.brief
        self.often = int(np.clip(LOOK_US * in_us, 4, 1024))  # initially; the race measures the time of a vertex
        self.maybe_chains = 0.9 * n < m < 1.1 * n
        self.usual = RacingAsynchronous if m <= n <= SMALL else RacingNarrow
        self.maybe_tree = self.maybe_chains and self.usual is RacingAsynchronous
        self.record = competitors.new(
            executor,
            graph,
            self.cpu.left,
            self.cpu.order,
            sample=self.maybe_chains,
            spread=self.maybe_tree,
            look=brief and m >= 1.1 * n,  # with fewer arcs there are few levels, except in runs
            roots=ROOTS,
            width=WIDTH,
            slack=SLACK,
            rest=min(costs.launches * launch * in_us, n),
            often=self.often,
            span=1e3 * LOOK_US,
            farewell=1e3 * costs.farewell,
            alone=min(1e3 * costs.launches * launch, 1e12),
            patience=0 if brief else 1e3 * costs.patience * self.serial_us,
        )
        self.address = self.record.ctypes.data
        if self.options.eager:
            self.warm()

    @property
    def kinds(self):
        """The GPU's strategies, in the order of the record's competitors."""
        return self.usual, RacingChains, RacingNarrow

    def plan(self, kind):
        if kind not in self._plans:
            self._plans[kind] = plan = kind(self.strategy, self.problem, self.executor)
            plan.build()
            plan.reset()
            self.enter(plan)
        return self._plans[kind]

    def enter(self, plan):
        """Register the plan's launches and flags in the record."""
        steps = plan.steps if self.executor.name == "cuda" else ()
        number = self.kinds.index(type(plan))
        competitors.enter(self.record, number, plan.race, [step.record() for step in steps])

    def warm(self):
        """Build all plans that the race may launch."""
        if not self.by_cpu:
            for kind, may_be in zip(self.kinds, (True, self.maybe_chains, self.maybe_tree), strict=True):
                if may_be:
                    self.plan(kind)

    def reset(self):
        for plan in self._plans.values():
            plan.reset()
            self.enter(plan)  # the stream may be another one by now
        self.cpu.reset()
        self.record[cpu_gpu_race.STATE] = 0

    @property
    def timed_on(self):
        """The executor that times a run; None, as for the CPU's strategies, if size alone chooses the CPU."""
        return None if self.by_cpu and self.executor is not None and self.executor.name == "cuda" else self.executor

    def run(self):
        if self.by_cpu:
            result = self.cpu.run()
            result.stats["reason"] = self.small
            return result
        answer = cpu_gpu_race.race(self.address)
        if answer & 7 == cpu_gpu_race.ALONE:
            return self.sorted_by_cpu(answer >> 3, Reason(CPU_ALONE, self.graph.n))
        # The GPU begins. While it sorts, Python builds the result object, which waits for the GPU only on access.
        gpu = self.plan(self.kinds[self.record["chosen"]])
        if answer & 7 == cpu_gpu_race.TO_LAUNCH:
            gpu.launch_all()
        else:
            self.executor.counts["launches"] += len(gpu.steps)  # not counted yet
        why = WHY[self.record["chosen"]]
        reason = Reason(GPU_FIRST, why, gpu.name, 0, self.graph.n)
        result = gpu.outcome()
        result.stats["reason"] = reason
        answer = cpu_gpu_race.race(self.address)
        if answer & 7 == cpu_gpu_race.BY_GPU:
            reason.numbers[2] = answer >> 3
            return result
        if not self.record["ended"]:
            gpu.race.end()
        return self.sorted_by_cpu(answer >> 3, Reason(CPU_FIRST, why, gpu.name))

    def sorted_by_cpu(self, count, reason):
        return TopologicalOrder(self.graph, self.cpu.order[:count], self.cpu.name, stats={"reason": reason})


WHY = (  # for each of the GPU's strategies
    "",
    "nearly all of a few vertices sampled lie within 1-1 runs; ",
    "none of a few vertices sampled is a source; ",
)
CPU_ALONE = "few of {0} vertices begin; few are ready at a time, or the CPU is quick with them: nothing to launch for"
CPU_FIRST = "{0}CPU and {1} both began, and the CPU was done first"
GPU_FIRST = "{0}CPU and {1} both began, and {1} was done when the CPU had sorted {2} of {3} vertices"


class Reason:
    """Why a strategy was chosen. Formatted on access, since formatting takes longer than sorting some graphs."""

    def __init__(self, text, *numbers):
        self.text, self.numbers = text, list(numbers)

    def __str__(self):
        return self.text.format(*self.numbers)

    __repr__ = __str__
