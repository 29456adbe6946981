"""Browse a study's recordings by machine, claim and graph: the widget of the study notebooks.

A claim restricts the graphs to those behind its verdict, and highlights the strategies that it compares.
"""

import html

import ipywidgets as w
import numpy as np
import pandas as pd

from lockstep.digits import significant
from lockstep.evidence import claims
from lockstep.evidence.recording import CELL
from lockstep.evidence.selecting import support
from lockstep.report import style, wording

from .widgets import alone, png

ALL = "all graphs"
COLUMNS = ["strategy", "median", "least", "largest", "rounds"]


def timed(rows):
    """Wall times of strategies, without derived rows such as the best of a family."""
    return rows[(rows["metric"] == "wall") & ~rows["strategy"].str.startswith("(")]


def times(rows):
    """A line for each strategy of one cell, the fastest first.

    Parameters
    ----------
    rows : DataFrame
        Of one cell, of `timed`.

    Returns
    -------
    DataFrame
        `strategy, median, least, largest, rounds`; times in milliseconds.
    """
    by = rows.groupby("strategy")["value"]
    table = pd.DataFrame({"median": by.median(), "least": by.min(), "largest": by.max(), "rounds": by.size()})
    return table.sort_values("median").reset_index()[COLUMNS]


def draw(table, title, marked, figure):
    """Medians from the fastest down, with the whole range of the rounds; `marked` strategies in color.

    Parameters
    ----------
    table : DataFrame
        Of `times`.
    title : str
    marked : set of str
    figure : matplotlib Figure
        An empty one; its size is set.
    """
    figure.set_size_inches(style.WIDTH, 0.9 + 0.24 * len(table))
    ax, places = figure.subplots(), np.arange(len(table))
    colors = [style.PALETTE[0] if not marked or name in marked else style.FAINT for name in table["strategy"]]
    ax.hlines(places, table["least"], table["largest"], colors=colors, linewidth=2.5, alpha=0.5)
    ax.scatter(table["median"], places, c=colors, s=26, zorder=3)
    for place, value in zip(places, table["median"], strict=True):
        ax.annotate(significant(value), (value, place), (0, 4), textcoords="offset points", ha="center", fontsize=6.5)
    ax.set(xscale="log", xlabel="milliseconds by the wall clock: median, least and largest round", yticks=places)
    ax.set_yticklabels(table["strategy"])
    ax.set_ylim(len(table) - 0.4, -0.8)
    ax.set_title(title)
    style.decades(ax.xaxis)


class Recorded:
    """Three drop-down lists, and a figure that depends on them.

    Parameters
    ----------
    study : lockstep.evidence.Study

    Attributes
    ----------
    machine, claim, graph : ipywidgets.Dropdown
        A graph stands for a cell: experiment, data set and parameters.
    words, picture : ipywidgets
        The claim's verdict on that machine; the strategies' times on that graph.
    box : ipywidgets.VBox
        All of it, to be shown.
    """

    def __init__(self, study):
        style.use()
        self.rows = {name: found for name, found in study.machines().items() if len(timed(found))}
        self.parts = {part.id: part for part in claims.load() if part.study == study.name}
        self.judged = claims.of_study(study)[0]
        self.quiet = False  # while a change of one list changes another
        layout = w.Layout(width="26em", max_width="100%")
        said = [(f"{part.id}: {part.of or part.short or part.statement}"[:90], part.id) for part in self.parts.values()]
        self.machine = w.Dropdown(options=list(self.rows), description="machine", layout=layout)
        self.claim = w.Dropdown(options=[(ALL, ALL), *said], value=ALL, description="claim", layout=layout)
        self.graph = w.Dropdown(description="graph", layout=layout)
        self.words, self.picture = w.HTML(), w.Image(format="png", layout=w.Layout(max_width="min(100%, 46em)"))
        for one in (self.machine, self.claim):
            one.observe(self._offer, "value")
        self.graph.observe(self._show, "value")
        self._offer()
        wrap = w.Layout(flex_flow="row wrap")
        self.box = w.VBox([w.HBox([self.machine, self.claim, self.graph], layout=wrap), self.words, self.picture])

    def _support(self):
        """The rows that the picked claim rests on; None where none is picked."""
        if self.claim.value == ALL:
            return None
        return support(self.rows[self.machine.value], self.parts[self.claim.value].select)

    @alone
    def _offer(self, _=None):
        """List the graphs of this machine or of the claim, keeping the selected one if possible."""
        kept, rows = self.graph.value, timed(self.rows[self.machine.value]) if self.rows else None
        if rows is not None and (resting := self._support()) is not None:
            rows = rows.merge(resting[CELL].drop_duplicates(), on=CELL)
        cells = [] if rows is None else list(rows[CELL].drop_duplicates().itertuples(index=False, name=None))
        self.quiet = True
        self.graph.options = [(_name(dict(zip(CELL, cell, strict=True)), rows), cell) for cell in cells]
        self.graph.value = kept if kept in cells else next(iter(cells), None)
        self.quiet = False
        self._show()

    @alone
    def _show(self, _=None):
        if self.quiet:
            return
        self.words.value = f"<p>{html.escape(self._verdict())}</p>"
        self.picture.layout.display = None if self.graph.value else "none"
        if not self.graph.value:
            return
        rows, resting = timed(self.rows[self.machine.value]), self._support()
        own = rows[(rows[CELL] == list(self.graph.value)).all(axis=1)]
        marked = set() if resting is None else set(resting["strategy"])
        table = times(own)
        self.picture.value = png(lambda figure: draw(table, self.graph.label, marked, figure))

    def _verdict(self):
        if not self.rows:
            return "Nothing is recorded yet."
        if self.claim.value == ALL:
            return ""
        own = self.judged[(self.judged["machine"] == self.machine.value) & (self.judged["part"] == self.claim.value)]
        if own.empty:
            return f"{self.claim.value} is not judged on this machine."
        part = self.parts[self.claim.value]
        said = wording.told(own.iloc[0], part)
        old = f" ({said['stale']})" if said["stale"] else ""
        why = f": {said['reason']}" if said["reason"] else ""
        here = f", here {said['figure']} {said['meaning']}".rstrip() if said["figure"] else ""
        told = f"{part.id}: {said['verdict']}{old}{why}; published: {wording.published(part)}{here}"
        if self.graph.value:
            return told
        resting = self._support()
        none = resting is None or resting.empty
        return told + (". No row of it is recorded here." if none else
                       ". It rests on no strategy's own times: the tables above show its rows.")  # fmt: skip


def _name(cell, rows):
    """A cell in words: the data set, and the labels that differ between its cells."""
    alike = rows[rows["dataset"] == cell["dataset"]]
    told = [cell["dataset"]]
    told += [cell[key] for key in CELL if key not in ("study", "dataset") and alike[key].nunique() > 1]
    return ", ".join(map(str, told)).translate(str.maketrans({"{": "", "}": "", '"': "", ":": " ", ",": ", "}))
