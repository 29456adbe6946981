"""How recorded rows become the notebook's tables and figures: speedups by group, growth with the batch, overlap."""

import itertools
import json

import numpy as np
import pandas as pd

from lockstep.evidence import tables
from lockstep.evidence.selecting import matching
from lockstep.evidence.statistics import center, geometric_mean

from ..experiments.labels import gpus_of_label
from ..measures import MEASURES

NAMES = {measure: MEASURES[measure].title for measure in ("betweenness", "closeness", "apsp")}  # the paper's measures
# The paper's averages over groups, Figure 6 and its text: how much faster SwarmGraph is.
SPEEDUPS = {
    "betweenness": {"parallel CPU": 314, "conventional GPU": 93, "Gunrock": 24, "hybrid BC": 19},
    "closeness": {"parallel CPU": 306, "conventional GPU": 26},
    "apsp": {"parallel CPU": 56, "conventional GPU": 29},
}
# Minutes for a million graphs, Figure 8 and its text: without overlap, with it, on eight GPUs.
MINUTES = {"betweenness": (283, 218, 30), "closeness": (25, 13, 2), "apsp": (31, 17.5, 2.4)}
GAINS = {"apsp": 1.9, "closeness": 1.8, "betweenness": 1.3}  # of overlap, a million graphs


def of_measure(rows, measure):
    """Rows whose parameters name the measure."""
    return matching(rows, {"parameters": {"measure": measure}})


def means(rows, experiment, metric, measure=None):
    """Geometric means over rounds: one line a batch, in the order of measuring, one column a strategy."""
    return tables.means(rows if measure is None else of_measure(rows, measure), experiment, metric).sort_index(axis=1)


def _graphs(rows, experiment, dataset):
    """Graphs that a cell of single graphs took."""
    mine = rows[(rows["experiment"] == experiment) & (rows["dataset"] == dataset)]
    found = [json.loads(text).get("graphs") for text in mine["parameters"].unique()]
    return next((count for count in found if count), np.nan)


def singles(rows, measure, experiment="single"):
    """Microseconds a graph, one after the other: one line a group, one column a strategy (Figure 6's times)."""
    found = means(rows, experiment, "wall", measure)
    if found.empty:
        return found
    counts = [_graphs(of_measure(rows, measure), experiment, dataset) for dataset in found.index]
    return found.mul(1e3 / np.array(counts, float), axis=0).rename_axis("group").reset_index()


def over_design(rows, measure):
    """Times over that of SwarmGraph's design (`paper`), one graph after the other, within rounds: one line a group, one
    column a strategy.

    On one graph `cpu`, which takes a graph a core, is one core; `cpu-sources`, which takes a source a core, is the
    parallel CPU of the paper, and was measured beside `paper` in an experiment of its own.
    """
    found = {}
    for experiment in ("parallel", "single"):
        mine = of_measure(rows[rows["experiment"] == experiment], measure)
        for strategy in mine["strategy"].unique():
            over = tables.quotients(mine, strategy, "paper").droplevel("parameters")
            if strategy != "paper" and len(over):
                found[strategy] = over
    return pd.DataFrame(found).sort_index(axis=1).rename_axis("group").reset_index()


def batches(rows, measure):
    """Milliseconds for whole batches: one line a batch, one column a strategy; by device events where there are any."""
    wall, device = (means(rows, "batch", metric, measure) for metric in ("wall", "device"))
    if wall.empty:
        return wall
    found = wall.copy()
    for column in device:
        found[column] = device[column].combine_first(wall[column])
    return found.rename_axis("batch").reset_index()


def curve(rows, measure):
    """Seconds against the number of graphs (Figure 7): one line a number, columns the ways through a batch."""
    found = means(rows, "curve", "wall", measure)
    if found.empty:
        return found
    found = found / 1e3
    found.insert(0, "graphs", [int(name.rsplit("-", 1)[1]) for name in found.index])
    return found.sort_values("graphs").reset_index(drop=True)


