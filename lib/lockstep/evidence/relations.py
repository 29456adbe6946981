"""From a selector to a figure, and from a figure to where it stands against the published relation.

Each relation is a function of a part and of one machine's rows. It returns a `Finding`; `Missing` says that
the rows a part needs are not there.
"""

import fnmatch
import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lockstep.evidence import dominance, statistics, trends
from lockstep.evidence.ledger import merge
from lockstep.evidence.recording import CELL

# Units are brought to a common base, so that G/s over MHz is a number per clock.
BASE = {"G/s": 1e9, "M/s": 1e6, "GHz": 1e9, "MHz": 1e6, "s": 1e3, "us": 1e-3, "ns": 1e-6}


OWN = {"experiment", "dataset", "parameters"}  # labels by which a side leaves the part's common cells


class Missing(Exception):
    """Rows that a part needs are not in the recording; the message says which."""


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
    """

    value: float
    low: float
    high: float
    n: int
    graphs: int
    agrees: bool | None
    p: float


# -- selecting rows --


def matching(rows, select):
    """Rows whose study, experiment, data set and parameters are the selector's.

    A text is matched as a file name pattern (`erdos-renyi-*`), a list means any of its members. A parameter
    that the selector does not name may have any value.
    """
    for column in ("study", "experiment", "dataset"):  # one after the other: each leaves fewer rows to look at
        if column in select:
            known = {value for value in rows[column].unique() if _matches(value, select[column])}
            rows = rows[rows[column].isin(known)]
    if select.get("parameters"):
        known = {text for text in rows["parameters"].unique() if _has(json.loads(text), select["parameters"])}
        rows = rows[rows["parameters"].isin(known)]
    return rows


def _matches(value, wanted):
    if isinstance(wanted, list):
        return any(_matches(value, one) for one in wanted)
    return fnmatch.fnmatchcase(value, wanted) if isinstance(value, str) else value == wanted


def _has(parameters, wanted):
    return all(key in parameters and _matches(parameters[key], value) for key, value in wanted.items())


def _rows(rows, select):
    """The part's rows; with `any_of` each alternative must be there, with `complete` each data set."""
    common = {key: select[key] for key in ("study", "experiment", "dataset", "parameters") if key in select}
    found = []
    for other in select.get("any_of", [{}]):
        selected = matching(rows, merge(common, other))
        if selected.empty:
            raise Missing(f"no measurement here of {_words(merge(common, other))}")
        found.append(selected)
    selected = pd.concat(found).drop_duplicates()
    if select.get("complete"):
        lacking = [name for name in select["dataset"] if name not in set(selected["dataset"])]
        if lacking:
            raise Missing(f"needs all {len(select['dataset'])} data sets; not here: {', '.join(lacking)}")
    return selected


def _words(select):
    named = [select.get("experiment", ""), select.get("dataset", "")]
    named += [f"{key} {_alternatives(value)}" for key, value in (select.get("parameters") or {}).items()]
    return ", ".join(_alternatives(word) for word in named if word) or select.get("study", "")


def _alternatives(value):
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def _side(rows, side, select, logarithmic=True):
    """One side's samples: cell columns, round, value. A side may name its own experiment. Counts may be 0."""
    own = {key: side[key] for key in OWN if key in side}
    common = {key: select[key] for key in ("study", "experiment", "dataset", "parameters") if key in select}
    base = matching(rows, merge(common, own)) if own else _rows(rows, select)
    strategy, metric = side.get("strategy"), side.get("metric", "wall")
    values = _means(base, strategy, metric)
    if values.empty:
        who = f"{side.get('strategy') or 'any strategy'} ({metric})"
        raise Missing(f"no measurement here of {who} in {_words({**select, **own})}")
    if "of" in side:  # a share of several metrics' sum
        values = values / sum(_means(base, strategy, one) for one in side["of"])
    if "over" in side:  # a strategy's value over another's, within rounds
        values = values / _means(base, side["over"], metric)
        if values.dropna().empty:
            raise Missing(f"no round holds {strategy} and {side['over']} ({metric}) in {_words({**select, **own})}")
    values = values.dropna() - side.get("less", 0)
    if logarithmic and (values <= 0).any():
        raise Missing(f"{metric} is not positive somewhere: a figure on a logarithmic scale needs it")
    values = values.rename("value").reset_index()
    if side.get("pick") in ("largest", "smallest"):
        means = np.log(values["value"]).groupby(statistics.graph_labels(values)).mean()
        place = means.idxmax() if side["pick"] == "largest" else means.idxmin()
        values = values[statistics.graph_labels(values) == place]
    return values


