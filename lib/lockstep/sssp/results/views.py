"""How recorded rows become the tables of the notebook: beside the published figures, the peers and the floors."""

import json

import numpy as np
import pandas as pd

from lockstep.evidence import statistics, tables
from lockstep.evidence.recording import CLOCKS

from . import forecast

# Milliseconds of the fastest public code that we know of on one H200 (host cores where it says so).
PEERS = {
    "ego-Facebook": (0.24, "ADDS"),
    "USA-road-d.NY": (3.4, "GAPBS, 16 threads"),
    "rmat-20": (6.1, "Lonestar"),
    "road-like-4194304": (13.0, "ADDS"),
}
PUBLISHED = {"ego-Facebook": {"atomic": 1.8}, "USA-road-d.NY": {"atomic": 9.3, "barrier": 1.7}}
LADDER = ("atomic", "persistent", "near-far", "cluster", "asynchronous", "chaotic")


def means(rows, experiment, metric="wall", **parameters):
    """Geometric means over the rounds: one line a cell, one column a label; parameters as further columns."""
    mine = rows[(rows["metric"] == metric) & (rows["value"] > 0)]
    return pd.DataFrame([
        {"dataset": dataset, **own, **tables.times(cell, metric)}
        for dataset, own, cell in tables.cells(mine, experiment) if parameters.items() <= own.items()
    ])  # fmt: skip


def counts(rows, experiment, dataset, label, metric, **parameters):
    """The mean of one count; NaN where it is not recorded."""
    mine = statistics.select(rows, label, metric, experiment=experiment, dataset=dataset)
    mine = mine[[parameters.items() <= json.loads(text).items() for text in mine["parameters"]]]
    return float(mine["value"].mean()) if len(mine) else np.nan


def times(rows, labels):
    """Milliseconds by the wall clock: one line a label, one column a graph; the larger graphs last."""
    wall = means(rows, "time")
    if wall.empty:
        return wall
    names = [
        _spaced(line.dataset)
        + ("" if line.weights == "random" else ", unit")
        + ("" if line.arcs == "both" else ", once")
        for line in wall.itertuples()
    ]
    table = wall[[label for label in labels if label in wall]].T
    table.columns = names
    return table.dropna(how="all").reset_index(names="strategy")


def _spaced(name):
    """A generated graph's name with its size apart, so that the head of a narrow column can break there."""
    family, _, size = name.rpartition("-")
    return f"{family} {int(size):,}" if size.isdigit() and int(size) > 99 else name


def beside_peers(rows, costs=None):
    """The fastest exact strategy of the GPU on each graph with a peer: events, wall clock, floor, peer (ms)."""
    wall, device = means(rows, "time", weights="random", arcs="both"), means(rows, "time", "device")
    lines = []
    for dataset, (peer, who) in PEERS.items():
        mine = wall[wall["dataset"] == dataset] if len(wall) else wall
        if mine.empty or device.empty:
            continue
        candidates = [s for s in LADDER if s in mine and np.isfinite(mine[s].iloc[0])]
        best = min(candidates, key=lambda s: mine[s].iloc[0])
        events = device[(device["dataset"] == dataset) & (device["weights"] == "random") & (device["arcs"] == "both")]
        lines.append({
            "graph": dataset,
            "fastest": best,
            "events": events[best].iloc[0],
            "wall": mine[best].iloc[0],
            "auto": mine["auto"].iloc[0] if "auto" in mine else np.nan,
            "floor": floor(rows, dataset, best, costs) if costs else np.nan,
            "peer": peer,
            "who": who,
        })  # fmt: skip
    return pd.DataFrame(lines)


def floor(rows, dataset, label, costs):
    """Lower bound on a run's time from study 0's costs (ms): rounds times the latency of a round, the graph's bytes,
    and a launch with its read-back.

    A round of `near-far` is a grid barrier and a chain of four loads from L2 and an atomic; of `atomic` and `barrier` a
    launch and a read-back; of `fence` and `persistent` a grid barrier. A step of `asynchronous` is a block barrier and
    a chain of three loads and two atomics in shared memory. A sweep of `chaotic` is a load from L2 and a block barrier.
    """
    same = {"weights": "random", "arcs": "both"}
    steps = counts(rows, "time", dataset, label, "steps" if label in ("asynchronous", "chaotic") else "rounds", **same)
    load, atomic = costs.load_ns("L2") / 1e3, costs.atomic_ns("L2") / 1e3
    barrier = costs.grid_barrier_us()
    inside = costs.block_barrier_ns(512) / 1e3 + (3 * costs.load_ns("shared") + 2 * costs.atomic_ns("shared")) / 1e3
    per_round = {
        "atomic": costs.step_us,
        "barrier": costs.step_us,
        "fence": barrier,
        "persistent": barrier,
        "near-far": barrier + 4 * load + atomic,
        "cluster": 4 * load + atomic,
        "asynchronous": inside,
        "chaotic": load + costs.block_barrier_ns(1024) / 1e3,
    }[label]
    nodes, arcs = (counts(rows, "degrees", dataset, "(graph)", m) for m in ("vertices", "stored_arcs"))
    data = (nodes * 12 + arcs * 8) / costs.bytes_per_second() * 1e3 if np.isfinite(nodes) else 0.0
    once = 0.0 if label in ("atomic", "barrier") else costs.readback_us / 1e3
    return steps * per_round / 1e3 + data + once


