"""Labels of the recording: strategy and options of each."""

from lockstep.provenance import build

from ..strategies.engine import Engine
from ..strategies.table import STRATEGIES

STUDY = "5-swarm-batch"
STREAMED = ("overlapped", "one-loader", "one-thread", "paper-one-loader", "paper-one-thread", "paper-text-one-loader",
            "paper-text-one-thread", "loading", "loading-one-thread", "written", "gpus")  # `scaling`


def gpus_label(gpus, schedule):
    """The label of a batch on so many GPUs."""
    return f"gpus@{gpus}-{schedule}"


def gpus_of_label(label):
    """The number of GPUs of such a label, and the schedule of pieces."""
    gpus, schedule = label.removeprefix("gpus@").split("-")
    return int(gpus), schedule


def parameters_of(cell, measure, more=None):
    """Parameters of a measure's rows: the cell's options, and those of the kind of cell."""
    return {"measure": measure, **options_of(cell, measure), **(more or {})}


def options_of(cell, measure):
    """A cell's options for a measure."""
    return cell.options.get("options", {}).get(measure, {})


def lacking(study, cell, dataset, more=None, strategies=None):
    """{measure: labels of which rows are missing}, so that only these are prepared.

    Parameters
    ----------
    study : Study
    cell : Cell
    dataset : str
    more : mapping, optional
        As of `parameters_of`.
    strategies : mapping, optional
        {measure: labels}; by default the cell's.
    """
    found = {}
    for measure, labels in (cell.strategies if strategies is None else strategies).items():
        kernels = {label: build(study.name, label, dataset) for label in labels}
        missing = study.lacking(cell.experiment, dataset, kernels, parameters=parameters_of(cell, measure, more),
                                rounds=cell.rounds)  # fmt: skip
        if missing:
            found[measure] = missing
    return found


def engine_of(label, measure, executor, options):
    """The engine that a label means, on the machine that it is for."""
    strategy, own = STRATEGIES.resolve(label)
    return Engine(measure, executor if strategy.gpu else None, strategy.name, own, **options)
