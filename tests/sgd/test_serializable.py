"""Every schedule but hogwild equals one thread in some order, to the bit, under any interleaving."""

import numpy as np
import pytest

from lockstep.graphs import Graph
from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, NotSerializable, Problem, Ratings, oracle
from lockstep.sgd.experiments import twins
from lockstep.sgd.strategies.resident import sort_keys
from lockstep.toposort import topological_sort

from .conftest import skewed

EXACT = [name for name, s in STRATEGIES.items() if s.gpu and s.exact]


def replay(plan):
    """The vectors that one thread gets in the order that the log of the last sweep tells."""
    users, items, values = plan.edges()
    vectors = [first.copy() for first in plan.first]
    problem = plan.problem
    order = plan.order_of_last_sweep()
    oracle.sweep(users, items, values, order, *vectors, np.float32(problem.rate), problem.decay, problem.nonnegative)
    return vectors


def agrees(problem, name, executor, sweeps=1, **options):
    plan = STRATEGIES[name].plan_for(problem, executor, log=True, **options)
    for _ in range(sweeps):  # what one leaves behind must not disturb the next
        plan.reset()
        plan.run()
        plan.check_sweep()
    assert sorted(zip(*plan.edges(), strict=True)) == sorted(
        zip(problem.ratings.users, problem.ratings.items, problem.ratings.values, strict=True)
    )
    return all(np.array_equal(a, b) for a, b in zip(replay(plan), plan.vectors(), strict=True))


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("lanes", [1, 2])
def test_under_every_interleaving(name, lanes, ratings):
    problem = Problem(ratings, 8, 0.05)
    for seed in range(12):
        assert agrees(problem, name, get_executor("host", seed=seed, fuzz="sync"), lanes=lanes)


@pytest.mark.parametrize(
    "options",
    [
        {"each": 1, "stages": 2, "order": "ids"},
        {"each": 1, "stages": 3, "stride": 1, "order": "ids"},
        {"each": 3, "stages": 2, "lanes": 2, "stride": 3, "order": "degree"},
        {"each": 2, "stages": 4, "lanes": 4, "threads": 64},
    ],
)
def test_tiles_of_any_shape(options, ratings):
    for seed in range(8):
        assert agrees(Problem(ratings, 16, 0.05), "tiles", get_executor("host", seed=seed, fuzz="sync"),
                      sweeps=2, users="fetched", **options)  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"lanes": 2, "stride": 2},
        {"lanes": 4, "blocks": 3, "batch": 2},
        {"lanes": 1, "threads": 96, "stride": 5, "alone": 0},
        {"lanes": 4, "threads": 128, "alone": 1},
    ],
)
@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_resident_tiles_of_any_shape(options, fuzz, ratings):
    for seed in range(5):
        executor = get_executor("host", seed=seed, fuzz=fuzz)
        assert agrees(Problem(ratings, 16, 0.05), "tiles", executor, users="resident", **options)


def test_an_item_alone_has_distinct_users():
    users = np.arange(300) % 290  # ten of them twice
    for shift, alone in ((0, 0), (10, 1)):  # with and without duplicates
        rated = Ratings(users[: 300 - shift], np.zeros(300 - shift, int), np.ones(300 - shift))
        plan = STRATEGIES["tiles"].plan_for(Problem(rated, 4), get_executor("host"), users="resident")
        assert plan.stats["alone"] == alone
        assert agrees(Problem(rated, 4), "tiles", get_executor("host", fuzz="sync"), users="resident")


def test_options_of_resident_tiles_are_checked(ratings):
    with pytest.raises(ValueError, match="batch=5.* 1 to 4"):
        STRATEGIES["tiles"].plan_for(Problem(ratings, 16), get_executor("host"), users="resident", lanes=4, batch=5)


def test_items_of_no_degree_do_not_crowd_one_block():
    """As on the web: some hubs, and thousands of items with next to no ratings."""
    items = np.concatenate([np.repeat(np.arange(5), 60), np.arange(5, 4000, 3)])
    rated = Ratings(np.arange(items.size) % 97, items, np.ones(items.size), shape=(97, 4000))
    plan = STRATEGIES["tiles"].plan_for(Problem(rated, 4), get_executor("host"), users="resident")
    sizes = np.diff(plan.table_offsets)
    shared = np.sort(sizes)[plan.stats["alone"] :]  # between the blocks of those that are not alone
    assert plan.resident and shared.max() < 2 * 4000 / shared.size
    assert agrees(Problem(rated, 4), "tiles", get_executor("host", fuzz="sync"), users="resident")


def test_users_are_fetched_where_their_ranges_are_too_many_for_a_key(ratings, monkeypatch):
    monkeypatch.setattr("lockstep.sgd.strategies.resident.SEGMENTS", 16)
    plan = STRATEGIES["tiles"].plan_for(Problem(ratings, 16), get_executor("host"), users="resident")
    assert plan.stats["users"] == "fetched"
    assert agrees(Problem(ratings, 16), "tiles", get_executor("host"), users="resident")


