"""Labels of the recording: which strategy, with which knobs, each of them means, and the digest of its rows."""

import hashlib
import inspect

from lockstep.graphs import families
from lockstep.machine.source import until_written

from . import shards, stream, synthetic, task, upload
from .run import Engine
from .strategies import STRATEGIES

AGAIN = "-again"  # the suffix of strategies measured against themselves
STREAMED = ("overlapped", "one-loader", "one-thread", "loading", "loading-one-thread", "written", "gpus")  # `scaling`


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


def gpus_label(gpus, schedule):
    """The label of a batch on so many GPUs."""
    return f"gpus@{gpus}-{schedule}"


def gpus_of_label(label):
    """How many GPUs such a label means, and how pieces are dealt out to them."""
    gpus, schedule = label.removeprefix("gpus@").split("-")
    return int(gpus), schedule


def digests(label, dataset):
    """The present digest of recorded rows; None if nothing in them can go stale."""
    if label.startswith("(all three)"):
        label = "gpus" if " on " in label else "overlapped"
    if label == "reading":
        return _scan()
    made = dataset.split("-")[0] if dataset.startswith(("benchmark-", "rmat-")) else None
    kind = label.split("@")[0]
    if kind in STREAMED:
        return _digest(STRATEGIES["swarm"].plan, made, True, not kind.startswith("loading"))
    strategy, _ = plan_of(label)
    return None if strategy is None else _digest(strategy.plan, made)


@until_written
def _scan():
    text = inspect.getsource(shards.Scan) + inspect.getsource(shards._content)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


@until_written
def _digest(method, made, streamed=False, planned=False):
    parts = [method.digest()]
    if made == "benchmark":
        parts.append(inspect.getsource(synthetic))
    elif made:
        parts.append(families.digest(made))
    if streamed:
        parts += [inspect.getsource(part) for part in (stream.Pipeline, upload.Slot, shards.read_shard)]
    if planned:  # piece after piece, while others are loaded and computed
        parts += [inspect.getsource(part) for part in (task.DeviceTask.module, Engine.prepare)]
    return hashlib.sha256(" ".join(" ".join(parts).split()).encode()).hexdigest()[:16]


def parameters_of(cell, measure, more=None):
    """What tells the rows of a measure apart: the cell's options of it, and what else the kind of cell adds."""
    return {"measure": measure, **cell.get("options", {}).get(measure, {}), **(more or {})}


def lacking(study, cell, dataset, more=None, strategies=None):
    """{measure: labels of which rows are missing}, so that nothing is made ready for what is there.

    Parameters
    ----------
    study : Study
    cell : mapping
        Its experiment, rounds and options.
    dataset : str
    more : mapping, optional
        As of `parameters_of`.
    strategies : mapping, optional
        {measure: labels}; by default the cell's.
    """
    found = {}
    for measure, labels in (cell["strategies"] if strategies is None else strategies).items():
        kernels = {label: digests(label, dataset) for label in labels}
        missing = study.lacking(cell["experiment"], dataset, kernels, parameters=parameters_of(cell, measure, more),
                                rounds=cell["rounds"])  # fmt: skip
        if missing:
            found[measure] = missing
    return found


def engine_of(label, measure, executor, options):
    """The engine that a label means, on the machine that it is for."""
    strategy, knobs = plan_of(label)
    return Engine(measure, executor if strategy.gpu else None, strategy.name, knobs, **options)