def _means(rows, strategy, metric):
    """A metric's values by cell and round, in base units."""
    values = statistics.select(rows, strategy, metric)
    values = values.assign(value=values["value"] * values["unit"].map(BASE).astype(float).fillna(1.0))
    return values.groupby([*CELL, "round"], sort=False)["value"].mean()


def _pairs(rows, select):
    """Log ratios of the two sides, paired within rounds."""
    key = [*CELL, "round"]
    names = ("numerator", "denominator")
    sides = [_side(rows, select[name], select).set_index(key)["value"] for name in names]
    both = pd.concat(sides, axis=1, join="inner", keys=names).reset_index()
    if both.empty:
        raise Missing(f"no round holds both sides in {_words(select)}")
    both["log"] = np.log(both["numerator"] / both["denominator"])
    return both


def figure(rows, select):
    """The figure that a selector names, as an Estimate: a ratio, paired or not, or a metric's mean."""
    if "value" in select:
        values = _side(rows, select["value"], select)
        return statistics.geometric_mean(np.log(values["value"]), statistics.graph_labels(values))
    numerator, denominator = select["numerator"], select["denominator"]
    if OWN & (set(numerator) | set(denominator)):  # different cells cannot be paired
        sides = [_side(rows, side, select) for side in (numerator, denominator)]
        return _unpaired(
            *[
                statistics.geometric_mean(np.log(side["value"]), statistics.graph_labels(side))
                for side in sides
            ]
        )
    pairs = _pairs(rows, select)
    labels = statistics.graph_labels(pairs)
    if select.get("mean") == "arithmetic":
        means = np.exp(pairs["log"].groupby(labels).mean())
        value, low, high, error, freedom = statistics.interval(means)
        return statistics.Estimate(
            value, low, high, len(pairs), len(means), error=error, freedom=freedom, logarithmic=False
        )
    return statistics.geometric_mean(pairs["log"], labels)


def _unpaired(above, below):
    """Quotient of two estimates with Welch's interval; a figure known exactly adds no error."""
    errors = [0.0 if math.isnan(e.error) else e.error for e in (above, below)]
    error = math.hypot(*errors)
    if error == 0:
        value = above.value / below.value
        return statistics.Estimate(value, value, value, above.n, above.graphs, error=0.0)
    logs = [
        statistics.Estimate(
            math.log(e.value), 0, 0, e.n, error=s, freedom=max(e.freedom, 1), logarithmic=False
        )
        for e, s in zip((above, below), errors, strict=True)
    ]
    gap = trends.difference(*logs)
    ends = [math.exp(end) for end in (gap.value, gap.low, gap.high)]
    return statistics.Estimate(*ends, above.n, above.graphs, error=gap.error, freedom=gap.freedom)


def _places(rows, select, side):
    """x and y of a side: x is a parameter (`depth`), or a metric of the same cell (`metric:depth`)."""
    x = side.get("x") or select["x"]
    if "numerator" in select and side is select:
        samples = _pairs(rows, select).rename(columns={"log": "y"})
    else:
        samples = _side(rows, side, select)
        samples["y"] = np.log(samples["value"])
    if x.startswith("metric:"):
        samples["x"] = _feature(rows, samples, x.removeprefix("metric:"))
    else:
        samples["x"] = [float(json.loads(text)[x]) for text in samples["parameters"]]
    return samples.dropna(subset="x")


