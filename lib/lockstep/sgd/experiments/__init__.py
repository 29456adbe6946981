"""What study 1 measures: kinds of cells of a parameter file (see `lockstep.evidence.parts`; ratings stand in `cases`).

    time           a sweep of all strategies, interleaved
    sweeps         errors sweep by sweep, untimed
    costs          calibration of the cost model, on stars
    paper-example  the paper's worked example, on the emulator
    atomics        atomics an edge, on the emulator, and bounds on the numbers of supersteps
    residency      threads that stay resident, on a GPU

Only plans whose rows are missing from the recording are built. Besides times, the milliseconds of preprocessing
(see `preparation.built`: without compilation; short ones repeated) and the counts of every strategy are recorded;
and, for every graph, its own figures under the name (graph). (best online), (best offline) and (best) hold
the odd-round times of the strategy that was fastest in the even rounds, so selection and evaluation use disjoint
rounds. (predicted, diagonals counted) holds those of the strategy that the calibrated model selected.
"""

import functools

import numpy as np

from lockstep.evidence import parts
from lockstep.plan import Skip
from lockstep.provenance import build

from ..problem import Problem
from ..strategies import model
from ..strategies.table import STRATEGIES
from . import counted, derived, twins
from .cases import Last, label, problem_of, star
from .preparation import candidate

STUDY = "1-sgd-schedules"
FEW = 3  # rounds of slow strategies


LAST = Last()


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


def _time(study, part, cell, executor, *, rank=16, storage="float32", lock_delay=None, barrier_delay=None, slow=(),
          best=False):  # fmt: skip
    """A sweep of all strategies.

    Strategies in `slow`, whose runs take seconds, and CPU strategies have FEW rounds and no warm-up run.
    `lock_delay` and `barrier_delay` are options of strategies with kernels. `best`: rows derived from the cell's are
    recorded as well (`derived`).
    """
    on_gpu, dataset = executor is not None and executor.name == "cuda", label(cell)
    names = [name for name in cell.strategies if executor is not None or not _kernels(name)]
    options = {"lock_delay": lock_delay, "barrier_delay": barrier_delay}
    options = {name: value for name, value in options.items() if value is not None}
    parameters = {"rank": rank, **options, **({} if storage == "float32" else {"storage": storage})}
    where = (part, cell.experiment, dataset)
    wanted = names
    if on_gpu:  # graphs and plans are built only if needed
        wanted = _lacking(study, where, names, parameters, cell.rounds, slow)
        if not wanted:
            if best:  # an earlier run may have stopped here, or another part measured the underlying rows
                derived.record(study, where, parameters)
            return
    for name in wanted if on_gpu else ():
        _compiled(name, executor, rank, storage)
    ratings = LAST.ratings(cell, executor if on_gpu else None)
    _graph(study, where, ratings, parameters)
    problem, chosen = LAST.of_rank(rank, storage), []
    order = -1 if cell.place % 2 else 1  # device addresses depend on the order of allocation
    for name in wanted[::order]:
        extra = {key: value for key, value in options.items() if value and _kernels(name)}  # 0: the default
        try:
            chosen.append(candidate(name, problem, executor, build(STUDY, name, dataset), **extra))
        except Skip as reason:
            yield f"{name} is left out on {dataset}: {reason}"
    for one in chosen:
        if _long(one.strategy, slow) and on_gpu:
            one.rounds, one.warmup = FEW, False
    study.measure(*where, chosen[::order], parameters=parameters, rounds=cell.rounds)
    if best:
        derived.record(study, where, parameters)
    yield f"{_told(cell, dataset, ratings)}, {len(wanted)} of {len(names)} strategies"


def _sweeps(study, part, cell, executor, *, sweeps, rank=16):
    """Errors on train and test after each sweep."""
    dataset, on_gpu = label(cell), executor is not None and executor.name == "cuda"
    ratings = LAST.ratings(cell, executor if on_gpu else None)
    where, parameters = (part, cell.experiment, dataset), {"rank": rank}
    _graph(study, where, ratings, parameters)
    names = [name for name in cell.strategies if executor is not None or not _kernels(name)]
    counted.sweeps(study, where, ratings, names, executor, parameters, sweeps)
    yield _told(cell, dataset, ratings)


def _told(cell, dataset, ratings):
    size = f"{ratings.n_users:,} x {ratings.n_items:,}, {ratings.m:,} ratings"
    return f"{cell.experiment} {dataset}: {size}, largest degree {ratings.largest_degree():,}"


def _lacking(study, where, names, parameters, rounds, slow):
    """The strategies of which the recording lacks rounds of a cell."""
    needed = {name: min(rounds, FEW) if _long(name, slow) else rounds for name in names}
    there = _rounds(study, where, parameters)
    return [name for name in names if there.get(name, 0) < needed[name]]


def _rounds(study, where, parameters):
    """{strategy: rounds recorded of its present build} of a cell."""
    walls = derived.rows_of(study, where, parameters, "wall")
    now = {name: build(STUDY, name, where[2]) for name in set(walls["strategy"])}
    fresh = [kernel == now[name] for name, kernel in zip(walls["strategy"], walls["kernel"], strict=True)]
    return walls[np.array(fresh, bool)].groupby("strategy")["round"].nunique().to_dict()


def _long(name, slow):
    """Whether a strategy has few rounds."""
    return name in slow or not _kernels(name)


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


def _costs(study, part, cell, executor):
    """p, b and l of the cost model, on a star, whose updates all form one chain."""
    if executor is None:
        return
    on_gpu, edges, dataset = executor.name == "cuda", cell.sizes["edges"], label(cell)
    lanes = 4 if on_gpu else 1
    one = {"blocks": 1, "threads": lanes, "lanes": lanes}
    options = {
        "block-diagonal +one group": {"rows": 1, "columns": edges, **one},
        "agm-edge +all blocks": {"blocks": executor.multiprocessors * (5 if on_gpu else 1)},
        "edge-locked +one group": {"shuffle": False, **one},
        "tiles": {},
    }
    there, problem = _rounds(study, (part, cell.experiment, dataset), {"rank": 16}), Problem(star(edges), 16)
    chosen = [
        candidate(name.split(" +")[0], problem, executor, build(STUDY, name, dataset), name, **options[name])
        for name in cell.strategies
        if there.get(name, 0) < cell.rounds
    ]
    study.measure(part, cell.experiment, dataset, chosen, parameters={"rank": 16}, rounds=cell.rounds)
    yield f"{cell.experiment} {dataset}: {len(chosen)} strategies"


def _paper_example(study, part, cell, executor):
    counted.example(study, part)
    yield cell.experiment


def _atomics(study, part, cell, executor):
    counted.atomics(study, part, label(cell), LAST.ratings(cell, None))
    yield f"{cell.experiment} {label(cell)}"


def _residency(study, part, cell, executor):
    if executor is not None and executor.name == "cuda":
        counted.residency(study, part, executor)
        yield cell.experiment


KINDS = {
    "time": _time,
    "sweeps": _sweeps,
    "costs": _costs,
    "paper-example": _paper_example,
    "atomics": _atomics,
    "residency": _residency,
}
measure = functools.partial(parts.measure, KINDS)
