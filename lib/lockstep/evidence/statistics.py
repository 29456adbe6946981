"""Statistics of paired measurements: ratios with intervals, the best of several, multiple tests.

The scatter of times is proportional to their size, and a speedup of 2 should weigh as much as one of 1/2: so logarithms
are analyzed. Two strategies are compared within rounds, which cancels drift of the machine. A mean over graphs is a
geometric mean (Fleming and Wallace, CACM 29(3), 1986), and with several graphs the sampling unit is the graph, not the
round (Kalibera and Jones, ISMM 2013; Hoefler and Belli, SC 2015), unless the graphs are the whole population
(`over_strata`). Variance between recordings of a machine is added from `lockstep.evidence.between`.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lockstep.evidence import recording
from lockstep.evidence.recording import CELL

MARGIN = 1.03  # within 3 % two strategies count as equal
CONFIDENCE = 0.95
RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval.

    Attributes
    ----------
    value, low, high : float
        The figure and its t interval at `CONFIDENCE`; the ends are NaN where one sample gives no interval.
    bootstrap : tuple of float
        The bootstrap's interval, beside the t interval as a check of its assumptions.
    n, graphs : int
        Rounds in all, and graphs (cells) that it is taken over.
    error, freedom : float
        Standard error on the scale on which the figure was estimated, and its degrees of freedom.
    logarithmic : bool
        Whether that scale is the logarithm (ratios) or not (slopes).
    """

    value: float
    low: float
    high: float
    n: int
    graphs: int = 1
    bootstrap: tuple = (math.nan, math.nan)
    error: float = math.nan
    freedom: float = 0
    logarithmic: bool = True

    def p_value(self, null=1.0):
        """Two-sided p-value of the hypothesis that the true figure is `null`; NaN for a single sample."""
        if math.isnan(self.error):
            return math.nan
        gap = math.log(self.value / null) if self.logarithmic else self.value - null
        if self.error == 0:
            return 1.0 if gap == 0 else 0.0
        from scipy.special import stdtr  # imported late: 0.2 s

        return float(2 * stdtr(self.freedom, -abs(gap) / self.error))

    def equal(self, to=1.0, margin=MARGIN):
        """Whether the interval lies inside a factor `margin` of `to`."""
        return bool(self.low >= to / margin and self.high <= to * margin)


def half_width(error, freedom, confidence):
    """Half of the t interval around a figure with this standard error and these degrees of freedom."""
    from scipy.special import stdtrit  # see above

    return stdtrit(freedom, 0.5 + confidence / 2) * error


def over_rounds(logs, rounds=None, apart=0.0, freedom=1.0):
    """Mean of one graph's samples, each recording weighing the same, its standard error and degrees of freedom.

    Parameters
    ----------
    logs : array of float (n,)
    rounds : array of int (n,), optional
        Round of each sample, which gives its recording (`recording.of`); by default all of the first.
    apart, freedom : float
        Standard deviation between recordings, and its degrees of freedom.

    Returns
    -------
    (float, float, float)
        The error combines scatter within recordings and `apart`, the latter over the number of recordings
        (Welch-Satterthwaite). Where `apart` is given and the recordings' means differ by more than both explain, their
        variance takes its place, as the Particle Data Group scales errors. NaN for a single sample.
    """
    logs = np.asarray(logs, float)
    labels = np.zeros(len(logs), int) if rounds is None else recording.of(np.asarray(rounds))
    groups = [logs[labels == label] for label in np.unique(labels)]
    within, count = sum(len(group) - 1 for group in groups), len(groups)
    means = np.array([group.mean() for group in groups])
    mean = float(means.mean())
    if within == 0 and count == 1:
        return mean, math.nan, 0
    seen = means.var(ddof=1) / count if count > 1 else 0.0  # includes both components
    if within == 0:
        return mean, math.sqrt(max(seen, apart**2 / count)), freedom if apart else count - 1
    scatter = sum(((group - group.mean()) ** 2).sum() for group in groups) / within
    parts = (scatter * sum(1 / len(group) for group in groups) / count**2, within), (apart**2 / count, freedom)
    total = sum(part for part, _ in parts)
    shares = sum(part**2 / known for part, known in parts)
    known = total**2 / shares if shares > 0 else within
    return mean, math.sqrt(max(total, seen) if apart else total), known


