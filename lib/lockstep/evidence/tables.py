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
        defaults = {repr(table.resolve(label)): label for label in spent}
        for label in spent:
            strategy, options = table.resolve(label)
            value = options.pop(option, None)
            base = defaults.get(repr((strategy, options)))
            if value is not None and base is not None:
                line = found.setdefault((base, parameters.get("measure", "")), {})
                line.setdefault(value, []).append(spent[base] / spent[label])
    lines = [{"strategy": base, "measure": measure, **{f"{option}={value}": center(ratios) for value, ratios in
              sorted(line.items())}} for (base, measure), line in found.items()]  # fmt: skip
    shown = pd.DataFrame(lines)
    return shown.drop(columns="measure") if lines and not any(shown["measure"]) else shown


def better(shown, least=1.03):
    """What a table of `by_option` says of the defaults, by the protocol's rule.

    Parameters
    ----------
    shown : DataFrame
    least : float
        Speed-up over all cells from which a default is to change.

    Returns
    -------
    str
        A sentence; '' for an empty table.
    """
    if shown.empty:
        return ""
    over_all = shown.drop(columns="measure", errors="ignore").groupby("strategy", sort=False).agg(center)
    best = over_all.agg(["idxmax", "max"], axis=1)
    faster = best[best["max"] > least]
    changed = [f"`{name}` to `{value}` ({gain:.2f} times as fast)" for name, value, gain in faster.itertuples()]
    rule = f"By the protocol a default changes where another value is more than {least - 1:.0%} faster over all cells"
    return f"{rule}: " + (f"{', '.join(changed)}, with the next recording of it." if changed else "none does.")


def of_graph(cell, take="mean"):
    """{figure: value} of the graph itself in a cell's rows."""
    return cell[cell["strategy"] == "(graph)"].groupby("metric")["value"].agg(take).to_dict()
