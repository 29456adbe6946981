"""How schedules are made: patches come to an end on any graph, ranges are cut by weight, hubs are set apart."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, Problem, Ratings
from lockstep.sgd.strategies import growth
from lockstep.sgd.strategies.tiles import cut

from .conftest import skewed

NODES = 12


@st.composite
def graphs(draw):
    edges = draw(st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), min_size=1, max_size=40))
    users, items = np.array(edges).T
    return Ratings(users, items, np.ones(len(edges)), shape=(NODES, NODES))


# An item whose users belong to the next chunk fills all of a patch but one place; what comes there has its users left.
LAST = Ratings([2, 1, 1, 1, 2], [0, 3, 3, 4, 5], np.ones(5), shape=(NODES, NODES))


@settings(deadline=None, max_examples=150)
@example(LAST, 2, 4)
@given(graphs(), st.integers(2, 6), st.integers(1, NODES))
def test_each_level_of_patches_takes_edges(rated, room, chunk):
    """So there is a last one. Patches share no node, hold no more than there is room for, and both ends of an edge."""
    nodes, starts, ends, user_at, item_at = growth.grow(
        rated.users, rated.offsets, rated.degrees()[0], room, (rated.users, rated.items), chunk=chunk
    )
    assert np.all((0 < ends - starts) & (ends - starts <= room)) and np.all(starts[1:] >= ends[:-1])
    held = np.concatenate([nodes[a:b] for a, b in zip(starts, ends, strict=True)])
    assert np.unique(held).size == held.size
    assert np.array_equal(nodes[user_at[user_at >= 0]], np.flatnonzero(user_at >= 0))
    assert np.array_equal(~nodes[item_at[item_at >= 0]], np.flatnonzero(item_at >= 0))

    order, pairs, counts, left = growth.match(rated.users, rated.offsets, nodes, starts, ends, user_at, room)
    assert order.size == counts.sum() > 0
    assert np.array_equal(np.sort(np.concatenate([order, left])), np.arange(rated.m))
    patch = np.repeat(np.arange(starts.size), counts.sum(axis=1))
    assert np.array_equal(starts[patch] + (pairs & 0xFFFF), user_at[rated.users[order]])
    assert np.array_equal(starts[patch] + (pairs >> 16), item_at[rated.items[order]])
    matching = np.repeat(np.arange(counts.size), counts.ravel())  # of all patches
    for ends_of in (rated.users, rated.items):
        at = matching * NODES + ends_of[order]
        assert np.unique(at).size == at.size


@settings(deadline=None, max_examples=40)
@example(LAST, 2, 4)
@given(graphs(), st.integers(2, 6), st.integers(1, NODES))
def test_patches_of_any_graph_come_to_an_end(rated, room, chunk):
    plan = STRATEGIES["patches"].plan_for(Problem(rated, 4), get_executor("host"), room=room, chunk=chunk)
    plan.reset()
    plan.run()
    plan.check_sweep()


@pytest.mark.parametrize("options", [{"resident": 0}, {"chunk": -1}])
def test_options_of_patches_are_checked(options, ratings):
    with pytest.raises(ValueError, match="expected a whole number, 1 or more"):
        STRATEGIES["patches"].plan_for(Problem(ratings, 4), get_executor("host"), **options)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_nodes_are_cut_by_the_middle_of_their_weights(dtype):
    rng = np.random.default_rng(3)
    for count in (0, 1, 7, 2000):
        for bins in (1, 3, 132):
            weights = (rng.pareto(1, count) * 10).astype(dtype)
            ends = np.cumsum(weights, dtype=np.float64)
            wanted = (ends - weights / 2) * bins / max(weights.sum(), 1)
            found = cut(weights, bins)
            assert found.dtype == np.int32
            assert np.array_equal(found, np.minimum(wanted.astype(np.int32), bins - 1))
    assert np.array_equal(cut(np.zeros(5, dtype), 4), np.zeros(5))


def test_hubs_are_locked_and_the_rest_is_matched():
    rated = skewed()
    users, items = rated.degrees()
    plan = STRATEGIES["edge-hubs"].plan_for(Problem(rated, 4), get_executor("host"), degree=9)
    high = (users >= 9)[rated.users] | (items >= 9)[rated.items]
    assert 0 < plan.hubs == high.sum() < rated.m
    mine = plan.edges()[:2]
    locked = sorted(zip(*(end[: plan.hubs] for end in mine), strict=True))
    assert locked == sorted(zip(rated.users[high], rated.items[high], strict=True))
    assert np.array_equal(plan.rest.edges()[0], mine[0][plan.hubs :])
    other = STRATEGIES["edge-hubs"].plan_for(Problem(rated, 4, seed=1), get_executor("host"), degree=9)
    assert not np.array_equal(other.edges()[0][: plan.hubs], mine[0][: plan.hubs])  # shuffled, by the seed
