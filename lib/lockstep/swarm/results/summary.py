"""The notebook's sentences on its rows, and the unmeasured parts of its plan."""

import itertools

import pandas as pd

from lockstep.digits import listed, not_measured, readable
from lockstep.evidence import parts

from ..measures import MEASURES
from . import views

RIVALS = {"level": "conventional GPU", "cpu-sources": "parallel CPU"}  # what the paper compares with
OTHERS = {"level": "One launch a level takes", "cpu-sources": "All cores of the CPU take", "cpu": "One core takes",
          "swarm": "`swarm`, for batches, takes", "alone": "`alone`, for single graphs, takes"}  # fmt: skip
MILLION = "benchmark-1000000"
EXPERIMENTS = {
    "design": "the placement of metadata and the other parts of the design",
    "placement": "the placement of metadata on further batches",
    "fallback": "a graph that shared memory does not hold",
    "sizes": "loading against computing by size",
    "writing": "results written out",
    "gpus": "several GPUs",
}
STREAMED = {  # experiments whose runs leave a checksum for each graph, and what they run on
    "curve": "on one GPU",
    "sizes": "of one size",
    "writing": "with results written out",
    "gpus": "on several GPUs",
}


def singles(rows):
    """One graph after the other: how much longer than SwarmGraph's design the others take, over the groups."""
    tables = {measure: views.over_design(rows, measure) for measure in views.NAMES}
    said = []
    for other, words in OTHERS.items():
        each = []
        for measure, table in tables.items():
            if other in table:
                times = table[other].dropna()
                published = views.SPEEDUPS[measure].get(RIVALS.get(other))
                beside = f" ({published})" if published else ""
                each.append(f"{_span(times)} for {views.NAMES[measure]}{beside}")
        if each:
            said.append(f"{words} {listed(each)}.")
    if said:
        groups = listed(dict.fromkeys(group.rsplit("-", 1)[1] for table in tables.values() for group in table["group"]))
        said.insert(
            0,
            f"Single graphs of the groups {groups}, as multiples of the time of SwarmGraph's design (in brackets the "
            "published averages over four groups):",
        )
    return said


def _span(values):
    low, high = readable(values.min()), readable(values.max())
    return low if low == high else f"{low} to {high}"


def million(rows):
    """A million graphs: seconds from disk to results, and what overlap gains."""
    table, steps = views.million(rows), views.steps(rows)
    whole, computing, gains = [], [], []
    for line in table.to_dict("records"):
        measure, together, apart = line["measure"], line["here s"], line["here, one thread s"]
        if together > 0:
            mine = steps[(steps["measure"] == measure) & (steps["way"] == "overlapped")].iloc[0]
            minutes = readable(line["with overlap, published min"])
            whole.append(f"{readable(together)} s for {measure} (published: {minutes} min)")
            computing.append(f"{readable(mine['compute s'])} s")
            if apart > 0:
                gains.append(f"{readable(apart / together)} for {measure}")
    said = []
    if whole:
        rounds = steps[steps["way"] == "overlapped"]["rounds"]
        said.append(
            f"A million graphs take, from a cold disk to results, {listed(whole)}, {_rounds(rounds)} "
            f"each, of which the GPU computes {listed(computing)}."
        )
    if gains:
        said.append(f"Speed-up of overlap over one thread: {listed(gains)}.")
    return said


def _rounds(counts):
    low, high = int(counts.min()), int(counts.max())
    return f"{low} round{'s' * (low > 1)}" if low == high else f"{low} to {high} rounds"


