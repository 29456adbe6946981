"""What the notebook measures, part by part; batches, strategies and rounds come from the parameter file.

A part has cells, each of a kind:

    batch       a whole batch by each strategy
    single      one graph after the other, each waited for before the next, as the paper compares
    right       a measure that the paper promises for later, computed and checked
    stream      a batch from disk, with and without overlap (`scaling`)
    sizes       loading and computing of graphs of one size (`scaling`)
    writing     results written out (`scaling`)
    gpus        several GPUs on a Dask cluster (`scaling`)

On the hypothetical GPU there are no times, only counts; times of the CPU's strategies are real there too. A batch's own
figures are recorded under the name (batch).
"""

import functools
import hashlib
import inspect
import time

import numpy as np

from lockstep.evidence import Candidate
from lockstep.graphs import DatasetMissing, generators

from . import oracle, synthetic
from .cases import case
from .run import Engine
from .strategies import STRATEGIES

STUDY = "5-swarm-batch"
AGAIN = "-again"  # the suffix of strategies measured against themselves
STREAMED = (
    "overlapped",
    "one-loader",
    "one-thread",
    "loading",
    "loading-one-thread",
    "written",
    "gpus",
)  # labels of `scaling`


def plan_of(label):
    """(strategy, knobs) that a label of the recording means; (None, {}) if it is none.

    ``swarm@shared=metadata,busy=8`` is the strategy `swarm` with these knobs.
    """
    name, _, knobs = label.removesuffix(AGAIN).partition("@")
    pairs = dict(pair.split("=") for pair in knobs.split(",") if pair)
    return STRATEGIES.get(name), {key: _value(text) for key, text in pairs.items()}


def _value(text):
    known = {"True": True, "False": False}
    return known[text] if text in known else int(text) if text.isdigit() else text


def digests(label, dataset):
    """The present digest of recorded rows; None if nothing in them can go stale."""
    if label.startswith("(all three)"):
        label = "gpus" if " on " in label else "overlapped"
    made = dataset.split("-")[0] if dataset.startswith(("benchmark-", "rmat-")) else None
    if label.split("@")[0] in STREAMED:
        return _digest(STRATEGIES["swarm"].plan, made, True)
    strategy, _ = plan_of(label)
    return None if strategy is None else _digest(strategy.plan, made, False)


@functools.cache
def _digest(method, made, streamed):
    parts = [method.digest()]
    if made == "benchmark":
        parts.append(inspect.getsource(synthetic))
    elif made:
        parts.append(generators.digest(made))
    if streamed:
        from . import shards, stream, upload

        parts += [inspect.getsource(part) for part in (stream.Pipeline, upload.Slot, shards.read_shard)]
    return hashlib.sha256(" ".join(" ".join(parts).split()).encode()).hexdigest()[:16]


def engine_of(label, measure, executor, options):
    """The engine that a label means, on the machine that it is for."""
    strategy, knobs = plan_of(label)
    return Engine(measure, executor if strategy.gpu else None, strategy.name, knobs, **options)


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

    kernel = digests(label, case.name)
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
        found = case(name, cell.get("count"))
        experiment = cell["experiment"]
        study.count(part, experiment, name, "(batch)", found.figures())
        for measure, labels in cell["strategies"].items():
            options = cell.get("options", {}).get(measure, {})
            parameters = {"measure": measure, **options}
            if single:
                parameters["graphs"] = len(found.pack)
            chosen = [candidate(found, executor, label, measure, options, single) for label in labels]
            study.measure(part, experiment, name, chosen, parameters=parameters, rounds=cell["rounds"])
        yield f"{experiment} {name}: {found.pack!r}"


