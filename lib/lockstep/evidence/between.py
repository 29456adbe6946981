"""How far apart recordings of one machine lie: a variance component that the rounds of one recording do not show."""

import collections
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lockstep.evidence import recording, statistics
from lockstep.evidence.recording import CELL

MEDIAN = 0.4549  # of a squared standard normal variable


@dataclass(frozen=True)
class Between:
    """How far apart recordings of one machine lie, on logarithms; see `components`.

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
    """What recordings of one machine differ by, study by study, from all machines that were recorded more than once.

    Parameters
    ----------
    machines : iterable of DataFrame
        Rows of all studies, a machine each, those of earlier builds among them.

    Returns
    -------
    dict
        {study: Between}, and under "" what studies have in common, for those of which no machine has two
        recordings. Of each cell, strategy and build the recordings' mean logarithms of the wall time are compared: as
        is, and less their mean over the strategies of the cell, which is what ratios feel. Medians of squares stand
        for means, since a few runs of a CPU stray by a factor; the scatter within recordings is taken off.
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
