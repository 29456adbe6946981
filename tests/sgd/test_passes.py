"""Passes of the locked schedules inside one launch: any number of blocks, of which as many work as get edges done."""

import numpy as np
import pytest

from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, Problem, Ratings
from lockstep.sgd.experiments import cases
from lockstep.sgd.strategies import passes

from .conftest import skewed
from .test_serializable import agrees

NAMES = [name for name, s in STRATEGIES.items() if issubclass(s.plan, passes.InOneLaunch)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fuzz", ["sync", "memory"])
@pytest.mark.parametrize("options", [{}, {"lanes": 2, "threads": 64}, {"blocks": 3}, {"blocks": 1}])
def test_serializable_with_blocks_of_any_number(name, fuzz, options, ratings):
    for seed in range(3):
        assert agrees(Problem(ratings, 8, 0.05), name, get_executor("host", seed=seed, fuzz=fuzz), **options)


def test_blocks_that_rest_work_again():
    """A hub's edges, which few blocks are enough for, and in a second sweep all blocks again."""
    users = np.concatenate([np.arange(150), np.arange(150)])
    items = np.concatenate([np.zeros(150, int), 1 + np.arange(150) % 40])
    made = Ratings(users, items, np.ones(300), (150, 41))
    most = 0
    for seed in range(8):
        executor = get_executor("host", seed=seed, fuzz=("sync", "memory")[seed % 2])
        plan = STRATEGIES["edge-locked-resident"].plan_for(Problem(made, 4), executor)
        assert plan.most_blocks > 4
        plan.reset()
        for _ in range(2):
            plan.run()
            plan.check_sweep()
            most = max(most, plan.stats["passes"])
    assert most > 3


def test_the_host_stays_out():
    problem = Problem(skewed(), 4)
    for name, launches, looks in (("edge-locked-resident", 1, 0), ("node-then-edge-resident", 3, 1)):
        executor = get_executor("host")
        plan = STRATEGIES[name].plan_for(problem, executor)
        plan.reset()
        executor.reset_counts()
        plan.run()
        assert (executor.counts["launches"], executor.counts["readbacks"]) == (launches, looks), name
        plan.check_sweep()
        assert plan.stats["passes"] >= 1


def test_one_group_needs_one_pass():
    """Nobody else holds a lock."""
    executor = get_executor("host", fuzz="sync")
    plan = STRATEGIES["edge-locked-resident"].plan_for(
        Problem(cases.star(50), 4), executor, blocks=1, threads=1, lanes=1
    )
    plan.reset()
    plan.run()
    plan.check_sweep()
    assert plan.stats["passes"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_no_ratings_and_no_conflicts(name):
    for made, most in ((Ratings([], [], [], (3, 2)), 0), (Ratings([0, 1, 2], [0, 1, 2], np.ones(3)), 1)):
        plan = STRATEGIES[name].plan_for(Problem(made, 4), get_executor("host"))
        plan.reset()
        plan.run()
        plan.check_sweep()
        assert plan.stats["passes"] <= most


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options", [{}, {"lanes": 1}, {"blocks": 40}])
def test_on_a_gpu_with_hubs(name, options, cuda):
    """Hundreds of passes, the most of them by few blocks, sweep after sweep."""
    made = skewed(20_000, 300, 120_000)
    assert agrees(Problem(made, 16, 0.01), name, cuda, **options)
    plan = STRATEGIES[name].plan_for(Problem(made, 16, 0.01), cuda, **options)
    plan.reset()
    for _ in range(5):
        plan.run()
        plan.check_sweep()
