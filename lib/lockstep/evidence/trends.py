"""Where a ratio passes 1, how steeply a figure grows, and what it depends on."""

import math
from dataclasses import dataclass

import numpy as np

from lockstep.evidence import between
from lockstep.evidence.statistics import CONFIDENCE, RESAMPLES, Estimate, draw_means, geometric_mean, half_width


@dataclass(frozen=True)
class Crossover:
    """Where a ratio passes 1.

    Attributes
    ----------
    value, low, high : float
        The place and its bootstrap interval; NaN where the ratio does not pass 1 inside the range, an end NaN
        where more than the interval's share of the draws does not.
    crossings : int
        How often it passes; `value` is the first place.
    first, last : Estimate
        The ratio at the two ends of the range.
    """

    value: float
    low: float
    high: float
    crossings: int
    first: Estimate
    last: Estimate

    def place(self, n):
        """The place as an Estimate of so many samples; the bootstrap's interval gives its standard error."""
        error = math.log(self.high / self.low) / (2 * half_width(1, n, CONFIDENCE)) if self.low > 0 else math.nan
        return Estimate(self.value, self.low, self.high, n, error=error, freedom=n)


def crossover(x, logs, rounds=None, *, apart=between.NONE, confidence=CONFIDENCE, seed=0):
    """Where a ratio, measured at several places, passes 1: interpolated on log-log axes.

    Parameters
    ----------
    x : array of float (n,)
        The place of each sample, a depth for example; positive.
    logs : array of float (n,)
        Log ratio of each sample.
    rounds : array of int (n,), optional
    apart : Between
        What recordings differ by.
    confidence : float
    seed : int
        Seed of the bootstrap, which draws rounds at each place, and what recordings differ by there.

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
    groups = [logs[x == place] for place in places]
    found = _crossings(np.log(places), np.array([group.mean() for group in groups]))
    random = np.random.default_rng(seed)
    draws = draw_means(groups, random)
    if apart.ratio:
        draws = draws + apart.ratio * random.standard_t(apart.freedom, draws.shape)
    located = [_crossings(np.log(places), column) for column in draws.T]
    firsts = np.array([crossing[0] if crossing else math.nan for crossing in located])
    low = high = math.nan
    tail = (1 - confidence) / 2
    if found and np.isnan(firsts).mean() <= tail:
        low, high = np.exp(np.nanquantile(firsts, [tail, 1 - tail])).tolist()
    rounds = np.zeros(len(x), int) if rounds is None else np.asarray(rounds)
    how = {"apart": apart.ratio, "freedom": apart.freedom, "confidence": confidence, "seed": seed}
    ends = [geometric_mean(logs[x == place], rounds=rounds[x == place], **how) for place in (places[0], places[-1])]
    return Crossover(math.exp(found[0]) if found else math.nan, low, high, len(found), *ends)


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


def slope(x, y, *, confidence=CONFIDENCE):
    """Slope of log y against log x: 1 is growth in proportion, 0 is none.

    Samples at one place are averaged first: the interval then tells how well a straight line describes the
    places, which many rounds at few places would hide.

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
    half = half_width(fit.stderr, freedom, confidence)
    return Estimate(
        float(fit.slope),
        float(fit.slope - half),
        float(fit.slope + half),
        len(places),
        error=float(fit.stderr),
        freedom=freedom,
        logarithmic=False,
    )


def difference(first, second, *, confidence=CONFIDENCE):
    """The difference of two slopes (`Estimate`s) with Welch's interval."""
    value, error = first.value - second.value, math.hypot(first.error, second.error)
    parts = [(e.error**4) / e.freedom for e in (first, second)]
    freedom = error**4 / sum(parts) if sum(parts) > 0 else min(first.freedom, second.freedom)
    half = half_width(error, freedom, confidence)
    return Estimate(
        value, value - half, value + half, first.n + second.n, error=error, freedom=freedom, logarithmic=False
    )


def explains(y, candidates, *, confidence=CONFIDENCE, seed=0):
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

    random = np.random.default_rng(seed)
    draws = [advantage(random.integers(len(y), size=len(y))) for _ in range(RESAMPLES)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail]).tolist()
    return Estimate(
        float(advantage(np.arange(len(y)))),
        low,
        high,
        len(y),
        len(y),
        (low, high),
        float(np.std(draws, ddof=1)),
        len(y) - 2,
        logarithmic=False,
    )