def bound(rows):
    """What limits a million graphs with several threads: loading and preparing, or the GPU's work."""
    lines = views.steps(rows)
    lines = lines[lines["way"] == "overlapped"] if len(lines) else lines
    if lines.empty:
        return []
    share = (lines["compute s"] / lines["wall s"]).to_numpy()
    gpu = list(lines["measure"][share > 0.9])
    files = list(lines["measure"][share < 0.5])
    said = []
    if gpu:
        said.append(
            f"With several loading threads the GPU limits {listed(gpu)}: it computes more than 90 % of the time."
        )
    if files:
        overlap = views.overlap(rows)
        whole = overlap[(overlap["graphs"] == 10**6) & overlap["measure"].isin(files)]
        over = (whole["overlapped s"] / whole["reading s"]).dropna()
        rest = (
            f"the total is {_span(over)} times the time of reading the bytes alone"
            if len(over)
            else "reading, checking and planning on the host limit it"
        )
        said.append(f"For {listed(files)} the GPU computes less than half of the time; {rest}.")
    return said


def several(recorded):
    """Several GPUs, a sentence for each place that shards lie in, of every machine: the whole against linear, and
    computing alone; then what the disk would take.

    Parameters
    ----------
    recorded : mapping
        {machine: rows}.
    """
    table, said = views.several(recorded), []
    for (count, disk), own in table.groupby(["graphs", "disk"], sort=False) if len(table) else ():
        first, hosts = own["measure"].iloc[0], []
        where = "from a cold disk" if disk == "cold" else "from the page cache"
        mine = own[(own["measure"] == first) & (own["schedule"] == "dynamic") & (own["GPUs"] > 1)]
        for machine, lines in mine.groupby("machine", sort=False):
            each = [
                f"{line['GPUs']} take {readable(line['s'])} s, {readable(line['of linear'])} of linear"
                + _computing(line["computing, of linear"])
                for line in lines.to_dict("records")
            ]
            hosts.append(f"{listed(each)} ({machine})")
        if hosts:
            said.append(f"Several GPUs of one host, {count:,} graphs {where}, {first}: {'; '.join(hosts)}.")
    cold = table[table["disk"] == "cold"] if len(table) else table
    if said and len(cold):
        count, alone = cold["graphs"].iloc[0], []
        for machine, rows in recorded.items():
            mine = rows[(rows["experiment"] == "curve") & (rows["strategy"] == "loading") & (rows["metric"] == "wall")]
            mine = mine[mine["dataset"] == f"benchmark-{count}"]["value"]
            alone += [f"{readable(mine.mean() / 1e3)} s ({machine})"] if len(mine) else []
        if alone:
            said.append(
                f"Loading {count:,} graphs from a cold disk, by all threads and without computing, takes "
                f"{listed(alone)}: the disk bounds scaling."
            )
    return said


def _computing(share):
    return f" (computing alone {readable(share)})" if share > 0 else ""


def seen(rows, recorded=()):
    """All sentences on what was measured; `recorded` as of `several`."""
    return singles(rows) + million(rows) + bound(rows) + disk(rows) + several(dict(recorded))


def disk(rows):
    """Rates of reading from a cold disk, and of loading."""
    return [
        f"From a cold disk, with the same number of threads, {readable(line['GB'])} GB of shards are read at "
        f"{readable(line['reading GB/s'])} GB/s, and read and checked at {readable(line['loading GB/s'])} GB/s."
        for line in views.disk(rows).to_dict("records")[-1:]
    ]


