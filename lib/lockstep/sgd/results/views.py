"""How recorded rows become the tables and figures of the notebook, beside the published figures and the
floors."""

import itertools

import numpy as np
import pandas as pd

from lockstep.evidence import ledger, recording, statistics, tables

from ..experiments import twins
from ..experiments.derived import SEVEN, published_costs
from ..strategies import model
from ..strategies.table import STRATEGIES

CLASSES = {"scale-free": "scale-free twins", "road": "road twins"}
BETTER = {"scale-free-skewed": ("scale-free", "-skewed"), "road-curved": ("road", "-curved")}
SHOWN = (*SEVEN, "node-then-edge", "edge-hubs", "edge-locked-resident", "node-then-edge-resident", "tiles", "patches",
         "hogwild", "multicore")  # fmt: skip

# Seconds of the published Table II are for an unknown number of sweeps: only ratios between its rows mean
# anything.


def better_twins(rows):
    """Rows in which the twins nearer to real graphs (see `likeness`), if any, represent their class.

    They are labelled with their class and their original's name, and rows of the class's other twins are dropped.
    """
    for better, (kind, suffix) in BETTER.items():
        mine = rows["experiment"] == better
        if mine.any():
            names = rows["dataset"].where(~mine, rows["dataset"].str.removesuffix(suffix))
            kinds = rows["experiment"].where(~mine, kind)
            rows = rows.assign(dataset=names, experiment=kinds)[mine | (rows["experiment"] != kind)]
    return rows


def full_size(rows):
    """Rows without those of smaller, repeatedly seeded twins and of further originals, which only verdicts use."""
    return rows[~rows["dataset"].str.contains("-seed-|^further-")]


def cells(rows, experiment, metric="wall"):
    """Medians over the rounds: one line a graph, one column a strategy, and the graph's own figures.

    A part of a strategy's supersteps (`diagonal-part`) is scaled to a whole sweep and called by the
    strategy's name; its preparation is that of the whole schedule as it is.
    """
    lines = []
    for dataset, parameters, cell in tables.cells(rows, experiment):
        own, times = tables.of_graph(cell, "median"), tables.times(cell, metric, "median")
        if "diagonal-part" in times:
            shares = {} if metric == "preparation" else tables.times(cell, "measured_share", "median")
            times["diagonal"] = times["diagonal-part"] / shares.get("diagonal-part", 1.0)
        figures = {key: own.get(key, np.nan) for key in ("users", "items", "ratings", "largest degree")}
        lines.append({"dataset": dataset, **parameters, **figures, **times})
    return pd.DataFrame(lines)


def whole(table, best="(best)"):
    """The lines of `cells` whose graph was measured with all planned strategies: `best` is recorded last."""
    return table[table[best] > 0] if best in table else table


def exact(line):
    """Times of the serializable schedules of a GPU in a line of `cells`."""
    return {
        name: line[name]
        for name in SHOWN
        if name in line and STRATEGIES[name].exact and STRATEGIES[name].gpu and line[name] > 0
    }


def normalized(rows):
    """Figure 7: geometric means of times over edge-locked, by class, with their intervals.

    One line a class and strategy: `class, strategy, times, low, high, graphs`. A diagonal schedule measured
    in part counts with its scaled time.
    """
    lines = []
    for experiment in CLASSES:
        mine = rows[rows["experiment"] == experiment]
        for name in SHOWN:
            logs = statistics.paired(mine, name, "edge-locked")
            if name == "diagonal":
                logs = pd.concat([logs, _scaled(mine)])
            if len(logs):
                graphs = logs["dataset"].replace(ledger.papers()["A"]["same"])  # STACK in two sizes is one
                found = statistics.geometric_mean(logs["log"], graphs)
                lines.append((experiment, name, found.value, found.low, found.high, found.graphs))
    return pd.DataFrame(lines, columns=["class", "strategy", "times", "low", "high", "graphs"])


def _scaled(rows):
    logs = statistics.paired(rows, "diagonal-part", "edge-locked")
    if not len(logs):
        return logs
    shares = rows[(rows["metric"] == "measured_share") & (rows["strategy"] == "diagonal-part")]
    share = shares.groupby(["dataset", "parameters"])["value"].median()
    places = pd.MultiIndex.from_frame(logs[["dataset", "parameters"]])
    return logs.assign(log=logs["log"] - np.log(share.reindex(places).to_numpy()))


