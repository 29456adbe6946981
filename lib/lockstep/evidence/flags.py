"""Flag samples taken while the GPU was throttled or slow; flagged samples are not dropped."""

import pandas as pd

from lockstep.evidence import nvml
from lockstep.evidence.recording import CELL, CLOCKS
from lockstep.evidence.statistics import select

SLOW = 0.95  # of the machine's median SM clock


def flagged(rows):
    """Rounds in which the GPU was throttled, or its clock below 95 % of the machine's median.

    Parameters
    ----------
    rows : DataFrame
        One machine's rows.

    Returns
    -------
    DataFrame
        `study, experiment, dataset, parameters, round, why`.
    """
    key = [*CELL, "round"]
    found = []
    for row in select(rows, CLOCKS, "throttle").itertuples():
        if reasons := nvml.throttled(row.value):
            found.append((*(getattr(row, column) for column in key), ", ".join(reasons)))
    clocks = select(rows, CLOCKS, "sm_clock")
    usual = clocks["value"].median()
    for row in clocks[clocks["value"] < SLOW * usual].itertuples():
        why = f"clock at {row.value:.0f} of {usual:.0f} MHz"
        found.append((*(getattr(row, column) for column in key), why))
    found = pd.DataFrame(found, columns=[*key, "why"])
    return found.groupby(key, sort=False)["why"].agg("; ".join).reset_index() if len(found) else found


def watched(rows):
    """Number of rounds with a recorded SM clock."""
    return len(select(rows, CLOCKS, "sm_clock"))
