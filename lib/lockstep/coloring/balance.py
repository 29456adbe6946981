"""How evenly the slides' strategies spread their work: what every lane read, round by round.

The kernels count under WORK=1. In a warp all lanes are held up by the one that reads most, in a workgroup all
warps are; so of each chunk of vertices that a workgroup takes, the busiest lane's reads times the lanes are
what it is held up for, and all its lanes' reads are what it gets done. The quotient is the imbalance: 1 is
none.
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
        Those that the busiest lane read: a round cannot end sooner.
    warp, group, between : float
        Imbalance inside warps and inside workgroups, summed over all; and between workgroups, the longest
        held up against the mean.
    """

    active: int
    colored: int
    read: int
    longest: int
    warp: float
    group: float
    between: float


def measure(plan, graph, executor, seed=0, switch=None):
    """Color once with a counting build of a strategy in rounds; a list of `Round`, the Coloring, and what
    queues did.

    Parameters
    ----------
    plan : type
        `Randomized`, `Hybrid`, `Stealing` or another of rounds.cu.
    """
    counting = type(plan.__name__, (_Counting, plan), {"defines": {**plan.defines, "WORK": 1}})
    run = counting(graph, executor, seed, switch)
    run.prepare()
    result = run.run()
    colored = -np.diff(result.active, append=0)
    rounds = [Round(int(a), int(c), *w) for a, c, w in zip(result.active, colored, run.samples, strict=True)]
    return rounds, result, run.queue_traffic() if hasattr(run, "queue_traffic") else {}


class _Counting:
    """Counts of each round, read off after it."""

    def load(self):
        super().load()
        self.work = self.words(4 * self.blocks * self.threads // 32, 0)
        self.samples = []

    def report(self, turn):
        sums, lanes, chunks, held = self.executor.get(self.work).reshape(-1, 4).T.astype(np.int64)
        self.executor.copy(self.work, np.zeros(self.work.size, np.int32))
        per_group = self.threads // 32
        groups = held.reshape(-1, per_group)[:, 0]  # the group's first warp holds the group's count
        read = int(sums.sum())
        self.samples.append(
            (
                read,
                int(chunks.max()),
                float(32 * lanes.sum() / max(read, 1)),
                float(self.threads * groups.sum() / max(read, 1)),
                float(groups.max() / max(groups.mean(), 1e-9)),
            )
        )
        return super().report(turn)
