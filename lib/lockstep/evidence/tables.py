"""What the views of all studies are made of: rows as a line a data set or cell, and a column a strategy."""

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


def of_graph(cell, take="mean"):
    """{figure: value} of the graph itself in a cell's rows."""
    return cell[cell["strategy"] == "(graph)"].groupby("metric")["value"].agg(take).to_dict()
