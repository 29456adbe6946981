"""Variance between recordings of one machine, which the rounds of a single recording cannot show."""

import collections
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lockstep.evidence import recording, statistics
from lockstep.evidence.recording import CELL

MEDIAN = 0.4549  # median of chi-squared with 1 degree of freedom, whose mean is 1


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
        noise = (told["var"] / told["count"]).groupby([*CELL, "strategy", "kernel"]).mean()
        means = told["mean"].unstack("recording").dropna(thresh=2)
        inside = means - means.groupby(CELL).transform("mean")
        size = means.groupby(CELL)[means.columns[0]].transform("size")
        inside = inside[size > 1].mul(np.sqrt(size / (size - 1))[size > 1], axis=0)
        for study, own in means.groupby("study"):
            found[study].append((own.var(axis=1), inside[inside.index.isin(own.index)].var(axis=1), noise[own.index]))
    each = {study: _between(*map(pd.concat, zip(*told, strict=True))) for study, told in found.items()}
    if each:
        known = each.values()
        ratio, time = (math.sqrt(np.mean([getattr(one, name) ** 2 for one in known])) for name in ("ratio", "time"))
        each[""] = Between(ratio, time, min(one.freedom for one in known))
    return each


def _between(times, inside, noise):
    scatter = noise.median() / MEDIAN
    time, one = (max(0.0, squares.median() / MEDIAN - scatter) for squares in (times, inside))
    cells = times.groupby(CELL).ngroups
    return Between(math.sqrt(2 * one), math.sqrt(time), max(1, cells - 1))
