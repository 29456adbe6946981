"""Plots that all studies share: time against a size, ratios with intervals, verdicts at a glance.

Each takes tidy rows or estimates, draws on a given or a new axis and returns it. Measured points are filled,
published ones hollow; a band or a bar is always an interval.
"""

import json
import math

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from lockstep.evidence import statistics
from lockstep.report.output import significant
from lockstep.report.style import FAINT, INK, VERDICT, WIDTH, color_of, decades

# Verdicts differ by mark as well as by color.
SYMBOLS = {
    "holds": "\N{CHECK MARK}",
    "fails": "\N{MULTIPLICATION X}",
    "undecided": "?",
    "not testable here": "\N{EN DASH}",
}
PLURAL = {"holds": "hold", "fails": "fail"}
MARKS = {"holds": "o", "fails": "X", "undecided": "D", "not testable here": "."}


def against(
    rows,
    x,
    *,
    metric="wall",
    strategies=None,
    published=None,
    floor=None,
    ax=None,
    xlabel=None,
    ylabel="time (ms)",
    title=None,
    styles=None,
):
    """A figure against a parameter on log-log axes, one line a strategy with its interval as a band.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows.
    x : str
        A parameter, `depth` for example, or `metric:depth` for a metric that a cell's rows hold.
    metric : str or mapping
        The metric on the y axis, or one a strategy.
    strategies : sequence of str, optional
        Which to draw, in the order of the legend; by default those in `rows`.
    published : mapping, optional
        {strategy: {x: value}}: published points, drawn hollow in the strategy's color.
    floor : mapping, optional
        {x: value}: what the machine's own costs allow at best, a dashed line.
    styles : mapping, optional
        {strategy: (color, marker)}, see `lockstep.report.style.color_of`, so that all figures of a study
        agree.

    Returns
    -------
    matplotlib Axes
    """
    ax = ax or plt.subplots()[1]
    strategies = list(strategies or dict.fromkeys(rows["strategy"]))
    styles = styles or color_of(strategies)
    for strategy in strategies:
        wanted = metric if isinstance(metric, str) else metric.get(strategy, "wall")
        points = curve(rows, strategy, wanted, x)
        color, marker = styles[strategy]
        if points:
            place, value, low, high = (np.array(column) for column in zip(*points, strict=True))
            ax.plot(place, value, marker=marker, color=color, label=strategy)
            ax.fill_between(place, low, high, color=color, alpha=0.2, linewidth=0)
        if published and strategy in published:
            given = sorted((at, value) for at, value in published[strategy].items() if value > 0)
            ax.plot(*zip(*given, strict=True), marker, mfc="none", mec=color, linestyle="none")
    if floor:
        at = sorted(floor)
        ax.plot(at, [floor[k] for k in at], "--", color=INK, linewidth=0.9, label="floor")
    ax.set(xscale="log", yscale="log", xlabel=xlabel or x.removeprefix("metric:"), ylabel=ylabel, title=title)
    handles, labels = ax.get_legend_handles_labels()
    if published:
        handles.append(Line2D([], [], marker="o", mfc="none", mec=INK, linestyle="none"))
        labels.append("published")
    ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    decades(ax.xaxis)
    decades(ax.yaxis)
    return ax


def curve(rows, strategy, metric, x):
    """[(x, value, low, high)] of a strategy's metric: geometric means with their intervals, by rising x."""
    values = statistics.select(rows, strategy, metric)
    values = values[values["value"] > 0]
    if x.startswith("metric:"):
        known = (
            rows[rows["metric"] == x.removeprefix("metric:")]
            .groupby(["dataset", "parameters"])["value"]
            .mean()
        )
        places = [
            known.get(key, math.nan) for key in zip(values["dataset"], values["parameters"], strict=True)
        ]
    else:
        places = [json.loads(text).get(x, math.nan) for text in values["parameters"]]
    values = values.assign(place=np.array(places, float)).dropna(subset="place")
    points = []
    for place, group in values.groupby("place"):
        found = statistics.geometric_mean(np.log(group["value"]), statistics.graph_labels(group))
        ends = [found.value if math.isnan(end) else end for end in (found.low, found.high)]
        points.append((place, found.value, *ends))
    return points


