"""The rule: a small decision tree fitted to recorded times, and its regret on graphs outside the fit.

A tree of depth at most `DEPTH` is small enough to remember and discuss. It minimizes time over best time, not
misclassifications: a choice that is second by 1 % costs little, one that is ten times too slow much. The regret of a
leaf is the geometric mean of time over best time; a question is kept only if it lowers that by more than the margin
within which two strategies are considered equal (3 %).

The regret is estimated by cross-validation: leaving out each graph with its variants (another numbering, another
instance), and, harder, each family of graphs with all sizes. The same test on graphs selects the depth, to avoid
overfitting few graphs. (The reported regret is therefore slightly optimistic: it is that of the best of three depths.)
"""

import math
from dataclasses import dataclass

import numpy as np

from lockstep.choose.tree import Leaf, Question, decide, features_of, leaves

DEPTH = 2  # questions in a row
LEAST = 2  # graphs that a leaf must hold
TRIED = 40  # cheapest first splits for which the best second split is searched


@dataclass(frozen=True)
class Regret:
    """Time of the chosen strategy over that of the best, on graphs outside the fit.

    Attributes
    ----------
    mean, worst : float
        Geometric mean over the graphs, and the worst graph; NaN if nothing could be judged.
    where : str
        The worst graph.
    right : int
        Graphs on which the choice was within the margin of the best.
    judged, unknown : int
        Graphs judged; graphs on which the choice was never timed.
    """

    mean: float
    worst: float
    where: str
    right: int
    judged: int
    unknown: int


def fit(observations, depth=DEPTH):
    """The rule of at most `depth` questions in a row for some observations; None without any."""
    observations = [one for one in observations if one.times]
    if not observations:
        return None
    names = set.intersection(*(set(one.features) for one in observations))
    table = _Table(observations, [name for name in observations[0].features if name in names])
    return _grow(table, np.arange(len(observations)), depth)


class _Table:
    """Observations as arrays: features, log regrets (0 where not timed), what was timed, weights."""

    def __init__(self, observations, names):
        self.observations, self.names = observations, names
        self.strategies = list(dict.fromkeys(name for one in observations for name in one.times))
        regrets = np.array([[one.regret(name) for name in self.strategies] for one in observations])
        self.timed = ~np.isnan(regrets)
        self.groups = np.unique([one.group for one in observations], return_inverse=True)[1]
        self.weight = 1 / np.bincount(self.groups)[self.groups]  # the variants of a graph have total weight 1
        self.weights = dict(zip(map(id, observations), self.weight.tolist(), strict=True))
        self.cost = np.where(self.timed, np.log(regrets), 0.0) * self.weight[:, None]
        self.features = np.array([[one.features[name] for name in names] for one in observations])

    def leaf(self, rows):
        """The strategy with the least regret among those timed on most graphs, and its summed log regret.

        A strategy not timed on a graph is usually one too slow for it; it must not win by missing data.
        """
        cost, count = self.cost[rows].sum(axis=0), self.timed[rows].sum(axis=0)
        best = int(np.where(count == count.max(), cost, np.inf).argmin())
        return best, float(cost[best])

    def make(self, rows):
        best, _ = self.leaf(rows)
        return Leaf(self.strategies[best], tuple(self.observations[k] for k in rows))

    def cost_of(self, found):
        """Summed log regret of a tree's leaves; the variants of a graph have total weight 1."""
        return sum(
            math.log(one.regret(leaf.strategy)) * self.weights[id(one)]
            for leaf, _ in leaves(found)
            for one in leaf.observations
            if leaf.strategy in one.times
        )

    def splits(self, rows):
        """All splits of some rows by one threshold: (summed cost, feature, value below, value above), sorted."""
        found = []
        for k in range(len(self.names)):
            order = rows[np.argsort(self.features[rows, k], kind="stable")]
            values = self.features[order, k]
            cost, count = self.cost[order].cumsum(axis=0), self.timed[order].cumsum(axis=0)
            both = [(cost[:-1], count[:-1]), (cost[-1] - cost[:-1], count[-1] - count[:-1])]
            total = sum(np.where(n == n.max(axis=1, keepdims=True), c, np.inf).min(axis=1) for c, n in both)
            groups = self.groups[order]
            first, last = (np.zeros(len(order), np.int64) for _ in range(2))
            first[np.unique(groups, return_index=True)[1]] = 1
            last[len(order) - 1 - np.unique(groups[::-1], return_index=True)[1]] = 1
            seen, ends = first.cumsum(), last.cumsum()  # graphs begun and ended so far
            fit = (values[1:] > values[:-1]) & (seen[:-1] >= LEAST) & (ends[-1] - ends[:-1] >= LEAST)
            found += [(total[at], k, values[at], values[at + 1]) for at in np.flatnonzero(fit)]
        return sorted(found)