def test_fetched_tiles_give_an_item_one_group_on_a_large_machine():
    """132 multiprocessors with 512 groups of a thread each: more segments than 24 bits number."""
    executor = get_executor("host")
    executor.multiprocessors = 132
    rated = skewed(3000, 2000, 20_000)
    plan = STRATEGIES["tiles"].plan_for(
        Problem(rated, 4), executor, users="fetched", threads=512, each=1, stages=2, stride=2, order="degree"
    )
    stats = plan.stats
    assert stats["blocks"] * stats["rounds"] * stats["groups"] > 1 << 24
    segment = np.repeat(np.arange(plan.offsets.size - 1), np.diff(plan.offsets))
    block, group = segment // (stats["rounds"] * stats["groups"]), segment % stats["groups"]
    owners = np.unique(np.stack([plan.packed[: rated.m, 2], block * stats["groups"] + group]), axis=1)
    assert owners.shape[1] == np.unique(rated.items).size  # one owner an item
    assert np.array_equal(plan.table[plan.table_offsets[block] + plan.packed[: rated.m, 3]], plan.packed[: rated.m, 2])


@pytest.mark.parametrize("segments, places", [(1 << 24, 1 << 24), (1 << 25, 1 << 15), (1 << 31, 2**31 - 1)])
def test_sort_keys_of_tiles_keep_segments_and_places_apart(segments, places):
    segment = np.array([0, 1, segments // 2, segments // 2, segments - 1, segments - 1])
    place = np.array([places - 1, 0, 0, places - 1, 0, places - 1])
    keys = sort_keys(segment, segments, place, np.arange(6) * 7919, np)
    assert np.all(keys[1:] > keys[:-1])
    with pytest.raises(ValueError, match="2,147,483,649 segments .* smaller stride"):
        sort_keys(segment, 2**31 + 1, place, place, np)


def test_few_blocks_for_few_ratings_and_resident_users_where_a_user_has_many():
    def tiles(ratings):
        return STRATEGIES["tiles"].plan_for(Problem(ratings, 16), get_executor("host"))

    few, many = tiles(skewed(40, 30, 100)), tiles(skewed(4000, 300, 200_000))
    assert few.stats["users"] == many.stats["users"] == "resident"
    assert few.blocks < many.blocks <= get_executor("host").multiprocessors
    assert tiles(twins.twin("CAL", factor=400)).stats["users"] == "fetched"


@pytest.mark.parametrize("options", [{"room": 20}, {"room": 7, "chunk": 5, "lanes": 2}, {"room": 2}, {"blocks": 2}])
def test_patches_of_any_size(options, ratings):
    for seed in range(3):
        assert agrees(Problem(ratings, 16, 0.05), "patches", get_executor("host", seed=seed, fuzz="sync"), **options)


def test_patches_wait_for_those_that_they_share_nodes_with():
    """Levels follow one another inside a launch: all accesses interleaved, and sweep after sweep."""
    problem = Problem(skewed(20, 9, 60), 4, 0.05)
    for seed in range(4):
        plan = STRATEGIES["patches"].plan_for(
            problem, get_executor("host", seed=seed, fuzz="memory"), log=True, lanes=1, room=5
        )
        assert plan.stats["levels"] > 2 and plan.blocks > 2
        for _ in range(2):
            plan.reset()
            plan.run()
            plan.check_sweep()
            assert all(np.array_equal(a, b) for a, b in zip(replay(plan), plan.vectors(), strict=True))


def test_patches_keep_the_order_of_nodes_to_themselves(ratings):
    """Whoever asks for vectors, edges or test errors knows nothing of the rows in which they lie."""
    problem = Problem(ratings, 8, 0.05)
    plan = STRATEGIES["patches"].plan_for(problem, get_executor("host"), room=20)
    plan.reset()
    assert all(np.array_equal(a, b) for a, b in zip(plan.vectors(), problem.first_vectors(), strict=True))
    assert np.isclose(plan.scorer(ratings)(), oracle.rmse(ratings, *problem.first_vectors()))
    assert np.isclose(plan.rmse(), oracle.rmse(ratings, *problem.first_vectors()))


def test_patches_of_a_road_hold_nearly_all_of_its_edges():
    made = twins.twin("CAL", factor=200)
    plan = STRATEGIES["patches"].plan_for(Problem(made, 8), get_executor("host"), room=600)
    assert plan.stats["edges_after_first_level"] < 0.1 * made.m and plan.stats["levels"] <= 4
    plan.reset()
    plan.run()
    plan.check_sweep()


def test_tiles_whose_items_do_not_fit_in_shared_memory(ratings):
    executor = get_executor("host", fuzz="sync")
    executor.max_shared = 18_000
    problem = Problem(ratings, 64, 0.05)
    plan = STRATEGIES["tiles"].plan_for(
        problem, executor, each=1, threads=32, stages=2, log=True, lanes=4, users="fetched"
    )
    plan.reset()
    plan.run()
    plan.check_sweep()
    assert not plan.stats["table_in_shared"]
    assert all(np.array_equal(a, b) for a, b in zip(replay(plan), plan.vectors(), strict=True))


@pytest.mark.parametrize("name", EXACT)
def test_with_plain_accesses_interleaved_too(name):
    problem = Problem(skewed(20, 9, 60), 4, 0.05)
    for seed in range(4):
        assert agrees(problem, name, get_executor("host", seed=seed, fuzz="memory"), lanes=1)


@pytest.mark.parametrize("name", EXACT)
def test_nonnegative_and_other_ranks(name, ratings):
    for rank in (1, 5, 16):
        assert agrees(Problem(ratings, rank, 0.05, nonnegative=True), name, get_executor("host"))


def test_duplicate_ratings_follow_one_another():
    twice = Ratings([0, 0, 0, 1], [0, 0, 0, 0], [1.0, 2, 3, 4])
    for name in EXACT:
        assert agrees(Problem(twice, 4), name, get_executor("host", fuzz="sync")), name


def test_hogwild_loses_updates(ratings):
    problem = Problem(ratings, 4, 0.05)
    differs = False
    for seed in range(5):
        plan = STRATEGIES["hogwild"].plan_for(problem, get_executor("host", seed=seed, fuzz="sync"))
        plan.reset()
        plan.run()
        plan.check_sweep()
        vectors = [first.copy() for first in plan.first]
        oracle.sweep(*plan.edges(), np.arange(ratings.m), *vectors, np.float32(problem.rate), problem.decay, False)
        differs |= not np.array_equal(vectors[1], plan.vectors()[1])
    assert differs


def test_a_broken_log_is_found(ratings):
    plan = STRATEGIES["edge-locked"].plan_for(Problem(ratings, 4), get_executor("host"), log=True)
    plan.reset()
    plan.run()
    users, items, _ = plan.edges()
    _, _, user_rank, item_rank = (array.copy() for array in plan.history)
    busy = np.flatnonzero(users == np.bincount(users).argmax())[:2]
    lost = user_rank.copy()
    lost[busy[0]] = lost[busy[1]]
    with pytest.raises(NotSerializable, match="missing or there twice"):
        oracle.serial_order(users, items, lost, item_rank)
    # Two users who rated the same two items, each first at the other's second: a circle.
    with pytest.raises(NotSerializable, match="circle"):
        oracle.serial_order(
            np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([1, 0, 0, 1]), np.array([0, 1, 1, 0])
        )


def test_the_histories_have_no_cycle_by_our_own_topological_sort(ratings):
    plan = STRATEGIES["tiles"].plan_for(Problem(ratings, 4), get_executor("host", fuzz="sync"), log=True)
    plan.reset()
    plan.run()
    users, items, _ = plan.edges()
    arcs = []
    for nodes, turn in ((users, plan.history[2]), (items, plan.history[3])):
        order = np.lexsort((turn, nodes))
        same = nodes[order][1:] == nodes[order][:-1]
        arcs.append((order[:-1][same], order[1:][same]))
    sources, targets = (np.concatenate(side) for side in zip(*arcs, strict=True))
    result = topological_sort(Graph.from_edges(sources, targets, n=ratings.m), strategy="serial")
    assert result.depth >= ratings.largest_degree()


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name in EXACT if name != "patches"])  # patches refuse hubs, and come below
@pytest.mark.parametrize("rank", [16, 32, 64])
def test_on_a_gpu(name, rank, cuda):
    assert agrees(Problem(skewed(5000, 900, 60_000), rank, 0.01), name, cuda)