def ratios(
    estimates, *, published=None, ax=None, xlabel="times as fast", title=None, marks=None, margin=True
):
    """Ratios as dots with their intervals on a logarithmic axis, one line each, the first on top.

    Parameters
    ----------
    estimates : mapping
        {label: Estimate, or (value, low, high)}; None leaves the line empty.
    published : mapping, optional
        {label: value}, drawn hollow.
    marks : mapping, optional
        {label: (color, marker)}.
    margin : bool
        Shade the margin of 3 % within which two strategies count as equal.

    Returns
    -------
    matplotlib Axes
    """
    labels = list(estimates)
    ax = ax or plt.subplots(figsize=(WIDTH, 0.7 + 0.17 * len(labels)))[1]
    ax.axvline(1, color=INK, linewidth=0.8)
    if margin:
        ax.axvspan(1 / statistics.MARGIN, statistics.MARGIN, color=FAINT, alpha=0.4, linewidth=0)
    for place, label in enumerate(labels):
        found = estimates[label]
        given = (published or {}).get(label)
        color, marker = (marks or {}).get(label, ("#4477AA", "o"))
        if given:
            ax.plot(given, place, "o", mfc="white", mec=INK, markersize=6, zorder=3)
        if found is None:
            continue
        value, low, high = (found.value, found.low, found.high) if hasattr(found, "value") else found
        if low is not None and not math.isnan(low):
            ax.plot([low, high], [place, place], color=color, linewidth=2.4, solid_capstyle="butt", zorder=4)
        ax.plot(value, place, marker, color=color, zorder=5)
        if given:
            ax.plot([value, given], [place, place], color=FAINT, linewidth=0.8, zorder=1)
    ax.set(xscale="log", yticks=range(len(labels)), yticklabels=labels, xlabel=xlabel, title=title)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    decades(ax.xaxis)
    if published:
        handles = [
            Line2D([], [], marker="o", color="#4477AA", linewidth=2.4),
            Line2D([], [], marker="o", mfc="white", mec=INK, linestyle="none"),
        ]
        ax.legend(handles, ["measured, with interval", "published"], loc="best")
    return ax


def published(judged, claims, *, ax=None, title=None):
    """The published figures of some entries beside ours: one line a part, colored by its verdict.

    Parameters
    ----------
    judged : DataFrame
        One machine's lines of `lockstep.evidence.claims.judge`.
    claims : sequence of str
        Entries whose parts are ratios, `D1` for example.
    """
    lines = judged[judged["claim"].isin(claims)]
    estimates, given, marks = {}, {}, {}
    for line in lines.itertuples():
        label = f"{line.part}  {line.of}"
        estimates[label] = None if math.isnan(line.value) else (line.value, line.low, line.high)
        marks[label] = VERDICT[line.verdict], MARKS[line.verdict]
        if isinstance(line.published, (int, float)) and line.published > 0:
            given[label] = line.published
    ax = ratios(estimates, published=given, ax=ax, title=title, marks=marks, margin=False)
    ax.legend(
        [Line2D([], [], marker=MARKS[v], color=color, linewidth=2.4) for v, color in VERDICT.items()]
        + [Line2D([], [], marker="o", mfc="white", mec=INK, linestyle="none")],
        [*VERDICT, "published"],
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
    )
    return ax


def verdicts(judged, *, ax=None, title=None):
    """All parts of one machine at a glance: a row an entry, a square a part, colored and marked."""
    claims = list(dict.fromkeys(judged["claim"]))
    ax = ax or plt.subplots(figsize=(WIDTH, 0.5 + 0.18 * len(claims)))[1]
    for row, claim in enumerate(claims):
        for column, verdict in enumerate(judged[judged["claim"] == claim]["verdict"]):
            ax.add_patch(plt.Rectangle((column, row), 0.9, 0.8, color=VERDICT[verdict], linewidth=0))
            mark = SYMBOLS[verdict]
            ink = INK if verdict == "undecided" else "white"
            ax.text(column + 0.45, row + 0.42, mark, ha="center", va="center", fontsize=6.5, color=ink)
    most = int(judged.groupby("claim").size().max())
    ax.set(xlim=(-0.2, most + 0.2), ylim=(len(claims), -0.2), title=title, xticks=[])
    ax.set_yticks([row + 0.4 for row in range(len(claims))], claims)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in VERDICT.values()]
    ax.legend(handles, list(VERDICT), loc="lower right", ncols=1)
    return ax