def launches(rows, costs):
    """Launch overhead of the published baseline, and times of three ways to avoid it: a line a graph of the paper.

    Milliseconds. `atomic` is a launch and a read-back a round; `persistent` is the same rounds in one launch;
    `near-far` is one launch whose lanes share the rows.
    """
    wall = means(rows, "time", weights="random", arcs="both")
    lines = []
    for graph, layered in (("ego-Facebook", "semaphores-1"), ("USA-road-d.NY", "semaphores-2")):
        mine = wall[wall["dataset"] == graph] if len(wall) else wall
        wanted = ["atomic", "persistent", layered, "near-far"]
        if mine.empty or not set(wanted) <= set(mine) or mine[wanted].isna().any(axis=None):
            continue
        many = counts(rows, "time", graph, "atomic", "launches", weights="random", arcs="both")
        lines.append({
            "graph": graph,
            "longest": int(counts(rows, "degrees", graph, "(graph)", "largest_degree")),
            "launches": round(many),
            "in launches": many * costs.step_us / 1e3,
            "layers": int(layered[-1]),
            "semaphores": mine[layered].iloc[0],
            **{label: mine[label].iloc[0] for label in ("atomic", "persistent", "near-far")},
        })  # fmt: skip
    return pd.DataFrame(lines)


def layers(rows):
    """Wrong vertices after 1 to 24 layers: a line a graph and its weights; the layers it needs, and what it is like.

    Where a graph was measured from few sources and again from more, the latter count; over several recordings, no
    source of any of them has a wrong vertex after the layers needed.
    """
    lines = {}
    for dataset, own, cell in tables.cells(rows, "layers"):
        value = cell.groupby(["strategy", "metric"])["value"].mean()
        line = {"graph": dataset, **{k: v for k, v in own.items() if k in ("weights", "sources")}}
        for k in forecast.LAYERS:
            line[f"{k}"] = value.get((f"semaphores-{k}", "wrong_vertices"), np.nan)
        line["layers_needed"] = forecast.needed({k: line[f"{k}"] for k in forecast.LAYERS})
        line |= {name: value.get(("(graph)", name), np.nan) for name in ("hops", "nodes", "degree")}
        key = dataset, line.get("weights")
        if line.get("sources", 0) >= lines.get(key, line).get("sources", 0):
            lines[key] = line
    table = pd.DataFrame(list(lines.values()))
    return table.drop(columns=[str(k) for k in forecast.LAYERS if len(table) and table[str(k)].isna().all()])


def unfinished(rows, experiment, labels=""):
    """What a sweep lacks, as a sentence for its caption; "" where nothing is missing.

    A sweep over layers or widths is a grid: every label that begins with `labels` (and every width) that one graph has,
    all graphs should have.
    """
    mine = rows[(rows["experiment"] == experiment) & rows["strategy"].str.startswith(labels)]
    mine = mine[(mine["strategy"] != "(graph)") & (mine["strategy"] != CLOCKS)]
    have = {}
    for (dataset, text, label), _ in mine.groupby(["dataset", "parameters", "strategy"], sort=False):
        own = json.loads(text)
        name = dataset if own.get("weights", "random") == "random" else f"{dataset} ({own['weights']} weights)"
        have.setdefault(name, set()).add((label, own.get("delta")))
    whole = set().union(*have.values())
    # Sources are tried label by label, and the graph's own row comes last: without it the machine was stopped.
    ended = set(rows[(rows["experiment"] == experiment) & (rows["strategy"] == "(graph)")]["dataset"])
    lacking = [f"{name} was not finished" for name in have if ended and name.partition(" (")[0] not in ended]
    for name, found in have.items():
        if missing := sorted({label for label, _ in whole - found}):
            lacking.append(f"{name} lacks {len(whole - found)} of {len(whole)} points ({', '.join(missing)})")
    return f" The sweep is incomplete: {'; '.join(lacking)}." if lacking else ""


def deltas(rows, dataset, metric="wall"):
    """Time against bucket width (in mean weights; infinity: one bucket): one column a label."""
    table = means(rows, "delta", metric)
    if table.empty:
        return table
    table = table[table["dataset"] == dataset].copy()
    table["delta"] = table["delta"].replace(0, np.inf)
    return table.sort_values("delta").drop(columns=["dataset", "weights", "arcs", "nodes"], errors="ignore")


def sizes(rows):
    """atomic and barrier over semaphores with two layers, within rounds, against the number of vertices of road-like
    graphs.
    """
    wall = means(rows, "time")
    if wall.empty or "nodes" not in wall or "semaphores-2" not in wall:
        return pd.DataFrame()
    wall = wall[wall["dataset"].str.startswith("road-like-") & wall["semaphores-2"].notna()].sort_values("nodes")
    table = pd.DataFrame({"nodes": wall["nodes"].astype(int)})
    for label in ("atomic", "barrier"):
        over = tables.quotients(rows[rows["experiment"] == "time"], label, "semaphores-2")
        if len(over):
            table[f"{label} / semaphores-2"] = wall["dataset"].map(over.groupby("dataset").agg(statistics.center))
    return table.reset_index(drop=True)


def races(rows):
    """Number of fuzzed schedules with wrong distances on the four vertices."""
    mine = rows[(rows["experiment"] == "race")].pivot_table(index="strategy", columns="metric", values="value")
    if mine.empty:
        return mine
    mine.index = [name.removeprefix("race-") for name in mine.index]
    counts = mine[["seeds", "wrong_seeds", "first_wrong_seed"]].astype("Int64")
    return counts.mask(counts < 0).reset_index(names="strategy")  # -1: there is none
