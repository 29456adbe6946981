"""The measured and the missing parts of the study's plan."""

from lockstep.digits import listed, not_measured
from lockstep.evidence import parts

from .. import experiments
from ..experiments import twins
from ..experiments.cases import label
from ..strategies.table import STRATEGIES
from . import views

REAL = "real graphs"
OTHERS = {
    "road-shuffled": "road twins with shuffled ids",
    "fast": "the fastest schedules by rank on the twin of NFLIX",
    "sweeps": "test error sweep by sweep",
    "platform": "locks and barriers made slower",
}


def measured(rows):
    """{class: names of its twins that have times}, in the order of the published table."""
    found = {}
    for experiment in views.CLASSES:
        table = views.cells(rows, experiment)
        known = {line["dataset"] for _, line in table.iterrows() if views.exact(line)}
        found[experiment] = [name for name in twins.TABLE if f"twin-{name}" in known]
    return found


def unmeasured(rows):
    """The parts of the plan without rows, in one sentence; empty if none."""
    there, lacking = set(rows["experiment"]), []
    for experiment, names in measured(rows).items():
        lost = [name for name, size in twins.TABLE.items() if size.kind == experiment and name not in names]
        if lost:
            lacking.append(f"the {views.CLASSES[experiment]}{'' if not names else ' of'} {listed(lost)}")
    for graphs, names in partly(rows).items():
        lacking.append(f"{listed(names)} on {listed(graphs)}")
    if views.cells(rows, "real").empty:
        lacking.append(REAL)
    lacking += [words for experiment, words in OTHERS.items() if experiment not in there]
    return not_measured(lacking)


def partly(rows):
    """{twins: planned schedules timed on other twins of their class but not on them}, in table order.

    Both kinds of a class's twins are planned with the same schedules and share one name (see `views.better_twins`).
    """
    timed, lost = rows[rows["metric"] == "wall"], {}
    for cell in parts.planned(experiments.STUDY):
        kind, suffix = views.BETTER.get(cell.experiment, (cell.experiment, ""))
        if kind in views.CLASSES and cell.sizes.get("factor", 1) == 1:
            own = timed[timed["experiment"] == kind]
            there = set(own[own["dataset"] == label(cell).removesuffix(suffix)]["strategy"])
            for name in set(cell.strategies) & set(own["strategy"]) - there if there else ():
                lost.setdefault(name, {})[cell.sizes["dataset"]] = None
    together, order = {}, {name: place for place, name in enumerate(STRATEGIES)}
    for name in sorted(lost, key=lambda name: (order.get(name, len(order)), name)):  # variants last
        together.setdefault(tuple(lost[name]), []).append(name)
    return together
