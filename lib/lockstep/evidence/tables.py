"""Tables for the views of all studies: a line per data set or cell, a column per strategy."""

import json

import numpy as np
import pandas as pd

from lockstep.evidence import recording
from lockstep.evidence.statistics import MARGIN, center, over_strata, paired, select


def means(rows, experiment, metric="wall"):
    """Geometric means over rounds: one line a data set, one column a strategy, both in the order of measuring."""
    mine = select(rows, metric=metric, experiment=experiment)
    if mine.empty:
        return pd.DataFrame()
    found = mine.groupby(["dataset", "strategy"], sort=False)["value"].agg(center).unstack()
    return found.reindex(index=mine["dataset"].unique(), columns=mine["strategy"].unique())


def cells(rows, experiment):
    """(data set, parameters, rows) of every cell, in the order of measuring."""
    mine = rows[rows["experiment"] == experiment]
    for (dataset, text), cell in mine.groupby(["dataset", "parameters"], sort=False):
        yield dataset, json.loads(text), cell


def times(cell, metric="wall", take=center):
    """{strategy: a metric's mean over the rounds} of a cell's rows."""
    return select(cell, metric=metric).groupby("strategy")["value"].agg(take).to_dict()


def quotients(rows, numerator, denominator):
    """Numerator over denominator in each cell, paired within rounds: a geometric mean, recordings weighing the same.

    Parameters
    ----------
    rows, numerator, denominator
        As of `statistics.paired`.

    Returns
    -------
    Series
        Indexed by (dataset, parameters) of the cells in which a round holds both.
    """
    pairs = paired(rows, numerator, denominator)
    cell = [pairs[name] for name in ("dataset", "parameters")]
    logs = pairs["log"].groupby([*cell, recording.of(pairs["round"])]).mean()
    return np.exp(logs.groupby(level=["dataset", "parameters"]).mean())


def _against_default(rows, table, option, experiment):
    """Log speed-ups over the default, {(its label, measure): {((option, value), ...): {cell: array over rounds}}}."""
    found, names = {}, _names(option)
    for number, (_, parameters, cell) in enumerate(cells(rows, experiment)):
        spent = np.log(select(cell, metric="wall").pivot_table("value", "round", "strategy"))
        defaults = {repr(table.resolve(label)): label for label in spent}
        for label in spent:
            strategy, options = table.resolve(label)
            value = tuple((name, options.pop(name)) for name in names if name in options)
            base = defaults.get(repr((strategy, options)))
            if value and base is not None:
                line = found.setdefault((base, parameters.get("measure", "")), {})
                line.setdefault(value, {})[number] = (spent[base] - spent[label]).dropna().to_numpy()
    return found


def by_option(rows, table, option, experiment="tuning"):
    """How much faster a strategy is with each value of an option than with its default: above 1 is faster.

    Parameters
    ----------
    rows : DataFrame
    table : Table
        Its labels' strategies and options.
    option : str or sequence of str
        ``threads``: labels ``name@threads=64``, beside ``name`` for the default; of several, each combination.

    Returns
    -------
    DataFrame
        Geometric means over the cells of the experiment: one line a strategy (and measure), one column a value.
    """
    found = _against_default(rows, table, option, experiment)
    values = sorted({value for line in found.values() for value in line})
    shown = pd.DataFrame([
        {"strategy": base, "measure": measure,
         **{_text(value): np.exp(np.mean([logs.mean() for logs in line[value].values()]))
            for value in values if value in line}}
        for (base, measure), line in found.items()
    ], columns=["strategy", "measure", *map(_text, values)])  # fmt: skip
    return shown if any(shown["measure"]) else shown.drop(columns="measure")


def better(rows, table, *options, names=None, by_size=()):
    """What experiments say of the defaults of options, by the protocol's rule: a default is to change from a speed-up
    of `MARGIN` over all cells (of a measure) on, if its interval excludes one.

    Parameters
    ----------
    rows, table
        As of `by_option`.
    *options : str, or tuple of an option and its experiment
        As of `by_option`.
    names : dict, optional
        Of measures, in words.
    by_size : sequence of str
        Strategies whose default is a rule by the size of a graph: what graphs of one size say of a fixed value is told,
        and the rule stays.

    Returns
    -------
    str
        The rule, and a sentence or two for each option; '' without rows.
    """
    asked = ((one, "tuning") if isinstance(one, str) else one for one in options)
    said = [_told(*one, rows, table, names or {}, by_size) for one in asked]
    rule = (
        f"By the protocol a default changes where another value is more than {MARGIN - 1:.0%} faster over all cells, "
        "and the interval of its speed-up excludes one."
    )
    return " ".join([rule, *filter(None, said)]) if any(said) else ""


def _told(option, experiment, rows, table, names, by_size):
    found = _against_default(rows, table, option, experiment)
    changed, kept = [], []
    for (base, measure), line in found.items():
        speedups = {value: _over_cells(list(by_cell.values())) for value, by_cell in line.items()}
        value = max(speedups, key=lambda value: speedups[value].value)
        if speedups[value].value > MARGIN and speedups[value].low > 1:
            which = f"`{base}`" + (f" for {names.get(measure, measure)}" if measure else "")
            (kept if base in by_size else changed).append(
                f"{which} to `{_text(value)}` ({speedups[value].value:.2f} times as fast)"
            )
    said = f"Of `{'` and `'.join(_names(option))}`: {', '.join(changed) or 'none'}." if found else ""
    if kept:
        said += f" Exempt, as their default follows the size of a graph and the part has one size: {', '.join(kept)}."
    return said


def _names(option):
    return (option,) if isinstance(option, str) else tuple(option)


def _text(value):
    return ", ".join(f"{name}={one}" for name, one in value)


def _over_cells(logs):
    """The geometric mean over cells, each with an array of logarithms over its rounds."""
    return over_strata(np.concatenate(logs), np.repeat(np.arange(len(logs)), [len(one) for one in logs]))


def of_graph(cell, take="mean"):
    """{figure: value} of the graph itself in a cell's rows."""
    return cell[cell["strategy"] == "(graph)"].groupby("metric")["value"].agg(take).to_dict()