def overlap(rows):
    """What overlap gains, and how near it comes to the larger of loading and computing.

    `gain`: one thread for all over one that loads beside one that computes (as published); `reading s`: the bytes of
    the shards alone, by as many threads; `over floor`: with all threads, over the larger of what loading alone takes
    and what computing takes (where nothing overlaps, if that was measured), where both are known.
    """
    lines = []
    loading = means(rows, "curve", "wall")
    for measure in NAMES:
        times, busy = curve(rows, measure), means(rows, "curve", "compute", measure)
        for line in times.to_dict("records") if len(times) else []:
            name = f"benchmark-{line['graphs']}"
            if "overlapped" not in line or not line["overlapped"] > 0 or line["graphs"] < 1000:
                continue
            alone, read = (
                loading[way].get(name, np.nan) / 1e3 if way in loading else np.nan for way in ("loading", "reading")
            )
            known = [busy[way].get(name, np.nan) for way in ("one-thread", "overlapped") if way in busy]
            computing = next((seconds for seconds in known if seconds > 0), np.nan)
            over = _over(rows, name, measure, computing)
            lines.append({
                "measure": NAMES[measure],
                "graphs": line["graphs"],
                "one thread s": line.get("one-thread", np.nan),
                "one loader s": line.get("one-loader", np.nan),
                "overlapped s": line["overlapped"],
                "gain": line.get("one-thread", np.nan) / line.get("one-loader", np.nan),
                "gain of all": line.get("one-thread", np.nan) / line["overlapped"],
                "published gain": GAINS[measure],
                "reading s": read,
                "loading s": alone,
                "computing s": computing,
                "over floor": over.value if over else line["overlapped"] / np.maximum(alone, computing),
                "low": over.low if over else np.nan,
                "high": over.high if over else np.nan,
            })  # fmt: skip
    return pd.DataFrame(lines)


def _over(rows, dataset, measure, computing):
    """An Estimate of overlapped over the larger of loading and `computing` (s), round by round; None without rounds."""
    mine = of_measure(rows[(rows["experiment"] == "curve") & (rows["dataset"] == dataset)], measure)
    times = mine[mine["metric"] == "wall"].pivot_table("value", "round", "strategy", aggfunc="last")
    if not {"overlapped", "loading"} <= set(times):
        return None
    times = times[["overlapped", "loading"]].dropna()
    floor = times["loading"].clip(lower=computing * 1e3) if computing > 0 else times["loading"]
    return geometric_mean(np.log(times["overlapped"] / floor)) if len(times) else None


def disk(rows):
    """Rates of reading the disk and of loading: one line a number of graphs where both were measured.

    `reading`: the shards' bytes alone; `loading`: read and checked, both by the same number of
    threads, from a cold page cache.
    """
    times = means(rows, "curve", "wall")
    sizes = means(rows, "curve", "bytes")
    lines = []
    for name, line in times.iterrows() if {"loading", "reading"} <= set(times) else ():
        if line["loading"] > 0 and line["reading"] > 0:
            size = sizes["reading"][name] / 1e9
            lines.append({"graphs": int(name.rsplit("-", 1)[1]), "GB": size,
                          "reading GB/s": size / line["reading"] * 1e3, "loading GB/s": size / line["loading"] * 1e3,
                          "loading over reading": line["loading"] / line["reading"]})  # fmt: skip
    return pd.DataFrame(sorted(lines, key=lambda line: line["graphs"]))


def steps(rows, count=10**6):
    """Where the time of a batch goes: seconds of each step, summed up over threads, and of the device's computing."""
    lines = []
    for measure in NAMES:
        mine = of_measure(rows[(rows["experiment"] == "curve") & (rows["dataset"] == f"benchmark-{count}")], measure)
        for way in ("one-thread", "one-loader", "overlapped"):
            own = mine[mine["strategy"] == way]
            if own.empty:
                continue
            seconds = own.groupby("metric")["value"].agg(center)
            lines.append({
                "measure": NAMES[measure],
                "way": way,
                "rounds": int(own["round"].nunique()),
                "wall s": seconds.get("wall", np.nan) / 1e3,
                **{f"{step} s": seconds.get(step, np.nan) for step in ("load", "copy", "plan", "compute")},
            })  # fmt: skip
    return pd.DataFrame(lines)


