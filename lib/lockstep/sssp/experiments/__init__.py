"""Measurements of study 2: kinds of cells of a parameter file (see `lockstep.evidence.parts`; graphs in `cases`).

    time     all strategies from one source, interleaved
    delta    the same at each bucket width
    sources  wrong vertices after runs from many sources
    degrees  degrees of a graph, as the paper prints them
    race     wrong distances over fuzzed schedules, on the emulator

`weights` and `arcs` of a cell specify how its graphs are read.
"""

import concurrent.futures
import functools

import numpy as np

from lockstep.choose.features import near_share
from lockstep.evidence import parts
from lockstep.evidence.recording import canonical
from lockstep.plan import CPU, Skip
from lockstep.provenance import build

from ..oracle import _open, hops
from ..strategies.table import STRATEGIES
from . import cases, race
from .cases import STUDY, Prepared


def _time(study, part, cell, executor, *, weights="random", arcs="both"):
    """Time of each label from the same source."""
    prepared, parameters = _prepared(cell, executor, weights, arcs)
    candidates = prepared.candidates(cell.strategies, cases.sources(prepared, 1)[0], place=cell.place)
    if candidates:
        study.measure(part, cell.experiment, prepared.dataset, candidates, parameters=parameters, rounds=cell.rounds)
    yield from _told(cell, prepared)


def _delta(study, part, cell, executor, *, deltas, weights="random", arcs="both"):
    """Time of each label at each bucket width, in multiples of the mean weight; 0 stands for one bucket."""
    prepared, parameters = _prepared(cell, executor, weights, arcs)
    source = cases.sources(prepared, 1)[0]
    for delta in deltas:
        candidates = prepared.candidates(cell.strategies, source, delta or np.inf, cell.place)
        if candidates:
            study.measure(part, cell.experiment, prepared.dataset, candidates,
                          parameters={**parameters, "delta": delta}, rounds=cell.rounds)  # fmt: skip
    yield from _told(cell, prepared)


def _sources(study, part, cell, executor, *, sources, weights="random", arcs="both"):
    """Wrong vertices of each label, one run from each of many sources; for exact labels the check is the result."""
    if not study.selected(part):
        return
    prepared, parameters = _prepared(cell, executor, weights, arcs)
    picked = cases.sources(prepared, sources)
    parameters = {**parameters, "sources": len(picked)}
    done = study.rows()
    done = done[(done["experiment"] == cell.experiment) & (done["dataset"] == prepared.dataset)]
    done = done[(done["parameters"] == canonical(parameters)) & (done["metric"] == "all_right")]
    known = dict(zip(done["kernel"], done["value"], strict=True))
    needed = None
    for label in cell.strategies:
        kernel = build(STUDY, label, prepared.dataset)
        if kernel not in known:
            strategy, options = STRATEGIES.resolve(label)
            if strategy.gpu and prepared.executor is None:
                continue
            machine = None if strategy.family == CPU else prepared.executor
            try:
                plan = strategy.plan_for(prepared.problem, machine, **options)
            except Skip as error:
                prepared.left_out[label] = error
                continue
            values, verified = _errors(plan, picked, strategy.exact)
            study.count(part, cell.experiment, prepared.dataset, label, values, kernel=kernel,
                        parameters=parameters, verified=verified)  # fmt: skip
            known[kernel] = values["all_right"][0]
        if label.startswith("semaphores-") and needed is None and known[kernel]:
            needed = int(label.removeprefix("semaphores-"))
    longest = int(hops(prepared.graph, picked[0], prepared.problem.checker.exact(picked[0])).max())
    figures = {"nodes": (prepared.graph.n, "1"), "arcs": (prepared.graph.m, "1"), "hops": (longest, "arcs"),
               "degree": (prepared.graph.m / prepared.graph.n, "1")}  # fmt: skip
    if needed is not None:
        figures["layers_needed"] = (needed, "layers")
    study.count(part, cell.experiment, prepared.dataset, "(graph)", figures,
                kernel=build(STUDY, "(graph)", prepared.dataset), parameters=parameters)  # fmt: skip
    yield from _told(cell, prepared)


