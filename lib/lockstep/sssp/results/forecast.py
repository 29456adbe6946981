"""How many layers a graph needs: forecasts fitted on generated graphs, evaluated on other graphs.

If errors are independent over sources, a share p of wrong sources means lambda = -log(1 - p) errors per source. The
model is log-linear, log lambda = a + b x + c k for k layers (a binomial regression with the
complementary log-log link), where x holds the predictors:

    graph       the logarithms of its vertices and of the arcs on its longest shortest path
    four tried  log lambda after four layers, from runs
    layers      none: the average effect of k layers on the fitted graphs, the baseline
"""

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from lockstep.evidence import tables

LAYERS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24)
TRIED, FIRST = 4, 6  # layers of the trial run; the smallest predicted number of layers
MODELS = {"graph": ("nodes", "hops"), "four tried": ("tried",), "layers": ()}
GENERATED = ("road-like-", "rmat-")
UNTOUCHED = ("cit-HepPh", "cit-HepTh", "ego-Twitter")  # used for no fit and no choice
SOURCES = 64
_small = 1e-9


def shares(rows):
    """Wrong sources by graph and layers, with what is known of the graph: one line a graph, weights and layers.

    Where a graph was measured from few sources and again from more, the latter count.
    """
    lines = {}
    for dataset, own, cell in tables.cells(rows, "layers"):
        value = cell.groupby(["strategy", "metric"])["value"].mean()
        found = []
        for k in LAYERS:
            count = value.get((f"semaphores-{k}", "sources"), np.nan)
            if np.isfinite(count):
                found.append({"layers": k, "wrong": value[f"semaphores-{k}", "wrong_sources"], "sources": count})
        tried = next((line["wrong"] / line["sources"] for line in found if line["layers"] == TRIED), np.nan)
        known = {name: value.get(("(graph)", name), np.nan) for name in ("nodes", "hops")}
        key = dataset, own.get("weights", "random")
        if found and found[0]["sources"] >= lines.get(key, [{"sources": 0}])[0]["sources"]:
            lines[key] = [{"graph": dataset, "weights": key[1], **line, **known, "tried": tried} for line in found]
    return pd.DataFrame([line for found in lines.values() for line in found])


def needed(wrong):
    """The fewest of `LAYERS` after which nothing was wrong, of {layers: share or number}; NaN if there is none."""
    return next((k for k in LAYERS if wrong.get(k) == 0), np.nan)


def _matrix(table, names):
    """Columns of the regression: one, the layers, and what is known beforehand."""
    columns = [np.ones(len(table)), table["layers"].to_numpy(float)]
    for name in names:
        if name == "tried":  # half a source is added, so that shares 0 and 1 stay finite
            share = (table["tried"] * SOURCES + 0.5) / (SOURCES + 1)
            columns.append(np.log(-np.log1p(-share.to_numpy(float))))
        else:
            columns.append(np.log(table[name].to_numpy(float)))
    return np.column_stack(columns)


class Forecast:
    """A model fitted to a table as `shares` makes it.

    Parameters
    ----------
    table : DataFrame
    names : tuple of str
        What is known beforehand: nodes, hops, tried.
    """

    def __init__(self, table, names):
        self.names, x = names, _matrix(table, names)
        self.middle, self.width = x.mean(axis=0), x.std(axis=0) + _small
        self.middle[0], self.width[0] = 0.0, 1.0
        x, wrong, count = (x - self.middle) / self.width, table["wrong"].to_numpy(), table["sources"].to_numpy()

        def cost(b):
            p = np.clip(-np.expm1(-np.exp(np.clip(x @ b, -30, 6))), _small, 1 - _small)
            return -np.sum(wrong * np.log(p) + (count - wrong) * np.log1p(-p)) / SOURCES + 1e-3 * np.sum(b[1:] ** 2)

        self.slopes = minimize(cost, np.zeros(x.shape[1]), method="BFGS").x

    def errors(self, table):
        """Errors a source (lambda), line by line."""
        return np.exp(np.clip((_matrix(table, self.names) - self.middle) / self.width @ self.slopes, -30, 6))

    def needed(self, line, most=64):
        """Fewest layers after which all `SOURCES` sources are right with probability > 1/2; NaN beyond `most`."""
        each = pd.DataFrame([dict(line, layers=k) for k in range(1, most + 1)])
        enough = np.flatnonzero(SOURCES * self.errors(each) < np.log(2))
        return int(enough[0]) + 1 if enough.size else np.nan


def fitted_on(rows):
    """Names of the generated graphs that the models are fitted on."""
    table = shares(rows)
    return [name for name in table["graph"].unique() if name.startswith(GENERATED)] if len(table) else []


def tried(rows, judged=None):
    """Every model on every graph that it was not fitted on.

    Parameters
    ----------
    rows : DataFrame
        Rows of this study on one machine.
    judged : collection of str, optional
        The graphs that the errors are over; by default all that nothing was fitted on.

    Returns
    -------
    DataFrame, dict
        A line a graph: the share of wrong sources after four and eight layers, foretold for eight, and the layers
        needed (the fewest after which no source was seen to be wrong; missing: the most that were tried are too few).
        For each model, the root of the mean squared error of the share over all graphs and layers from `FIRST` on.
        Empty where fewer than four generated graphs, fewer than three late numbers of layers, or no other graph are
        recorded.
    """
    table = shares(rows)
    if table.empty:
        return table, {}
    table = table[table["nodes"].notna() & table["hops"].gt(0) & table["tried"].notna()]
    generated = table["graph"].str.startswith(GENERATED)
    late = table[table["layers"] >= FIRST]
    fitted, rest = late[generated.loc[late.index]], late[~generated.loc[late.index]]
    if fitted["graph"].nunique() < 4 or fitted["layers"].nunique() < 3 or rest.empty:
        return pd.DataFrame(), {}
    models = {name: Forecast(fitted, names) for name, names in MODELS.items()}
    rest = rest if judged is None else rest[rest["graph"].isin(judged)]
    share = rest["wrong"] / rest["sources"]
    far = {m: -np.expm1(-f.errors(rest)) - share for m, f in models.items() if len(rest)}
    error = {m: float(np.sqrt(np.mean(off**2))) for m, off in far.items()}
    lines = []
    for (graph, weights), mine in table[~generated].groupby(["graph", "weights"], sort=False):
        line = mine.iloc[0].to_dict()
        wrong = dict(zip(mine["layers"], mine["wrong"] / mine["sources"], strict=True))
        found = {"graph": graph, "weights": weights, "wrong after 4": wrong[4], "after 8": wrong.get(8, np.nan)}
        eight = pd.DataFrame([dict(line, layers=8)])
        for name in ("four tried", "graph"):
            found[f"after 8, by {name}"] = float(-np.expm1(-models[name].errors(eight)[0]))
        found["needed"] = needed(wrong)
        lines.append(found | {f"needed, by {name}": models[name].needed(line) for name in ("four tried", "graph")})
    return pd.DataFrame(lines), error
