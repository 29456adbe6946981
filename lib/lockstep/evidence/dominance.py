"""Whether one of several strategies dominates: is nowhere slower than another.

None dominates if for every strategy there is a graph on which another one is faster. The statement is about the
measured graphs, so the sampling unit is the round, not the graph.
"""

from dataclasses import dataclass

import numpy as np

from lockstep.evidence import between, statistics
from lockstep.evidence.recording import CELL


@dataclass(frozen=True)
class Defeat:
    """The comparison that a strategy loses most significantly; if it loses none, its least significant win.

    Attributes
    ----------
    strategy : str
    estimate : Estimate
        The strategy's time over the rival's in it. If the strategy loses, the interval is Bonferroni-adjusted for the
        number of comparisons, so that it excludes 1 exactly if `p` is below 5 %.
    loses : bool
        Whether the strategy loses anywhere.
    p : float
        If it loses: the smallest p-value times the number of comparisons (Bonferroni). If not: the largest p-value,
        since a strategy that dominates is ahead in all comparisons.
    """

    strategy: str
    estimate: statistics.Estimate
    loses: bool
    p: float


def defeats(values, strategies, apart=between.NONE):
    """Where each of several strategies loses.

    Parameters
    ----------
    values : Series
        Times by cell columns, `strategy` and `round`.
    strategies : sequence of str
        The strategies to test; rivals are all in `values`.
    apart : Between
        Scatter between recordings.

    Returns
    -------
    list of Defeat
        One a strategy. A strategy without a round beside a rival, or with a single one everywhere, has none.
    """
    logs = np.log(values).unstack("strategy")
    found = []
    for strategy in strategies:
        against = []
        for _, rounds in logs.groupby(level=CELL, sort=False):
            for rival in logs.columns.drop(strategy, errors="ignore"):
                if strategy in rounds and len(pairs := (rounds[strategy] - rounds[rival]).dropna()) > 1:
                    against.append(pairs)
        if against:
            found.append(_defeat(strategy, against, apart))
    return found


def _defeat(strategy, against, apart):
    def mean(pairs, **confidence):
        rounds = pairs.index.get_level_values("round")
        return statistics.geometric_mean(pairs, rounds=rounds, apart=apart.ratio, freedom=apart.freedom, **confidence)

    tests = [(pairs, mean(pairs)) for pairs in against]
    lost = [(pairs, estimate) for pairs, estimate in tests if estimate.value > 1]
    if not lost:
        estimate = max((estimate for _, estimate in tests), key=lambda one: one.p_value())
        return Defeat(strategy, estimate, False, estimate.p_value())
    pairs, estimate = min(lost, key=lambda test: (test[1].p_value(), -test[1].value))
    p = min(1.0, len(tests) * estimate.p_value())
    wider = mean(pairs, confidence=1 - (1 - statistics.CONFIDENCE) / len(tests))
    return Defeat(strategy, wider, True, p)


def weakest(found):
    """The deciding comparison for "none dominates": an intersection-union test over the strategies.

    That every strategy loses somewhere is shown at a level if it is shown for each at that level, so the largest
    p-value decides, without correction for their number (R. L. Berger, Multiparameter hypothesis testing and
    acceptance sampling, Technometrics 24(4), 1982). A single strategy that is ahead everywhere refutes it.

    Parameters
    ----------
    found : list of Defeat

    Returns
    -------
    Defeat
    """
    ahead = [one for one in found if not one.loses]
    return min(ahead, key=lambda one: one.p) if ahead else max(found, key=lambda one: one.p)
