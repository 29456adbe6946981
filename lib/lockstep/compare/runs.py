"""One run of each study's strategies, built on the studies' public names."""

import time
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from lockstep.graphs import Graph, GraphError

COUNTS = ("launches", "readbacks", "barriers", "grid_barriers", "atomics")


@dataclass
class Run:
    """A strategy made ready: what is done before each run, the run, and the check of its result."""

    prepare: object
    run: object
    verify: object


def _toposort(graph, strategy, executor, options):
    from lockstep.toposort import verify

    plan = strategy.plan(graph, executor)
    if hasattr(plan, "warm"):
        plan.warm()
    # The order stays where it was made until it is verified: its way back is no part of the time.
    return Run(plan.prepare, plan.run, lambda result: verify(result, graph))


def _sssp(graph, strategy, executor, options):
    from lockstep.sssp import Problem, verify
    from lockstep.sssp.problem import DistanceOverflow

    source = options["source"]
    plan = strategy.plan(Problem(graph), executor)
    try:
        plan.run(source)
    except DistanceOverflow:  # as shortest_paths does: whole numbers as long as they suffice
        plan = strategy.plan(Problem(graph, wide=True), executor)
    return Run(lambda: None, lambda: plan.run(source), lambda result: verify(result, graph, strategy.exact))


def _coloring(graph, strategy, executor, options):
    from lockstep.coloring import verify

    plan = strategy.plan(graph, executor)
    return Run(plan.prepare, plan.run, lambda result: verify(result, graph))


def _sgd(ratings, strategy, executor, options):
    from lockstep.sgd import Problem

    plan = strategy.plan(Problem(ratings, options["rank"], 0.005, 0.02), executor)

    def verify(_):
        plan.check_sweep()
        return "invariant" if strategy.exact else "not-applicable"

    return Run(plan.reset, plan.sweep, verify)


def _swarm(pack, strategy, executor, options):
    from lockstep.swarm import Engine
    from lockstep.swarm.cases import Case

    measure = options["measure"]
    engine = Engine(measure, executor, strategy.name)
    task = engine.prepare(pack)
    case = Case("the batch", pack)
    return Run(lambda: None, task.run, lambda result: case.check(measure, engine.options, result))


READY = {"toposort": _toposort, "sssp": _sssp, "coloring": _coloring, "sgd": _sgd, "swarm": _swarm}


def measure(package, graph, name, executor, rounds, seconds, options):
    """Time a strategy, or count what it does on the hypothetical GPU.

    Parameters
    ----------
    package, name : str
        Study and strategy.
    graph : Graph or Ratings
    executor : Executor or None
        Where strategies with kernels run.
    rounds : int
        Timed runs after the first, of which the median counts.
    seconds : float
        No further round begins after so long.
    options : mapping

    Returns
    -------
    dict
        ms (None on the hypothetical GPU), the counts of one run, verified.
    """
    strategy = import_module(f"lockstep.{package}").STRATEGIES[name]
    gpu = strategy.gpu
    machine = executor if gpu or name == "auto" and executor is not None and executor.name == "cuda" else None
    ready = READY[package](graph, strategy, machine, {**options, "strategy": name})
    begin = time.perf_counter()
    ready.prepare()
    if machine is not None:
        machine.reset_counts()
    result = ready.run()
    if machine is not None:
        machine.synchronize()
    counts = {key: int(machine.counts[key]) for key in COUNTS} if machine is not None else {}
    if machine is not None:
        counts["launches"] += int(machine.counts["graph_launches"])
    if hasattr(result, "colors"):
        counts["colors"] = int(result.count)  # a coloring's time says nothing without them
    verified = ready.verify(result)
    times = []
    if machine is None or machine.name == "cuda":
        while len(times) < rounds and (not times or time.perf_counter() - begin < seconds):
            ready.prepare()
            if machine is not None:
                machine.synchronize()
            start = time.perf_counter()
            ready.run()
            if machine is not None:
                machine.synchronize()
            times.append((time.perf_counter() - start) * 1e3)
    return {"ms": float(np.median(times)) if times else None, "verified": verified, **counts}


def suited(package, graph):
    """The input as a study takes it; the study's own error where it cannot."""
    if package == "sgd":
        from lockstep.sgd import Ratings

        return Ratings.of(graph)
    if package == "swarm":
        from lockstep.swarm import Pack

        pack = Pack.of(graph)
        if not len(pack):
            raise GraphError("the batch holds no graph: there is nothing to compare")
        return pack
    graph = Graph.of(graph)
    if graph.n == 0:
        raise GraphError(f"{graph.name or 'the graph'} has no vertices: there is nothing to compare")
    if package == "toposort":
        from lockstep.toposort import topological_sort

        topological_sort(graph, strategy="serial")  # its error says what is wrong with the graph
    if package == "coloring":
        from lockstep.coloring.neighbors import neighbors

        graph = neighbors(graph, warn=False)[0]
    return graph
