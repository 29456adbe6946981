"""What a sweep should cost: the published cost model, and a predictor of the best strategy.

The published model (Section V-A) compares d (p + b) for offline schedules with d (p + l) + b / f for online
ones: d is the largest degree, p the time of an update, b of a barrier, l of the locks, 1 / f the number of
passes. All four are measured here on a star, where nothing else happens.

The predictor gives each strategy a time that is linear in five properties of a graph, with coefficients that
are not negative, fitted to *calibration graphs* that appear in no experiment. The coefficients are the
platform, the properties are the graph. What it is judged on are graphs that it has never seen.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

FEATURES = ("one", "largest degree", "ratings", "nodes", "diagonals")


def features(ratings):
    """The properties of a graph that the predictor knows; float64, in the order of FEATURES."""
    nodes = sum(ratings.shape)
    return np.array([1, ratings.largest_degree(), ratings.m, nodes, min(ratings.m, max(nodes - 1, 0))], float)


@dataclass(frozen=True)
class Published:
    """The four costs of the published model on one platform, in milliseconds."""

    p: float
    b: float
    l: float  # noqa: E741
    call: float  # of a pass: a launch and the read-back of what is left

    def offline(self, degree):
        """Lower bound of an offline sweep: an update and a barrier for each edge of the largest node."""
        return degree * (self.p + self.b)

    def online(self, degree, passes):
        """An online sweep: an update and locks for each edge of the largest node, a call for each pass."""
        return degree * (self.p + self.l) + passes * self.call


def fit(known, times):
    """Coefficients of one strategy: the least relative errors, none negative.

    Parameters
    ----------
    known : float array, shape (graphs, features)
    times : float array, shape (graphs,)
        Milliseconds a sweep.
    """
    weight = 1 / np.asarray(times, float)
    scaled = np.asarray(known, float) * weight[:, None]
    size = np.maximum(np.abs(scaled).max(axis=0), 1e-300)  # the properties span nine orders of magnitude
    return nnls(scaled / size, np.ones(weight.size))[0] / size


def predict(coefficients, ratings):
    """{strategy: milliseconds a sweep}, the fastest first."""
    known = features(ratings)
    times = {name: float(known @ np.asarray(c)) for name, c in coefficients.items()}
    return dict(sorted(times.items(), key=lambda item: item[1]))


def from_rows(rows):
    """Coefficients of every strategy out of the calibration rows of a recording.

    Parameters
    ----------
    rows : DataFrame
        Rows of this study on one machine.

    Returns
    -------
    dict
        {strategy: coefficients}, empty without calibration rows.
    """
    rows = rows[rows["experiment"] == "calibration"]
    graphs = rows[(rows["strategy"] == "(graph)") & rows["metric"].isin(FEATURES)]
    known = graphs.pivot_table(index="dataset", columns="metric", values="value")
    if not set(FEATURES) <= set(known.columns):
        return {}
    timed = rows[(rows["metric"] == "wall") & ~rows["strategy"].str.startswith("(")]
    found = {}
    for name, mine in timed.groupby("strategy"):
        times = mine.groupby("dataset")["value"].median()
        if len(times) >= len(FEATURES):
            found[name] = fit(known.loc[times.index, list(FEATURES)].to_numpy(), times.to_numpy())
    return found
