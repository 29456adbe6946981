"""Load balance of the slides' strategies: reads of every lane by round.

The kernels count under WORK=1. The lane with the most reads determines the time of a warp, and likewise of a
workgroup. So for each chunk of vertices of a workgroup, its occupied lane slots are the busiest lane's reads times
the number of lanes, and its work is the sum of all lanes' reads. The imbalance is their quotient; 1 is
perfect balance.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Round:
    """What one round read.

    Attributes
    ----------
    active, colored : int
        Vertices without a color at its begin, and those that it colored.
    read : int
        Neighbors that all lanes read together.
    longest : int
        Reads of the busiest lane, bounding the round's time below.
    warp, group, between : float
        Imbalance inside warps and inside workgroups, over all of them; and between workgroups, the
        maximum over the mean.
    """

    active: int
    colored: int
    read: int
    longest: int
    warp: float
    group: float
    between: float


def measure(strategy, problem, executor, **options):
    """Color once with a counting build (option `count`) of a strategy in rounds.

    Returns
    -------
    list of Round, Coloring, dict
        The dict holds queue statistics.
    """
    plan = strategy.plan_for(problem, executor, **options)
    plan.reset()
    result = plan.run()
    colored = -np.diff(result.active, append=0)
    read = [_spread(sample.T.astype(np.int64), plan.threads) for sample in plan.samples]
    rounds = [Round(int(a), int(c), *w) for a, c, w in zip(result.active, colored, read, strict=True)]
    return rounds, result, plan.queue_traffic() if hasattr(plan, "queue_traffic") else {}


def _spread(words, threads):
    """Of the four words that each warp counts in a round: reads of all, of the busiest lane, and the imbalances."""
    sums, lanes, chunks, held = words
    groups = held.reshape(-1, threads // 32)[:, 0]  # the group's first warp holds the group's count
    read = int(sums.sum())
    return (
        read, int(chunks.max()), float(32 * lanes.sum() / max(read, 1)), float(threads * groups.sum() / max(read, 1)),
        float(groups.max() / max(groups.mean(), 1e-9)),
    )
