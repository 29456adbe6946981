"""Compare a figure with the published relation.

Each relation is a function of a part and one machine's rows. It returns a `Finding`, or raises `Missing` if rows
that the part needs are absent.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from lockstep import digits
from lockstep.evidence import between, dominance, statistics, trends
from lockstep.evidence.ledger import merge
from lockstep.evidence.selecting import (
    Missing,
    feature,
    figure,
    graphs_of,
    means_of,
    pairs_of,
    places,
    rows_of,
    samples_of,
    side_of,
    words,
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """Result of a part on one machine's rows.

    Attributes
    ----------
    value, low, high : float
        The figure and its interval.
    n, graphs : int
        Numbers of samples and graphs behind it; where the figure is of one graph out of several, all of these.
    agrees : bool or None
        Whether the figure lies on the published side; None where there is no relation.
    p : float
        p-value of the side it lies on; NaN where there is no interval, and for an identity, which needs none.
    bootstrap : tuple of float
        The figure's bootstrap interval; NaN if none is computed.
    weakest : str
        If several readings agree, the one whose p-value is used, unless it is the part's own; for an identity that
        holds only on some graphs, the others.
    """

    value: float
    low: float
    high: float
    n: int
    graphs: int
    agrees: bool | None
    p: float
    bootstrap: tuple = (math.nan, math.nan)
    weakest: str = ""


def unsure(one):
    """How little a finding decides: its p-value; infinite without one, as of a time measured once."""
    return math.inf if math.isnan(one.p) else one.p


def _finding(estimate, agrees, p):
    given = estimate.value, estimate.low, estimate.high, estimate.n, estimate.graphs
    return Finding(*given, None if agrees is None else bool(agrees), p, estimate.bootstrap)


def _figure(part, rows):
    return figure(rows, part.select, strata="strata" in part.population, apart=(part.apart or between.NONE))


def _identity(part, rows, agrees):
    """A count, which must agree on each graph; for random graphs, on their mean."""
    estimate, samples = _figure(part, rows), samples_of(rows, part.select)
    if samples is None or "random" in part.population:
        return _finding(estimate, agrees(estimate.value), math.nan)
    each = np.exp(samples.groupby("graph")["log"].mean())
    wrong = each[[not agrees(value) for value in each]]
    told = ", ".join(f"{graph} {digits.figure(value)}" for graph, value in wrong.head(3).items())
    few = f"not on {len(wrong)} of {len(each)} graphs: {told}{', ...' if len(wrong) > 3 else ''}"
    return replace(_finding(estimate, wrong.empty, math.nan), weakest=few if 0 < len(wrong) < len(each) else "")


def _side(part, rows, agrees):
    """On which side of the bound the figure lies."""
    if part.kind == "identity":
        return _identity(part, rows, agrees)
    estimate = _figure(part, rows)
    return _finding(estimate, agrees(estimate.value), estimate.p_value(part.bound))


def _above(part, rows):
    return _side(part, rows, lambda value: value > part.bound)


def _exists(part, rows):
    """True in at least one instance: the smallest p-value, times the number of instances (Bonferroni).

    Where it is true in none, the instance nearest to it is shown.
    """
    found = [_above(replace(part, select=merge(part.select, change)), rows) for change in part.readings.values()]
    one = min(found, key=lambda one: (not one.agrees, unsure(one) if one.agrees else -one.value))
    return replace(one, p=np.minimum(1.0, len(found) * one.p))


def _band(part, rows, low, high):
    """Inside a band: two one-sided tests. Outside: a test against the nearer edge."""
    if part.kind == "identity":
        return _identity(part, rows, lambda value: low <= value <= high)
    estimate = _figure(part, rows)
    return _inside(estimate, low, high)


def _inside(estimate, low, high):
    agrees, p = low <= estimate.value <= high, [estimate.p_value(edge) for edge in (low, high)]
    return _finding(estimate, agrees, max(p) / (2 if agrees else 1))  # the nearer edge has the larger p


def _computed(part, rows):
    """Blocks that fit a multiprocessor of the paper's GPU with the kernel's shared memory, over those without."""
    if rows.empty:
        raise Missing("nothing of its study is recorded here")
    of = part.select["blocks"]
    without = min(of["blocks_at_most"], of["threads_at_most"] // of["threads"])
    value = min(without, of["shared_at_most"] // of["shared"]) / without
    return Finding(value, value, value, 1, 1, value < 1, math.nan)


def _exact(part, rows):
    values = side_of(rows, part.select["value"], part.select, logarithmic=False)["value"]
    value = float(values.iloc[0]) if values.nunique() == 1 else float(values.mean())
    agrees = bool((values == part.published).all())
    return Finding(value, float(values.min()), float(values.max()), len(values), 1, agrees, math.nan)


def _ordering(part, rows):
    """Consecutive pairs in order: holds by the largest p-value of all pairs, fails by the smallest of the wrong ones
    times the number of pairs (Bonferroni).
    """
    strategies, metric = part.select["strategies"], part.select.get("metric", "wall")
    found = []
    for fast, slow in zip(strategies, strategies[1:], strict=False):
        sides = {"numerator": {"strategy": slow, "metric": metric}}
        sides["denominator"] = {"strategy": fast, "metric": metric}
        estimate = _figure(replace(part, select={**part.select, **sides}), rows)
        found.append(_finding(estimate, estimate.value > 1, estimate.p_value()))
    wrong = [one for one in found if not one.agrees]
    if not wrong:
        return max(found, key=unsure)
    worst = min(wrong, key=unsure)
    return replace(worst, p=np.minimum(1.0, len(found) * worst.p))


def _none_dominates(part, rows):
    """Every strategy loses somewhere; with a `value`, only that strategy is tested."""
    base, metric = rows_of(rows, part.select), part.select.get("metric", "wall")
    strategies = part.select["strategies"]
    values = {name: means_of(base, name, metric) for name in strategies}
    if lacking := [name for name, one in values.items() if one.empty]:
        raise Missing(f"no measurement here of {', '.join(lacking)} ({metric}) in {words(part.select)}")
    values = pd.concat(values, names=["strategy"])
    asked = [part.select["value"]["strategy"]] if "value" in part.select else strategies
    found = dominance.defeats(values, asked, (part.apart or between.NONE))
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
    return _inside(estimate, *part.bounds)


def _slope_above(part, rows):
    estimate = _slope(part, rows)
    return _finding(estimate, estimate.value > part.bound, estimate.p_value(part.bound))


def _steeper(part, rows):
    first, second = (_slope(part, rows, part.select[name]) for name in ("first", "second"))
    gap = trends.difference(first, second)
    return _finding(gap, gap.value > 0, gap.p_value(0.0))


def _crossover(part, rows):
    """The published direction at both ends and the place between: holds by the largest of the three p-values, fails by
    the smallest of the wrong ones times three (Bonferroni).
    """
    samples = places(rows, part.select, part.select)
    try:
        found = trends.crossover(samples["x"], samples["y"], samples["round"], apart=(part.apart or between.NONE))
    except ValueError as error:
        raise Missing(str(error)) from None
    tests = [(found.first.value > 1, found.first.p_value()), (found.last.value < 1, found.last.p_value())]
    place = _inside(found.place(len(samples)), part.published / part.factor, part.published * part.factor)
    tests.append((place.agrees, place.p))
    wrong = [p for agrees, p in tests if not agrees]
    known = [p for p in wrong if not math.isnan(p)]  # where nothing crosses, the place has none
    p = min(1.0, len(tests) * min(known, default=math.nan)) if wrong else np.max([p for _, p in tests])
    return Finding(found.value, found.low, found.high, len(samples), 1, not wrong, p)


def _explained(part, rows):
    select = part.select
    samples = side_of(rows, select["value"], select)
    logs = np.log(samples["value"]).groupby(graphs_of(samples, select)).mean()
    cells = samples.groupby(graphs_of(samples, select)).first()
    features = {name: feature(rows, cells, name) for name in select["features"]}
    known = np.all([values > 0 for values in features.values()], axis=0)
    try:
        estimate = trends.explains(np.exp(logs[known]), {k: v[known] for k, v in features.items()})
    except ValueError as error:
        raise Missing(str(error)) from None
    return _finding(estimate, estimate.value > 0, estimate.p_value(0.0))


def _beats_constant(part, rows):
    """A sign test over the graphs on which the prediction and the better constant are not both right or both wrong."""
    order = side_of(rows, part.select["value"], part.select)
    right = order.groupby(graphs_of(order, part.select))["value"].first() == 1  # 2: wrong
    pairs = pairs_of(rows, part.select)
    first = pairs["log"].groupby(graphs_of(pairs, part.select)).mean().reindex(right.index) < 0
    constant = first if first.mean() >= 0.5 else ~first
    gain, loss = int((right & ~constant).sum()), int((~right & constant).sum())
    from scipy.stats import binomtest  # half a second to import

    p = binomtest(gain, gain + loss).pvalue if gain + loss else 1.0
    value = float(right.mean() - constant.mean())
    return Finding(value, math.nan, math.nan, len(order), len(right), gain > loss, p)


JUDGES = {
    "above": _above,
    "below": lambda part, rows: _side(part, rows, lambda value: value < part.bound),
    "equal": lambda part, rows: _band(part, rows, part.bound / statistics.MARGIN, part.bound * statistics.MARGIN),
    "within": lambda part, rows: _band(part, rows, part.published / part.factor, part.published * part.factor),
    "computed": _computed,
    "exists": _exists,
    "beats-constant": _beats_constant,
    "exact": _exact,
    "ordering": _ordering,
    "none-dominates": _none_dominates,
    "slope-within": _slope_within,
    "slope-above": _slope_above,
    "steeper": _steeper,
    "crossover": _crossover,
    "explained-by": _explained,
    "open-question": lambda part, rows: _finding(_figure(part, rows), None, math.nan),
}
