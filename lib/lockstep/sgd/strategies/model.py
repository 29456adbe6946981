"""What a sweep should cost: the published cost model, and a predictor of the best strategy.

The published model (Section V-A) compares d (p + b) for offline schedules with d (p + l) + b / f for online
ones: d is the largest degree, p the time of an update, b of a barrier, l of the locks, 1 / f the number of
passes. All costs are measured on stars (the last b: per pass).

The predictor models a strategy's time as a linear function of six graph properties with nonnegative
coefficients, fitted to *calibration graphs* that appear in no experiment. The coefficients describe the
platform, the properties the graph. It is evaluated on graphs outside the calibration set.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from .patches import LARGEST

FEATURES = ("one", "largest degree", "ratings", "nodes", "occupied diagonals", "scattered ratings")
# What rows of the predicted strategies are called, among all and among the paper's seven. (predicted) and (predicted of
# seven) are history: that predictor took the smaller of edges and nodes - 1 for the diagonals of any graph.
PREDICTED, OF_SEVEN = "(predicted, diagonals counted)", "(predicted of seven, diagonals counted)"
FEWEST = 5  # calibration graphs that a strategy must have been timed on
WINDOWS = 1024  # ranges of ids on each side, for `scatter`
SAMPLE = 1 << 21


def features(ratings):
    """The predictor's properties of a graph; float64, in the order of FEATURES."""
    m, nodes = ratings.m, sum(ratings.shape)
    return np.array([1, ratings.largest_degree(), m, nodes, diagonals(ratings), scatter(ratings) * m], float)


def diagonals(ratings):
    """The diagonals of the matrix that hold a rating, which are the supersteps of the schedule `diagonal`."""
    taken = np.zeros(sum(ratings.shape), bool)
    for first in range(0, ratings.m, SAMPLE):  # a part at a time, to save the memory of all differences
        some = slice(first, first + SAMPLE)
        taken[ratings.items[some] - ratings.users[some] + np.int32(ratings.n_users)] = True
    return np.count_nonzero(taken)


def scatter(ratings):
    """Lack of id locality: 0 if neighboring items are rated by neighboring users, 1 if by arbitrary ones.

    Both sides' ids are cut into ranges; the result is the share of the possible pairs of ranges that hold a
    rating. Fewer than 2 SAMPLE evenly spaced ratings are used.
    """
    some = slice(None, None, max(1, ratings.m // SAMPLE))
    ends, ranges = (ratings.users[some], ratings.items[some]), []
    for nodes in ratings.shape:
        ranges.append(int(np.clip(nodes // 64, 1, WINDOWS)))
    user, item = (
        end.astype(np.int64) * count // max(nodes, 1)
        for end, count, nodes in zip(ends, ranges, ratings.shape, strict=True)
    )
    pairs = np.count_nonzero(np.bincount(item * ranges[0] + user, minlength=1))
    return max(pairs - 1, 0) / max(min(user.size, ranges[0] * ranges[1]) - 1, 1)


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


def predict(coefficients, known):
    """{strategy: milliseconds a sweep}, the fastest first; without patches where a degree is too large for them.

    Parameters
    ----------
    coefficients : mapping
        {strategy: coefficients}, of `fit`.
    known : float array, shape (features,)
        The graph's `features`.
    """
    hub = known[FEATURES.index("largest degree")] > LARGEST
    times = {name: float(known @ np.asarray(c)) for name, c in coefficients.items() if not (hub and name == "patches")}
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
        if len(times) >= FEWEST:
            found[name] = fit(known.loc[times.index, list(FEATURES)].to_numpy(), times.to_numpy())
    return found