def million(rows):
    """A million graphs (Figure 8): minutes as published, seconds here; NaN for ways that were not measured."""
    lines = []
    for measure, (apart, together, eight) in MINUTES.items():
        times = curve(rows, measure)
        mine = times[times["graphs"] == 10**6] if len(times) else times
        if len(mine):
            mine = mine.iloc[0]
            line = {
                "measure": NAMES[measure],
                "without overlap, published min": apart,
                "with overlap, published min": together,
                "on 8 GPUs, published min": eight,
            }
            here = {
                f"{whose}{how} s": mine.get(way, np.nan)
                for way, whose, how in (
                    ("paper-one-thread", "SwarmGraph's design here", ", one thread"),
                    ("paper-one-loader", "SwarmGraph's design here", ""),
                    ("one-thread", "here", ", one thread"),
                    ("overlapped", "here", ""),
                )
            }
            lines.append({**line, **here})
    return pd.DataFrame(lines)


def by_size(rows):
    """Microseconds a graph that loading and computing take in one thread, by size: computing by this study's strategy
    and by SwarmGraph's design, loading from shards and from files of edges.
    """
    mine = rows[rows["experiment"].isin(["sizes", "edge-lists"])]
    lines = []
    for dataset in mine["dataset"].unique():
        own = mine[mine["dataset"] == dataset]
        shards, text = own[own["experiment"] == "sizes"], own[own["experiment"] == "edge-lists"]
        computing = shards[shards["metric"] == "compute_us"]
        lines.append({
            "vertices": int(dataset.split("-")[1]),
            "loading": center(shards[shards["metric"] == "load_us"]["value"]),
            "computing": center(computing[computing["strategy"] == "one-thread"]["value"]),
            "by SwarmGraph's design": center(computing[computing["strategy"] == "paper-one-thread"]["value"]),
            "loading from text": center(text[text["metric"] == "load_us"]["value"]),
        })  # fmt: skip
    return pd.DataFrame(lines).sort_values("vertices") if lines else pd.DataFrame()


def several(recorded):
    """Seconds on several GPUs: one line a machine, batch, measure and number of GPUs.

    `disk`: shards on a cold disk, or in the page cache. `of linear` is the parallel efficiency over one GPU,
    from shards to results; `computing, of linear` the same of the kernels alone, on the GPU that computes
    longest: the load imbalance of pieces, without waiting times. Machines with few GPUs come first.

    Parameters
    ----------
    recorded : mapping
        {machine: rows}: the machine with several GPUs is seldom the one that figures show.
    """
    lines = []
    for machine, rows in recorded.items():
        times = rows[(rows["experiment"] == "gpus") & rows["metric"].isin(["work", "compute", "busiest"])]
        places = (times["parameters"].str.contains('"disk":"cached"')).map({True: "cached", False: "cold"})
        kinds = itertools.product(times["dataset"].unique(), NAMES, places.unique())
        for dataset, measure, place in kinds:
            own = of_measure(times[(times["dataset"] == dataset) & (places == place)], measure)
            if own.empty:
                continue
            known = own.pivot_table("value", "strategy", "metric", aggfunc=center)
            known = known.reindex(columns=["work", "compute", "busiest"])
            one = known.reindex(["gpus@1-dynamic"]).iloc[0]
            for label, line in known.iterrows():
                gpus, schedule = gpus_of_label(label)
                lines.append({"machine": machine, "graphs": int(dataset.split("-")[1]), "measure": NAMES[measure],
                              "disk": place, "GPUs": gpus, "schedule": schedule, "s": line["work"],
                              "of linear": one["work"] / line["work"] / gpus,
                              "computing, of linear": one["compute"] / line["busiest"] / gpus})  # fmt: skip
    found = pd.DataFrame(lines)
    if found.empty:
        return found
    order = found.groupby("machine")["GPUs"].transform("max").sort_values(kind="stable").index
    return found.loc[order].reset_index(drop=True)


