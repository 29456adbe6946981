"""How many blocks a pass of the locking schedules gets where nobody says."""

import numpy as np

from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, Problem, Ratings
from lockstep.sgd.strategies.online import FEWEST


def with_hub():
    """One user rates every item, so that all groups but one fail at its lock."""
    items, others = np.arange(500), np.arange(1000)
    users = np.concatenate([np.zeros(500, int), 1 + others % 100])
    return Ratings(users, np.concatenate([items, others % 500]), np.ones(1500))


def swept(name, **told):
    """The plan after a sweep over the ratings with a hub, on sixteen multiprocessors."""
    plan = STRATEGIES[name].plan_for(
        Problem(with_hub(), 4), get_executor("host", fuzz="sync", multiprocessors=16), threads=64, **told
    )
    plan.reset()
    plan.run()
    plan.check_sweep()
    return plan


def test_a_hub_gets_few_blocks_and_so_fewer_passes():
    few, many = swept("node-locked"), swept("node-locked", blocks=32)
    assert few.few_nodes == FEWEST
    assert 1.3 * few.stats["node_passes"] < many.stats["node_passes"]


def test_the_hybrid_takes_all_blocks_for_nodes_and_few_for_edges():
    plan = swept("node-then-edge")
    assert plan.few_nodes == plan.grid(plan.by_node, plan.shared) > plan.few == FEWEST
    assert plan.edge_blocks(1500) == FEWEST
    wide = swept("node-then-edge", edge_blocks=10_000)
    assert FEWEST < wide.edge_blocks(1500) < 10_000
    assert 1.3 * plan.stats["passes"] < wide.stats["passes"]
    both = swept("node-then-edge", blocks=8, edge_blocks=2)
    assert both.grid(both.by_node, both.shared) == 8 and both.edge_blocks(1500) == 2


def test_without_hubs_all_blocks_that_have_work():
    made = Ratings(np.arange(3000), np.arange(3000) % 300, np.ones(3000))
    plan = STRATEGIES["node-locked"].plan_for(Problem(made, 4), get_executor("host"))
    assert plan.few_nodes > plan.grid(plan.by_node, plan.shared, 300) > FEWEST