def table_two(rows):
    """Table II: the published graphs with their seconds, and milliseconds of our sweeps on the twins."""
    lines = []
    found = {c: cells(rows, c) for c in CLASSES}
    for name, size in twins.TABLE.items():
        line = {
            "graph": name, "users + items": size.users + size.items, "ratings": size.edges,
            "largest degree": size.largest, "edge-locked, K40 (s)": size.k40, "R9-290X (s)": size.r9,
        }  # fmt: skip
        table = found[size.kind]
        mine = table[table["dataset"] == f"twin-{name}"] if len(table) else table
        for strategy in ("edge-locked", "tiles"):
            known = len(mine) and strategy in mine
            line[f"{strategy}, a sweep here (ms)"] = float(mine[strategy].iloc[0]) if known else np.nan
        times = exact(mine.iloc[0]) if len(whole(mine)) else {}
        line["fastest here"] = min(times, key=times.get, default=None)
        line["note"] = size.note
        lines.append(line)
    return pd.DataFrame(lines)


def floors(table, costs, an_update_ns=None):
    """Floors of a sweep in milliseconds, beside the fastest strategy: bytes and the largest node's chain.

    Bytes: every vector read and written once, and 12 bytes a rating, at the machine's copy bandwidth. Chain:
    the largest degree times `an_update_ns`, the shortest time of an update in a dependent chain.
    """
    lines = []
    for _, line in whole(table).iterrows():
        vectors = (line["users"] + line["items"]) * line["rank"] * 4 * 2
        moved = (vectors + 12 * line["ratings"]) / costs.bytes_per_second("device") * 1e3
        chain = line["largest degree"] * (an_update_ns or np.nan) / 1e6
        times = exact(line)
        best = min(times, key=times.get, default=None)
        floor = np.nanmax([moved, chain])
        lines.append({
            "dataset": line["dataset"], "bytes (ms)": moved, "chain (ms)": chain, "fastest": best,
            "time (ms)": line[best] if best else np.nan, "floor / time": floor / line[best] if best else np.nan,
        })  # fmt: skip
    return pd.DataFrame(lines)


def break_even(rows):
    """Sweeps up to which the best diagonal schedule with its preprocessing beats the best matching with its own, on
    scale-free twins.

    Infinite where a diagonal is faster a sweep as well, 0 where it never pays.
    """
    walls, prepared = cells(rows, "scale-free"), cells(rows, "scale-free", "preparation")
    lines = []
    for k in range(len(walls)):
        wall, ready = walls.iloc[k], prepared.iloc[k]
        sides = {}
        for side, names in (
            ("matching", ("agm-edge", "agm-node", "sgm")),
            ("diagonal", ("diagonal", "block-diagonal")),
        ):
            known = [n for n in names if wall.get(n, 0) > 0 and n in ready.index]
            if known:
                sides[side] = [(ready[n], wall[n], n) for n in known]
        if len(sides) < 2:
            continue
        counts = np.unique(np.concatenate([np.arange(1, 101), np.geomspace(100, 1e6, 200).astype(int)]))
        cost = {side: np.min([a + b * counts for a, b, _ in options], axis=0) for side, options in sides.items()}
        wins = cost["diagonal"] < cost["matching"]
        found = np.inf if wins.all() else float(counts[wins].max(initial=0))
        lines.append({"dataset": wall["dataset"], "diagonals win up to (sweeps)": found})
    return pd.DataFrame(lines)


def predictions(rows):
    """The predictor on the graphs of both classes and the real ones: its choice, the best, the time
    ratio."""
    coefficients = model.from_rows(rows)
    lines = []
    for experiment in (*CLASSES, "real"):
        mine = rows[(rows["experiment"] == experiment) & (rows["metric"] == "chosen")]
        for dataset, cell in mine.groupby("dataset", sort=False):
            chosen = cell.groupby("strategy")["value"].last().map(lambda n: list(STRATEGIES)[int(n) - 1])
            if {"(best)", model.PREDICTED} <= set(chosen.index):
                pair = statistics.paired(
                    rows[(rows["experiment"] == experiment) & (rows["dataset"] == dataset)], model.PREDICTED, "(best)"
                )
                loss = float(np.exp(pair["log"].mean())) if len(pair) else np.nan
                lines.append((experiment, dataset, chosen[model.PREDICTED], chosen["(best)"], loss))
    return pd.DataFrame(lines, columns=["class", "dataset", "predicted", "best", "time over the best"]), coefficients


