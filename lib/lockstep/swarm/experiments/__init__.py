"""Measurements of study 5: kinds of cells of a parameter file (see `lockstep.evidence.parts`; batches in `cases`).

    batch       a whole batch by each strategy
    single      one graph at a time, synchronized after each, as in the paper
    gains       how the gains of single graphs change from group to group
    right       a measure announced as future work in the paper, computed and checked
    floor       lower bounds on a batch's time
    stream      a batch from disk, with and without overlap (`scaling`)
    sizes       loading and computing of graphs of one size (`scaling`)
    writing     results written out (`scaling`)
    gpus        several GPUs on a Dask cluster (`scaling`)

`strategies` and `options` of a cell are by measure; `count` takes a seeded sample of so many graphs.

On the emulator there are no times, only counts; times of the CPU's strategies are real there too. A batch's own
figures are recorded under the name (batch).
"""

import functools

import numpy as np

from lockstep.evidence import Candidate, parts
from lockstep.provenance import build

from .. import oracle
from ..strategies.engine import Engine
from ..strategies.table import STRATEGIES
from . import scaling
from .cases import GROUPS, case
from .labels import STUDY, engine_of, lacking, options_of, parameters_of


def candidate(case, executor, label, measure, options, single=False):
    """A strategy on a batch, made ready to be measured.

    Parameters
    ----------
    single : bool
        One graph at a time, synchronized after each; else the whole batch at once.
    """
    engine = engine_of(label, measure, executor, options)
    tasks, machine = [], engine.executor

    def prepare():
        if not tasks:
            packs = [case.pack[i : i + 1] for i in range(len(case.pack))] if single else [case.pack]
            tasks.extend(engine.prepare(pack) for pack in packs)

    def run():
        before = dict(machine.counts) if machine is not None else {}
        found = []
        for task in tasks:
            found.append(task.run())
            if single and machine is not None:
                machine.synchronize()
        if machine is None:
            return found, None
        return found, sum(machine.counts[key] - before.get(key, 0) for key in ("launches", "graph_launches"))

    def verify(result):
        found = _Joined(result[0]) if single else result[0][0]
        return case.check(measure, options, found)

    def counts(result):
        if result[1] is None:
            return {}
        each = len(case.pack) if single else 1
        found = {"launches": (result[1] / each, "1")}
        if hasattr(tasks[0], "fallbacks"):
            found["fallbacks"] = (sum(task.fallbacks for task in tasks), "1")
        return found

    kernel = build(STUDY, label, case.name)
    return Candidate(label, run, verify, kernel, prepare=prepare, counts=counts, executor=machine)


class _Joined:
    """Values of packs of one graph each, as those of one pack."""

    def __init__(self, each):
        self.each = [values.get() for values in each]
        checks = [values.checksums for values in self.each]
        self.checksums = None if checks[0] is None else np.concatenate(checks)

    def get(self):
        return self

    def __getitem__(self, i):
        return self.each[i][0]


# -- kinds of cells


def _batch(study, part, cell, executor, *, count=None, options=None):
    """A whole batch by each strategy."""
    yield from _by_measure(study, part, cell, executor, count)


def _single(study, part, cell, executor, *, count=None, options=None):
    """One graph at a time; of the paper's groups also their sizes."""
    if cell.graph.rsplit("-", 1)[-1] in GROUPS and not study.counted("table-2", cell.graph, "(batch)"):
        pack = case(cell.graph).pack
        means = {"vertices": (float(pack.n.mean()), "1"), "edges": (float(pack.m.mean() / 2), "1")}
        study.count(part, "table-2", cell.graph, "(batch)", {"graphs": (len(pack), "1"), **means})
    yield from _by_measure(study, part, cell, executor, count, single=True)


