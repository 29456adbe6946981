"""Check that concurrent ratings of an offline schedule share no node, on the device, at any size.

A sweep's tally proves that each rating was applied once, not that no two ratings of a superstep share a node, which
would be a data race. `matchings.check` checks a schedule on the host; this module checks a plan by a few sorts.
"""

import numpy as np

from lockstep.evidence import VerificationError


class Conflict(VerificationError):
    """Two ratings, or blocks of them, of one superstep share a node."""


def check(plan):
    """Raise unless every superstep of an offline plan has distinct nodes and no rating is missing.

    Parameters
    ----------
    plan : Offline
        Built, on any executor.

    Raises
    ------
    Conflict
        Names the strategy and what is wrong with its schedule.
    """
    xp, ratings = plan.xp, plan.problem.ratings
    if plan.users.size != ratings.m:
        raise Conflict(f"{plan.name}: the schedule holds {plan.users.size} ratings of {ratings.m}")
    if not ratings.m:
        return
    sides = (("user", plan.users, ratings.n_users), ("item", plan.items, ratings.n_items))
    schedule = getattr(plan, "schedule", None)
    if schedule is None:
        _distinct(plan.name, _steps_of_columns(plan), sides, xp)
    elif schedule.units is None:
        _distinct(plan.name, schedule.times, sides, xp)
    else:
        _blocks(plan, schedule, sides, xp)


def _steps_of_columns(plan):
    """Superstep of each place where every block of items has supersteps of its own, one after another."""
    xp = plan.xp
    ends = np.array([first + count for first, count, _ in plan.columns])
    before = np.cumsum([0, *(rounds for _, _, rounds in plan.columns)][:-1])
    sizes = plan.executor.get(plan.offsets)[np.concatenate([[0], ends])]
    if sizes[-1] != plan.times.size:
        raise Conflict(f"{plan.name}: the columns hold {sizes[-1]} ratings of {plan.times.size}")
    column = xp.searchsorted(xp.asarray(sizes[1:]), xp.arange(plan.times.size), side="right")
    return xp.asarray(before)[column] + plan.times


def _blocks(plan, schedule, sides, xp):
    """Units of one superstep share no row and no column of blocks, and a unit is of one block."""
    lengths = (getattr(plan.options, "columns", 1), getattr(plan.options, "rows", 1))
    first, cut = schedule.units[:-1], []
    unit = xp.searchsorted(schedule.units, xp.arange(plan.users.size), side="right") - 1
    for (what, nodes, count), length in zip(sides, lengths, strict=True):
        block = nodes // length
        if (block != block[first][unit]).any():
            raise Conflict(f"{plan.name}: a unit holds {what}s of two blocks")
        cut.append((f"block of {what}s", block[first], -(-count // length)))
    _distinct(plan.name, schedule.times[first], cut, xp)


def _distinct(name, times, sides, xp):
    for what, nodes, count in sides:
        keys = times.astype(xp.int64) * count + nodes
        keys.sort()
        if (keys[1:] == keys[:-1]).any():
            raise Conflict(f"{name}: two of one superstep share a {what}")
        del keys
