"""The sweeps that the notebook runs, as data: which ratings, which strategies, under which labels.

A parameter file lists `cells` for each part; a cell names an experiment, a kind of graph and lists; each
combination is one set of ratings, measured by all of the cell's strategies, interleaved.

    {experiment: road, kind: twin, dataset: [CAL, E], strategies: gpu, rank: 16}

A part may say `rounds`, and in `slow` the strategies whose runs there take seconds: those, and the CPU's, have FEW
rounds, and are not run once more to warm up.

Only what the recording lacks is made ready: a strategy whose rows are all there costs nothing. Beside the times stand,
for every strategy, the milliseconds of its preprocessing (see `preparation.built`: compilation is left out, a quick one
is repeated) and its counts; and, for every graph, its own figures under the name (graph). Under
(best online), (best offline) and (best) stand the times of the strategy that was best in the even rounds, taken from
the odd rounds: chosen on one half, judged on the other. Under (predicted) stand those of the strategy that the
calibrated model named beforehand.
"""

import functools

import numpy as np

from lockstep.evidence import jobs as parts
from lockstep.graphs import DatasetMissing
from lockstep.plan import Skip
from lockstep.provenance import build

from ..problem import Problem
from ..strategies import model
from ..strategies.table import STRATEGIES
from . import counted, derived, twins
from .cases import Last, label, problem_of, star
from .preparation import candidate

STUDY = "1-sgd-schedules"
FEW = 3  # rounds of what takes long


def cells(block, common=None):
    """The cells of a part, one for each combination of what they list; a size is itself a list."""
    for cell in parts.cells(block, common):
        keys = [key for key in cell if key not in ("strategies", "size")]
        if "size" in cell:
            keys.append("size")
            cell["size"] = cell["size"] if isinstance(cell["size"][0], list) else [cell["size"]]
        yield from parts.combinations(cell, keys)


# -- measuring --


def measure(study, part, executor, say=print):
    """Measure what this machine's recording lacks of a part; see `lockstep.evidence.parts.measure`."""
    return parts.measure(_jobs, study, part, executor, say, DatasetMissing)


def _jobs(study, part, executor, say):
    block = study.config["parts"][part]
    common = study.config.get("common", {})
    if block.get("worked"):
        counted.example(study, part)
    if block.get("atomics"):
        counted.atomics(study, part, block["atomics"])
    if block.get("residency") and executor is not None and executor.name == "cuda":
        counted.residency(study, part, executor)
    last = Last()
    if block.get("calibrate") and executor is not None:
        _costs(study, part, executor, common)
        calibration = {"cells": common.get("calibration", []), "rounds": FEW}
        for cell in cells(calibration, common):
            yield label(cell["kind"], cell), _cell(study, part, cell, executor, calibration, common, say, last)
    for cell in cells(block, common):
        yield label(cell["kind"], cell), _cell(study, part, cell, executor, block, common, say, last)


@functools.cache
def _compiled(name, executor, rank, storage):
    """Run a strategy on small graphs, so that no preprocessing is charged with compilation."""
    strategy, own = STRATEGIES.resolve(name)
    for graph in ("POKEC", "CAL"):
        small = problem_of(twins.twin(graph, factor=4000), rank, storage)
        try:
            plan = strategy.plan_for(small, executor if strategy.gpu else None, **own)
        except Skip:  # not made for this kind of graph
            continue
        plan.reset()
        plan.run()
        plan.rmse()