def learned(rows):
    """Test error sweep by sweep (dataset, strategy, sweep, error), and each strategy's against one thread's.

    The second table has a line a data set and strategy: the errors after as many sweeps as both it and the serial
    baseline made, and after its own last one.
    """
    mine = rows[(rows["experiment"] == "sweeps") & (rows["metric"] == "test rmse")]
    mine = mine.assign(sweep=recording.within(mine["round"]) + 1)
    curves = mine.groupby(["dataset", "strategy", "sweep"], sort=False)["value"].mean().reset_index()
    lines = []
    for dataset, group in curves.groupby("dataset", sort=False):
        errors = group.pivot_table(index="sweep", columns="strategy", values="value", sort=False)
        for name in errors:
            line = {"dataset": dataset, "strategy": name, "sweeps": int(errors[name].dropna().index[-1])}
            line["test RMSE"] = errors[name].dropna().iloc[-1]
            both = errors[[name, "serial"]].dropna() if "serial" in errors and name != "serial" else []
            if len(both):
                line["sweeps of one thread"] = int(both.index[-1])
                line["over one thread's"] = both[name].iloc[-1] / both["serial"].iloc[-1]
            lines.append(line)
    return curves, pd.DataFrame(lines)


def cost_model(rows):
    """The published cost model graph by graph: predicted and measured offline over online, and whether the
    order is right."""
    lines = []
    for experiment in (*CLASSES, "real"):
        walls = cells(rows, experiment)
        known = rows[(rows["experiment"] == experiment) & (rows["strategy"] == "(cost model)")]
        for dataset, cell in known.groupby("dataset", sort=False):
            value = cell.groupby("metric")["value"].last()
            wall = walls[walls["dataset"] == dataset].iloc[0]
            offline = min(wall[n] for n in ("agm-edge", "agm-node", "sgm") if n in wall and wall[n] > 0)
            lines.append({
                "class": experiment, "dataset": dataset, "largest degree": wall["largest degree"],
                "predicted offline / online": value["offline"] / value["online"],
                "measured offline / online": offline / wall["edge-locked"],
                "order": "right" if value["order"] == 1 else "wrong",
            })  # fmt: skip
    return pd.DataFrame(lines), published_costs(rows)


def locks(rows):
    """The published edge-locked schedule on the twins, by its first and by its last recorded build, beside the K40.

    Parameters
    ----------
    rows : DataFrame
        Of one machine, those of earlier builds among them.

    Returns
    -------
    DataFrame
        Milliseconds of a sweep, its passes, microseconds of a pass; the same locks with all passes inside one launch;
        and the published milliseconds of a whole run, of a number of sweeps that is not given (so at least of one).
    """
    mine = rows[rows["experiment"].isin([*CLASSES, *BETTER])]
    lines = []
    for (name, size), suffix in itertools.product(twins.TABLE.items(), ("", *(ids for _, ids in BETTER.values()))):
        own = mine[(mine["dataset"] == f"twin-{name}{suffix}") & (mine["strategy"] == "edge-locked")]
        builds = own["kernel"].unique()
        if not len(builds):
            continue
        line = {"graph": f"{name}{suffix}", "largest degree": size.largest, "K40, whole run (ms)": 1e3 * size.k40}
        for which, build in (("first", builds[0]), ("last", builds[-1]))[len(builds) == 1 :]:
            medians = own[own["kernel"] == build].groupby("metric")["value"].median()
            line |= {f"{which} build (ms)": medians["wall"], f"{which}: passes": medians["passes"],
                     f"{which}: a pass (us)": 1e3 * medians["wall"] / medians["passes"]}  # fmt: skip
        inside = mine[(mine["dataset"] == f"twin-{name}{suffix}") & (mine["strategy"] == "edge-locked-resident")]
        line["in one launch (ms)"] = inside.loc[inside["metric"] == "wall", "value"].median()
        line["over K40"] = line["last build (ms)"] / line["K40, whole run (ms)"]
        lines.append(line)
    return pd.DataFrame(lines)
