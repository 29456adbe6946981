"""Select a part's samples and compute its figure from them.

`Missing` is raised if rows that a part needs are absent.
"""

import fnmatch
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd

from lockstep.evidence import between, recording, statistics, trends
from lockstep.evidence.ledger import merge
from lockstep.evidence.recording import CELL, CLOCKS

# Units are converted to a common base, so that G/s over MHz is a number per clock cycle; times to ms.
BASE = {"G/s": 1e9, "M/s": 1e6, "GHz": 1e9, "MHz": 1e6, "s": 1e3, "us": 1e-3, "ns": 1e-6}
TIMES = ("ns", "us", "ms", "s", "min", "M/s", "G/s", "GB/s")  # units of times and rates
RATIOS = ("x",)  # of ratios of times
SEEDS = {"seed": r"-seed-\d+", "original": r"-by-\d+-seed-\d+"}  # what twins that count once differ in
SIDES = ("value", "numerator", "denominator")
OWN = {"experiment", "dataset", "parameters"}  # labels by which a side selects cells other than the part's


class Missing(Exception):
    """Rows that a part needs are not in the recording; the message says which."""


def matching(rows, select):
    """Rows whose study, experiment, data set and parameters are the selector's.

    A text is matched as a file name pattern (`erdos-renyi-*`), a list means any of its members. A parameter
    that the selector does not name, or names with null, may have any value.
    """
    for column in ("study", "experiment", "dataset"):  # successive filters: each leaves fewer rows
        if column in select:
            there = rows[column].unique()
            known = [value for value in there if _matches(value, select[column])]
            rows = rows[rows[column].isin(known)] if len(known) < len(there) else rows
    if select.get("parameters"):
        known = {text for text in rows["parameters"].unique() if _has(json.loads(text), select["parameters"])}
        rows = rows[rows["parameters"].isin(known)]
    return rows


def _matches(value, wanted):
    if isinstance(wanted, list):
        return any(_matches(value, one) for one in wanted)
    return fnmatch.fnmatchcase(value, wanted) if isinstance(value, str) else value == wanted


def _has(parameters, wanted):
    wanted = {key: value for key, value in wanted.items() if value is not None}
    return all(key in parameters and _matches(parameters[key], value) for key, value in wanted.items())


def rows_of(rows, select):
    """The part's rows; with `any_of` each alternative must be there, with `complete` each data set."""
    common = {key: select[key] for key in ("study", "experiment", "dataset", "parameters") if key in select}
    found = []
    for other in select.get("any_of", [{}]):
        selected = matching(rows, merge(common, other))
        if selected.empty:
            raise Missing(f"no measurement here of {words(merge(common, other))}")
        found.append(selected)
    selected = pd.concat(found)
    selected = selected[~selected.index.duplicated()]  # of several alternatives; equal rows of two recordings are two
    if select.get("complete"):
        lacking = [name for name in select["dataset"] if name not in set(selected["dataset"])]
        if lacking:
            raise Missing(f"needs all {len(select['dataset'])} data sets; not here: {', '.join(lacking)}")
    return selected


def support(rows, select):
    """The rows behind a selector's figure, of any metric: of the strategies that it names, in their cells.

    Parameters
    ----------
    rows : DataFrame
        Of one machine.
    select : mapping
        A part's selector.

    Returns
    -------
    DataFrame
        A selection of `rows`; empty where nothing is there.
    """
    common = {key: select[key] for key in ("study", "experiment", "dataset", "parameters") if key in select}
    cells = pd.concat([matching(rows, merge(common, other)) for other in select.get("any_of", [{}])])
    found = [cells[cells["strategy"].isin(select.get("strategies", []))]]
    for name in ("numerator", "denominator", "value", "first", "second"):
        if name not in select:
            continue
        side = select[name]
        own = {key: side[key] for key in OWN if key in side}
        mine = matching(rows, merge(common, own)) if own else cells
        named = {name for key in ("strategy", "over") if key in side for name in _listed(side[key])}
        found.append(mine[mine["strategy"].isin(named)] if named else mine)
    features = [*select.get("features", []), str(select.get("x", "")).removeprefix("metric:")]
    found.append(cells[cells["metric"].isin(features)])
    return pd.concat(found).drop_duplicates()