def _cell(study, part, cell, executor, block, common, say, last):
    kind, experiment, rank = cell["kind"], cell["experiment"], int(cell.get("rank", 16))
    on_gpu = executor is not None and executor.name == "cuda"
    names = [name for name in cell["strategies"] if executor is not None or not _kernels(name)]
    dataset = label(kind, cell)
    options = {key: cell[key] for key in ("lock_delay", "barrier_delay") if key in cell}
    storage = cell.get("storage", "float32")
    parameters = {"rank": rank, **options, **({} if storage == "float32" else {"storage": storage})}
    where = (part, experiment, dataset)
    most = common.get("largest_degree", {})
    wanted = names
    if on_gpu and experiment != "sweeps":  # large graphs are not made for nothing, nor are plans
        wanted = _lacking(study, where, names, parameters, cell, block)
        if not wanted:
            if cell.get("best"):  # a run may have stopped before; or what it follows from was measured by another part
                derived.record(study, where, parameters)
            return
    for name in wanted if on_gpu else ():
        _compiled(name, executor, rank, storage)
    ratings = last.ratings(kind, cell, executor if on_gpu else None)
    _graph(study, where, ratings, parameters)
    if experiment == "sweeps":
        counted.sweeps(study, where, ratings, names, executor, parameters, int(cell["sweeps"]))
    else:
        problem = last.of_rank(rank, storage)
        chosen = []
        for name in wanted:
            if ratings.largest_degree() > most.get(name, np.inf):
                say(f"  {name} is left out: a node of {ratings.largest_degree():,} ratings")
                continue
            extra = {key: value for key, value in options.items() if value and _kernels(name)}  # 0: as it is
            try:
                chosen.append(candidate(name, problem, executor, build(STUDY, name, where[2]), **extra))
            except Skip as reason:
                say(f"  {name} is left out: {reason}")
        for one in chosen:
            if _long(one.strategy, block) and on_gpu:
                one.rounds, one.warmup = FEW, False
        study.measure(*where, chosen, parameters=parameters, rounds=cell["rounds"])
        if cell.get("best"):
            derived.record(study, where, parameters)
        del chosen, problem
    yield (
        f"{experiment} {dataset}: {ratings.n_users:,} x {ratings.n_items:,}, {ratings.m:,} ratings, largest degree "
        f"{ratings.largest_degree():,}, {len(wanted)} of {len(names)} strategies"
    )


def _lacking(study, where, names, parameters, cell, block):
    """The strategies of which the recording lacks rounds of a cell."""
    few = min(cell["rounds"], FEW)
    needed = {name: few if _long(name, block) else cell["rounds"] for name in names}
    there = _rounds(study, where, parameters)
    return [name for name in names if there.get(name, 0) < needed[name]]


def _rounds(study, where, parameters):
    """{strategy: rounds recorded of its present build} of a cell."""
    walls = derived.rows_of(study, where, parameters, "wall")
    now = {name: build(STUDY, name, where[2]) for name in set(walls["strategy"])}
    fresh = [kernel == now[name] for name, kernel in zip(walls["strategy"], walls["kernel"], strict=True)]
    return walls[np.array(fresh, bool)].groupby("strategy")["round"].nunique().to_dict()


def _long(name, block):
    """Whether a strategy has few rounds in a part."""
    return name in block.get("slow", ()) or not _kernels(name)


def _kernels(name):
    """Whether a strategy runs kernels."""
    return STRATEGIES.resolve(name)[0].gpu


def _graph(study, where, ratings, parameters):
    users, items = ratings.degrees()
    values = dict(zip(model.FEATURES, model.features(ratings), strict=True))
    values |= {"users": ratings.n_users, "items": ratings.n_items, "user degree": users.max(initial=0),
               "item degree": items.max(initial=0)}  # fmt: skip
    study.count(*where, "(graph)", {key: (float(value), "1") for key, value in values.items()},
                kernel=build(STUDY, "(graph)", where[2]), parameters=parameters)  # fmt: skip


def _costs(study, part, executor, common):
    """p, b and l on a star, where nothing but its critical path happens."""
    edges, rounds = int(common.get("star", 2000)), 8
    on_gpu = executor.name == "cuda"
    lanes = 4 if on_gpu else 1
    one = {"blocks": 1, "threads": lanes, "lanes": lanes}
    everywhere = {"blocks": executor.multiprocessors * (5 if on_gpu else 1)}
    call = ("edge-locked", "edge-locked +one group", {"shuffle": False, **one})
    stars = {
        edges: [
            ("block-diagonal", "block-diagonal +one group", {"rows": 1, "columns": edges, **one}),
            ("agm-edge", "agm-edge +all blocks", everywhere),
            call,
            ("tiles", "tiles", {}),
        ],
        4: [call],
    }
    for size, strategies in stars.items():
        there = _rounds(study, (part, "costs", f"star-{size}"), {"rank": 16})
        problem = Problem(star(size), 16)
        chosen = [
            candidate(name, problem, executor, build(STUDY, label, f"star-{size}"), label, **options)
            for name, label, options in strategies
            if there.get(label, 0) < rounds
        ]
        study.measure(part, "costs", f"star-{size}", chosen, parameters={"rank": 16}, rounds=rounds)
