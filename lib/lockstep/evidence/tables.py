"""Tables for the views of all studies: a line per data set or cell, a column per strategy."""

import json

import pandas as pd

from lockstep.evidence.statistics import center, select


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


def by_option(rows, table, option, experiment="tuning"):
    """How much faster a strategy is with each value of an option than with its default: above 1 is faster.

    Parameters
    ----------
    rows : DataFrame
    table : Table
        Its labels' strategies and options.
    option : str
        ``threads``: labels ``name@threads=64``, beside ``name`` for the default.

    Returns
    -------
    DataFrame
        Geometric means over the cells of the experiment: one line a strategy (and measure), one column a value.
    """
    found = {}
    for _, parameters, cell in cells(rows, experiment):
        spent = times(cell)
        resolved = {label: table.resolve(label) for label in spent}
        for label, (strategy, options) in resolved.items():
            if option not in options:
                continue
            rest = {name: value for name, value in options.items() if name != option}
            base = next((other for other, one in resolved.items() if one == (strategy, rest)), None)
            if base is not None:
                line = found.setdefault((base, parameters.get("measure", "")), {})
                line.setdefault(options[option], []).append(spent[base] / spent[label])
    lines = [{"strategy": base, "measure": measure, **{f"{option}={value}": center(ratios) for value, ratios in
              sorted(line.items())}} for (base, measure), line in found.items()]  # fmt: skip
    shown = pd.DataFrame(lines)
    return shown.drop(columns="measure") if lines and not any(shown["measure"]) else shown


def of_graph(cell, take="mean"):
    """{figure: value} of the graph itself in a cell's rows."""
    return cell[cell["strategy"] == "(graph)"].groupby("metric")["value"].agg(take).to_dict()
