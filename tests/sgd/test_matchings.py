import numpy as np
import pytest

from lockstep.machine import get_executor
from lockstep.sgd import Ratings
from lockstep.sgd.experiments import twins
from lockstep.sgd.strategies import first_fit, matchings

from .conftest import skewed


def algorithm_1(ratings):
    """The published algorithm, as it is printed: a maximal matching, take it out, again."""
    left, times, count = list(range(ratings.m)), np.empty(ratings.m, int), 0
    while left:
        users, items, rest = set(), set(), []
        for e in left:
            u, i = int(ratings.users[e]), int(ratings.items[e])
            if u in users or i in items:
                rest.append(e)
            else:
                times[e] = count
                users.add(u)
                items.add(i)
        left, count = rest, count + 1
    return times, count


@pytest.mark.parametrize("seed", range(4))
def test_first_fit_is_algorithm_1(seed):
    ratings = skewed(seed=seed)
    times, count = matchings.first_fit(ratings)
    expected, rounds = algorithm_1(ratings)
    assert count == rounds and np.array_equal(times, expected)
    assert count >= ratings.largest_degree()
    matchings.check(ratings, matchings.by_time(times, count))


def test_first_fit_with_few_and_with_many_edges_a_node_agrees():
    road = twins.twin("CAL", factor=4000)
    times, count = matchings.first_fit(road)
    assert np.array_equal(times, algorithm_1(road)[0]) and 7 <= count <= 13
    # The same graph beside a large star goes through the general code.
    star = np.arange(100)
    both = Ratings(
        np.concatenate([road.users, road.n_users + star]),
        np.concatenate([road.items, np.full(100, road.n_items)]),
        np.ones(road.m + 100),
    )
    assert np.array_equal(matchings.first_fit(both)[0][: road.m], times)


def test_blocks_of_items_begin_afresh(ratings):
    order = np.argsort(-np.diff(ratings.offsets), kind="stable")
    times, count = matchings.first_fit(ratings, order, 4)
    ends = -1
    for first in range(0, ratings.n_items, 4):
        mine = times[np.isin(ratings.items, order[first : first + 4])]
        if mine.size:
            assert mine.min() == ends + 1
            ends = mine.max()
    assert ends + 1 == count
    matchings.check(ratings, matchings.by_time(times, count))


def test_counts_of_diagonals(ratings):
    schedule = matchings.diagonals(ratings.users, ratings.items, ratings.n_items)
    assert schedule.supersteps <= sum(ratings.shape) - 1
    assert schedule.supersteps == np.unique(ratings.users - ratings.items).size
    matchings.check(ratings, schedule)
    rows, columns = 3, 7
    blocks = matchings.block_diagonals(ratings.users, ratings.items, ratings.n_items, rows, columns)
    assert blocks.supersteps <= -(-ratings.n_items // rows) + -(-ratings.n_users // columns) - 1
    assert blocks.units[-1] == ratings.m
    matchings.check(ratings, blocks, (rows, columns))


def test_the_check_finds_conflicts_and_lost_edges(ratings):
    times, count = matchings.first_fit(ratings)
    schedule = matchings.by_time(np.zeros_like(times), 1)
    with pytest.raises(AssertionError, match="share"):
        matchings.check(ratings, schedule)
    schedule = matchings.by_time(times, count)
    schedule.order[0] = schedule.order[1]
    with pytest.raises(AssertionError, match="twice"):
        matchings.check(ratings, schedule)


def test_no_ratings():
    empty = Ratings([], [], np.zeros(0), (3, 4))
    assert matchings.first_fit(empty)[1] == 0
    assert matchings.diagonals(empty.users, empty.items, 4).supersteps == 0
    assert matchings.block_diagonals(empty.users, empty.items, 4, 2, 2).supersteps == 0


def maximal(ratings, times):
    """Whether each edge skipped only matchings that hold one of its ends."""
    of_user, of_item = ({} for _ in range(2))
    for u, i, t in zip(ratings.users, ratings.items, times, strict=True):
        of_user.setdefault(u, set()).add(t)
        of_item.setdefault(i, set()).add(t)
    return all(
        set(range(t)) <= of_user[u] | of_item[i] for u, i, t in zip(ratings.users, ratings.items, times, strict=True)
    )


def on_a_device(executor, ratings, block=None, **options):
    """First-fit by the kernels: checked, and its items and matchings."""
    arrays = (executor.array(a) for a in (ratings.offsets, ratings.users, ratings.items))
    nodes, times, count = first_fit.first_fit(executor, ratings, *arrays, block, **options)
    nodes, times = executor.get(nodes), executor.get(times)
    matchings.check(ratings, matchings.by_time(times, count))
    assert sorted(nodes) == list(range(ratings.n_items))
    assert np.bincount(times, minlength=count).min() > 0 and count >= ratings.largest_degree()
    return nodes, times, count


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_first_fit_by_many_threads_is_maximal(fuzz):
    graphs = skewed(), skewed(300, 8, 900), twins.twin("POKEC", factor=40000)
    graphs += (Ratings([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], np.ones(5)),)  # an item rated twice by one user
    for seed in range(8):
        executor = get_executor("host", seed=seed, fuzz=fuzz)
        for ratings in graphs:
            _, times, count = on_a_device(executor, ratings, threads=64)
            assert maximal(ratings, times)
            assert count <= matchings.first_fit(ratings)[1] + 4
            nodes, times, _ = on_a_device(executor, ratings, block=4)
            end = 0
            for first in range(0, ratings.n_items, 4):
                mine = np.isin(ratings.items, nodes[first : first + 4])
                if mine.any():
                    assert times[mine].min() == end
                    end = times[mine].max() + 1


@pytest.mark.gpu
def test_first_fit_on_the_gpu(cuda):
    for name, factor in (("CAL", 40), ("WIKI", 50), ("POKEC", 50)):
        ratings = twins.twin(name, factor=factor)
        on_a_device(cuda, ratings)
        on_a_device(cuda, ratings, block=1000)
    small = twins.twin("POKEC", factor=4000)
    assert maximal(small, on_a_device(cuda, small)[1])
