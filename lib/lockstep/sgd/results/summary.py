"""The notebook's sentences on its rows."""

import json

import numpy as np
import pandas as pd

from lockstep.digits import listed, readable, significant

from ..experiments.derived import OFFLINE, ONLINE
from . import views
from .coverage import measured

STAR = {  # how an update of a star is made
    "tiles": "by `tiles`",
    "block-diagonal +one group": "by one group of lanes alone",
    "agm-edge +all blocks": "with a grid barrier after each",
    "edge-locked +one group": "with two locks for each",
}


def seen(rows):
    """Which twins were measured, and the fastest serializable schedules on them."""
    said = []
    for experiment, names in measured(rows).items():
        if not names:
            continue
        table = views.cells(rows, experiment).drop_duplicates("dataset").set_index("dataset")
        best, gains = {}, []
        known = views.whole(table).index
        partly = [name for name in names if f"twin-{name}" not in known]
        for name in (name for name in names if name not in partly):
            times = views.exact(table.loc[f"twin-{name}"])
            fastest = min(times, key=times.get)
            best.setdefault(fastest, []).append(name)
            if "edge-locked" in times:
                gains.append(times["edge-locked"] / times[fastest])
        graphs = len({name.removesuffix("-printed") for name in names})
        sizes = ", STACK in two sizes" if graphs < len(names) else ""
        gain = f", {span(gains)} times as fast as `edge-locked`" if gains else ""
        some = f" ({listed(partly)} not by all schedules)" if partly else ""
        text = f"{views.CLASSES[experiment].capitalize()} measured: {graphs}{sizes}{some}."
        if best:
            text += f" The fastest serializable schedule is {winners(best, len(names) - len(partly))}{gain}."
        said.append(text)
    return said


def winners(best, many):
    """'tiles on 6 of 8 and agm-edge on 2 (STACK and CITP)' from {schedule: graphs}, most graphs first."""
    (first, graphs), *rest = sorted(best.items(), key=lambda item: -len(item[1]))
    told = [f"`{first}` on {len(graphs)} of {many}" if rest else f"`{first}` on all {many}"]
    return listed(told + [f"`{name}` on {len(others)} ({listed(others)})" for name, others in rest])