def checked(recorded):
    """On which graphs of the batches from disk timed runs were held against the CPU; `recorded` as of `several`."""
    runs = [rows.assign(machine=machine) for machine, rows in recorded.items()]
    runs = pd.concat(runs) if runs else pd.DataFrame(columns=["metric", "experiment", "verified"])
    runs = runs[(runs["metric"] == "wall") & runs["experiment"].isin(STREAMED)]
    whole, less = runs[runs["verified"] == "exact"], runs[runs["verified"] == "invariant"]
    said = []
    if len(whole):
        said.append(
            f"For batches from disk {'all other' if len(less) else 'all'} timed runs are checked on every graph by the "
            "CPU's checksum."
        )
    if len(less):
        where = []
        for experiment, words in STREAMED.items():
            own = less[less["experiment"] == experiment]
            counts = sorted({int(name.rsplit("-", 1)[1]) for name in own["dataset"].unique()})
            if counts:
                few = listed(f"{count:,}" for count in counts)
                # of a machine all of whose runs of this kind are checked in full nothing of the kind is said
                better = set(whole[whole["experiment"] == experiment]["machine"]) - set(own["machine"])
                names = f" ({listed(own['machine'].unique())})" if better else ""
                where.append(f"{few if len(counts) < 4 else f'{counts[0]:,} to {counts[-1]:,}'} graphs {words}{names}")
        said.insert(
            0,
            f"In timed runs on {'; '.join(where)} the CPU checked the first thousand graphs by checksum; on the "
            "others all runs of a measure must agree, which a single run satisfies trivially.",
        )
    return said


def planned(experiment):
    """The cells of an experiment in the parameter file."""
    return [cell for cell in parts.planned("5-swarm-batch") if cell.experiment == experiment]


def _each(lists):
    """What some lists hold, each once, in their order."""
    return list(dict.fromkeys(itertools.chain(*lists)))


def unmeasured(rows, elsewhere=()):
    """The parts of the plan without rows, in one sentence; empty if none.

    Parameters
    ----------
    rows : DataFrame
        A machine's.
    elsewhere : sequence of DataFrame
        Other machines': several GPUs need not be this one's.
    """
    there = set(rows["experiment"]) | {"gpus" for other in elsewhere if (other["experiment"] == "gpus").any()}
    timed, single = rows[rows["metric"] == "wall"], planned("single")
    graphs = _each([cell.graph] for cell in single if cell.graph)
    lacking = _some("single graphs by group", graphs, _datasets(timed, "single"), _group)
    singles = set(timed[timed["experiment"] == "single"]["strategy"])
    strategies = _each(names for cell in single for names in cell.strategies.values())
    lost = [name for name in strategies if name not in singles]
    if singles and lost:
        lacking.append(f"single graphs of the groups by {listed(lost)}")
    curves = timed[timed["experiment"] == "curve"]
    below = curves[curves["dataset"] != MILLION]
    smaller = [measure for measure in views.NAMES if views.of_measure(below, measure).empty]
    if smaller:
        lacking.append(f"batches of fewer than a million graphs from disk ({_measures(smaller)})")
    for way, words in (("overlapped", "with several threads"), ("one-thread", "with one thread")):
        own = curves[(curves["dataset"] == MILLION) & (curves["strategy"] == way)]
        lost = [measure for measure in views.NAMES if views.of_measure(own, measure).empty]
        if lost:
            lacking.append(f"a million graphs {words} ({_measures(lost)})")
    whole = _each([cell.graph] for cell in planned("batch"))
    lacking += _some("whole batches of real graphs", whole, _datasets(timed, "batch"))
    further = _each(cell.options["measures"] for cell in planned("further"))
    right = rows[(rows["experiment"] == "further") & (rows["metric"] == "right")]
    have = [measure for measure in further if len(views.of_measure(right, measure))]
    lacking += _some("further measures", further, have, lambda measure: MEASURES[measure].title)
    lacking += [words for experiment, words in EXPERIMENTS.items() if experiment not in there]
    return not_measured(lacking)


def _datasets(rows, experiment):
    return set(rows[rows["experiment"] == experiment]["dataset"])


def _group(dataset):
    return dataset.rsplit("-", 1)[1]


def _some(what, names, there, words=str):
    """What of several things is lacking, in a list of one or none; without their names if all are."""
    lost = [words(name) for name in names if name not in there]
    return [] if not lost else [what if len(lost) == len(names) else f"{what} ({listed(lost)})"]


def _measures(measures):
    return "all three measures" if len(measures) == len(views.NAMES) else listed(views.NAMES[m] for m in measures)
