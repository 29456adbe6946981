"""The figures of README.md: drawn from published recordings, tracked under paper/published/."""

import matplotlib.pyplot as plt
import numpy as np

from lockstep import paths
from lockstep.evidence import claims, reading, telling
from lockstep.machine import MachineError, costs
from lockstep.provenance import stale
from lockstep.report import figures, style
from lockstep.report.output import save

FOLDER = "published"
DEPTHS = {  # strategy: (label at its last point, offset of the label in points, color)
    "naive": ("naive: the paper's", (-7, 0), "#AA3377"),
    "serial": ("serial: one CPU core", (7, -9), "#222222"),
    "narrow": ("narrow: one launch, blocks\nleave as layers narrow", (7, 9), "#228833"),
    "chains": ("chains: paths contracted", (7, 0), "#4477AA"),
}


def draw(found, lead, paper=paths.PAPER):
    """Every picture that the lead machine has rows for.

    Parameters
    ----------
    found : Summary
        What was judged, see `lockstep.evidence.claims.summary`.
    lead : dict
        The machine, as of `machines_of`.
    paper : path
        The folder in which `published/` lies.

    Returns
    -------
    list of Path
        The files written, SVG.
    """
    style.use()
    drawn = {"verdicts": mosaic(found, lead), "steps": steps(lead), "depth": depth(lead)}
    files = []
    for name, figure in drawn.items():
        if figure is not None:
            svg, pdf = save(figure, f"{FOLDER}/{name}", paper)
            pdf.unlink()  # a page in the browser shows the SVG
            files.append(svg)
    plt.close("all")
    return files


def mosaic(found, lead):
    """Every part of every claim as a square."""
    judged = found.verdicts[found.verdicts["machine"] == lead["name"]]
    return figures.mosaic(judged, claims.papers()).figure


def steps(lead):
    """Cost of one step by mechanism, from study 0."""
    try:
        cost = costs.of(lead["name"], paths.RECORDINGS, paths.RECORDINGS)
    except MachineError:
        return None
    ax = figures.ladder(cost, told=True)
    ax.set_title(f"One step on {lead['short']}")
    return ax.figure


def depth(lead):
    """A topological sort of a million vertices in disjoint paths, against their length."""
    rows = reading.machines(paths.RECORDINGS, paths.RECORDINGS)[lead["name"]]
    rows = rows[rows["study"] == "3-toposort-depth"]
    wanted = ['"family":"disjoint-paths"' in text and '"ids":"random"' in text for text in rows["parameters"]]
    rows = rows[np.array(wanted, bool) & (rows["experiment"] == "table-4.3").to_numpy()]
    if rows.empty:
        return None
    figure, ax = plt.subplots(figsize=(style.WIDTH, 3.2))
    for strategy, (words, aside, color) in DEPTHS.items():
        points = figures.curve(rows, strategy, "wall", "depth")
        if not points:
            continue
        place, value, low, high = (np.array(column) for column in zip(*points, strict=True))
        ax.plot(place, value, color=color, linewidth=2, marker="o", markersize=3.5)
        ax.fill_between(place, low, high, color=color, alpha=0.2, linewidth=0)
        ax.annotate(words, (place[-1], value[-1]), aside, textcoords="offset points", color=color, va="center",
                    ha="left" if aside[0] > 0 else "right", fontsize=8)  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="layers (vertices on a path)", ylabel="time of a sort (ms)")
    old = f" {telling.STALE}" if len(stale(rows[rows["strategy"].isin(DEPTHS)])) else ""
    ax.set_title(f"Topological sort of a million vertices on {lead['short']}{old}")
    ax.set(xlim=(None, 25 * ax.get_xlim()[1]), ylim=(None, 3 * ax.get_ylim()[1]))
    style.decades(ax.xaxis)
    ax.set_xticks([10**power for power in range(7)])
    style.decades(ax.yaxis)
    return figure
