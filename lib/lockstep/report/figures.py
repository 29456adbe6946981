"""Plots shared by all studies: time against a size, ratios with intervals, verdicts, costs of a step.

Most take tidy rows, verdicts or costs and return an Axes. Measured points are filled, published ones hollow; bands,
and the bars of `published`, are intervals.
"""

import json
import math
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from lockstep.digits import significant
from lockstep.evidence import statistics
from lockstep.evidence.telling import counted
from lockstep.report.output import heading
from lockstep.report.style import FAINT, INK, VERDICT, WIDTH, color_of, decades

# Verdicts differ by mark as well as by color.
SYMBOLS = {
    "holds": "\N{CHECK MARK}",
    "fails": "\N{MULTIPLICATION X}",
    "no difference": "=",
    "depends on the reading": "/",
    "undecided": "?",
    "open question, answered": "a",
    "not tested": "\N{EN DASH}",
}
MARKS = dict(zip(SYMBOLS, "oXsPD*.", strict=True))


def look(verdict):
    """The key of a verdict in `SYMBOLS`, `MARKS` and `VERDICT`; all untested parts share one."""
    return verdict if verdict in VERDICT else "not tested"


def against(rows, x, *, metric="wall", strategies=None, published=None, ax=None, title=None, styles=None):
    """A figure against a parameter on log-log axes, one line a strategy with its interval as a band.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows.
    x : str
        A parameter, `depth` for example, or `metric:depth` for a metric of the same cell.
    metric : str or mapping
        The metric on the y axis, or {strategy: metric}.
    strategies : sequence of str, optional
        Which to draw, in the order of the legend; by default those in `rows`.
    published : mapping, optional
        {strategy: {x: value}}: published points, drawn hollow in the strategy's color.
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
    ax.set(xscale="log", yscale="log", xlabel=heading(x.removeprefix("metric:")), ylabel="time (ms)", title=title)
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
        known = rows[rows["metric"] == x.removeprefix("metric:")].groupby(["dataset", "parameters"])["value"].mean()
        places = [known.get(key, math.nan) for key in zip(values["dataset"], values["parameters"], strict=True)]
    else:
        places = [json.loads(text).get(x, math.nan) for text in values["parameters"]]
    values = values.assign(place=np.array(places, float)).dropna(subset="place")
    points = []
    for place, group in values.groupby("place"):
        found = statistics.geometric_mean(np.log(group["value"]), statistics.graph_labels(group))
        ends = [found.value if math.isnan(end) else end for end in (found.low, found.high)]
        points.append((place, found.value, *ends))
    return points


def published(judged, claims):
    """Published and measured figures of some entries on a logarithmic axis: a line per part, colored by its verdict.

    Parameters
    ----------
    judged : DataFrame
        One machine's lines of `lockstep.evidence.claims.judge`.
    claims : sequence of str
        Entries whose parts are ratios, `D1` for example; the first part stands on top.

    Returns
    -------
    matplotlib Axes
    """
    lines = judged[judged["claim"].isin(claims)]
    seen = [word for word in VERDICT if word in set(map(look, lines["verdict"]))]
    ax = plt.subplots(figsize=(WIDTH, 0.7 + 0.17 * len(lines)))[1]
    ax.axvline(1, color=INK, linewidth=0.8)
    for place, line in enumerate(lines.itertuples()):
        color, marker = VERDICT[look(line.verdict)], MARKS[look(line.verdict)]
        given = line.published if isinstance(line.published, (int, float)) and line.published > 0 else None
        if given:
            ax.plot(given, place, "o", mfc="white", mec=INK, markersize=6, zorder=3)
        if math.isnan(line.value):
            continue
        if not math.isnan(line.low):
            ax.plot([line.low, line.high], [place, place], color=color, linewidth=2.4, solid_capstyle="butt", zorder=4)
        ax.plot(line.value, place, marker, color=color, zorder=5)
        if given:
            ax.plot([line.value, given], [place, place], color=FAINT, linewidth=0.8, zorder=1)
    ax.set(xscale="log", yticks=range(len(lines)), yticklabels=lines["part"] + "  " + lines["of"])
    ax.set_ylim(len(lines) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    decades(ax.xaxis)
    ax.legend(
        [Line2D([], [], marker=MARKS[v], color=VERDICT[v], linewidth=2.4) for v in seen]
        + [Line2D([], [], marker="o", mfc="white", mec=INK, linestyle="none")],
        [*seen, "published"],
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
    )
    return ax


def mosaic(judged, papers):
    """All parts of one machine as squares: a block per paper, in the ledger's order.

    Parameters
    ----------
    judged : DataFrame
        Verdicts of one machine, see `lockstep.evidence.claims.judge`.
    papers : mapping
        {letter: {title, ...}}, in the order of the blocks.
    """
    across, letters = 54, 115  # squares, and letters of the heading, in a line
    blocks = []
    for letter in papers:
        words = [look(word) for word in judged[judged["paper"] == letter]["verdict"]]
        # a count stays with its word where a heading takes two lines
        tally = ", ".join(counted(words.count(word), word).replace(" ", "\u00a0") for word in VERDICT if word in words)
        blocks.append((textwrap.wrap(f"{papers[letter]['title']}: {tally}", letters), words))
    lines = sum(len(title) - (-len(words) // across) for title, words in blocks)
    ax = plt.subplots(figsize=(WIDTH, 0.1 + lines * WIDTH / (across + 1)))[1]
    top = 0
    for title, words in blocks:
        for line in title:
            ax.text(-0.5, top + 0.1, line, va="center", ha="left", fontsize=7, color=INK)
            top += 1
        for k, word in enumerate(words):
            x, y = k % across, top + k // across
            ax.add_patch(plt.Rectangle((x - 0.42, y - 0.42), 0.84, 0.84, color=VERDICT[word], lw=0))
            ink = INK if word == "undecided" else "white"
            ax.text(x, y, SYMBOLS[word], va="center", ha="center", fontsize=5.5, color=ink)
        top -= -len(words) // across
    ax.set(xlim=(-0.8, across - 0.2), ylim=(top - 0.3, -0.7), aspect="equal")
    ax.axis("off")
    return ax


MECHANISMS = {  # mechanism: (strategies that use it, end of a sentence or "", function from `Costs` to ns)
    "launch and blocking read-back": ("SGD: edge-locked; paths: atomic; sort: naive; coloring: hybrid",
                                      "by a launch plus a blocking read-back", lambda cost: 1e3 * cost.step_us),
    "launch from Python": ("", "by a launch alone (from Python)", lambda cost: 1e3 * cost.launch_us),
    "launch in a CUDA graph": ("sort: graph", "", lambda cost: 1e3 * cost.graph_node_us),
    "barrier of all blocks": ("SGD: matchings; sort, paths: persistent; coloring: resident",
                              "by a barrier of all blocks", lambda cost: 1e3 * cost.grid_barrier_us()),
    "flag from block to block": ("sort, paths: asynchronous; coloring: waiting, early",
                                 "by a flag from one block to another", lambda cost: cost.hop_ns),
    "barrier of a full block": ("sort: narrow; small graphs: SwarmGraph", "by a barrier of one full block",
                                lambda cost: cost.block_barrier_ns(1024)),
    "barrier of a warp": ("sort: narrow, where layers are narrowest", "", lambda cost: cost.block_barrier_ns(32)),
}  # fmt: skip


def ladder(cost, told=False):
    """Cost of one step by mechanism: a line per mechanism, the most expensive on top.

    Parameters
    ----------
    cost : Costs
    told : bool
        Only those of `MECHANISMS` with a sentence.
    """
    ways = {way: (beside, ns(cost)) for way, (beside, sentence, ns) in MECHANISMS.items() if sentence or not told}
    ax = plt.subplots(figsize=(WIDTH, 0.55 + 0.24 * len(ways)))[1]
    ordered = sorted(((way, *line) for way, line in ways.items()), key=lambda line: -line[2])
    least = 10 ** math.floor(math.log10(ordered[-1][2]))
    for place, (_, strategies, value) in enumerate(ordered):
        ax.plot([least, value], [place, place], color="#4477AA", linewidth=2.2, solid_capstyle="butt")
        ax.plot(value, place, "o", color="#4477AA")
        label = f"{significant(value / 1e3)} \N{MICRO SIGN}s" if value >= 1e3 else f"{significant(value)} ns"
        beside = {"va": "center", "fontsize": 7.5, "weight": "bold"}
        ax.annotate(label, (value, place), (5, 0), textcoords="offset points", **beside)
        ax.text(1.04, place, strategies, transform=ax.get_yaxis_transform(), va="center", fontsize=6.5)
    ax.set_yticks(range(len(ordered)), [way for way, *_ in ordered])
    ax.set(xscale="log", xlabel="time of a step (ns)")
    ax.set(xlim=(least, 90 * ordered[0][2]), ylim=(len(ordered) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    ax.tick_params(axis="y", length=0)
    decades(ax.xaxis)
    return ax
