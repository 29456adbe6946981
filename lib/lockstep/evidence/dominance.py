"""Whether one of several strategies dominates: is nowhere slower than another.

That none dominates says of every strategy that there is a graph on which another one is faster. It is a statement
about the graphs that were measured, so rounds are what was sampled, not graphs.
"""

from dataclasses import dataclass

import numpy as np

from lockstep.evidence import between, statistics
from lockstep.evidence.recording import CELL


@dataclass(frozen=True)
class Defeat:
    """Where a strategy loses most clearly; where it never loses, where its lead is least clear.

    Attributes
    ----------
    strategy, rival : str
    graph : tuple of str
        The cell.
    estimate : Estimate
        The strategy's time over the rival's there. Where it loses, the interval is as much wider as befits the
        choice of one comparison out of so many, so that it leaves out 1 just where `p` is below 5 %.
    loses : bool
        Whether the strategy loses anywhere.
    p : float
        Where it loses: p-value of that comparison times their number (Bonferroni), since the clearest was picked. Where
        it does not: the largest of the p-values, since a strategy that dominates is ahead in all of them.
    """

    strategy: str
    rival: str
    graph: tuple
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
        The strategies to ask about; rivals are all in `values`.
    apart : Between
        What recordings differ by.

    Returns
    -------
    list of Defeat
        One a strategy. A strategy without a round beside a rival, or with a single one everywhere, has none.
    """
    logs = np.log(values).unstack("strategy")
    found = []
    for strategy in strategies:
        against = []
        for graph, rounds in logs.groupby(level=CELL, sort=False):
            for rival in logs.columns.drop(strategy, errors="ignore"):
                if strategy in rounds and len(pairs := (rounds[strategy] - rounds[rival]).dropna()) > 1:
                    against.append((graph, rival, pairs))
        if against:
            found.append(_defeat(strategy, against, apart))
    return found


def _defeat(strategy, against, apart):
    def mean(pairs, **confidence):
        rounds = pairs.index.get_level_values("round")
        return statistics.geometric_mean(pairs, rounds=rounds, apart=apart.ratio, freedom=apart.freedom, **confidence)

    tests = [(graph, rival, pairs, mean(pairs)) for graph, rival, pairs in against]
    lost = [test for test in tests if test[3].value > 1]
    if not lost:
        graph, rival, _, estimate = max(tests, key=lambda test: test[3].p_value())
        return Defeat(strategy, rival, graph, estimate, False, estimate.p_value())
    graph, rival, pairs, estimate = min(lost, key=lambda test: (test[3].p_value(), -test[3].value))
    p = min(1.0, len(tests) * estimate.p_value())
    wider = mean(pairs, confidence=1 - (1 - statistics.CONFIDENCE) / len(tests))
    return Defeat(strategy, rival, graph, wider, True, p)


def weakest(found):
    """What decides whether none dominates: an intersection-union test over the strategies.

    That every strategy loses somewhere is shown at a level if it is shown of each at that level, so the least clear
    one counts, without a correction for their number (R. L. Berger, Multiparameter hypothesis testing and acceptance
    sampling, Technometrics 24(4), 1982). It is refuted by a single strategy that is ahead everywhere.

    Parameters
    ----------
    found : list of Defeat

    Returns
    -------
    Defeat
    """
    ahead = [one for one in found if not one.loses]
    return min(ahead, key=lambda one: one.p) if ahead else max(found, key=lambda one: one.p)
