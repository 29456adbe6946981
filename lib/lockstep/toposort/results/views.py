"""How recorded rows become the tables of the notebook: beside the published figures, and beside what study 0
predicts.
"""

import json

import numpy as np
import pandas as pd

from lockstep.digits import listed, not_measured
from lockstep.evidence import statistics, tables, trends

# The thesis's tables: {sizes: (depth, CPU ms, GPU ms)}; depth in edges on the longest path.
PUBLISHED = {
    "table-4.1": {
        (10**6, 10**3): (1.4, 140, 8.4),
        (10**6, 10**4): (2.2, 140, 8.2),
        (10**6, 10**5): (5.6, 150, 9.2),
        (10**6, 10**6): (340, 290, 120),
        (10**6, 2 * 10**6): (25_000, 310, 7400),
    },
    "table-4.2": {
        (10**3, 10**5): (990, 0.4, 120),
        (10**4, 10**5): (8300, 1, 390),
        (10**5, 10**5): (190, 16, 16),
        (10**6, 10**5): (5.6, 150, 9.2),
        (2 * 10**6, 10**5): (4.0, 280, 21),
    },
    "table-4.3": {
        1: (1, 120, 8.7),
        10: (10, 95, 17),
        10**2: (100, 124, 66),
        10**3: (1000, 130, 410),
        10**4: (10**4, 88, 2700),
        10**5: (10**5, 78, 28_000),
        10**6: (10**6, 75, 280_000),
    },
    "table-4.4": {
        "amazon0302": (63_791, 13, 6600),
        "soc-Epinions1": (6955, 13, 780),
        "ego-Facebook": (346, 0, 43),
        "p2p-Gnutella31": (5469, 10, 3400),
        "web-Google": (66_960, 280, 19_000),
        "wiki-Talk": (15_579, 550, 14_000),
    },
}
LADDER = ("naive", "frontier", "graph", "persistent", "narrow", "asynchronous", "chains")

# What each table should hold: {experiment: (what it is called, strategies)}.
RANDOM = ("serial", "naive", "narrow")
ALL = ("serial", *LADDER, "auto")
SHOWN = {
    "table-4.1": ("table 4.1", RANDOM),
    "table-4.2": ("table 4.2", RANDOM),
    "table-4.3": ("table 4.3", ("serial", *LADDER)),
    "table-4.4": ("table 4.4", ALL),
    "ladder": ("the table of the ladder", ALL),
    "real-dags": ("the table of graphs that are acyclic by themselves", ALL),
}
NEW = "withheld"  # graphs unused before the present form of `auto`
HELD_OUT = ("held-out", "fresh", "unseen", "blind", "sealed", NEW)  # no limit was set by them


def unmeasured(rows):
    """Entries of tables and figures without rows, in a sentence or two; empty if none."""
    lacking, walls = {}, rows[(rows["metric"] == "wall") & (rows["value"] > 0)]
    for experiment, (called, strategies) in SHOWN.items():
        there = set(walls[walls["experiment"] == experiment]["strategy"])
        lost = [name for name in strategies if name not in there] if there else ["every strategy"]
        for name in lost:
            lacking.setdefault(name, []).append(called)
    alike = {}  # strategies that lack the same tables are named together
    for name, places in lacking.items():
        alike.setdefault(tuple(places), []).append(name)
    found = not_measured([f"{listed(names)} in {listed(places)}" for places, names in alike.items()])
    cut = []
    called = {(experiment,): name for experiment, (name, _) in SHOWN.items()}
    for experiments, name in (called | {HELD_OUT: "those that nothing was tuned on"}).items():
        mine = walls[walls["experiment"].isin(experiments)]
        graphs, done = (set(mine[mine["strategy"] == s]["dataset"]) for s in ("serial", "narrow"))
        if done and graphs - done:  # `narrow` stands for all but the thesis's: it is measured at every depth
            cut.append(f"{len(graphs - done)} of {len(graphs)} graphs of {name}")
    if cut:
        found.append(f"By the strategies beyond the thesis's, {listed(cut)} are not measured in their present form.")
    return found


def cells(rows, experiment, metric="wall"):
    """Geometric means over the rounds: one line a graph, one column a strategy; and the graph's own figures.

    Columns `dataset`, `depth` (layers), `nodes`, `edges` (as asked for, where that is a parameter: merged arcs
    may make a few fewer), the other parameters, then a column for each strategy (ms).
    """
    lines = []
    for dataset, parameters, cell in tables.cells(rows, experiment):
        own = tables.of_graph(cell)
        sizes = {key: int(own[key]) for key in ("depth", "nodes", "edges") if key in own}
        sizes |= {key: own[key] for key in ("transfer",) if key in own}
        lines.append({"dataset": dataset, **sizes, **parameters, **tables.times(cell, metric)})
    return pd.DataFrame(lines)