def geometric_mean(logs, graphs=None, rounds=None, *, apart=0.0, freedom=1.0, confidence=CONFIDENCE, seed=0):
    """Geometric mean of what `logs` are the logarithms of.

    Parameters
    ----------
    logs : array of float (n,)
    graphs : array (n,), optional
        The graph of each sample. With several graphs the interval is over the graphs' means and covers the
        population mean of such graphs, between-recording scatter included. With one it is over the rounds and, by
        `apart`, over recordings.
    rounds, apart, freedom
        See `over_rounds`.
    confidence : float
    seed : int
        Seed of the bootstrap, which draws graphs, and rounds within them.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If there is no sample.
    """
    logs = np.asarray(logs, float)
    if len(logs) == 0:
        raise ValueError("no samples to take a mean of")
    labels = np.zeros(len(logs)) if graphs is None else pd.factorize(pd.Series(list(graphs)))[0]
    groups = [labels == label for label in np.unique(labels)]
    rounds = None if rounds is None else np.asarray(rounds)
    each = [over_rounds(logs[own], None if rounds is None else rounds[own], apart, freedom) for own in groups]
    if len(each) == 1:
        mean, error, freedom = each[0]
    else:
        means = np.array([one[0] for one in each])
        mean, error, freedom = means.mean(), means.std(ddof=1) / math.sqrt(len(means)), len(means) - 1
    half = math.nan if math.isnan(error) else half_width(error, freedom, confidence)
    ends = (math.nan, math.nan)
    if len(logs) > 1:
        draws = _resample([logs[own] for own in groups], np.random.default_rng(seed))
        ends = tuple(np.exp(np.quantile(draws, [0.5 - confidence / 2, 0.5 + confidence / 2])).tolist())
    value, low, high = np.exp([mean, mean - half, mean + half]).tolist()
    return Estimate(value, low, high, len(logs), len(groups), ends, float(error), float(freedom))


def over_strata(logs, labels, rounds=None, *, apart=0.0, freedom=1.0, arithmetic=False):
    """The mean over strata that form the whole population; its interval is over rounds and recordings.

    Parameters
    ----------
    logs : array of float (n,)
    labels : array (n,)
        The stratum of each.
    rounds, apart, freedom
        See `over_rounds`.
    arithmetic : bool
        Take the arithmetic mean of the strata's geometric means, else the geometric one.

    Returns
    -------
    Estimate
        Strata have equal weights; the standard error is the root sum of squares of the strata's errors over their
        number, with Welch-Satterthwaite degrees of freedom. NaN where a stratum has a single sample.
    """
    logs, labels = np.asarray(logs, float), np.asarray(labels)
    rounds = np.zeros(len(logs), int) if rounds is None else np.asarray(rounds)
    strata = [labels == label for label in pd.unique(pd.Series(labels))]
    each = np.array([over_rounds(logs[own], rounds[own], apart, freedom) for own in strata])
    means, errors, freedoms = each.T
    weights = np.exp(means) if arithmetic else np.ones(len(means))  # delta method
    squares = (errors * weights) ** 2
    value = np.exp(means).mean() if arithmetic else means.mean()
    error, total = float(np.sqrt(squares.sum()) / len(strata)), squares.sum()
    known = float(total**2 / (squares**2 / np.maximum(freedoms, 1)).sum()) if total > 0 else float(freedoms.sum())
    half = half_width(error, known, CONFIDENCE) if known > 0 and not math.isnan(error) else math.nan
    ends = np.array([value, value - half, value + half])
    value, low, high = (ends if arithmetic else np.exp(ends)).tolist()
    return Estimate(value, low, high, len(logs), len(strata), error=error, freedom=known, logarithmic=not arithmetic)


def center(values):
    """Geometric mean of the positive values, without an interval; NaN if there are none."""
    values = np.asarray(values, float)
    values = values[values > 0]
    return float(np.exp(np.log(values).mean())) if len(values) else math.nan


def draw_means(groups, random):
    """Means of bootstrap draws within each group (groups, RESAMPLES)."""
    return np.stack([g[random.integers(len(g), size=(RESAMPLES, len(g)))].mean(axis=1) for g in groups])


def _resample(groups, random):
    """Means over groups of bootstrap draws (RESAMPLES,): graphs with replacement, rounds within each."""
    drawn = draw_means(groups, random)
    if len(groups) == 1:
        return drawn[0]
    picks = random.integers(len(groups), size=(RESAMPLES, len(groups)))
    return np.take_along_axis(drawn.T, picks, axis=1).mean(axis=1)