def right(rows):
    """Further measures: on how many graphs each was checked, and how long it took."""
    mine = rows[rows["experiment"] == "further"]
    lines = []
    for (dataset, text), own in mine[mine["metric"] == "right"].groupby(["dataset", "parameters"], sort=False):
        cell = mine[(mine["dataset"] == dataset) & (mine["parameters"] == text)]
        graphs = mine[(mine["dataset"] == dataset) & (mine["metric"] == "graphs")]["value"]
        for strategy in own["strategy"].unique():
            times = cell[(cell["strategy"] == strategy) & (cell["metric"] == "wall")]["value"]
            title = MEASURES[json.loads(text)["measure"]].title
            line = {"batch": dataset, "measure": title, "strategy": strategy}
            graphs_checked = int(graphs.iloc[0]) if len(graphs) else 0
            lines.append({**line, "graphs": graphs_checked, "right": True, "ms": center(times)})
    return pd.DataFrame(lines)


VARIANTS = {  # options, and what they mean
    "placement=global": "metadata in global memory",
    "persistent=False": "a block an item, no queue",
    "shared=metadata": "graph in global memory",
    "shared=nothing": "graph, metadata in global memory",
    "sparse=0": "sparse graphs as all others",
    "width=16": "16 sources a group",
    "words=4": "128 sources a set",
}


def ablation(rows):
    """Ablation of the design's parts: a line a measure and strategy, and one for each of its variants.

    Of every batch the device's milliseconds (launches, where there is no device with times), and of a variant how many
    times those of the strategy as it is.
    """
    mine = rows[rows["experiment"] == "design"]
    metric, unit = ("device", "ms") if (mine["metric"] == "device").any() else ("launches", "launches")
    lines = []
    for measure in NAMES:
        found = means(mine, "design", metric, measure)
        for label in sorted(found, key=lambda label: (label.split("@")[0], "@" in label)):
            name, _, variant = label.partition("@")
            words = VARIANTS.get(variant, variant) or "as it is"
            line = {"measure": NAMES[measure], "strategy": name, "variant": words}
            for dataset in found.index:
                line[f"{dataset} {unit}"] = found[label][dataset]
                base = found[name][dataset] if name in found else np.nan
                line[f"{dataset} over"] = found[label][dataset] / base if variant and base > 0 else np.nan
            lines.append(line)
    return pd.DataFrame(lines)


def stacked(found):
    """Tables of several measures as one, the measure in the first column; {measure: table}."""
    some = [(measure, table) for measure, table in found.items() if len(table)]
    lines = [{"measure": NAMES[measure], **line} for measure, table in some for line in table.to_dict("records")]
    return pd.DataFrame(lines)


def written(rows):
    """Writing results: seconds with and without, and what was written."""
    mine = rows[rows["experiment"] == "writing"]
    lines = []
    for measure in NAMES:
        own = of_measure(mine, measure)
        times = {label: center(own[(own["strategy"] == label) & (own["metric"] == "wall")]["value"]) / 1e3
                 for label in ("overlapped", "written")}  # fmt: skip
        size = own[own["metric"] == "written_bytes"]["value"]
        if len(size):
            graphs = int(own["dataset"].iloc[0].rsplit("-", 1)[1])
            seconds = {"s": times["overlapped"], "with writing s": times["written"]}
            lines.append({"measure": NAMES[measure], "graphs": graphs, **seconds, "GB": float(size.iloc[0]) / 1e9})
    return pd.DataFrame(lines)