def _errors(plan, picked, exact):
    """Error statistics of runs from many sources, and the verification status."""
    problem, sweeps, checks = plan.problem, [], []
    graph, checker = problem.graph, problem.checker
    weights = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)  # once, not for each run

    def check(result):
        if exact:
            checker(result)
        errors = checker.errors(result)
        left = _open(graph.offsets, graph.targets, weights, result.distances) if errors.wrong else 0
        return errors.wrong, errors.share, errors.largest, left

    with concurrent.futures.ThreadPoolExecutor() as pool:  # a check takes longer than a run on a GPU
        for source in picked:
            plan.problem = problem.at(source)
            plan.reset()
            result = plan.run().fetch()
            sweeps.append(result.stats.get("sweeps", 0))
            checks.append(pool.submit(check, result))
        wrong, shares, largest, still_open = zip(*(one.result() for one in checks), strict=True)
    values = {
        "all_right": (int(not any(wrong)), "1"),
        "sources": (len(picked), "1"),
        "wrong_sources": (int(np.count_nonzero(wrong)), "1"),
        "wrong_vertices": (float(np.mean(wrong)), "vertices"),
        "open_vertices": (float(np.mean(still_open)), "vertices"),
        "most_wrong": (max(wrong), "vertices"),
        "wrong_share": (float(np.mean(shares)), "1"),
        "largest_error": (min(max(largest), 1e9), "1"),  # not reached at all: 10^9
        "sweeps": (float(np.mean(sweeps)), "1"),
    }
    return values, "measured-wrong" if any(wrong) else "exact"


def _degrees(study, part, cell, executor, *, weights="random", arcs="both", histogram=False):
    """Degree statistics as the paper prints them; if asked for, with the histogram of its Figures IV and VI."""
    prepared, parameters = _prepared(cell, executor, weights, arcs)
    graph = prepared.graph
    degrees = graph.out_degrees()
    values = {
        "vertices": (graph.n, "vertices"),
        "stored_arcs": (graph.m, "arcs"),
        "edges": (graph.edges(once=True)[0].size, "edges"),
        "largest_degree": (int(degrees.max()), "1"),
        "smallest_degree": (int(degrees.min()), "1"),
        "arcs_a_vertex": (round(graph.m / graph.n, 2), "1"),
        "edges_a_vertex": (round(graph.edges(once=True)[0].size / graph.n, 2), "1"),
        "near_share": (near_share(graph), "1"),
    }
    if histogram:
        values |= {f"degree_{d}": (int(c), "vertices") for d, c in enumerate(np.bincount(degrees)) if c}
    study.count(part, cell.experiment, prepared.dataset, "(graph)", values,
                kernel=build(STUDY, "(graph)", prepared.dataset), parameters=parameters)  # fmt: skip
    yield from _told(cell, prepared)


def _race(study, part, cell, executor, *, seeds):
    """Number of fuzzed schedules with wrong distances, always on the emulator."""
    graph = race.race_graph()
    for label, count in seeds.items():
        kernel = build(STUDY, f"race-{label}", graph.name)
        strategy, options = STRATEGIES.resolve(label)
        parameters = {"seeds": count}
        if not study.selected(part):
            continue
        known = study.rows()
        if ((known["strategy"] == f"race-{label}") & (known["kernel"] == kernel) & (known["value"] == count)).any():
            continue
        wrong, first = race.count_wrong(graph, range(count), strategy.name, **options)
        values = {
            "seeds": (count, "1"),
            "wrong_seeds": (wrong, "1"),
            "first_wrong_seed": (-1 if first is None else first, "1"),
        }
        study.count(part, cell.experiment, graph.name, f"race-{label}", values, kernel=kernel,
                    parameters=parameters, verified="measured-wrong" if wrong else "exact")  # fmt: skip
    yield f"{cell.experiment} {graph.name}"


KINDS = {"time": _time, "delta": _delta, "sources": _sources, "degrees": _degrees, "race": _race}
measure = functools.partial(parts.measure, KINDS)


def _prepared(cell, executor, weights, arcs):
    """The prepared graph of a cell, and the parameters of its rows."""
    prepared, parameters = Prepared(cell.graph, executor, weights, arcs), {"weights": weights, "arcs": arcs}
    if "-" in cell.graph and cell.graph.rpartition("-")[2].isdigit():
        parameters["nodes"] = prepared.graph.n
    return prepared, parameters


def _told(cell, prepared):
    """Messages: omitted labels, then the graph's size."""
    graph, told = prepared.graph, f"{cell.experiment} {prepared.dataset}"
    for label, reason in prepared.left_out.items():
        yield f"{told}: {label} is left out: {reason}"
    yield f"{told}: {graph.n:,} vertices, {graph.m:,} arcs"
