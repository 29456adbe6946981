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
        and of the same less its mean over the cell's strategies (`ratio`). Medians replace means of squares, since a
        few CPU runs are outliers; the median error variance of the recordings' means is subtracted.
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
        inside = means - means.groupby(CELL).transform("mean")
        size = means.groupby(CELL)[means.columns[0]].transform("size")
        inside = inside[size > 1].mul(np.sqrt(size / (size - 1))[size > 1], axis=0)
        times, inside = (_unbiased(each.var(axis=1), freedom[each.index]) for each in (means, inside))
        for study, own in times.groupby("study"):
            found[study].append((own, inside[inside.index.isin(own.index)], noise.reindex(own.index)))
    each = {study: _between(*map(pd.concat, zip(*told, strict=True))) for study, told in found.items()}
    if each:
        known = each.values()
        ratio, time = (math.sqrt(np.mean([getattr(one, name) ** 2 for one in known])) for name in ("ratio", "time"))
        each[""] = Between(ratio, time, min(one.freedom for one in known))
    return each


def _unbiased(variances, freedom):
    """Sample variances over the median of chi-squared per degree of freedom: their median estimates the variance."""
    from scipy.special import gammaincinv

    return variances[freedom > 0] / (2 * gammaincinv(freedom[freedom > 0] / 2, 0.5) / freedom[freedom > 0])


def _between(times, inside, noise):
    time, one = (max(0.0, squares.median() - noise.median()) for squares in (times, inside))
    cells = times.groupby(CELL).ngroups
    return Between(math.sqrt(2 * one), math.sqrt(time), max(1, cells - 1))
