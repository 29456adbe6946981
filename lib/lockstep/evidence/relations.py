"""From a figure to where it stands against the published relation.

Each relation is a function of a part and of one machine's rows. It returns a `Finding`; `Missing` says that
the rows a part needs are not there.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lockstep.evidence import dominance, statistics, trends
from lockstep.evidence.selecting import BASE, Missing, feature, figure, means_of, places, rows_of, side_of, words

MEASURED = ("min", "ms", *BASE)  # units of times, and of rates over them


@dataclass(frozen=True)
class Finding:
    """What a machine's rows say of a part.

    Attributes
    ----------
    value, low, high : float
        The figure and its interval.
    n, graphs : int
        Samples and graphs behind it; where the figure is one graph's out of several, the graphs looked at.
    agrees : bool or None
        Whether the figure lies on the published side; None where there is no relation.
    p : float
        p-value of the side it lies on; 0 where counting leaves no doubt, NaN where there is no interval.
    bootstrap : tuple of float
        The bootstrap's interval of the figure; NaN where it has none of its own.
    """

    value: float
    low: float
    high: float
    n: int
    graphs: int
    agrees: bool | None
    p: float
    bootstrap: tuple = (math.nan, math.nan)


def _finding(estimate, agrees, p):
    given = estimate.value, estimate.low, estimate.high, estimate.n, estimate.graphs
    return Finding(*given, None if agrees is None else bool(agrees), p, estimate.bootstrap)


def _certain(part, rows, estimate):
    """A count has no scatter: one sample tells all. What is told in a unit of time or of a rate is none."""
    side = part.select.get("value", {})
    units = rows.loc[rows["metric"] == side.get("metric", "wall"), "unit"]
    return math.isnan(estimate.error) and not units.isin(MEASURED).any()


def _p(part, rows, estimate, null):
    return 0.0 if _certain(part, rows, estimate) else estimate.p_value(null)


def _above(part, rows):
    estimate = figure(rows, part.select)
    return _finding(estimate, estimate.value > part.bound, _p(part, rows, estimate, part.bound))


def _below(part, rows):
    estimate = figure(rows, part.select)
    return _finding(estimate, estimate.value < part.bound, _p(part, rows, estimate, part.bound))


def _band(part, rows, estimate, low, high):
    """Inside a band: two one-sided tests. Outside: a test against the nearer edge."""
    agrees = low <= estimate.value <= high
    p = [_p(part, rows, estimate, edge) for edge in (low, high)]
    return _finding(estimate, agrees, max(p) / 2 if agrees else min(p))


def _equal(part, rows):
    margin = statistics.MARGIN
    return _band(part, rows, figure(rows, part.select), part.bound / margin, part.bound * margin)


def _within(part, rows):
    low, high = part.published / part.factor, part.published * part.factor
    return _band(part, rows, figure(rows, part.select), low, high)


def _exact(part, rows):
    values = side_of(rows, part.select["value"], part.select, logarithmic=False)["value"]
    value = float(values.iloc[0]) if values.nunique() == 1 else float(values.mean())
    agrees = bool((values == part.published).all())
    return Finding(value, float(values.min()), float(values.max()), len(values), 1, agrees, 0.0)


def _ordering(part, rows):
    """All neighbours in order: it holds if each pair does (the weakest counts), and fails if one fails."""
    strategies, metric = part.select["strategies"], part.select.get("metric", "wall")
    found = []
    for fast, slow in zip(strategies, strategies[1:], strict=False):
        sides = {"numerator": {"strategy": slow, "metric": metric}}
        sides["denominator"] = {"strategy": fast, "metric": metric}
        estimate = figure(rows, {**part.select, **sides})
        found.append(_finding(estimate, estimate.value > 1, estimate.p_value()))
    wrong = [one for one in found if not one.agrees]
    return min(wrong, key=lambda one: one.p) if wrong else max(found, key=lambda one: one.p)


def _none_dominates(part, rows):
    """Every strategy loses somewhere. With a `value` the question is put to that strategy alone."""
    base, metric = rows_of(rows, part.select), part.select.get("metric", "wall")
    strategies = part.select["strategies"]
    values = {name: means_of(base, name, metric) for name in strategies}
    if lacking := [name for name, one in values.items() if one.empty]:
        raise Missing(f"no measurement here of {', '.join(lacking)} ({metric}) in {words(part.select)}")
    values = pd.concat(values, names=["strategy"])
    asked = [part.select["value"]["strategy"]] if "value" in part.select else strategies
    found = dominance.defeats(values, asked)
    if len(found) < len(asked):
        alone = ", ".join(set(asked) - {one.strategy for one in found})
        raise Missing(f"{alone}: no graph has two rounds beside another strategy in {words(part.select)}")
    one = dominance.weakest(found)
    graphs = values.index.droplevel(["strategy", "round"]).nunique()
    return Finding(one.estimate.value, one.estimate.low, one.estimate.high, one.estimate.n, graphs, one.loses, one.p)


def _slope(part, rows, side=None):
    side = side or part.select.get("value") or part.select
    samples = places(rows, part.select, side)
    try:
        return trends.slope(samples["x"], np.exp(samples["y"]))
    except ValueError as error:
        raise Missing(str(error)) from None


def _slope_within(part, rows):
    estimate = _slope(part, rows)
    low, high = part.bounds
    agrees = low <= estimate.value <= high
    p = [estimate.p_value(edge) for edge in (low, high)]
    return _finding(estimate, agrees, max(p) / 2 if agrees else min(p))


def _slope_above(part, rows):
    estimate = _slope(part, rows)
    return _finding(estimate, estimate.value > part.bound, estimate.p_value(part.bound))


def _steeper(part, rows):
    first, second = (_slope(part, rows, part.select[name]) for name in ("first", "second"))
    gap = trends.difference(first, second)
    return _finding(gap, gap.value > 0, gap.p_value(0.0))


def _crossover(part, rows):
    """The published direction at both ends, so the weaker end counts; the figure is the place of the
    crossover.
    """
    samples = places(rows, part.select, part.select)
    try:
        found = trends.crossover(samples["x"], samples["y"])
    except ValueError as error:
        raise Missing(str(error)) from None
    ends = [(found.first.value > 1, found.first.p_value()), (found.last.value < 1, found.last.p_value())]
    wrong = [p for agrees, p in ends if not agrees]
    p = min(wrong) if wrong else max(p for _, p in ends)
    return Finding(found.value, found.low, found.high, len(samples), 1, not wrong, p)


def _explained(part, rows):
    select = part.select
    samples = side_of(rows, select["value"], select)
    logs = np.log(samples["value"]).groupby(statistics.graph_labels(samples)).mean()
    cells = samples.groupby(statistics.graph_labels(samples)).first()
    features = {name: feature(rows, cells, name) for name in select["features"]}
    known = np.all([values > 0 for values in features.values()], axis=0)
    try:
        estimate = trends.explains(np.exp(logs[known]), {k: v[known] for k, v in features.items()})
    except ValueError as error:
        raise Missing(str(error)) from None
    return _finding(estimate, estimate.value > 0, estimate.p_value(0.0))


def _open(part, rows):
    return _finding(figure(rows, part.select), None, math.nan)


JUDGES = {
    "above": _above,
    "below": _below,
    "equal": _equal,
    "within": _within,
    "exact": _exact,
    "ordering": _ordering,
    "none-dominates": _none_dominates,
    "slope-within": _slope_within,
    "slope-above": _slope_above,
    "steeper": _steeper,
    "crossover": _crossover,
    "explained-by": _explained,
    "open-question": _open,
}
