"""A schedule as a picture: threads over steps."""


from typing import Any

import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lockstep.report import style

ROWS = 24  # threads that a picture shows
WINDOW = 90  # steps

# Kinds differ by mark as well as by color.
LOOKS = {
    "read": ("#66CCEE", "o", 3.2),
    "write": ("#4477AA", "s", 4.4),
    "atomic": ("#EE6677", "D", 4.6),
    "mark": ("#228833", "^", 5.0),
}
WAIT = "#DDDDDD"


def draw(schedule: Any, until: int | None = None, figure: Any = None) -> Any:
    """The picture of a schedule up to a step.

    Parameters
    ----------
    schedule : Schedule
    until : int, optional
        The last step that is shown; by default the end.
    figure : matplotlib Figure, optional
        An empty one to draw on; its height is set.

    Returns
    -------
    matplotlib Axes
    """
    until = schedule.steps if until is None else min(int(until), schedule.steps)
    first = max(0, until - WINDOW)
    rows = sorted(schedule.threads()[:ROWS])
    place = {who: k for k, who in enumerate(rows)}
    figure = figure or plt.figure()
    figure.set_size_inches(8.5, 1.3 + 0.17 * max(len(rows), 4))
    ax = figure.subplots()
    shown = [
        (place[e.block, e.thread], e)
        for e in schedule.events
        if e.step <= until and (e.until or e.step) >= first and (e.block, e.thread) in place
    ]
    waits = {}
    for y, e in shown:
        if e.kind == "wait":
            waits.setdefault(y, []).append((e.step, min(e.until, until + 0.5) - e.step))
    for y, spans in waits.items():
        ax.broken_barh(spans, (y - 0.32, 0.64), color=WAIT, linewidth=0, zorder=1)
    opened = [(y, e.until) for y, e in shown if e.kind == "wait" and e.until <= until]
    ax.vlines([x for _, x in opened], [y - 0.32 for y, _ in opened], [y + 0.32 for y, _ in opened],
              color=style.INK, linewidth=1.1, zorder=2)  # fmt: skip
    for kind, (color, marker, size) in LOOKS.items():
        mine = [(e.step, y) for y, e in shown if e.kind == kind]
        if mine:
            ax.plot(*zip(*mine, strict=True), marker, color=color, markersize=size, zorder=3)
    for start in schedule.launches:
        if first <= start <= until:
            ax.axvline(start - 0.5, color="#999999", linewidth=0.7, linestyle="--", zorder=0)
    ax.axvline(until + 0.5, color=style.INK, linewidth=0.7, zorder=0)
    last = max(min(first + WINDOW, schedule.steps), first + 10)
    ax.set(xlim=(first, last + 1), ylim=(max(len(rows), 1) - 0.5, -0.5), xlabel="step", yticks=range(len(rows)))
    ax.set_title(f"{schedule.strategy} on {schedule.graph}, seed {schedule.seed}")
    ax.set_yticklabels([f"block {b}, thread {t}" for b, t in rows], fontsize=6.5)
    ax.grid(axis="y", visible=False)
    handles = [Line2D([], [], color=c, marker=m, markersize=s, linestyle="none") for c, m, s in LOOKS.values()]
    handles += [Patch(color=WAIT), Line2D([], [], color="#999999", linewidth=0.7, linestyle="--")]
    labels = [*LOOKS, "waits at a barrier", "launch"]
    ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    return ax


def told(schedule: Any, until: int | None = None, lines: int = 8) -> str:
    """A schedule in words: totals of the run, and the events of a step.

    Parameters
    ----------
    schedule : Schedule
    until : int, optional
        The step to describe; by default only the whole run is described.
    lines : int
        Largest number of events listed for a step.
    """
    if lines < 0:
        raise ValueError(f"lines={lines}; expected 0 or more")
    kinds = schedule.kinds
    counted = ", ".join(f"{kinds[kind]:,} {kind}s" for kind in ("read", "write", "atomic") if kinds[kind])
    barriers = sum(schedule.counts.get(key, 0) for key in ("barriers", "grid_barriers"))
    launches = sum(schedule.counts.get(key, 0) for key in ("launches", "graph_launches"))
    text = [f"{schedule.steps:,} steps, {launches:,} launches, {barriers:,} barriers; {counted or 'nothing seen'}"]
    more = len(schedule.threads()) - ROWS
    if more > 0:
        text.append(f"{more:,} further threads are not shown")
    if schedule.cut:
        text.append("a launch did more than was kept: its end is missing")
    if until is not None:
        now = [e for e in schedule.events if e.step == until]
        text.append(f"step {until:,}:" + ("" if now else " nothing is seen"))
        text += [f"  block {e.block}, thread {e.thread}: {_said(e)}" for e in now[:lines]]
        if len(now) > lines:
            text.append(f"  and {len(now) - lines:,} more")
    return "\n".join(text)


def _said(event):
    if event.kind == "wait":
        return f"waits at a {event.what} until step {event.until}"
    return f"{event.kind} {event.what}"