def span(values):
    """`3 to 4`, or one number where both ends read alike."""
    ends = [readable(float(f"{edge:.3g}") if edge % 1 else int(edge)) for edge in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def seven(rows):
    """Which of the published seven schedules is the fastest, class by class."""
    said = []
    for experiment in views.CLASSES:
        best = {}
        table = views.whole(views.cells(rows, experiment), "(best of seven)")
        for _, line in (table.drop_duplicates("dataset") if len(table) else table).iterrows():
            times = {name: line[name] for name in views.SEVEN if name in line and line[name] > 0}
            if times:
                best.setdefault(min(times, key=times.get), []).append(line["dataset"].removeprefix("twin-"))
        if best:
            said.append(f"on the {views.CLASSES[experiment]} {winners(best, sum(map(len, best.values())))}")
    return [f"Of the paper's seven the fastest is {'; '.join(said)}."] if said else []


def conflicts(rows):
    """What a conflict costs on graphs with hubs: passes of the edge-locked schedule against steps of matchings."""
    table, many = _steps(rows, "scale-free")
    if table.empty:
        return []
    online, offline = table["online"] / table["passes"] * 1e3, table["offline"] / table["steps"] * 1e3
    said = [
        f"On {many} scale-free twins a pass of `edge-locked`, a launch and a read-back, takes {span(online)} us and "
        f"completes {span(table['degree'] / table['passes'])} ratings of the largest node: finally, all remaining hub "
        f"ratings contend for one lock. A step of `agm-edge`, a grid barrier inside one launch, takes {span(offline)} "
        f"us and completes {span(table['degree'] / table['steps'])}."
    ]
    return said + _in_one_launch(rows, table)


def brief(rows):
    """Short form of `conflicts`: a pass against a step, and its time without the host."""
    table, _ = _steps(rows, "scale-free")
    if table.empty:
        return []
    online, offline = table["online"] / table["passes"] * 1e3, table["offline"] / table["steps"] * 1e3
    said = [
        f"The ratings of a hub conflict: `edge-locked` completes {span(table['degree'] / table['passes'])} of them in "
        f"a pass through the host of {span(online)} us, the matchings of `agm-edge` "
        f"{span(table['degree'] / table['steps'])} in a step of {span(offline)} us, a grid barrier inside one launch."
    ]
    inside, share, ahead = _inside(rows, table)
    if inside.empty:
        return said
    where = "nowhere" if not ahead else "on all of them" if ahead == len(inside) else f"on {ahead} of {len(inside)}"
    return [*said, f"With all passes inside one launch the locks take {span(share)} of that time; the best offline "
                   f"schedule is still faster {where}."]  # fmt: skip


def _inside(rows, table):
    """The locks with all passes inside one launch, on the graphs of `table`: their lines of `_steps`, their share of
    the time through the host, and on how many the best offline schedule is faster.
    """
    inside = _steps(rows, "scale-free", "edge-locked-resident")[0]
    inside = inside[inside.index.isin(table.index)]
    mine = rows[(rows["experiment"] == "scale-free") & (rows["metric"] == "wall")]
    best = mine[mine["strategy"].isin(OFFLINE)].groupby(["dataset", "strategy"])["value"].median()
    best = best.groupby("dataset").min().reindex(inside.index)
    return inside, inside["online"] / table["online"].reindex(inside.index), int((best < inside["online"]).sum())


def _in_one_launch(rows, table):
    """The cost without host synchronization: the locks with all passes inside one launch, on the graphs of `table`."""
    inside, share, ahead = _inside(rows, table)
    if inside.empty:
        return []
    some = "" if len(inside) == len(table) else f" (measured on {len(inside)} of them)"
    lock, step = (inside[side] / inside["degree"] * 1e3 for side in ("online", "offline"))
    said = [
        f"With all passes inside one launch (`edge-locked-resident`) the locks take {span(share)} of that "
        f"time{some}: {span(lock)} us a rating of the largest node, against {span(step)} us of `agm-edge`."
    ]
    many = len(inside)
    if not ahead:
        return [*said, "Host synchronization, not the locks, makes the offline schedules faster."]
    where = "on all of them" if ahead == many else f"on {ahead} of {many}"
    why = (
        "passing a hub's lock on takes as long as a grid barrier"
        if lock.median() >= step.median()
        else "some of them complete several of a hub's ratings between two barriers"
    )
    return [*said, f"Without host synchronization the best offline schedule is still faster {where}: {why}."]


def traffic(rows):
    """Cost of a rating without hubs: the same two schedules on roads."""
    table, many = _steps(rows, "road")
    if table.empty:
        return []
    online, offline = (table[side] / table["ratings"] * 1e6 for side in ("online", "offline"))
    said = [
        f"On {many} road twins `edge-locked` takes {span(table['passes'])} passes and `agm-edge` "
        f"{span(table['steps'])} steps, so synchronization is rare and the ratings themselves dominate: {span(online)} "
        f"ns each with two locks, {span(offline)} ns without."
    ]
    mine = rows[(rows["experiment"] == "road") & (rows["strategy"] == "patches")]
    cut = mine.groupby(["dataset", "metric"])["value"].median().unstack()
    if {"wall", "edges_after_first_level"} <= set(cut):
        ratings = table["ratings"].reindex(cut.index)
        between = (cut["edges_after_first_level"] / ratings * 100).round(1)
        said.append(
            f"`patches` moves both vectors once for all ratings of a patch, {span(cut['wall'] / ratings * 1e6)} ns a "
            f"rating; {span(between)} % of the ratings connect two patches and move their vectors again."
        )
    return said


def _steps(rows, experiment, online="edge-locked"):
    """A line a graph: its largest degree and ratings, passes and time of a schedule with locks, steps and time of
    agm-edge."""
    mine = rows[rows["experiment"] == experiment]
    wanted = {
        "degree": ("(graph)", "largest degree"),
        "ratings": ("(graph)", "ratings"),
        "passes": (online, "passes"),
        "online": (online, "wall"),
        "steps": ("agm-edge", "supersteps"),
        "offline": ("agm-edge", "wall"),
    }
    columns = {
        label: mine[(mine["strategy"] == strategy) & (mine["metric"] == metric)].groupby("dataset")["value"].median()
        for label, (strategy, metric) in wanted.items()
    }
    table = pd.DataFrame(columns).dropna()
    return table, len(table)


def turning(rows):
    """Delays at which slower locks or barriers change which of offline and online is fastest."""
    mine = rows[(rows["experiment"] == "platform") & (rows["metric"] == "wall")]
    said = []
    for option, word in (("barrier_delay", "barrier"), ("lock_delay", "lock")):
        delays = mine["parameters"].map(lambda text, option=option: json.loads(text).get(option)).astype(float)
        for dataset, group in mine[delays.notna()].groupby("dataset", sort=False):
            times = group.pivot_table(index=delays[group.index], columns="strategy", values="value", aggfunc="median")
            sides = [times[[name for name in names if name in times]].min(axis=1) for names in (OFFLINE, ONLINE)]
            ahead = np.log(sides[0] / sides[1]).dropna()  # below 0 the offline one is
            if len(ahead) > 1:
                said.append(_turn(ahead, word, dataset.removeprefix("twin-")))
    return [f"With slower barriers or locks: {'; '.join(said)}."] if said else []


def _turn(ahead, word, name):
    """Where a curve changes its sign, interpolated along the logarithm of the delay."""
    sides = ["offline" if value < 0 else "online" for value in ahead]
    for k in range(1, len(ahead)):
        if sides[k] != sides[0]:
            ends, heights = np.log(ahead.index[k - 1 : k + 1].to_numpy() + 1), ahead.to_numpy()[k - 1 : k + 1]
            at = np.exp(ends[0] - heights[0] * np.diff(ends)[0] / np.diff(heights)[0])
            return f"on {name} {sides[k]} schedules overtake at about {significant(at, 1)} cycles more a {word}"
    return f"on {name} {sides[0]} ones stay faster up to {int(ahead.index[-1]):,} cycles more a {word}"


def halved(rows):
    """Effect of float16 storage: a sweep's time over that with float32, by rank."""
    table = views.cells(rows, "fast")
    if table.empty or "storage" not in table:
        return []
    whole, half = (table[kept].groupby("rank").first() for kept in (table["storage"].isna(), table["storage"].notna()))
    ratios = {}
    for name in ("tiles", "hogwild"):
        known = half[name] / whole[name] if name in half and name in whole else pd.Series(dtype=float)
        if known.notna().any():
            ratios[name] = known.dropna()
    said = [
        f"`{name}` takes {listed([readable(float(f'{ratio:.3g}')) for ratio in mine])} at rank"
        f"{'s' if len(mine) > 1 else ''} {listed([str(rank) for rank in mine.index])}"
        for name, mine in ratios.items()
    ]
    if not said:
        return []
    why = ""
    if "tiles" in ratios and (slower := ratios["tiles"][ratios["tiles"] > 1]).size:
        ranks = listed([str(rank) for rank in slower.index])
        why = (
            f" `tiles` is slower with float16 at rank {ranks}: it copies float32 vectors into shared memory "
            "asynchronously but widens float16 ones in registers, and a higher rank leaves room for fewer users at "
            "once (read from the kernel, not measured apart)."
        )
    return [f"Time with vectors stored as float16 over the time with float32: {'; '.join(said)}.{why}"]


def star(rows):
    """Cost of an update on a star, whose updates form one chain."""
    table = views.cells(rows, "costs")
    if table.empty:
        return []
    sizes = table["dataset"].map(lambda name: int(name.split("-")[1]))
    size, line = sizes.max(), table.loc[sizes.idxmax()]
    known = {how: line[name] / size * 1e6 for name, how in STAR.items() if name in line and line[name] > 0}
    costs = listed(f"{readable(each)} ns {how}" for how, each in known.items())
    return [f"On a star of {size:,} ratings, whose updates form one chain, an update takes {costs}."] if known else []
