"""Measurements of study 3: kinds of cells of a parameter file (see `lockstep.evidence.parts`; graphs in `cases`).

    time    all strategies of a graph, interleaved
    shares  the three kernels of the naive strategy, each by itself

Beside the times of each strategy, a graph's own figures are recorded under the name (graph): depth in layers,
nodes, edges, and on a GPU the milliseconds of its transfer, which no strategy's time includes.
"""

import functools
import itertools
import warnings

import numpy as np

from lockstep.evidence import measuring, parts
from lockstep.graphs import GraphWarning
from lockstep.machine.bench import SOURCE as COSTS
from lockstep.provenance import build

from ..problem import Problem
from ..strategies.shared import KERNELS
from ..strategies.table import STRATEGIES
from .cases import case

STUDY = "3-toposort-depth"
SHARES = ("enqueue", "dequeue", "reset")
LAYERS = 200  # whose kernels are timed singly; layers of disjoint paths are alike
LEAD_CYCLES = 100_000  # of device work queued first: longer than Python takes for a launch and two events


def candidates(labels, dataset, problem, executor, place=0, events=True):
    """Candidates of strategies on a graph."""
    return measuring.candidates(
        STRATEGIES, labels, problem, executor, lambda label: build(STUDY, label, dataset), before=empty_launch,
        place=place, events=events,
    )  # fmt: skip


def empty_launch(plan):
    """An empty launch, run before each timed run that launches on a GPU.

    It loads the driver's code into the CPU caches, as the in-degrees of a serial sort are cached. Verification of the
    previous run evicts that code; reloading it takes 20 to 40 us on an H200's host, as long as the GPU
    needs to sort a million vertices with few arcs.
    """
    return _ready(plan.executor) if plan.executor.name == "cuda" else None


@functools.cache
def _ready(executor):
    """Launch a minimal kernel, ordinary and cooperative, and synchronize as in a timed run."""
    reset, word = executor.load(KERNELS / "naive.cu")["reset"], executor.zeros(1, np.int32)
    launches = [reset.bind(1, 1, queue_size=word, cooperative=cooperative) for cooperative in (False, True)]

    def ready():
        for launch in launches:
            with executor.timer():
                launch()

    return ready


def _time(study, part, cell, executor, *, most_levels=None, warmup=True, events=True, together=False):
    """All strategies, except those whose `most_levels` the graph's depth exceeds, which bounds run times.

    For the other options see `Study.measure`, and of `events` the executor's timer.
    """
    dataset, problem, parameters = _graph(study, part, cell, executor)
    most = most_levels or {}
    labels = [label for label in cell.strategies if problem.depth <= most.get(label, problem.depth)]
    chosen = candidates(labels, dataset, problem, executor, cell.place, events)
    if chosen:
        study.measure(part, cell.experiment, dataset, chosen, parameters=parameters, rounds=cell.rounds, warmup=warmup,
                      together=together)  # fmt: skip
    yield f"{_told(cell, dataset, problem)}, {len(chosen)} strategies"


def _shares(study, part, cell, executor):
    """The three kernels of the naive strategy. Only a GPU has such times."""
    dataset, problem, parameters = _graph(study, part, cell, executor)
    if executor is None or executor.name != "cuda":
        return
    ticks = executor.zeros(1, np.int64)
    lead = executor.load(COSTS)["count_cycles"].bind(1, 32, passed=ticks, cycles=np.int64(LEAD_CYCLES))
    for round_index in range(-1, cell.rounds):  # the first, which compiles, does not count
        spent = kernel_times(problem, executor, lead)
        values = {f"{kernel}_ms": (spent[kernel], "ms") for kernel in SHARES}
        if round_index >= 0:
            study.count(part, cell.experiment, dataset, "naive", values, kernel=build(STUDY, "naive", dataset),
                        parameters={**parameters, "timed": "kernels"}, round=round_index)  # fmt: skip
    yield f"{_told(cell, dataset, problem)}, kernels one by one"


KINDS = {"time": _time, "shares": _shares}
measure = functools.partial(parts.measure, KINDS)


def _graph(study, part, cell, executor):
    """A graph's name, the problem set on it and the parameters of its rows; its own figures are recorded."""
    dataset, make, parameters = case(cell)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)  # loops dropped on the way to a DAG
        problem = Problem.of(make())
    graph = problem.graph
    figures = {"depth": (problem.depth, "layers"), "nodes": (graph.n, "1"), "edges": (graph.m, "1")}
    where = {"kernel": build(STUDY, "(graph)", dataset), "parameters": parameters}
    study.count(part, cell.experiment, dataset, "(graph)", figures, **where)
    if executor is not None and executor.name == "cuda":
        transfer = {"transfer": (_transfer(graph, executor), "ms")}
        study.count(part, cell.experiment, dataset, "(graph)", transfer, **where)
    return dataset, problem, parameters


def _told(cell, dataset, problem):
    graph = problem.graph
    return f"{cell.experiment} {dataset}: {graph.n:,} vertices, {graph.m:,} arcs, {problem.depth:,} layers"


def _transfer(graph, executor):
    """Milliseconds that bring a graph and its in-degrees to the GPU (from ordinary, unpinned memory)."""
    arrays = (graph.offsets.astype(np.int32), graph.targets, graph.in_degrees())
    executor.array(arrays[0])
    with executor.timer() as timer:
        copies = [executor.array(a) for a in arrays]
    del copies
    return timer.wall_ms


def kernel_times(problem, executor, lead=None, layers=LAYERS):
    """Device milliseconds of each of the naive strategy's kernels, over the first layers of a graph.

    Each launch is queued behind `lead`, which keeps the device busy, so that launch latency is not
    included: it dominates a launch and is the same for all three kernels.
    """
    plan, spent = STRATEGIES["naive"].plan_for(problem, executor), dict.fromkeys(SHARES, 0.0)

    def timed(kernel):
        launch = getattr(plan, f"launch_{kernel}")

        def run(*arguments):
            spent[kernel] += executor.device_ms(lambda: launch(*arguments), lead)

        setattr(plan, f"launch_{kernel}", run)

    for kernel in SHARES:
        timed(kernel)
    plan.reset()
    for _ in itertools.islice(plan.launches(), len(SHARES) * layers):
        pass
    return spent
