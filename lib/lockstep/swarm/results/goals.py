"""This study's goals beside the measured figures and their floors; all from recorded rows."""

import numpy as np
import pandas as pd

from lockstep.evidence.statistics import center
from lockstep.report.goals import Goals

from . import views

SECONDS = {"betweenness": 40, "closeness": 20, "apsp": 20}  # a million graphs, from a cold disk to results
MS = {"betweenness": 6, "apsp": 3}  # kernels, all graphs of DD with fewer than 1,024 vertices
ALONE_US = 60  # betweenness of one graph of 512 vertices
OVER = 1.1  # time of an overlapped run over the larger of loading and computing
LINEAR = 0.9  # of as many times one GPU: betweenness on several, shards in the page cache
MOST_WARPS = 64  # on a multiprocessor
SHARED_BYTES = 128  # shared memory bandwidth of a multiprocessor per clock


def reached(rows, costs=None, recorded=None):
    """A million graphs from disk, kernels, one graph alone, and several GPUs; see `report.goals`.

    Several GPUs may be another machine's: `recorded` has the rows of all, {machine: rows}, as of `views.several`.
    """
    found = Goals()
    overlap = views.overlap(rows)
    whole = overlap[overlap["graphs"] == 10**6] if len(overlap) else overlap
    for line in whole.to_dict("records"):
        measure = next(m for m, name in views.NAMES.items() if name == line["measure"])
        least = np.maximum(line["reading s"], line["computing s"])
        goal = f"a million graphs from disk, {line['measure']}"
        found.add(goal, "s", SECONDS[measure], line["overlapped s"], floor=least)
    bounds = floors(rows, costs)
    for measure, aim in MS.items():
        kernels = views.means(rows, "batch", "device", measure)
        if "swarm" in kernels and "DD-small" in kernels.index:
            floor = np.nan
            if measure == "betweenness":
                floor = bounds.set_index("batch")["floor ms"].get("DD-small", np.nan) if len(bounds) else np.nan
            elif costs:
                floor = _matrices(rows, "DD-small") / costs.bytes_per_second() * 1e3
            found.add(f"DD, kernels, {views.NAMES[measure]}", "ms", aim, kernels["swarm"]["DD-small"], "swarm", floor)
    times = views.singles(rows, "betweenness", "alone")
    by = next((name for name in ("alone", "swarm") if name in times), None)
    if by:
        launches = views.means(rows, "alone", "launches", "betweenness")[by].iloc[0]
        floor = launches * costs.launch_us if costs else np.nan
        found.add("one graph of 512 vertices, betweenness", "us", ALONE_US, times[by].iloc[0], by, floor)
    for line in whole.to_dict("records"):
        unit = "times the larger of loading and computing"
        found.add(f"a million graphs overlapped, {line['measure']}", unit, OVER, line["over floor"])
    gpus = views.several(recorded or {})
    gpus = gpus[(gpus["schedule"] == "dynamic") & (gpus["GPUs"] > 1)] if len(gpus) else gpus
    gpus = gpus[gpus["measure"] == views.NAMES["betweenness"]] if len(gpus) else gpus
    most = gpus.groupby("machine")["GPUs"].max() if len(gpus) else {}
    for line in gpus[gpus["disk"] == "cached"].to_dict("records") if len(gpus) else ():  # a cold disk sets a limit
        here = most[line["machine"]]  # that a host's other GPUs are idle may matter
        count = f"{line['GPUs']}" if line["GPUs"] == here else f"{line['GPUs']} of {here}"
        for what, column in (("computing", "computing, of linear"), ("from the page cache to results", "of linear")):
            goal = f"{what} on {count} GPUs, betweenness"
            found.add(goal, "of linear", LINEAR, line[column], "swarm", least=True)
    return found.table()


def _matrices(rows, dataset):
    """Bytes of all distances of a batch, written and read once, if all its graphs were of one size: no batch of as many
    graphs and vertices has less.
    """
    own = rows[(rows["dataset"] == dataset) & (rows["strategy"] == "(batch)")].drop_duplicates("metric")
    figures = own.set_index("metric")["value"]
    return 2 * 2 * figures["vertices"] ** 2 / figures["graphs"]


def floors(rows, costs):
    """Lower bounds on betweenness, and the kernels' times over them.

    Every source traverses every arc twice, forward and backward, reading an eight-byte path count. `shared memory`: the
    time of these reads at the shared memory bandwidth of all multiprocessors. `levels`: two dependent loads for each
    level of a source; a warp has at most 32 sources. `floor`: the larger. `a load a visit`: the time with one shared
    memory latency per arc traversal of a lane, with all resident warps (`occupancy`); `loads
    a visit`: the kernels' time in such latencies, including idle lanes, queues and barriers.

    Parameters
    ----------
    rows : DataFrame
        One machine's.
    costs : Costs or None

    Returns
    -------
    DataFrame
        A line a batch, milliseconds.
    """
    figures = rows[(rows["experiment"] == "floor") & (rows["strategy"] == "swarm")]
    if figures.empty or costs is None:
        return pd.DataFrame()
    lines = []
    clock = costs.one("clocks") * 1e6
    for dataset, own in figures.groupby("dataset", sort=False):
        known = own.drop_duplicates("metric", keep="last").set_index("metric")["value"]
        mine = rows[(rows["dataset"] == dataset) & (rows["strategy"] == "swarm") & (rows["metric"] == "device")]
        mine = views.of_measure(mine[mine["experiment"].isin(["batch", "design"])], "betweenness")
        machine, load = known["multiprocessors"], costs.load_ns("shared") * 1e-9
        warps = machine * known["warps"]
        bandwidth = 2 * known["visits"] * 8 / (machine * SHARED_BYTES * clock)
        levels = 2 * known["levels"] / 32 * load / warps
        visits = 2 * known["visits"] / 32 * load / warps
        kernels = center(mine["value"])
        floor = max(bandwidth, levels) * 1e3
        lines.append({"batch": dataset, "kernels ms": kernels, "shared memory ms": bandwidth * 1e3,
                      "levels ms": levels * 1e3, "floor ms": floor, "over floor": kernels / floor,
                      "a load a visit ms": visits * 1e3, "loads a visit": kernels / visits / 1e3,
                      "occupancy": known["warps"] / MOST_WARPS})  # fmt: skip
    return pd.DataFrame(lines)