def host(rows, select):
    """Slowdown of the host while a CPU was timed against a GPU: its probe over the machine's smallest.

    CPU times, and ratios to them, may be larger by about this factor. They are not corrected, since the dependence of a
    strategy's time on the probe is not known.

    Parameters
    ----------
    rows : DataFrame
        Of one machine and study.
    select : mapping
        A part's selector.

    Returns
    -------
    list of float
        Median, minimum and maximum over the rounds; empty unless a CPU and a GPU are timed and a probe is recorded.
    """
    used = support(rows, select)
    used = used[~used["strategy"].str.startswith("(")]  # those are derived from others
    on_gpu = used["strategy"].isin(used.loc[used["metric"].isin(("device", "launches")), "strategy"])
    probes = rows[(rows["strategy"] == CLOCKS) & (rows["metric"] == "host")]
    cells = pd.MultiIndex.from_frame(used.loc[used["metric"].isin(("wall", "device")), CELL])
    mine = probes.loc[pd.MultiIndex.from_frame(probes[CELL]).isin(cells), "value"]
    if on_gpu.all() or not on_gpu.any() or mine.empty:
        return []
    return [float(one) / probes["value"].min() for one in (mine.median(), mine.min(), mine.max())]


def words(select):
    """A selector in words, for messages: experiment, data sets and parameters, or the study."""
    named = [select.get("experiment", ""), select.get("dataset", "")]
    named += [f"{key} {_alternatives(value)}" for key, value in (select.get("parameters") or {}).items()]
    return ", ".join(_alternatives(word) for word in named if word) or select.get("study", "")


def _listed(value):
    return value if isinstance(value, list) else [value]


def _alternatives(value):
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def side_of(rows, side, select, logarithmic=True):
    """One side's samples: cell columns, round, value. A side may name its own experiment. Counts may be 0."""
    own = {key: side[key] for key in OWN if key in side}
    common = {key: select[key] for key in ("study", "experiment", "dataset", "parameters") if key in select}
    base = matching(rows, merge(common, own)) if own else rows_of(rows, select)
    strategy, metric = side.get("strategy"), side.get("metric", "wall")
    values = means_of(base, strategy, metric)
    if values.empty:
        who = f"{_alternatives(strategy or 'any strategy')} ({metric})"
        raise Missing(f"no measurement here of {who} in {words({**select, **own})}")
    if "per" in side:  # only a share of the run is timed: extrapolate by it
        values = values / means_of(base, strategy, side["per"])
    if "plus" in side:  # a metric measured in other rounds: add its cell mean
        added = means_of(base, strategy, side["plus"]).groupby(CELL).mean()
        values = values + added.reindex(values.index.droplevel("round")).to_numpy()
    if "of" in side:  # a share of several metrics' sum
        values = values / sum(means_of(base, strategy, one) for one in side["of"])
    if "over" in side:  # a strategy's value over another's, within rounds
        values = values / means_of(base, side["over"], metric)
        if values.dropna().empty:
            raise Missing(f"no round holds {strategy} and {side['over']} ({metric}) in {words({**select, **own})}")
    values = values.dropna() * side.get("times", 1) - side.get("less", 0)
    if logarithmic and (values <= 0).any():
        raise Missing(f"{metric} is not positive somewhere: a figure on a logarithmic scale needs it")
    values = values.rename("value").reset_index()
    if side.get("pick") in ("largest", "smallest"):
        cells = statistics.graph_labels(values)
        means = np.log(values["value"]).groupby(cells).mean()
        values = values[cells == (means.idxmax() if side["pick"] == "largest" else means.idxmin())]
    return values


def means_of(rows, strategy, metric):
    """Mean of a metric by cell and round, in base units, over the given strategies (None: all)."""
    values = statistics.select(rows, metric=metric)
    values = values if strategy is None else values[values["strategy"].isin(_listed(strategy))]
    values = values.assign(value=values["value"] * values["unit"].map(BASE).astype(float).fillna(1.0))
    return values.groupby([*CELL, "round"], sort=False)["value"].mean()


def pairs_of(rows, select):
    """Log ratios of the two sides, paired within rounds."""
    key = [*CELL, "round"]
    names = ("numerator", "denominator")
    sides = [side_of(rows, select[name], select).set_index(key)["value"] for name in names]
    both = pd.concat(sides, axis=1, join="inner", keys=names).reset_index()
    if both.empty:
        raise Missing(f"no round holds both sides in {words(select)}")
    both["log"] = np.log(both["numerator"] / both["denominator"])
    return both


def graphs_of(samples, select):
    """The graph of each sample: its data set, under any parameters; names in `same` are merged.

    With `once: seed` scaled-down twins that differ in their seed alone are one graph; with `once: original` that graph
    has the full-size twin, too.
    """
    names = samples["dataset"].replace(select.get("same", {})).rename("graph")
    return names.str.replace(SEEDS[select["once"]], "", regex=True) if select.get("once") else names


