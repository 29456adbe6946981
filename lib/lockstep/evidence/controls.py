"""A/A controls: a strategy measured twice must come out equal, or intervals are too narrow.

A control needs cells whose times are long and stable enough to resolve the margin: otherwise it tests the cells, not
the protocol. The ledger declares these cells, with the reason; ratios on other cells are shown beside it, with the
scatter of a single round.
"""

import json
import math

import pandas as pd

from lockstep.evidence import ledger, statistics
from lockstep.evidence.selecting import matching
from lockstep.plan import AGAIN

COLUMNS = [
    "machine", "study", "strategy", "of", "reason", "value", "low", "high", "n", "scatter", "passes", "beside",
]  # fmt: skip


def controls(machines, declared=None):
    """Judge every strategy that was measured twice in the same rounds, by machine.

    Parameters
    ----------
    machines : mapping
        {machine: rows}.
    declared : mapping, optional
        {(study, strategy): Control}, where a control is judged; by default the ledger's. A strategy that it does not
        name is judged over all cells in which it was timed against itself.

    Returns
    -------
    DataFrame
        `machine, study, strategy, of, reason, value, low, high, n, scatter, passes, beside` for each strategy whose
        name with `-again` was timed in the same rounds; it passes when its interval lies inside the margin of 3 %.
        `scatter` is the geometric standard deviation of a single round's ratio;
        `beside` is JSON, {label: [value, low, high, scatter]} of other cells.
    """
    declared = ledger.controls() if declared is None else declared
    lines = []
    for machine, rows in machines.items():
        # Untimed rows (the emulator's) cannot serve as a control.
        timed = rows[rows["metric"] == "wall"]
        for name, group in timed.groupby("study"):
            for again in sorted(s for s in group["strategy"].unique() if s.endswith(AGAIN)):
                strategy = again.removesuffix(AGAIN)
                control = declared.get((name, strategy), ledger.Control(name, strategy))
                found = _against_itself(group, control.select, strategy)
                if found is None:
                    continue
                beside = {label: _against_itself(group, place, strategy) for label, place in control.beside.items()}
                told = {
                    label: [None if math.isnan(end) else end for end in (one.value, one.low, one.high, scatter)]
                    for label, (one, scatter) in ((k, v) for k, v in beside.items() if v)
                }
                one, scatter = found
                figures = (one.value, one.low, one.high, one.n, scatter, one.equal())
                lines.append((machine, name, strategy, control.of, control.reason, *figures, json.dumps(told)))
    return pd.DataFrame(lines, columns=COLUMNS)


def _against_itself(rows, select, strategy):
    """Ratio of a strategy's two measurements in some cells, and a round's scatter; None without such rounds."""
    pairs = statistics.paired(matching(rows, select), strategy, strategy + AGAIN)
    if pairs.empty:
        return None
    labels = statistics.graph_labels(pairs)
    inside = pairs["log"] - pairs.groupby(labels)["log"].transform("mean")
    freedom = len(pairs) - labels.nunique()
    scatter = math.exp(math.sqrt((inside**2).sum() / freedom)) if freedom else math.nan
    return statistics.geometric_mean(pairs["log"], labels), scatter
