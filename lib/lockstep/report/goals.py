"""Goals of a study and measured figures: the same table and sentences for every study.

A study's own `goals` module defines its goals and their figures; this module judges and formats them. Each has
`reached(rows, costs=None)`, which returns `Goals.table()`, a line per measured goal, from one machine's rows of the
study and its `machine.costs.Costs` (without them there are fewer floors).
"""

import numpy as np
import pandas as pd

from lockstep.digits import apart, readable

CAPTION = (
    "Goals of this study and measured figures; floor: the lower bound from the machine's own costs (study 0)."
)
TIMES = "\N{MULTIPLICATION SIGN}"
COLUMNS = ("goal", "unit", "aim", "least", "measured", "by", "reached", "floor")


class Goals:
    """Lines of the table, in the order in which they are added."""

    def __init__(self):
        self.lines = []

    def add(self, goal, unit, aim, measured, by="", floor=np.nan, least=False, also=True):
        """Judge a goal; one that was not measured is left out.

        Parameters
        ----------
        goal : str
            The goal in words.
        unit : str
            Of aim, figure and floor.
        aim, measured : float
        by : str
            The strategy that was measured.
        floor : float
            Lower bound from the machine's own costs; NaN where there is none.
        least : bool
            The aim is a minimum, not a maximum.
        also : bool
            Further condition for the goal to be reached.
        """
        if measured is None or not np.isfinite(measured):
            return
        met = measured >= aim if least else measured <= aim
        line = (goal, unit, aim, least, float(measured), by, bool(met and also), floor)
        self.lines.append(dict(zip(COLUMNS, line, strict=True)))

    def table(self):
        """A DataFrame with `COLUMNS`; empty if nothing was measured."""
        found = pd.DataFrame(self.lines, columns=list(COLUMNS))
        return found.astype({"least": bool, "reached": bool})


def shown(table):
    """The table for display: without empty columns of strategies and floors, and with enough digits to distinguish a
    figure from its aim.
    """
    empty = {"least": True, "by": not table["by"].any(), "floor": table["floor"].isna().all()}
    lines = table.to_dict("records")
    aims, figures = [_bound(line) for line in lines], [apart(line["measured"], line["aim"]) for line in lines]
    read = table.assign(unit=table["unit"].replace("x", TIMES), aim=aims, measured=figures)
    return read.drop(columns=[name for name, nothing in empty.items() if nothing])


def _bound(line):
    return f"at {'least' if line['least'] else 'most'} {line['aim']:g}"


def told(table):
    """Sentences: the number of goals reached, and each goal missed; an empty list if none was measured."""
    if table.empty:
        return []
    missed = table[~table["reached"]]
    sentences = [_missed(line) for line in missed.to_dict("records")]
    if len(table) == 1:
        return sentences or ["The one goal that was measured is reached."]
    if missed.empty:
        return [f"All {len(table)} goals that were measured are reached."]
    met = len(table) - len(missed)
    return [f"{met} of {len(table)} measured goals {'is' if met == 1 else 'are'} reached.", *sentences]


def _missed(line):
    by = f" by `{line['by']}`" if line["by"] else ""
    unit = TIMES if line["unit"] == "x" else f" {line['unit']}"
    floor = f"; lower bound {readable(line['floor'])}" if line["floor"] > 0 else ""
    figure = apart(line["measured"], line["aim"])
    return f"Not reached: {line['goal']}, {figure}{unit}{by} (aim: {_bound(line)}{floor})."
