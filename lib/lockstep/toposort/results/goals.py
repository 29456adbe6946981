"""This study's goals beside the measured figures; each figure comes from recorded rows."""

import numpy as np
import pandas as pd

from lockstep.evidence.statistics import center
from lockstep.report.goals import Goals

from . import floors, views

DEEP = "window-dag-1e6-8e6-1000-random"
FITTING = "window-dag-2e5-16e5-1000-random"  # layers like those of DEEP, and one block has room for all counters
TIMES_SERIAL = 40  # a million vertices and few edges: this many times as fast as the serial sort
MS = {  # graph and what it is called: at most so many milliseconds
    "random-dag-1e6-8e6-random": ("a million vertices, eight million arcs, shallow", 0.8),
    DEEP: ("a million vertices, eight million arcs, deep", 60.0),
    "commit-dag-rails": ("commits of rails, on the GPU", 10.0),
}
PATH_MS = 2.0  # one path of a million vertices, numbered at random
LEVEL_US = {"persistent": 2.0, "narrow": 0.6}  # layers shared by the grid; layers of one block
DEEP_ENOUGH = 100  # layers from which on a launch is a small part of what one takes
AUTO = (1.1, 1.5)  # over the best strategy: geometric mean, worst
HOW = {"mean": "geometric mean", "worst": "the worst"}


def reached(rows, costs=None):
    """Random graphs beside the serial sort, depth, the cost of a layer, and the choice; see `report.goals`."""
    found = Goals()
    known = floors.table(rows, costs) if costs else pd.DataFrame()
    random = views.cells(rows, "table-4.1")
    for edges in (10**3, 10**4, 10**5):
        mine = random[random["edges"] == edges] if len(random) else random
        times, best = _best(mine)
        if best:
            gain = center(mine["serial"] / times)
            goal = f"a million vertices, {edges:,} edges"
            own = known[known["graph"].isin(mine["dataset"])] if len(known) else known
            own = own[own["strategy"] == best] if len(own) else own
            serial = mine.set_index("dataset")["serial"]
            floor = serial[own["graph"].iloc[0]] / own["floor (ms)"].iloc[0] if len(own) else np.nan
            found.add(goal, "times as fast as serial", TIMES_SERIAL, gain, best, floor, least=True)
    for graph, (what, aim) in MS.items():
        experiment = "real-dags" if graph.startswith("commit") else "ladder"
        table = views.cells(rows, experiment)
        times, best = _best(table[table["dataset"] == graph] if len(table) else table)
        if best:
            own = known[(known["graph"] == graph) & (known["strategy"] == best)] if len(known) else known
            floor = own["floor (ms)"].iloc[0] if len(own) else np.nan
            found.add(what, "ms", aim, times.iloc[0], best, floor)
    depth = views.cells(rows, "table-4.3")
    if len(depth):
        path = (depth["family"] == "disjoint-paths") & (depth["ids"] == "random") & (depth["depth"] == 10**6)
        times, best = _best(depth[path])
        if best:
            found.add("a path of a million vertices, random ids", "ms", PATH_MS, times.iloc[0], best)
    step = floors.one_vertex(costs) if costs else {}
    for name, cost in views.level_costs(rows).items():
        if name in LEVEL_US:
            found.add("disjoint paths", "us a layer", LEVEL_US[name], cost, name, step.get(name, np.nan))
    for what, graph in (("the deep graph", DEEP), ("layers like its own, where all counters fit", FITTING)):
        for name, cost in layer(rows, graph).items():
            if name in LEVEL_US:
                floor = floors.layer_us(_line(rows, graph), name, costs) if costs else np.nan
                found.add(what, "us a layer", LEVEL_US[name], cost, name, floor)
    dearest = dearest_layer(rows, costs)
    if dearest:
        goal = f"any graph of {DEEP_ENOUGH} layers or more, the dearest: {dearest['graph']}"
        found.add(goal, "us a layer", LEVEL_US["persistent"], dearest["us"], "persistent", dearest["floor"])
    choices = views.choices(rows) if (rows["experiment"] == "held-out").any() else ()
    if len(choices):
        loss = auto(choices)
        for which, aim in zip(("mean", "worst"), AUTO, strict=True):
            goal = f"the choice on graphs that nothing was tuned on, {HOW[which]}"
            found.add(goal, "times the best strategy's time", aim, loss[which], "auto")
    return found.table()


def layer(rows, graph=DEEP):
    """What a layer of a graph holds, `vertices` and `arcs`, and takes, {strategy: us}; empty if not measured."""
    line = _line(rows, graph)
    if not line:
        return {}
    times = {name: line[name] * 1e3 / line["depth"] for name in views.LADDER if line.get(name, np.nan) > 0}
    return {"vertices": line["nodes"] / line["depth"], "arcs": line["edges"] / line["depth"], **times}


def _line(rows, graph):
    """A graph's line of `views.cells`; empty if it was not measured."""
    table = views.cells(rows, "ladder" if graph == DEEP else "fitting")
    table = table[table["dataset"] == graph] if len(table) else table
    return table.to_dict("records")[0] if len(table) and {"depth", "nodes"} <= set(table) else {}


def dearest_layer(rows, costs=None):
    """Where a layer costs `persistent` most, among all graphs of DEEP_ENOUGH layers: `graph`, `us` and its `floor`;
    empty if no such graph was measured.

    The floor is a layer's share of the graph's floor, including bytes or atomics, which dominate in wide layers.
    """
    tables = [views.cells(rows, experiment) for experiment in rows["experiment"].unique()]
    tables = [table for table in tables if {"depth", "nodes", "edges", "persistent"} <= set(table)]
    known = [table[(table["depth"] >= DEEP_ENOUGH) & (table["persistent"] > 0)] for table in tables]
    known = pd.concat(known, ignore_index=True) if known else pd.DataFrame()
    if known.empty:
        return {}
    each = known["persistent"] * 1e3 / known["depth"]
    line = known.loc[each.idxmax()]
    floor = floors.layer_us(line, "persistent", costs) if costs else np.nan
    return {"graph": line["dataset"], "us": each.max(), "floor": floor}


def _best(table):
    """Times of the fastest strategy of the GPU over some lines of `views.cells`, and its name; (None, "") if none.

    Requires rows of `persistent` or `narrow`: goals do not apply to the thesis's strategies alone.
    """
    known = [name for name in views.LADDER if name in table and (table[name] > 0).all()] if len(table) else []
    if not {"persistent", "narrow"} & set(known):
        return None, ""
    best = min(known, key=lambda name: np.log(table[name]).mean())
    return table[best], best


def auto(choices):
    """Loss of the choice, from `views.choices`: over all graphs, those where the GPU is best, and the CPU.

    Returns
    -------
    dict
        `graphs`, `mean`, `worst`, `on`; `gpu` and `cpu`, each (graphs, geometric mean of auto over best) or None.
    """
    loss = choices["auto/best"]
    serial = choices["best"] == "serial"

    def part(which):
        return (int(which.sum()), center(loss[which])) if which.any() else None

    return {
        "graphs": len(choices),
        "mean": center(loss),
        "worst": float(loss.max()),
        "on": choices["graph"][loss.idxmax()],
        "gpu": part(~serial),
        "cpu": part(serial),
    }
