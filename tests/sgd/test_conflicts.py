"""Schedules made beforehand: what runs side by side shares no node, and the check of that can fail."""

import pytest

from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, Problem, Ratings
from lockstep.sgd.experiments import conflicts, twins

from .conftest import skewed

OFFLINE = [name for name, strategy in STRATEGIES.items() if strategy.family == "offline"]


def built(name, ratings, executor=None):
    options = {"block": 4} if name in ("agm-node", "sgm") else {}
    return STRATEGIES[name].plan_for(Problem(ratings, 4), executor or get_executor("host"), **options)


@pytest.mark.parametrize("name", OFFLINE)
def test_schedules_have_no_conflict(name, ratings):
    twice = Ratings([0, 0, 1, 2], [0, 0, 1, 0], [1.0, 2.0, 3.0, 4.0])
    for made in (ratings, twice, twins.twin("CAL", factor=20000), Ratings([], [], [], (3, 2))):
        conflicts.check(built(name, made))


@pytest.mark.parametrize("name", OFFLINE)
def test_a_conflict_is_found(name, ratings):
    plan = built(name, ratings)
    if getattr(plan, "schedule", None) is None:
        plan.times[:] = 0  # all edges of a block of items at once
    else:
        plan.schedule.times[:] = 0
    with pytest.raises(conflicts.Conflict, match="share a"):
        conflicts.check(plan)


@pytest.mark.parametrize("name", OFFLINE)
def test_a_lost_rating_is_found(name, ratings):
    plan = built(name, ratings)
    plan.users = plan.users[:-1]
    with pytest.raises(conflicts.Conflict, match="ratings of"):
        conflicts.check(plan)


def test_a_unit_of_two_blocks_is_found(ratings):
    plan = built("block-diagonal", ratings)
    plan.users[:] = plan.users[::-1].copy()
    with pytest.raises(conflicts.Conflict, match="two blocks"):
        conflicts.check(plan)


@pytest.mark.gpu
@pytest.mark.parametrize("name", OFFLINE)
def test_on_a_gpu(name, cuda):
    for made in (skewed(5000, 900, 60_000), twins.twin("CAL", factor=40)):
        conflicts.check(built(name, made, cuda))