@pytest.mark.gpu
@pytest.mark.parametrize("users", ["resident", "fetched"])
@pytest.mark.parametrize("rank", [16, 32, 64])
def test_both_forms_of_tiles_on_a_gpu(users, rank, cuda):
    problem = Problem(skewed(5000, 900, 60_000), rank, 0.01)
    assert agrees(problem, "tiles", cuda, users=users)
    if users == "resident":  # an item alone in every block but one, or in none
        assert agrees(problem, "tiles", cuda, users=users, alone=1)
        assert agrees(problem, "tiles", cuda, users=users, alone=0)


@pytest.mark.gpu
@pytest.mark.parametrize("rank", [16, 32])
def test_patches_of_a_road_on_a_gpu(rank, cuda):
    assert agrees(Problem(twins.twin("CAL", factor=40), rank, 0.01), "patches", cuda)
    assert agrees(Problem(skewed(), rank, 0.01), "patches", cuda, room=20)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name, s in STRATEGIES.items() if s.gpu and "float16" in s.plan.storages])
def test_float16_storage_on_a_gpu(name, cuda):
    made = skewed(5000, 900, 60_000)
    if name == "patches":
        made = twins.twin("CAL", factor=40)
    ends = []
    for storage in ("float32", "float16"):
        plan = STRATEGIES[name].plan_for(Problem(made, 16, 0.01, storage=storage), cuda)
        plan.reset()
        for _ in range(5):
            plan.run()
            plan.check_sweep()
        ends.append(plan.rmse())
    assert ends[1] == pytest.approx(ends[0], rel=0.01)