def _by_measure(study, part, cell, executor, count, single=False):
    name, experiment = cell.graph, cell.experiment
    todo = lacking(study, cell, name, {"graphs": count} if single and count else None)
    if not todo and study.counted(experiment, name, "(batch)"):
        return
    found = case(name, count)
    study.count(part, experiment, name, "(batch)", found.figures())
    for measure, labels in todo.items():
        parameters = parameters_of(cell, measure, {"graphs": len(found.pack)} if single else None)
        chosen = [candidate(found, executor, label, measure, options_of(cell, measure), single) for label in labels]
        study.measure(part, experiment, name, chosen, parameters=parameters, rounds=cell.rounds)
    yield f"{experiment} {name}: {found.pack!r}"


def _gains(study, part, cell, executor, *, groups):
    """The gain of a measure's first strategy over each of the others, from group to group, round by round."""
    rows = study.rows()
    rows = rows[(rows["experiment"] == cell.experiment) & (rows["metric"] == "wall")]
    for measure, (own, *others) in cell.strategies.items():
        mine = rows[rows["parameters"].str.contains(f'"measure":"{measure}"')]
        times = mine.pivot_table("value", "round", ["strategy", "dataset"])
        for other in others:
            if other not in times or own not in times:
                continue
            gains = (times[other] / times[own])[list(groups)].dropna()
            first, last = gains.columns[0], gains.columns[-1]
            for round_index, line in gains.iterrows():
                values = {
                    "others_over_first": (line.drop(first).min() / line[first], "x"),
                    "last_over_others": (line[last] / line.drop(last).max(), "x"),
                }
                study.count(part, "groups", "DD", other, values, kernel=build(STUDY, other, "DD"),
                            parameters={"measure": measure}, round=round_index)  # fmt: skip
        yield f"{cell.experiment} {measure}: gains from group to group"


def _right(study, part, cell, executor, *, measures, count=None, options=None):
    """Further measures: right on every graph of a batch, and how long they take."""
    name, able = cell.graph, {}
    for measure in measures:
        able[measure] = [label for label in cell.strategies if measure in STRATEGIES.resolve(label)[0].measures]
        if measure not in oracle.REFERENCES:  # then the CPU is the reference
            able[measure] = [label for label in able[measure] if label != "cpu"]
    todo = lacking(study, cell, name, strategies=able)
    if not todo and study.counted(cell.experiment, name, "(batch)"):
        return
    found = case(name, count)
    study.count(part, cell.experiment, name, "(batch)", found.figures())
    for measure, labels in todo.items():
        chosen = [candidate(found, executor, label, measure, options_of(cell, measure)) for label in labels]
        for one in chosen:  # counted once the check has passed
            one.counts = lambda result, counts=one.counts: {**counts(result), "right": (1, "1")}
        study.measure(part, cell.experiment, name, chosen, parameters=parameters_of(cell, measure), rounds=cell.rounds)
    yield f"{cell.experiment} {name}: {', '.join(measures)}"


def _floor(study, part, cell, executor):
    """Figures for the lower bound on betweenness: arcs traversed, levels, resident warps."""
    name, experiment = cell.graph, cell.experiment
    kernels = {label: build(STUDY, label, name) for label in cell.strategies}
    labels = study.lacking(experiment, name, kernels, rounds=1)
    if not labels or not study.selected(part):
        return
    found = case(name)
    depths = Engine("apsp", None, "cpu", reduce="eccentricity").run(found.pack.host).values
    for label in labels:
        task = engine_of(label, "betweenness", executor, {}).prepare(found.pack)
        values = {
            "visits": (found.visits, "1"),
            "sources": (depths.size, "1"),
            "levels": (float(depths.sum()), "1"),
            "multiprocessors": (executor.multiprocessors, "1"),
            "warps": (task.resident(), "1"),
            "runs": (1, "1"),  # marks completion
        }
        study.count(part, experiment, name, label, values, kernel=kernels[label])
    yield f"{experiment} {name}: {found.pack!r}"


KINDS = {
    "batch": _batch, "single": _single, "gains": _gains, "right": _right, "floor": _floor, **scaling.KINDS,
}  # fmt: skip
measure = functools.partial(parts.measure, KINDS)