def _single(study, part, cell, executor):
    """One graph at a time in every group; then how the gains change from group to group."""
    yield from _batch(study, part, cell, executor, single=True)
    for name in cell["datasets"]:
        pack = case(name).pack
        means = {"vertices": (float(pack.n.mean()), "1"), "edges": (float(pack.m.mean() / 2), "1")}
        study.count(part, "table-2", name, "(batch)", {"graphs": (len(pack), "1"), **means})
        for measure, labels in cell["strategies"].items():
            for label in labels:
                if plan_of(label)[0].gpu and study.selected(part):
                    values = {"launches_a_graph": (_launches(label, measure, executor, pack), "1")}
                    study.count(part, "launches", name, label, values, kernel=digests(label, name),
                                parameters={"measure": measure})  # fmt: skip
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
                kernel = digests(other, cell["datasets"][0])
                study.count(part, "groups", "DD", other, values, kernel=kernel, parameters={"measure": measure},
                            round=turn)  # fmt: skip


def _launches(label, measure, executor, pack):
    """Launches that one graph more in a batch costs; what a batch costs in any case is left out."""
    counts = []
    for some in ([0], [0, 0]):
        task = engine_of(label, measure, executor, {}).prepare(pack.take(some))
        before = executor.counts["launches"]
        task.run()
        counts.append(executor.counts["launches"] - before)
    return counts[1] - counts[0]


def _right(study, part, cell, executor):
    """Further measures: right on every graph of a batch, and how long they take."""
    for name in cell["datasets"]:
        found = case(name, cell.get("count"))
        study.count(part, cell["experiment"], name, "(batch)", found.figures())
        for measure in cell["measures"]:
            options = cell.get("options", {}).get(measure, {})
            labels = [label for label in cell["strategies"] if measure in plan_of(label)[0].measures]
            if measure not in oracle.REFERENCES:  # then the CPU is what the others are held against
                labels = [label for label in labels if label != "cpu"]
            chosen = [candidate(found, executor, label, measure, options) for label in labels]
            for one in chosen:  # counted once the check has passed
                one.counts = lambda result, counts=one.counts: {**counts(result), "right": (1, "1")}
            study.measure(part, cell["experiment"], name, chosen, parameters={"measure": measure, **options},
                          rounds=cell["rounds"])  # fmt: skip
        yield f"{cell['experiment']} {name}: {', '.join(cell['measures'])}"


def _kinds():
    from . import scaling

    return {"batch": _batch, "single": _single, "right": _right, **scaling.KINDS}


def cells(config, part):
    """The cells of a part, names of lists of strategies replaced by the lists."""
    named = config.get("common", {}).get("strategies", {})
    plan = config["parts"][part]
    for cell in plan["cells"]:
        strategies = cell.get("strategies", [])
        if isinstance(strategies, dict):
            strategies = {measure: named.get(x, x) if isinstance(x, str) else x for measure, x in strategies.items()}
        elif isinstance(strategies, str):
            strategies = named[strategies]
        yield {"rounds": plan.get("rounds", 1), **cell, "strategies": strategies}


def measure(study, part, executor, say=print):
    """Measure what this machine's recording lacks of a part.

    Parameters
    ----------
    study : Study
    part : str
    executor : Executor
    say : callable
        Is told what was measured, a line a batch.

    Returns
    -------
    list of str
        Data sets that could not be had, each with the reason, and cells that need another machine.
    """
    missing, kinds = [], _kinds()
    for name in study.config["parts"] if part == "all" else [part]:
        for cell in cells(study.config, name):
            alone = cell["kind"] in ("batch", "right")  # one data set that is missing does not stop the others
            for one in [{**cell, "datasets": [d]} for d in cell["datasets"]] if alone else [cell]:
                begin = time.perf_counter()
                try:
                    for line in kinds[cell["kind"]](study, name, one, executor):
                        say(f"{name} {line}, {time.perf_counter() - begin:.1f} s")
                except (DatasetMissing, Unmeasurable) as error:
                    missing.append(f"{cell['experiment']}: {error}")
    return missing


class Unmeasurable(Exception):
    """A cell needs another machine; says which."""