def mosaic(judged, papers, *, across=54, ax=None):
    """All parts of one machine in a few lines: a block of squares a paper, in the ledger's order.

    Parameters
    ----------
    judged : DataFrame
        Verdicts of one machine, see `lockstep.evidence.claims.judge`.
    papers : mapping
        {letter: {title, ...}}, in the order of the blocks.
    across : int
        Squares in a line.
    """
    rows = [(letter, judged[judged["paper"] == letter]["verdict"].tolist()) for letter in papers]
    lines = sum(-(-len(words) // across) + 1 for _, words in rows)
    ax = ax or plt.subplots(figsize=(WIDTH, 0.1 + lines * WIDTH / (across + 1)))[1]
    top = 0
    for letter, words in rows:
        tally = ", ".join(f"{words.count(word)} {PLURAL.get(word, word)}" for word in VERDICT if word in words)
        title = papers[letter]["title"]
        ax.text(-0.5, top + 0.1, f"{title}: {tally}", va="center", ha="left", fontsize=7, color=INK)
        for k, word in enumerate(words):
            x, y = k % across, top + 1 + k // across
            ax.add_patch(plt.Rectangle((x - 0.42, y - 0.42), 0.84, 0.84, color=VERDICT[word], lw=0))
            ink = INK if word == "undecided" else "white"
            ax.text(x, y, SYMBOLS[word], va="center", ha="center", fontsize=5.5, color=ink)
        top += -(-len(words) // across) + 1
    ax.set(xlim=(-0.8, across - 0.2), ylim=(top - 0.3, -0.7), aspect="equal")
    ax.axis("off")
    return ax


# Who stands on a rung: examples that the text of the studies names.
RUNGS = {
    "the host launches and looks": "SGD: edge-locked; paths: atomic; sort: naive; coloring: hybrid",
    "the host launches": "",
    "launches recorded beforehand": "sort: graph",
    "all blocks, by a barrier": "SGD: matchings; sort, paths: persistent; coloring: resident",
    "one block to another, by a word": "sort, paths: asynchronous; coloring: waiting, early",
    "a full block, by its barrier": "sort: narrow; small graphs: SwarmGraph",
    "a warp, by its barrier": "sort: narrow, where layers are narrowest",
}


def ladder(costs, *, ax=None):
    """What one step costs, by the way of keeping threads in step: a line a way, the dearest on top.

    Parameters
    ----------
    costs : mapping
        {way: nanoseconds}; what stands beside a way is in `RUNGS`.
    """
    ax = ax or plt.subplots(figsize=(WIDTH, 0.55 + 0.24 * len(costs)))[1]
    ordered = sorted(costs.items(), key=lambda item: -item[1])
    least = 10 ** math.floor(math.log10(ordered[-1][1]))
    for place, (way, value) in enumerate(ordered):
        ax.plot([least, value], [place, place], color="#4477AA", linewidth=2.2, solid_capstyle="butt")
        ax.plot(value, place, "o", color="#4477AA")
        told = f"{significant(value / 1e3)} \N{MICRO SIGN}s" if value >= 1e3 else f"{significant(value)} ns"
        beside = {"va": "center", "fontsize": 7.5, "weight": "bold"}
        ax.annotate(told, (value, place), (5, 0), textcoords="offset points", **beside)
        ax.text(1.04, place, RUNGS.get(way, ""), transform=ax.get_yaxis_transform(), va="center", fontsize=6.5)
    ax.set_yticks(range(len(ordered)), [way for way, _ in ordered])
    ax.set(xscale="log", xlabel="time of a step (ns)")
    ax.set(xlim=(least, 90 * ordered[0][1]), ylim=(len(ordered) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    decades(ax.xaxis)
    return ax


def label(estimate, unit="\N{MULTIPLICATION SIGN}"):
    """An estimate as text: `16.2× (15.9 to 16.5)`; without an interval, or as a count, alone."""
    text = f"{significant(estimate.value)}{unit}"
    if math.isnan(estimate.low) or estimate.low == estimate.high:
        return text
    return f"{text} ({significant(estimate.low)} to {significant(estimate.high)})"
