"""Crossover of a ratio with 1, log-log slopes, and which feature explains a figure."""

import math
from dataclasses import dataclass

import numpy as np

from lockstep.evidence import between, recording
from lockstep.evidence.statistics import CONFIDENCE, RESAMPLES, Estimate, draw_means, geometric_mean, half_width

TAIL = (1 - CONFIDENCE) / 2  # share of the draws on either side of a bootstrap interval


@dataclass(frozen=True)
class Crossover:
    """Where a ratio passes 1.

    Attributes
    ----------
    value, low, high : float
        The first crossing and its bootstrap interval; NaN where the ratio does not cross 1 inside the range, both
        ends NaN where more than `TAIL` (2.5 %) of the draws do not.
    first, last : Estimate
        The ratio at the two ends of the range.
    """

    value: float
    low: float
    high: float
    first: Estimate
    last: Estimate

    def place(self, n):
        """The place as an Estimate of so many samples; the bootstrap's interval gives its standard error."""
        error = math.log(self.high / self.low) / (2 * half_width(1, n, CONFIDENCE)) if self.low > 0 else math.nan
        return Estimate(self.value, self.low, self.high, n, error=error, freedom=n)


def crossover(x, logs, rounds=None, *, apart=between.NONE):
    """Where a ratio, measured at several places, passes 1: interpolated on log-log axes.

    Parameters
    ----------
    x : array of float (n,)
        The place of each sample, a depth for example; positive.
    logs : array of float (n,)
        Log ratio of each sample.
    rounds : array of int (n,), optional
    apart : Between
        Scatter between recordings, which the bootstrap draws at each place over the number of its recordings, besides
        rounds within each.

    Returns
    -------
    Crossover

    Raises
    ------
    ValueError
        If there are fewer than two places.
    """
    x, logs = np.asarray(x, float), np.asarray(logs, float)
    places = np.unique(x)
    if len(places) < 2:
        raise ValueError("a crossover needs measurements at two places at least")
    rounds = np.zeros(len(x), int) if rounds is None else np.asarray(rounds)
    of = recording.of(rounds)
    groups = [[logs[(x == place) & (of == one)] for one in np.unique(of[x == place])] for place in places]
    found = _crossings(np.log(places), np.array([np.mean([one.mean() for one in group]) for group in groups]))
    random = np.random.default_rng(0)
    draws = np.stack([draw_means(group, random).mean(axis=0) for group in groups])
    if apart.ratio:
        counts = np.array([[len(group)] for group in groups])
        draws = draws + apart.ratio / np.sqrt(counts) * random.standard_t(apart.freedom, draws.shape)
    located = [_crossings(np.log(places), column) for column in draws.T]
    firsts = np.array([crossing[0] if crossing else math.nan for crossing in located])
    low = high = math.nan
    if found and np.isnan(firsts).mean() <= TAIL:
        low, high = np.exp(np.nanquantile(firsts, [TAIL, 1 - TAIL])).tolist()
    how = {"apart": apart.ratio, "freedom": apart.freedom}
    ends = [geometric_mean(logs[x == place], rounds=rounds[x == place], **how) for place in (places[0], places[-1])]
    return Crossover(math.exp(found[0]) if found else math.nan, low, high, *ends)


def _crossings(place, height):
    """Where the broken line through (place, height) meets zero, in order."""
    found = []
    for k in range(len(place) - 1):
        a, b = height[k], height[k + 1]
        if a == 0 or a * b < 0:
            found.append(place[k] if a == 0 else place[k] + (place[k + 1] - place[k]) * a / (a - b))
    if height[-1] == 0:
        found.append(place[-1])
    return found


def slope(x, y):
    """Slope of log y against log x: 1 is growth in proportion, 0 is none.

    Samples at one place are averaged first: the interval then reflects deviations of the places from a straight line,
    which many rounds at few places would hide.

    Parameters
    ----------
    x, y : array of float (n,)
        Positive.

    Returns
    -------
    Estimate
        Not logarithmic; `n` counts the places.

    Raises
    ------
    ValueError
        If there are fewer than three places.
    """
    x, y = np.log(np.asarray(x, float)), np.log(np.asarray(y, float))
    places = np.unique(x)
    if len(places) < 3:
        raise ValueError("a slope needs measurements at three places at least")
    from scipy.stats import linregress  # half a second to import

    fit = linregress(places, [y[x == place].mean() for place in places])
    freedom = len(places) - 2
    return _linear(float(fit.slope), float(fit.stderr), freedom, len(places))


def _linear(value, error, freedom, n):
    """An Estimate that is no ratio, with its t interval."""
    half = half_width(error, freedom, CONFIDENCE)
    return Estimate(value, value - half, value + half, n, error=error, freedom=freedom, logarithmic=False)


def difference(first, second):
    """The difference of two slopes (`Estimate`s) with Welch's interval."""
    value, error = first.value - second.value, math.hypot(first.error, second.error)
    parts = [(e.error**4) / e.freedom for e in (first, second)]
    freedom = error**4 / sum(parts) if sum(parts) > 0 else min(first.freedom, second.freedom)
    return _linear(value, error, freedom, first.n + second.n)


def explains(y, candidates):
    """By how much one feature explains a figure better than the best of the others.

    Parameters
    ----------
    y : array of float (n,)
        The figure, one a graph; positive.
    candidates : mapping
        {feature: array (n,), positive}; the first is the one in question.

    Returns
    -------
    Estimate
        Squared correlation of log y with the log of the first feature, less the largest of the others, with a
        bootstrap interval over the graphs; not logarithmic, `error` from the bootstrap.

    Raises
    ------
    ValueError
        If there are fewer than four graphs.
    """
    y = np.log(np.asarray(y, float))
    features = np.log(np.array([np.asarray(values, float) for values in candidates.values()]))
    if len(y) < 4:
        raise ValueError("to tell which feature explains a figure takes four graphs at least")

    def advantage(pick):
        with np.errstate(invalid="ignore", divide="ignore"):
            squares = [np.corrcoef(feature[pick], y[pick])[0, 1] ** 2 for feature in features]
        squares = np.nan_to_num(squares)  # a feature that does not vary explains nothing
        return squares[0] - max(squares[1:])

    random = np.random.default_rng(0)
    draws = [advantage(random.integers(len(y), size=len(y))) for _ in range(RESAMPLES)]
    low, high = np.quantile(draws, [TAIL, 1 - TAIL]).tolist()
    value, error = float(advantage(np.arange(len(y)))), float(np.std(draws, ddof=1))
    return Estimate(value, low, high, len(y), len(y), (low, high), error, len(y) - 2, logarithmic=False)
