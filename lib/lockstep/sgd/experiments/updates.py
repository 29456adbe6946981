"""Detect lost updates of a timed schedule: one sweep of its kernels with vectors that act as counters.

The tally of a sweep shows that each rating was applied once, not whether one of two concurrent updates of a node
overwrote the other, as in Hogwild. Here a timed plan runs one more sweep with the same launches, edges and locks;
only the initial vectors, the rate and `decay` differ. They are chosen so that an update adds the rounded rating to a
counter of its user and to one of its item, exactly, in any order. So every node's final counter is known in advance,
and a lost or doubled update changes it.

Every update reads both vectors before it writes either. If none is lost, the updates of a node form a chain, each
reading what the previous one wrote; a cycle of updates through several nodes would require a write before its read.
So a sweep that passes is equivalent to a serial sweep in some order.

Encoding: in every four features a user has (c, B, 0, 0) and an item (B, c, 0, 0), with c = START t. With rate =
s t / B, a power of two, and `decay` 1, an update adds s r t to both c, which float32 near START t rounds to a multiple
of t. The increment of B and the inner product times the rate are below half an ulp.
"""

import numpy as np

from lockstep.evidence import VerificationError

from ..strategies.shared import WrongSweep

START = 3 << 22  # middle of the binade whose ulp is 1
ROOM = 1 << 22  # largest change of a counter, up or down
UNIT, FIXED = 2.0**-60, 2.0**-10  # t and B
LARGEST, SMALLEST = 2.0**10, 2.0**-60  # scales s for which the above holds


class LostUpdate(VerificationError):
    """An update of a node was lost or applied twice."""


def check(plan):
    """Run one sweep that counts the updates of every node, and refuse it if a count is wrong.

    Parameters
    ----------
    plan : DevicePlan
        Built; its vectors are back at the first ones afterwards.

    Returns
    -------
    float or None
        Share of the ratings whose loss is detectable: the others' scaled, rounded rating is 0. None where counters are
        impossible: float16 storage, or ratings so large, or so many at a node, that a counter would overflow.

    Raises
    ------
    LostUpdate
        Names the strategy, the node and both counts.
    """
    scale, share, expected = _expected(plan)
    if plan.problem.storage != "float32" or scale is None:
        return None
    own = plan.rate, plan.decay
    start = np.zeros((2, plan.problem.width), np.float32)
    start[0, 0::4] = start[1, 1::4] = START * UNIT
    start[0, 1::4] = start[1, 0::4] = FIXED
    plan.start_from(*(plan.executor.array(side) for side in start))
    plan.set_step(scale * UNIT / FIXED, 1)
    try:
        plan.run()
        plan.check_sweep()
        for side, what in enumerate(("user", "item")):
            _compare(plan, side, what, *expected[side])
    except WrongSweep as error:
        raise LostUpdate(str(error)) from None
    finally:
        plan.set_step(*own)
        plan.reset()
    return share


def _compare(plan, side, what, low, high):
    """Raise unless all counters of a side are as expected; where the vectors are, which are gigabytes."""
    counts = plan.present()[side][:, side::4] / np.float32(UNIT) - np.float32(START)
    wrong = ((counts < low[:, None]) | (counts > high[:, None])).any(axis=1)
    if lost := int(wrong.sum()):
        node = int(wrong.argmax())
        least, most, wanted = (float(one) for one in (counts[node].min(), counts[node].max(), low[node]))
        raise LostUpdate(
            f"{plan.name}: {what} {node} counts {least:.0f} to {most:.0f} instead of {wanted:.0f}: "
            f"an update was lost or applied twice ({lost:,} of {wrong.size:,} {what}s)"
        )


def _expected(plan):
    """(scale, share of the ratings that count, (lowest, highest) count of each user and of each item, on the device).

    Lowest and highest differ by the ratings halfway between two integers, which round to the even sum.
    """
    ratings, cache, key = plan.problem.ratings, plan.problem._cache, ("updates", id(plan.executor))
    first, last = plan.swept()
    whole = last - first == ratings.m
    if whole and key in cache:
        return cache[key]
    xp = plan.xp
    users, items, values = plan.problem.on(plan.executor)[1]
    if not whole:
        users, items, values = (xp.asarray(side[first:last]) for side in plan.edges())

    def sums(weights):
        """The weights of each user's and of each item's ratings together."""
        sides = ((users, ratings.n_users), (items, ratings.n_items))
        return [xp.bincount(nodes, weights, count) for nodes, count in sides]

    values = values.astype(np.float64)
    load = max(float(side.max()) for side in sums(xp.abs(values))) if ratings.m else 0.0
    free = ROOM - ratings.largest_degree()
    if free <= 0:
        return None, 0.0, None
    scale = min(2.0 ** np.floor(np.log2(free / load)) if load > 0 else LARGEST, LARGEST)
    if scale < SMALLEST:
        return None, 0.0, None
    low, high = xp.ceil(values * scale - 0.5), xp.floor(values * scale + 0.5)
    expected = list(zip(sums(low), sums(high), strict=True))
    share = float(((low > 0) | (high < 0)).mean()) if values.size else 1.0
    if whole:
        cache[key] = scale, share, expected
    return scale, share, expected
