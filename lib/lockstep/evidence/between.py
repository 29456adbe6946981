"""Variance between recordings of one machine, which the rounds of a single recording cannot show."""

import collections
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lockstep.evidence import recording, statistics
from lockstep.evidence.recording import CELL


@dataclass(frozen=True)
class Between:
    """Scatter between recordings of one machine, on logarithms; see `components`.

    Attributes
    ----------
    ratio, time : float
        Standard deviation, between recordings, of a ratio of two strategies in one cell, and of one strategy's time.
    freedom : float
        Degrees of freedom of both.
    """

    ratio: float = 0.0
    time: float = 0.0
    freedom: float = 1.0


NONE = Between()


def components(machines):
    """Scatter between recordings of a machine, by study, from all machines recorded more than once.

    Parameters
    ----------
    machines : iterable of DataFrame
        Rows of all studies, a machine each, those of earlier builds among them.

    Returns
    -------
    dict
        {study: Between}, and under "" an average over studies, for those of which no machine has two recordings.
        For each cell, strategy and build the variance over recordings of the mean log wall time is taken (`time`),
        and of the same less its mean over the other strategies that all of these recordings have (`ratio`). Medians
        replace means of squares, since a few CPU runs are outliers; the median error variance of the recordings'
        means is subtracted.
    """
    found = collections.defaultdict(list)
    for rows in machines:
        timed = statistics.select(rows)
        timed = timed.assign(log=np.log(timed["value"]), recording=recording.of(timed["round"]))
        if timed["recording"].nunique() < 2:
            continue
        told = timed.groupby([*CELL, "strategy", "kernel", "recording"])["log"].agg(["mean", "var", "count"])
        own = [*CELL, "strategy", "kernel"]
        noise = _unbiased((told["var"] / told["count"]).groupby(own).mean(), (told["count"] - 1).groupby(own).sum())
        means = told["mean"].unstack("recording").dropna(thresh=2)
        freedom = means.notna().sum(axis=1) - 1
        inside = pd.concat([_beside(cell) for _, cell in means.groupby(CELL)]).dropna()
        times, inside = (_unbiased(each, freedom[each.index]) for each in (means.var(axis=1), inside))
        for study, own in times.groupby("study"):
            found[study].append((own, inside[inside.index.isin(own.index)], noise.reindex(own.index)))
    each = {study: _between(*map(pd.concat, zip(*told, strict=True))) for study, told in found.items()}
    if each:
        known = each.values()
        ratio, time = (math.sqrt(np.mean([getattr(one, name) ** 2 for one in known])) for name in ("ratio", "time"))
        each[""] = Between(ratio, time, min(one.freedom for one in known))
    return each


def _beside(cell):
    """Each strategy's variance over its recordings, relative to the others that all of them have; a line a strategy."""
    values, found = cell.to_numpy(), np.full(len(cell), np.nan)
    there = ~np.isnan(values)
    for own, present in enumerate(there):
        beside = there[:, present].all(axis=1)
        beside[own] = False
        if others := np.count_nonzero(beside):  # whose mean has a variance too: 1 / others of a single one's
            apart = values[own, present] - values[beside][:, present].mean(axis=0)
            found[own] = apart.var(ddof=1) * others / (others + 1)
    return pd.Series(found, cell.index)


def _unbiased(variances, freedom):
    """Sample variances over the median of chi-squared per degree of freedom: their median estimates the variance."""
    from scipy.special import gammaincinv

    return variances[freedom > 0] / (2 * gammaincinv(freedom[freedom > 0] / 2, 0.5) / freedom[freedom > 0])


def _between(times, inside, noise):
    time, one = (max(0.0, squares.median() - noise.median()) for squares in (times, inside))
    cells = times.groupby(CELL).ngroups
    return Between(math.sqrt(2 * one), math.sqrt(time), max(1, cells - 1))
