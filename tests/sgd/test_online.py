"""How many blocks a pass of the locking schedules gets where nobody says."""

import numpy as np
import pytest

from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, Problem, Ratings
from lockstep.sgd.strategies.online import FEWEST


@pytest.mark.parametrize(("name", "passes"), [("node-locked", "node_passes"), ("node-then-edge", "passes")])
def test_a_hub_gets_few_blocks_and_so_fewer_passes(name, passes):
    """One user rates every item, so that all groups but one fail at its lock."""
    items, others = np.arange(500), np.arange(1000)
    users = np.concatenate([np.zeros(500, int), 1 + others % 100])
    made = Ratings(users, np.concatenate([items, others % 500]), np.ones(1500))
    needed = {}
    for told in ({}, {"blocks": 32}):
        plan = STRATEGIES[name].plan_for(
            Problem(made, 4), get_executor("host", fuzz="sync", multiprocessors=16), threads=64, **told
        )
        plan.reset()
        plan.run()
        plan.check_sweep()
        needed[bool(told)] = plan.stats[passes]
    assert plan.few_nodes == FEWEST
    assert 1.3 * needed[False] < needed[True]


def test_without_hubs_all_blocks_that_have_work():
    made = Ratings(np.arange(3000), np.arange(3000) % 300, np.ones(3000))
    plan = STRATEGIES["node-locked"].plan_for(Problem(made, 4), get_executor("host"))
    assert plan.few_nodes > plan.grid(plan.by_node, plan.shared, 300) > FEWEST
