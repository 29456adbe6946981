"""Cost of an iteration of a host-controlled loop: launches, a read-back, and host work between them."""

import pandas as pd

from lockstep.evidence import recording
from lockstep.evidence.recording import CELL

FEWEST = 5  # passes of a run; in shorter runs start and end dominate
# Study, strategies, metric that counts passes, its count per pass, and its count outside passes.
LOOPS = (
    ("1-sgd-schedules", ("edge-locked", "edge-hubs", "node-then-edge"), "passes", 1, 0),
    ("2-sssp-sync", ("atomic", "barrier"), "rounds", 1, 0),
    ("3-toposort-depth", ("naive",), "launches", 3, 1),
    ("3-toposort-depth", ("frontier",), "launches", 1, 1),
    ("4-coloring-phase-switch", ("randomized", "hybrid", "degree", "stealing"), "iterations", 1, 0),
)


def table(rows):
    """Microseconds per pass, by recording, on the graph with the cheapest passes.

    Parameters
    ----------
    rows : DataFrame
        Of one machine, all studies, rows of earlier builds among them.

    Returns
    -------
    DataFrame
        `study, strategy, graph, passes` and a column `1`, `2`... for each recording: the median of wall time over
        passes, on the graph where it is least, to minimize the share of the kernels' own work, among the graphs
        with the most recordings.
    """
    rows = rows.assign(recording=recording.of(rows["round"]) + 1)
    lines = []
    for study, strategies, metric, each, first in LOOPS:
        mine = rows[rows["study"] == study]
        for strategy in strategies:
            own = mine[mine["strategy"] == strategy]
            values = own[own["metric"].isin([metric, "wall"])].pivot_table(
                "value", [*CELL, "recording", "round", "kernel"], "metric"
            )
            if not {metric, "wall"} <= set(values):
                continue
            values["passes"] = (values[metric] - first) / each
            values = values[values["passes"] >= FEWEST].dropna()
            values["us"] = 1e3 * values["wall"] / values["passes"]
            cells = values.groupby([*CELL, "recording"])[["us", "passes"]].median()
            if cells.empty:
                continue
            told = cells["us"].unstack("recording")
            told = told[told.notna().sum(axis=1) == told.notna().sum(axis=1).max()]
            cell = told.ffill(axis=1).iloc[:, -1].idxmin()
            line = {"study": study, "strategy": strategy, "graph": cell[CELL.index("dataset")]}
            line["passes"] = int(cells["passes"].loc[cell].iloc[-1])
            lines.append(line | {str(number): told.loc[cell, number] for number in told.columns})
    found = pd.DataFrame(lines)
    fixed = [name for name in ("study", "strategy", "graph", "passes") if name in found]
    return found[[*fixed, *sorted(found.columns.difference(fixed), key=int)]]
