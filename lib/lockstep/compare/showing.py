"""The ranking as text and as a picture."""

import math
from typing import Any

import pandas as pd

from .runs import COUNTS


def steps(line: Any) -> Any:
    """Number of counted dependent steps of a run: launches, read-backs, grid barriers."""
    return sum(line.get(key) or 0 for key in ("launches", "readbacks", "grid_barriers"))


def told(found: pd.DataFrame) -> str:
    """The ranking as text; the first line describes the figures."""
    from lockstep.digits import readable

    counted = found.attrs["executor"] == "host"
    kind = (
        "times are the CPU's; kernels ran on the emulator and are counted"
        if counted
        else "times by the wall clock, without transfers"
    )
    shown = found.drop(columns=[name for name in ("colors", *COUNTS, "note") if found[name].isna().all()])
    if (shown.get("note", pd.Series(dtype=str)) == "").all():
        shown = shown.drop(columns="note", errors="ignore")
    cells = shown.map(lambda value: readable(int(value)) if _whole(value) else readable(value))
    return f"{found.attrs['graph']}: {found.attrs['package']}; {kind}\n\n{cells.to_string(index=False)}"


def _whole(value):
    return isinstance(value, float) and math.isfinite(value) and value.is_integer()


def picture(found: pd.DataFrame, figure: Any = None) -> Any:
    """The ranking as a picture: times, and counts where kernels ran on the emulator.

    Parameters
    ----------
    found : DataFrame
        What `compare` returned.
    figure : matplotlib Figure, optional
        An empty one to draw on; its size is set.

    Returns
    -------
    matplotlib Figure
    """
    import matplotlib.pyplot as plt

    from lockstep.digits import significant
    from lockstep.report import style

    style.use()
    timed = found[found["ms"].notna()]
    counted = found[found["ms"].isna() & found["verified"].notna()]
    panels = [("milliseconds, by the wall clock", timed, lambda line: line["ms"])] if len(timed) else []
    if len(counted):
        panels.append(("launches, read-backs and grid barriers (counted)", counted, steps))
    rows = [max(len(lines), 1) for _, lines, _ in panels] or [1]
    figure = figure or plt.figure()
    figure.set_size_inches(style.WIDTH, 0.7 * len(rows) + 0.22 * sum(rows))
    axes = figure.subplots(len(rows), 1, squeeze=False, height_ratios=rows)
    looks = style.color_of(sorted(found["family"].unique()))
    for ax, (label, lines, value) in zip(axes[:, 0], panels, strict=False):
        values = [max(float(value(line)), 1e-6) for _, line in lines.iterrows()]
        for place, (at, family) in enumerate(zip(values, lines["family"], strict=True)):
            color, marker = looks[family]
            ax.plot(at, place, marker, color=color, markersize=5.5)
            text = significant(at) if lines is timed else f"{at:,.0f}"
            ax.annotate(text, (at, place), (7, 0), textcoords="offset points", va="center", fontsize=6.5)
        ax.set(xscale="log", yticks=range(len(values)), yticklabels=lines["strategy"], xlabel=label)
        ax.set_xlim(min(values) / 1.3, max(values) * 2)  # room for the last figure
        ax.set_ylim(len(values) - 0.4, -0.6)
        style.decades(ax.xaxis)
    if not panels:
        axes[0, 0].text(0.5, 0.5, "no strategy came to its end", ha="center", va="center")
        axes[0, 0].set_axis_off()
    else:
        shown = [name for name in looks if name in set(pd.concat([lines for _, lines, _ in panels])["family"])]
        handles = [plt.Line2D([], [], color=looks[name][0], marker=looks[name][1], linestyle="none") for name in shown]
        axes[0, 0].legend(handles, shown, loc="upper left", bbox_to_anchor=(1.01, 1))
    axes[0, 0].set_title(f"{found.attrs['package']} on {found.attrs['graph']}")
    return figure
