"""What the notebook says of its rows in sentences, and what of its plan is not measured yet."""

from lockstep.report.digits import listed, readable

from . import twins, views
from .strategies import STRATEGIES

REAL = "real graphs"
OTHERS = {
    "road-shuffled": "road twins with shuffled ids",
    "fast": "the fastest schedules by rank on the twin of NFLIX",
    "sweeps": "test error sweep by sweep",
    "platform": "locks and barriers made slower",
}
STAR = {  # how an update of a star is made
    "tiles": "by tiles",
    "block-diagonal +one group": "by one group of lanes alone",
    "agm-edge +all blocks": "with a barrier of all blocks after each",
    "edge-locked +one group": "with two locks for each",
}


def exact(line):
    """Times of the serializable schedules of a GPU in a line of `views.cells`."""
    return {
        name: line[name]
        for name in views.SHOWN
        if name in line and STRATEGIES[name].exact and STRATEGIES[name].gpu and line[name] > 0
    }


def measured(rows):
    """{class: names of its twins that have times}, in the order of the published table."""
    found = {}
    for experiment in views.CLASSES:
        table = views.cells(rows, experiment)
        known = {line["dataset"] for _, line in table.iterrows() if exact(line)}
        found[experiment] = [name for name in twins.TABLE if f"twin-{name}" in known]
    return found


def seen(rows):
    """Which twins were measured, and the fastest serializable schedule on each."""
    said = []
    for experiment, names in measured(rows).items():
        if not names:
            continue
        table = views.cells(rows, experiment).drop_duplicates("dataset").set_index("dataset")
        fastest = []
        for name in names:
            times = exact(table.loc[f"twin-{name}"])
            best = min(times, key=times.get)
            gain = ""
            if "edge-locked" in times:
                gain = f", {readable(times['edge-locked'] / times[best])} times as fast as edge-locked"
            fastest.append(f"on {name} {best} ({readable(times[best])} ms a sweep{gain})")
        graphs = len({name.removesuffix("-printed") for name in names})
        sizes = ", STACK in two sizes" if graphs < len(names) else ""
        said.append(
            f"{views.CLASSES[experiment].capitalize()} measured: {graphs}{sizes}. "
            f"The fastest serializable schedule is {'; '.join(fastest)}."
        )
    return said


def star(rows):
    """What an update costs on a star, where all of them follow one another."""
    table = views.cells(rows, "costs")
    if table.empty:
        return []
    sizes = table["dataset"].map(lambda name: int(name.split("-")[1]))
    size, line = sizes.max(), table.loc[sizes.idxmax()]
    known = {how: line[name] / size * 1e6 for name, how in STAR.items() if name in line and line[name] > 0}
    costs = listed(f"{readable(each)} ns {how}" for how, each in known.items())
    return [f"On a star of {size:,} ratings, where all updates follow one another, one takes {costs}."] if known else []


def unmeasured(rows):
    """What of the plan has no rows, in one sentence; nothing if all has."""
    there, lacking = set(rows["experiment"]), []
    for experiment, names in measured(rows).items():
        lost = [name for name, size in twins.TABLE.items() if size.kind == experiment and name not in names]
        if lost:
            lacking.append(f"the {views.CLASSES[experiment]}{'' if not names else ' of'} {listed(lost)}")
    if views.cells(rows, "real").empty:
        lacking.append(REAL)
    lacking += [words for experiment, words in OTHERS.items() if experiment not in there]
    return [f"Not measured on this machine: {'; '.join(lacking)}."] if lacking else []