def _margin():
    """Factor within which strategies are considered equal; imported late, since following a rule does not need it."""
    from lockstep.evidence.statistics import MARGIN

    return MARGIN


def _grow(table, rows, depth):
    """The smallest tree that no larger one beats by more than the margin: a leaf, one question, two in a row."""
    best = table.make(rows)
    splits = table.splits(rows) if depth else []
    if not splits:
        return best
    least = math.log(_margin()) * table.weight[rows].sum()
    for further in range(depth):
        if further:  # the gain of a split may appear only with a second one
            ahead = [(_looked_ahead(table, rows, split), *split) for split in splits[:TRIED]]
            _, k, below, above = min(ahead)[1:]
        else:
            _, k, below, above = splits[0]
        threshold = rounded_between(below, above)
        low, high = (_grow(table, part, further) for part in _parted(table, rows, k, threshold))
        if table.cost_of(low) + table.cost_of(high) < table.cost_of(best) - least:
            best = Question(table.names[k], threshold, low, high)
    return best


def _parted(table, rows, k, threshold):
    above = table.features[rows, k] > threshold
    return rows[~above], rows[above]


def _looked_ahead(table, rows, split):
    _, k, below, _ = split
    total = 0.0
    for part in _parted(table, rows, k, below):
        cheapest = table.splits(part)
        own = table.leaf(part)[1]
        total += min(own, cheapest[0][0]) if cheapest else own
    return total


def rounded_between(low, high):
    """The number with the fewest digits between two, nearest to their geometric mean: thresholds to remember."""
    if low <= 0:
        middle = (low + high) / 2
    else:
        middle = math.sqrt(low * high)
    for digits in range(1, 17):
        found = float(f"{middle:.{digits - 1}e}")
        if low <= found < high:
            return found
    return low


def best_depth(observations):
    """Depth selected on graphs left out: from 0, each depth that beats the last accepted one by the margin."""
    best = 0
    least = regret(left_out(observations, 0)).mean
    for depth in range(1, DEPTH + 1):
        mean = regret(left_out(observations, depth)).mean
        if least > _margin() * mean:
            best, least = depth, mean
    return best


def left_out(observations, depth=DEPTH, by="group"):
    """The choice for each observation by a rule fitted without its group (or family).

    Returns
    -------
    list of (Observation, str)
        Empty if there is a single group, since nothing is left to fit.
    """
    chosen = []
    for group in dict.fromkeys(getattr(one, by) for one in observations):
        rest = [one for one in observations if getattr(one, by) != group]
        tree = fit(rest, depth)
        if tree is None:
            continue
        for one in observations:
            if getattr(one, by) == group:
                known = features_of(tree) <= set(one.features)
                chosen.append((one, decide(tree, one.features)[0].strategy if known else ""))
    return chosen


def regret(chosen):
    """The regret of choices, [(Observation, strategy), ...]: each graph with its variants counts once."""
    by_group, unknown = {}, set()
    for one, strategy in chosen:
        value = one.regret(strategy) if strategy else math.nan
        if math.isnan(value):
            unknown.add(one.group)
        else:
            by_group.setdefault(one.group, []).append((value, one.dataset))
    if not by_group:
        return Regret(math.nan, math.nan, "", 0, 0, len(unknown))
    margin = _margin()
    means = {group: math.exp(np.mean([math.log(v) for v, _ in values])) for group, values in by_group.items()}
    worst, where = max(value for values in by_group.values() for value in values)
    return Regret(
        mean=math.exp(np.mean([math.log(v) for v in means.values()])),
        worst=worst,
        where=where,
        right=sum(value <= margin for value in means.values()),
        judged=len(means),
        unknown=len(unknown - set(by_group)),
    )