def _feature(rows, samples, metric):
    """A metric of each sample's cell, whatever strategy recorded it; NaN where none did."""
    known = rows[rows["metric"] == metric].groupby(CELL)["value"].mean()
    return known.reindex(pd.MultiIndex.from_frame(samples[CELL])).to_numpy()


# -- relations --


def _finding(estimate, agrees, p):
    return Finding(estimate.value, estimate.low, estimate.high, estimate.n, estimate.graphs, bool(agrees), p)


def _certain(part, estimate):
    """A count has no scatter: one sample tells all."""
    side = part.select.get("value", {})
    return math.isnan(estimate.error) and side.get("metric", "wall") not in ("wall", "device")


def _p(part, estimate, null):
    return 0.0 if _certain(part, estimate) else estimate.p_value(null)


def _above(part, rows):
    estimate = figure(rows, part.select)
    return _finding(estimate, estimate.value > part.bound, _p(part, estimate, part.bound))


def _below(part, rows):
    estimate = figure(rows, part.select)
    return _finding(estimate, estimate.value < part.bound, _p(part, estimate, part.bound))


def _band(part, estimate, low, high):
    """Inside a band: two one-sided tests. Outside: a test against the nearer edge."""
    agrees = low <= estimate.value <= high
    p = [_p(part, estimate, edge) for edge in (low, high)]
    return _finding(estimate, agrees, max(p) / 2 if agrees else min(p))


def _equal(part, rows):
    margin = statistics.MARGIN
    return _band(part, figure(rows, part.select), part.bound / margin, part.bound * margin)


def _within(part, rows):
    low, high = part.published / part.factor, part.published * part.factor
    return _band(part, figure(rows, part.select), low, high)


def _exact(part, rows):
    values = _side(rows, part.select["value"], part.select, logarithmic=False)["value"]
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
    base, metric = _rows(rows, part.select), part.select.get("metric", "wall")
    strategies = part.select["strategies"]
    values = {name: _means(base, name, metric) for name in strategies}
    if lacking := [name for name, one in values.items() if one.empty]:
        raise Missing(f"no measurement here of {', '.join(lacking)} ({metric}) in {_words(part.select)}")
    values = pd.concat(values, names=["strategy"])
    asked = [part.select["value"]["strategy"]] if "value" in part.select else strategies
    found = dominance.defeats(values, asked)
    if len(found) < len(asked):
        alone = ", ".join(set(asked) - {one.strategy for one in found})
        raise Missing(f"{alone}: no graph has two rounds beside another strategy in {_words(part.select)}")
    one = dominance.weakest(found)
    graphs = values.index.droplevel(["strategy", "round"]).nunique()
    return Finding(one.estimate.value, one.estimate.low, one.estimate.high, one.estimate.n, graphs, one.loses, one.p)


def _slope(part, rows, side=None):
    side = side or part.select.get("value") or part.select
    samples = _places(rows, part.select, side)
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
    samples = _places(rows, part.select, part.select)
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
    samples = _side(rows, select["value"], select)
    logs = np.log(samples["value"]).groupby(statistics.graph_labels(samples)).mean()
    cells = samples.groupby(statistics.graph_labels(samples)).first()
    features = {name: _feature(rows, cells, name) for name in select["features"]}
    known = np.all([values > 0 for values in features.values()], axis=0)
    try:
        estimate = trends.explains(np.exp(logs[known]), {k: v[known] for k, v in features.items()})
    except ValueError as error:
        raise Missing(str(error)) from None
    return _finding(estimate, estimate.value > 0, estimate.p_value(0.0))


def _open(part, rows):
    estimate = figure(rows, part.select)
    return Finding(estimate.value, estimate.low, estimate.high, estimate.n, estimate.graphs, None, math.nan)


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