def table(rows, number):
    """Table 4.1, 4.2, 4.3 or 4.4 of the thesis, with what was measured beside it.

    Times in ms: the CPU's by the clock, the naive GPU's by events; `serial/naive` is their quotient in the rounds that
    timed both, which are fewer on the deepest graphs. Depth in edges (layers less one), as in the thesis; Table 4.3 is
    the thesis's own family, numbered layer by layer.
    """
    experiment = f"table-{number}"
    wall, device = cells(rows, experiment), cells(rows, experiment, "device")
    if wall.empty:
        return wall
    wall["naive (events)"] = device.get("naive", np.nan)
    over = tables.quotients(rows[rows["experiment"] == experiment], "serial", ("naive", "device"))
    wall["over"] = [over.get((dataset, cell["parameters"].iloc[0]), np.nan)
                    for dataset, _, cell in tables.cells(rows, experiment)]  # fmt: skip
    wall["best"] = wall[[s for s in (*LADDER, "serial") if s in wall]].idxmin(axis=1)
    if number == "4.3":
        wall = wall[(wall["family"] == "disjoint-paths") & (wall["ids"] == "ordered")]
    keys = {"4.1": ["nodes", "edges"], "4.2": ["nodes", "edges"], "4.3": ["depth"], "4.4": ["dataset"]}[number]
    lines = []
    for key, group in wall.groupby(keys, sort=False):
        key = key if isinstance(key, tuple) else (key,)
        depth, cpu, gpu = PUBLISHED[experiment].get(key if len(key) > 1 else key[0], (np.nan,) * 3)
        lines.append({
            **dict(zip(keys, key, strict=True)),
            "depth, published": depth,
            "depth": (group["depth"] - 1).mean() if number != "4.3" else group["depth"].mean(),
            "CPU, published": cpu,
            "serial": _mean(group, "serial"),
            "GPU, published": gpu,
            "naive": _mean(group, "naive (events)"),
            "CPU/GPU, published": cpu / gpu,
            "serial/naive": _mean(group[group["over"] > 0], "over"),
            **{name: _mean(group, name) for name in ("narrow", "auto") if name in group},
        })  # fmt: skip
    found = pd.DataFrame(lines).sort_values(keys, ignore_index=True)
    return found.astype({key: int for key in keys if key != "dataset"})


def _mean(group, name):
    return statistics.center(group[name]) if name in group else np.nan


def level_costs(rows):
    """Cost of a layer of disjoint paths, numbered in order, by strategy (us): the slope of its time between 10^3
    layers and the deepest measured graph.
    """
    wall = cells(rows, "table-4.3")
    if wall.empty:
        return {}
    wall = wall[(wall["family"] == "disjoint-paths") & (wall["ids"] == "ordered")].sort_values("depth")
    found = {}
    for name in LADDER:
        known = wall[wall[name] > 0] if name in wall else wall.iloc[:0]
        known = known[known["depth"] >= 1000]
        if len(known) >= 2:
            first, last = known.iloc[0], known.iloc[-1]
            found[name] = (last[name] - first[name]) * 1e3 / (last["depth"] - first["depth"])
    return found


def crossovers(rows):
    """The depth up to which each strategy is faster than the serial sort, with its interval, on each family of
    table 4.3.
    """
    mine = rows[rows["experiment"] == "table-4.3"]
    lines = []
    keys = mine["parameters"].map(lambda text: (json.loads(text)["family"], json.loads(text)["ids"]))
    for (family, ids), group in mine.groupby(keys):
        for strategy in LADDER:
            pairs = _pairs(group, strategy)
            if pairs["depth"].nunique() < 2:
                continue
            found = trends.crossover(pairs["depth"], pairs["log"])
            beyond = np.isnan(found.value) and found.last.value > 1
            lines.append({
                "family": family,
                "ids": ids,
                "strategy": strategy,
                "depth": found.value,
                "low": found.low,
                "high": found.high,
                "measured up to": int(pairs["depth"].max()),
                "note": "faster at every depth measured" if beyond else "" if found.value > 0 else "never faster",
            })  # fmt: skip
    return pd.DataFrame(lines)


def _pairs(rows, strategy):
    """Log of serial over a strategy, both by the clock, paired within rounds, with the depth of each."""
    pairs = statistics.paired(rows, "serial", strategy)
    return pairs.assign(depth=np.array([json.loads(text)["depth"] for text in pairs["parameters"]], float))


def choices(rows, experiments=HELD_OUT):
    """`auto` over the best of `serial` and LADDER[2:] on each graph; best selected on half the rounds,
    evaluated on the others.
    """
    mine = rows[rows["experiment"].isin(experiments)]
    judged = statistics.best(mine, ("serial", *LADDER[2:]))
    lines = []
    for dataset, cell in judged.groupby("dataset", sort=False):
        if "auto" not in set(cell["strategy"]):
            continue
        ratio = statistics.ratio(cell, "auto", "best")
        own = mine[(mine["dataset"] == dataset) & (mine["strategy"] == "(graph)")].groupby("metric")["value"].mean()
        best = cell[cell["strategy"] == "best"]
        lines.append({
            "graph": dataset,
            "chosen as": cell["experiment"].iloc[0],
            "nodes": int(own["nodes"]),
            "edges": int(own["edges"]),
            "layers": int(own["depth"]),
            "best": best["chosen"].iloc[0],
            "best (ms)": statistics.mean(cell, "best").value,
            "serial (ms)": statistics.mean(cell, "serial").value,
            "auto (ms)": statistics.mean(cell, "auto").value,
            "auto/best": ratio.value,
            "low": ratio.low,
            "high": ratio.high,
            "transfer (ms)": own.get("transfer", np.nan),
        })  # fmt: skip
    return pd.DataFrame(lines)
