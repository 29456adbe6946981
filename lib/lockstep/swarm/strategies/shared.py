"""Base classes of all strategies on the host: methods, and tasks, i.e. packs prepared for a machine.

`Method.prepare(pack)` plans, allocates and copies kernel arguments; `Task.run()` only launches (or computes, on
the CPU) and may be repeated. Neither synchronizes with the device, so that loading the next pack can overlap.
"""

from pathlib import Path

import numpy as np

from lockstep import plan
from lockstep.graphs import GraphError

KERNELS = Path(__file__).parent
_int = np.int32


class Task:
    """A pack made ready; `run()` computes and returns Values."""

    launches = 0  # of kernels, for each run

    def run(self):
        raise NotImplementedError


class Method:
    """A strategy for one measure on one machine.

    Parameters
    ----------
    measure : Measure
    executor : Executor or None
        None for strategies of the CPU.
    options : dict
        Of the measure, with all defaults filled in.
    """

    name = ""
    gpu = True
    tasks: dict = {}  # measure -> Task
    weighted: dict = {}  # the same for graphs with lengths
    defaults: dict = {}  # of the options of the strategy itself

    def __init__(self, measure, executor, options, **strategy_options):
        unknown = set(strategy_options) - set(self.defaults)
        if unknown:
            raise ValueError(
                f"strategy {self.name!r} has no option {sorted(unknown)[0]!r}"
                + (f"; it has {', '.join(self.defaults)}" if self.defaults else "")
            )
        self.measure, self.executor, self.options = measure, executor, options
        self.strategy_options = {**self.defaults, **strategy_options}

    def prepare(self, pack, weighted=False) -> Task:
        """The pack made ready; `weighted`: its weights are lengths."""
        return (self.weighted if weighted else self.tasks)[self.measure.name](self, pack)


class BatchPlan(plan.Plan):
    """The task of a method for the pack of a problem; its run returns Values."""

    method = Method

    @classmethod
    def skip(cls, problem, executor, options):
        if problem.measure not in cls.method.tasks:
            return f"{cls.method.name} does not compute {problem.measure}; it computes {', '.join(cls.method.tasks)}"
        return None

    def build(self):
        from .engine import Engine  # which finds strategies in the table

        engine = Engine(self.problem.measure, self.executor, self.strategy.name, vars(self.options))
        self.task = engine.prepare(self.problem.pack)

    def run(self):
        return self.task.run()


class DeviceTask(Task):
    """Launches, in order; a step is a function without arguments."""

    def __init__(self, method, pack):
        # Kernels count the ids of a graph's padded rows with an int.
        if np.max(pack.host.m + 3 * pack.host.n.astype(np.int64), initial=0) >= plan.LIMIT:
            raise GraphError(
                f"the pack has a graph of up to {pack.host.n.max():,} vertices and {pack.host.m.max():,} stored arcs; "
                "the GPU strategies take graphs with arcs and three times their vertices below "
                f"{plan.LIMIT:,} together: use strategy='cpu'"
            )
        self.executor, self.pack, self.measure = method.executor, pack, method.measure
        self.method, self.options = method, method.options
        self.graphs = len(pack)
        self.starts = np.asarray(pack.host.vertex_start, np.int64)
        self.total = int(self.starts[-1])
        self.steps, self.kept = [], []
        self.cleared, self.launched = [], []  # the same steps, apart

    def module(self, file, **defines):
        """The compiled module, cached per method: reading the file for every pack would take longer than planning."""
        defines.setdefault("ARCS32", int(self.pack.targets.dtype != np.uint16))
        known = vars(self.method).setdefault("_modules", {})
        key = (file, *sorted(defines.items()))
        if key not in known:
            known[key] = self.executor.load(KERNELS / file, defines)
        return known[key]

    def words(self, size, dtype):
        """A device array of at least one element."""
        return self.executor.empty(max(int(size), 1), dtype)

    def send(self, values):
        """A device copy of a small array, from page-locked memory, so that the copy is asynchronous."""
        values = np.ascontiguousarray(values)
        if values.size == 0:
            return self.words(1, values.dtype)
        pinned = self.executor.pinned(values.shape, values.dtype)
        pinned[...] = values
        found = self.executor.empty(values.shape, values.dtype)
        self.executor.copy(found, pinned)
        self.kept.append(pinned)
        return found

    def zero(self, array):
        """A step that clears an array."""
        self.cleared.append(lambda: array.fill(0))
        self.steps.append(self.cleared[-1])

    def launch(self, kernel, grid, block, shared=0, **values):
        self.launched.append(kernel.bind(grid, block, shared=shared, **values))
        self.steps.append(self.launched[-1])
        self.launches += 1

    def warps(self, count):
        """A grid whose warps loop over `count` work items."""
        threads = 64 if self.executor.name == "host" else 256
        blocks = max(1, min(-(-int(count) * 32 // threads), 16 * self.executor.multiprocessors))
        return blocks, threads

    def transposed(self):
        """offsets, targets, weights of the pack transposed; the pack's own if it is undirected."""
        pack = self.pack
        if not pack.directed:
            return pack.offsets, pack.targets, pack.weights
        offsets = self.words(pack.offsets.size, np.int32)
        targets = self.words(pack.targets.size, pack.targets.dtype)
        weights = None if pack.weights is None else self.words(pack.weights.size, np.float32)
        cursor = self.words(self.total, np.int32)
        self.zero(offsets)
        kernel = self.module("turn.cu")["turn"]
        self.launch(
            kernel, *self.warps(self.graphs), vertex_start=pack.vertex_start, arc_start=pack.arc_start,
            graphs=_int(self.graphs), offsets=pack.offsets, targets=self.arcs(), weights=pack.weights,
            in_offsets=offsets, in_targets=targets, in_weights=weights, cursor=cursor,
        )  # fmt: skip
        return offsets, targets, weights

    def arcs(self):
        """The pack's targets, at least one word: kernels need a valid address."""
        return self.pack.targets if self.pack.targets.size else self.words(1, self.pack.targets.dtype)

    def run(self):
        for step in self.steps:
            step()
        return self.values()

    def values(self):
        raise NotImplementedError