def select(rows, strategy=None, metric="wall", **labels):
    """The rows of a strategy and metric, and of any other column named (`dataset=...`, `experiment=...`)."""
    keep = rows["metric"] == metric
    for column, value in {"strategy": strategy, **labels}.items():
        if value is not None:
            keep &= rows[column] == value
    return rows[keep]


def paired(rows, numerator, denominator):
    """Log ratios of two strategies, paired within rounds.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows.
    numerator, denominator : str or (str, str)
        A strategy, timed by the wall clock, or a strategy and a metric.

    Returns
    -------
    DataFrame
        Cell columns, `round` and `log`, the logarithm of numerator / denominator. Rounds that lack one of the
        two, and values that are not positive, are left out.
    """
    key = [*CELL, "round"]
    sides = []
    for side in (numerator, denominator):
        strategy, metric = (side, "wall") if isinstance(side, str) else side
        values = select(rows, strategy, metric).drop_duplicates(key, keep="last").set_index(key)["value"]
        sides.append(values)
    both = pd.concat(sides, axis=1, join="inner", keys=["numerator", "denominator"]).reset_index()
    both = both[(both["numerator"] > 0) & (both["denominator"] > 0)]
    both["log"] = np.log(both["numerator"] / both["denominator"])
    return both[[*key, "log"]]


def graph_labels(pairs):
    """One label a cell for `geometric_mean`: rows of equal cell columns are the same graph."""
    return pairs[CELL].agg("\x1f".join, axis=1) if len(pairs) else pairs.index


def ratio(rows, numerator, denominator, **labels):
    """How many times as long `numerator` takes as `denominator`: a geometric mean of paired ratios.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows; all cells in them count, unless `labels` (`dataset=`, `experiment=`, `parameters=`) name
        one.
    numerator, denominator : str or (str, str)
        A strategy, timed by the wall clock, or a strategy and a metric.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        If no round holds both, naming what was looked for.
    """
    for column, value in labels.items():
        rows = rows[rows[column] == value]
    pairs = paired(rows, numerator, denominator)
    if pairs.empty:
        raise ValueError(f"no round holds both {numerator} and {denominator}")
    return geometric_mean(pairs["log"], graph_labels(pairs))


def mean(rows, strategy, **labels):
    """Geometric mean of a strategy's times with its interval; zero and negative values raise ValueError."""
    rows = select(rows, strategy, **labels)
    if rows.empty or (rows["value"] <= 0).any():
        raise ValueError(f"{strategy}: {'no rows' if rows.empty else 'a value is not positive'}")
    return geometric_mean(np.log(rows["value"]), graph_labels(rows))


def best(rows, strategies):
    """The best of several strategies, chosen on one half of the rounds and judged on the other.

    Choosing and judging on the same samples would bias the winner's time downwards.

    Parameters
    ----------
    rows : DataFrame
    strategies : sequence of str

    Returns
    -------
    DataFrame
        The judging half of `rows`, and in it the winner's rows once more as strategy `best`, with a column `chosen`
        that names the winner of each cell. Cells with fewer than two rounds are left out.
    """
    halves = []
    for _, cell in rows.groupby(CELL, sort=False):
        timed = select(cell)
        timed = timed[timed["strategy"].isin(strategies)]
        rounds = np.sort(timed["round"].unique())
        if len(rounds) < 2:
            continue
        choosing = np.random.default_rng(0).permutation(rounds)[: len(rounds) // 2]
        chosen_on = timed[timed["round"].isin(choosing)]
        winner = np.log(chosen_on.set_index("strategy")["value"]).groupby(level=0).mean().idxmin()
        judged = cell[~cell["round"].isin(choosing)]
        halves += [judged, judged[judged["strategy"] == winner].assign(strategy="best", chosen=winner)]
    return pd.concat(halves, ignore_index=True) if halves else rows.iloc[:0].assign(chosen=None)


def holm(p_values):
    """Holm's adjusted p-values (Scandinavian Journal of Statistics 6, 1979), in the given order; NaN stays NaN."""
    p = pd.Series(np.asarray(p_values, float))
    known = p.dropna().sort_values(kind="stable")
    return (known * np.arange(len(known), 0, -1)).clip(upper=1).cummax().reindex(p.index).to_numpy()