def samples_of(rows, select):
    """Samples with `log`, `graph` and `round`: of a metric, or of a ratio within rounds; None where none pairs."""
    if "value" in select:
        samples = side_of(rows, select["value"], select)
        samples["log"] = np.log(samples["value"])
    elif OWN & (set(select["numerator"]) | set(select["denominator"])):  # different cells cannot be paired
        return None
    else:
        samples = pairs_of(rows, select)
    return samples.assign(graph=graphs_of(samples, select))


def figure(rows, select, strata=False, apart=between.NONE):
    """The figure that a selector names, as an Estimate: a ratio, paired or not, or a metric's mean.

    Parameters
    ----------
    rows : DataFrame
    select : mapping
    strata : bool
        The graphs are the whole population: the interval is over rounds and recordings. Else they are a sample.
    apart : Between
        Scatter between recordings of the study.
    """

    def mean(samples, apart_by):
        if strata and samples["graph"].nunique() > 1:
            take, how = statistics.over_strata, {"arithmetic": select.get("mean") == "arithmetic"}
        else:
            take, how = statistics.geometric_mean, {}
        columns = samples["log"], samples["graph"], samples["round"]
        return take(*columns, apart=apart_by, freedom=apart.freedom, **how)

    samples = samples_of(rows, select)
    scatter = [_scatter(rows, select[side].get("metric", "wall"), apart) for side in SIDES if side in select]
    if samples is not None:
        one = "value" in select and "over" not in select["value"]
        if not one and set(scatter) != {None}:
            scatter = [apart.ratio]
        return mean(samples, scatter[0] or 0.0)
    sides = [side_of(rows, select[name], select) for name in ("numerator", "denominator")]
    for side in sides:
        side["log"], side["graph"] = np.log(side["value"]), graphs_of(side, select)
    graphs = pd.concat([side["graph"] for side in sides]).nunique()
    found = [mean(side, own or 0.0) for side, own in zip(sides, scatter, strict=True)]
    for place, own in enumerate(scatter):
        if own is None:  # a count that was taken once is exact
            found[place] = replace(found[place], error=np.nan_to_num(found[place].error))
    return replace(_unpaired(*found), graphs=graphs)


def _scatter(rows, metric, apart):
    """Scatter of a metric between recordings: of a time or rate, or of a ratio of times; None of a count."""
    units = rows.loc[rows["metric"] == metric, "unit"]
    return apart.time if units.isin(TIMES).any() else apart.ratio if units.isin(RATIOS).any() else None


def recordings(rows, select):
    """Number of recordings behind a figure: those in which a round holds both sides; of unpaired sides the fewer."""
    sides = [support(rows, select)]
    if "value" in select or {"numerator", "denominator"} <= set(select):
        try:
            samples = samples_of(rows, select)
            both = (select[name] for name in ("numerator", "denominator")) if samples is None else ()
            sides = [side_of(rows, side, select) for side in both] if samples is None else [samples]
        except Missing:  # a count of 0 has no logarithm
            pass
    return min(int(recording.of(side["round"]).nunique()) for side in sides)


def _unpaired(above, below):
    """Quotient of two estimates with Welch's interval; none if either, measured once, has no error (NaN)."""
    errors = [above.error, below.error]
    error, n = math.hypot(*errors), above.n + below.n
    if error == 0 or math.isnan(error):
        value = above.value / below.value
        end = value if error == 0 else math.nan
        return statistics.Estimate(value, end, end, n, error=error)
    logs = [
        statistics.Estimate(math.log(e.value), 0, 0, e.n, error=s, freedom=max(e.freedom, 1), logarithmic=False)
        for e, s in zip((above, below), errors, strict=True)
    ]
    gap = trends.difference(*logs)
    ends = [math.exp(end) for end in (gap.value, gap.low, gap.high)]
    return statistics.Estimate(*ends, n, error=gap.error, freedom=gap.freedom)


def places(rows, select, side):
    """x and y of a side: x is a parameter (`depth`), or a metric of the same cell (`metric:depth`)."""
    x = side.get("x") or select["x"]
    if "numerator" in select and side is select:
        samples = pairs_of(rows, select).rename(columns={"log": "y"})
    else:
        samples = side_of(rows, side, select)
        samples["y"] = np.log(samples["value"])
    if x.startswith("metric:"):
        samples["x"] = feature(rows, samples, x.removeprefix("metric:"))
    else:
        samples["x"] = [float(json.loads(text)[x]) for text in samples["parameters"]]
    return samples.dropna(subset="x")


def feature(rows, samples, metric):
    """Mean of a metric in each sample's cell over all strategies; NaN where none is recorded."""
    known = rows[rows["metric"] == metric].groupby(CELL)["value"].mean()
    return known.reindex(pd.MultiIndex.from_frame(samples[CELL])).to_numpy()
