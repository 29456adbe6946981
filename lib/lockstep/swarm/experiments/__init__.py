"""What the notebook measures, part by part; batches, strategies and rounds come from the parameter file.

A part has cells, each of a kind:

    batch       a whole batch by each strategy
    floor       what bounds a batch's time from below
    single      one graph after the other, each waited for before the next, as the paper compares
    right       a measure that the paper promises for later, computed and checked
    stream      a batch from disk, with and without overlap (`scaling`)
    sizes       loading and computing of graphs of one size (`scaling`)
    writing     results written out (`scaling`)
    gpus        several GPUs on a Dask cluster (`scaling`)

On the hypothetical GPU there are no times, only counts; times of the CPU's strategies are real there too. A batch's own
figures are recorded under the name (batch).
"""

import numpy as np

from lockstep.evidence import Candidate
from lockstep.evidence import jobs as parts
from lockstep.graphs import DatasetMissing
from lockstep.provenance import build

from .. import oracle
from ..strategies.engine import Engine
from ..strategies.table import STRATEGIES
from . import scaling
from .cases import GROUPS, case
from .labels import STUDY, engine_of, lacking, parameters_of
from .scaling import Unmeasurable


def candidate(case, executor, label, measure, options, single=False):
    """A strategy on a batch, made ready to be measured.

    Parameters
    ----------
    single : bool
        One graph after the other, each waited for; else the whole batch at once.
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


def _batch(study, part, cell, executor, single=False):
    for name in cell["datasets"]:
        todo = lacking(study, cell, name, {"graphs": cell["count"]} if single and cell.get("count") else None)
        if not todo and study.counted(cell["experiment"], name, "(batch)"):
            continue
        found = case(name, cell.get("count"))
        experiment = cell["experiment"]
        study.count(part, experiment, name, "(batch)", found.figures())
        for measure, labels in todo.items():
            options = cell.get("options", {}).get(measure, {})
            parameters = parameters_of(cell, measure, {"graphs": len(found.pack)} if single else None)
            chosen = [candidate(found, executor, label, measure, options, single) for label in labels]
            study.measure(part, experiment, name, chosen, parameters=parameters, rounds=cell["rounds"])
        yield f"{experiment} {name}: {found.pack!r}"


def _single(study, part, cell, executor):
    """One graph at a time in every group; then how the gains change from group to group."""
    for name in cell["datasets"]:  # first, for they take no time
        if name.rsplit("-", 1)[-1] not in GROUPS or study.counted("table-2", name, "(batch)"):
            continue
        pack = case(name).pack
        means = {"vertices": (float(pack.n.mean()), "1"), "edges": (float(pack.m.mean() / 2), "1")}
        study.count(part, "table-2", name, "(batch)", {"graphs": (len(pack), "1"), **means})
    yield from _batch(study, part, cell, executor, single=True)
    against = cell.get("gains")
    if not against:
        return
    rows = study.rows()
    rows = rows[(rows["experiment"] == cell["experiment"]) & (rows["metric"] == "wall")]
    for measure, (own, others) in against.items():
        mine = rows[rows["parameters"].str.contains(f'"measure":"{measure}"')]
        times = mine.pivot_table("value", "round", ["strategy", "dataset"])
        for other in others:
            if other not in times or own not in times:
                continue
            gains = (times[other] / times[own])[list(cell["datasets"])].dropna()
            first, last = gains.columns[0], gains.columns[-1]
            for turn, line in gains.iterrows():
                values = {
                    "others_over_first": (line.drop(first).min() / line[first], "x"),
                    "last_over_others": (line[last] / line.drop(last).max(), "x"),
                }
                kernel = build(STUDY, other, cell["datasets"][0])
                study.count(part, "groups", "DD", other, values, kernel=kernel, parameters={"measure": measure},
                            round=turn)  # fmt: skip


def _right(study, part, cell, executor):
    """Further measures: right on every graph of a batch, and how long they take."""
    able = {}
    for measure in cell["measures"]:
        able[measure] = [label for label in cell["strategies"] if measure in STRATEGIES.resolve(label)[0].measures]
        if measure not in oracle.REFERENCES:  # then the CPU is what the others are held against
            able[measure] = [label for label in able[measure] if label != "cpu"]
    for name in cell["datasets"]:
        todo = lacking(study, cell, name, strategies=able)
        if not todo and study.counted(cell["experiment"], name, "(batch)"):
            continue
        found = case(name, cell.get("count"))
        study.count(part, cell["experiment"], name, "(batch)", found.figures())
        for measure, labels in todo.items():
            options = cell.get("options", {}).get(measure, {})
            chosen = [candidate(found, executor, label, measure, options) for label in labels]
            for one in chosen:  # counted once the check has passed
                one.counts = lambda result, counts=one.counts: {**counts(result), "right": (1, "1")}
            study.measure(part, cell["experiment"], name, chosen, parameters=parameters_of(cell, measure),
                          rounds=cell["rounds"])  # fmt: skip
        yield f"{cell['experiment']} {name}: {', '.join(cell['measures'])}"


def _floor(study, part, cell, executor):
    """What the least that betweenness can take follows from: arcs looked at, levels, warps that find room."""
    experiment = cell["experiment"]
    for name in cell["datasets"]:
        kernels = {label: build(STUDY, label, name) for label in cell["strategies"]}
        labels = study.lacking(experiment, name, kernels, rounds=1)
        if not labels or not study.selected(part):
            continue
        found = case(name, cell.get("count"))
        depths = Engine("apsp", None, "cpu", reduce="eccentricity").run(found.pack.host).values
        for label in labels:
            task = engine_of(label, "betweenness", executor, {}).prepare(found.pack)
            values = {
                "visits": (found.visits, "1"),
                "sources": (depths.size, "1"),
                "levels": (float(depths.sum()), "1"),
                "multiprocessors": (executor.multiprocessors, "1"),
                "warps": (task.resident(), "1"),
                "runs": (1, "1"),  # the row that says it is done
            }
            study.count(part, experiment, name, label, values, kernel=kernels[label])
        yield f"{experiment} {name}: {found.pack!r}"


KINDS = {"batch": _batch, "single": _single, "right": _right, "floor": _floor, **scaling.KINDS}
ALONE = ("batch", "right", "floor")  # here one data set that is missing does not stop a cell's others


def measure(study, part, executor, say=print):
    """Measure what this machine's recording lacks of a part; see `lockstep.evidence.parts.measure`."""
    return parts.measure(_jobs, study, part, executor, say, (DatasetMissing, Unmeasurable))


def _jobs(study, part, executor, say):
    for cell in parts.cells(study.config["parts"][part], study.config.get("common"), rounds=1):
        each = [{**cell, "datasets": [name]} for name in cell["datasets"]] if cell["kind"] in ALONE else [cell]
        for one in each:
            yield one["experiment"], KINDS[one["kind"]](study, part, one, executor)
