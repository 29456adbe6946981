"""What factorize takes and gives, what it refuses, and what it says then."""

import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse

from lockstep.graphs import Graph
from lockstep.machine import get_executor
from lockstep.plan import Skip
from lockstep.sgd import STRATEGIES, DivergenceError, OutOfMemory, Problem, Ratings, RatingsError, factorize, planted
from lockstep.sgd import oracle as reference
from lockstep.sgd.experiments import twins
from lockstep.sgd.strategies import model
from lockstep.sgd.strategies.auto import choose

from .conftest import skewed


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "auto"])
def test_learns(name, ratings):
    result = factorize(
        (ratings.users, ratings.items, ratings.values), name, rank=6, sweeps=30, learning_rate=0.05, test=ratings
    )
    assert result.strategy == name
    assert result.users.shape == (60, 6) and result.items.shape == (25, 6) and result.users.dtype == np.float32
    assert len(result.rmse) == len(result.test_rmse) == 30
    # on a GPU all edges of so few run at once: hogwild loses most updates
    assert result.rmse[-1] < (0.9 if name == "hogwild" else 0.7) * result.rmse[0]
    assert result.rmse == pytest.approx(result.test_rmse)
    predicted = result.predict(ratings.users, ratings.items)
    assert np.sqrt(np.mean((predicted - ratings.values) ** 2)) == pytest.approx(result.rmse[-1], rel=1e-4)


def test_all_inputs_are_the_same_ratings():
    users, items, values = np.array([0, 2, 1]), np.array([1, 0, 1]), np.array([3.0, 4, 5])
    matrix = sparse.coo_array((values, (users, items)), shape=(3, 2))
    graph = nx.Graph()
    graph.add_nodes_from(["ann", "bob", "cid"], bipartite=0)
    graph.add_nodes_from(["film", "book"], bipartite=1)
    graph.add_edge("ann", "book", rating=3.0)
    graph.add_edge("film", "cid", rating=4.0)
    graph.add_edge("bob", "book", rating=5.0)
    made = [Ratings.of(x) for x in (matrix, matrix.tocsr(), (users, items, values), graph)]
    for other in made:
        assert other.shape == (3, 2)
        assert np.array_equal(other.users, [2, 0, 1]) and np.array_equal(other.values, [4, 3, 5])
    arcs = Ratings.of(Graph.from_edges(users, items, n=4, weights=values))
    assert arcs.shape == (4, 4) and np.array_equal(arcs.values, [4, 3, 5])
    unweighted = Ratings.of(Graph.from_edges(users, items, n=4))
    assert np.array_equal(unweighted.values, planted(unweighted.users, unweighted.items))
    assert Ratings.of(nx.davis_southern_women_graph()).shape == (18, 14)
    del graph.edges["film", "cid"]["rating"]  # no reason to draw the others anew
    with pytest.raises(RatingsError, match=r"edge \(cid, film\) has no rating; expected one of every edge"):
        Ratings.of(graph)


@pytest.mark.parametrize(
    ("sides", "rating", "text"),
    [
        ({"ann": 0, "film": 1, "bob": None}, 5.0, "node 'bob' has bipartite=None; expected 0"),
        ({"ann": "0", "film": "1"}, 5.0, "node 'ann' has bipartite='0'; expected 0"),
        ({"ann": None, "film": None}, 5.0, "edges have a rating, but no node has the attribute bipartite"),
        ({"ann": 0, "film": 1}, None, r"edge \(ann, film\) has no rating"),
    ],
    ids=["one without a side", "text", "none has a side", "an empty rating"],
)
def test_ratings_of_a_graph_are_not_replaced_by_drawn_ones(sides, rating, text):
    graph = nx.Graph()
    for node, side in sides.items():
        graph.add_node(node, **({} if side is None else {"bipartite": side}))
    graph.add_edge("ann", "film", rating=rating)
    with pytest.raises(RatingsError, match=text):
        Ratings.of(graph)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (dict(rank=8, lanes=4), "lanes=4; expected 2 at most at rank 8"),
        (dict(threads=2048), "threads=2048; expected 1024 at most"),
        (dict(rank=True), "rank=True; expected a whole number, 1 or more"),
        (dict(sweeps=True), "sweeps=True; expected a whole number"),
        (dict(learning_rate="a"), "learning_rate='a'; expected a number"),
        (dict(initial=(np.full((2, 16), 1e6), np.ones((2, 16))), storage="float16"), "reach 1e+06, beyond float16"),
    ],
)
def test_settings_out_of_range_are_refused_before_anything_runs(settings, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        factorize(([0, 0, 1, 1], [0, 1, 0, 1], [5.0, 1, 4, 2]), "edge-locked", **settings)


def test_a_number_of_numpy_is_a_number():
    one = ([0], [0], [1.0])
    assert factorize(one, "tiles", rank=2, sweeps=1, threads=np.int64(64)).strategy == "tiles"


def test_a_graph_that_is_no_ratings_is_told_why():
    with pytest.raises(RatingsError, match="weight 0 is NaN"):
        factorize(nx.Graph([(0, 1, {"weight": float("nan")})]), "serial")


def test_predictions_of_no_ids_and_of_what_is_no_id(ratings):
    made = factorize(ratings, "serial", rank=2, sweeps=1)
    assert made.predict([], []).shape == (0,)
    for users in ([True, False], [0.5, 1], ["a", "b"]):
        with pytest.raises(ValueError, match="not whole numbers"):
            made.predict(users, [0, 1])


def test_predictions_are_of_known_users_and_items(ratings):
    made = factorize(ratings, "serial", sweeps=1)
    assert made.predict(3, 4).shape == (1,)
    for users, items, text in (([-1], [0], "user -1 is not in 0..59"), ([0], [25], "item 25 is not in 0..24"),
                               ([0, 1], [0], "expected one")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            made.predict(users, items)


def test_vectors_that_fit_already_do_not_diverge():
    ones = np.ones((1, 2))
    made = factorize(([0], [0], [2.0]), "serial", rank=2, sweeps=3, initial=(ones, ones))
    assert made.rmse[-1] < 0.01


@pytest.mark.parametrize(
    "bad, text",
    [
        (([0, 1], [0, 1], [1.0, np.nan]), "rating 1 .*is nan"),
        (([0, 1], [0, 1], [1.0, np.inf]), "is inf"),
        (([0, 1], [0, 1], [1.0, 1e300]), r"rating 1 .*is 1e\+300; .* float32's range"),
        (([0, -1], [0, 1], [1.0, 2]), "row -1 is not in"),
        (([0, 1], [0, 1], [1.0]), "as many of each"),
        (([0, 0.5], [0, 1], [1.0, 2]), "not whole numbers"),
        (([0], [0], ["five"]), "ratings are numbers"),
        ("a word", "expected a SciPy sparse matrix"),
        (np.ones((3, 3)), "expected a SciPy sparse matrix"),
        (sparse.coo_array(np.ones(3)), "a sparse array of 1 dimension; expected rows and columns"),
        (sparse.bsr_array(np.eye(4), blocksize=(2, 2)), "zeros pad the blocks"),
        (([0, 1], [0, 1], np.ma.array([5, 999], mask=[0, 1])), "values have masked entries"),
        ((np.ma.array([0, 1], mask=[0, 1]), [0, 1], [5, 999]), "rows have masked entries"),
    ],
)
def test_bad_ratings(bad, text):
    with pytest.raises(RatingsError, match=text):
        factorize(bad)


def test_ids_out_of_a_given_shape():
    with pytest.raises(RatingsError, match=r"column 7 is not in 0\.\.2"):
        Ratings([0], [7], [1.0], (3, 3))


def test_unsigned_ids_that_float64_would_round_are_refused():
    users, items = np.array([2**30, 2**30 + 1], np.uint64), np.array([2**23] * 2, np.uint64)
    with pytest.raises(RatingsError, match="uint64 would be rounded; expected int64"):
        Ratings(users, items, [1.0, 2.0], duplicates="sum")
    assert Ratings(users, items % 7, [1.0, 2.0], duplicates="sum").m == 2


def test_duplicates():
    twice = ([0, 0, 1], [0, 0, 1], [1.0, 2.0, 4.0])
    assert Ratings.of(twice).m == 3
    assert np.array_equal(Ratings.of(twice, "sum").values, [3, 4])
    with pytest.raises(RatingsError, match="item 0 has several ratings by user 0"):
        factorize(twice, duplicates="refuse")
    with pytest.raises(ValueError, match="keep, sum, refuse"):
        factorize(twice, duplicates="drop")
    kept = Ratings(*twice)
    assert Ratings.of(kept) is kept and np.array_equal(Ratings.of(kept, "sum").values, [3, 4])
    with pytest.raises(RatingsError, match="several ratings"):
        factorize(kept, duplicates="refuse")
    with pytest.raises(ValueError, match="keep, sum, refuse"):
        factorize(kept, duplicates="drop")


def test_divergence_names_the_sweep_and_what_to_do(ratings):
    with pytest.raises(DivergenceError, match="diverged in sweep .* smaller learning_rate than 5") as error:
        factorize(ratings, "serial", learning_rate=5.0, sweeps=50)
    assert 1 <= error.value.sweep <= 50


LIMIT = 2**31 - 2**20


def of_size(n_users, n_items, m):
    """Ratings of which nothing but the sizes is right, in no memory."""
    huge = Ratings([0], [0], [1.0], (n_users, 1))
    huge.shape = (n_users, n_items)
    huge.users = huge.items = np.broadcast_to(np.int32(0), m)
    huge.values = np.broadcast_to(np.float32(1), m)
    huge._degrees = np.array([m]), np.array([m])  # which counting 2^31 of them takes 16 GB for
    return huge


@pytest.mark.parametrize("name", [name for name, s in STRATEGIES.items() if s.gpu])
@pytest.mark.parametrize("size", [(LIMIT - 1, 1, 1), (1, LIMIT - 1, 1), (9, 9, LIMIT)])
def test_sizes_that_kernels_cannot_count_are_refused(monkeypatch, name, size):
    with pytest.raises(Skip, match="fewer than 2,146,435,072 users and items together.*strategy='serial'"):
        factorize(of_size(*size), name, rank=1, executor="host")
    # One less is a matter of memory alone, or of the degree.
    monkeypatch.setattr("lockstep.sgd.problem._free_memory", lambda executor: 0)
    with pytest.raises(Skip if name == "patches" and size[2] > 1 else OutOfMemory):
        factorize(of_size(*(max(length - 1, 1) for length in size)), name, rank=1, executor="host")


def test_memory_is_checked_before_it_starts(monkeypatch, ratings):
    monkeypatch.setattr("lockstep.sgd.problem._free_memory", lambda executor: 1000)
    with pytest.raises(OutOfMemory, match="needs about .* GiB free"):
        factorize(ratings, "serial")


def test_empty_rows_columns_and_nothing_at_all():
    lonely = sparse.coo_array(([4.0], ([5], [3])), shape=(9, 8))
    for name in STRATEGIES:
        result = factorize(lonely, name, sweeps=2, rank=3)
        assert result.users.shape == (9, 3) and np.isfinite(result.users).all()
        nothing = factorize(sparse.coo_array((4, 3)), name, sweeps=1, rank=2)
        assert nothing.users.shape == (4, 2) and np.isnan(nothing.rmse[0]), name


@pytest.mark.parametrize(
    "wrong, text",
    [
        ({"strategy": "magic"}, "no strategy 'magic'"),
        ({"rank": 0}, "rank=0"),
        ({"sweeps": -1}, "sweeps=-1"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"regularization": -1}, "regularization=-1"),
        ({"strategy": "tiles", "magic": 1}, "no option 'magic'; it has .*users"),
        ({"strategy": "multicore", "threads": True}, "threads=True; expected a whole number"),
        ({"strategy": "block-diagonal", "lanes": 4, "threads": 6}, "threads=6; expected a multiple of lanes=4"),
        ({"strategy": "edge-locked", "lanes": 3}, "lanes=3; expected 1, 2, 4"),
        ({"strategy": "multicore", "threads": 2**15}, "threads=32768: .* 1 to 32,767"),
        ({"initial": (np.zeros((2, 2)), np.zeros((2, 2)))}, "initial vectors of the users have shape"),
        ({"initial": (np.zeros((60, 16)), np.full((25, 16), np.nan))}, "initial vector 0 of the items is not finite"),
        ({"initial": (np.zeros((60, 16), complex), np.zeros((25, 16)))}, "initial vectors are complex; expected real"),
        ({"initial": (np.zeros((60, 16)),)}, "initial: expected two arrays"),
        ({"seed": -1}, "seed=-1; expected a whole number"),
        ({"seed": None}, "seed=None; expected a whole number"),
        ({"nonnegative": "no"}, "nonnegative='no'; expected True or False"),
        ({"test": ([99], [0], [1.0])}, "a node without training has no vector"),
    ],
)
def test_wrong_settings(wrong, text, ratings):
    with pytest.raises(ValueError, match=text):
        factorize(ratings, **wrong)


def test_a_sum_of_duplicates_beyond_float32():
    with pytest.raises(RatingsError, match="row 0, column 0 add up to a number beyond float32"):
        factorize(([0, 0], [0, 0], [3e38, 3e38]), duplicates="sum")


def test_settings_are_obeyed(ratings):
    same = [factorize(ratings, "block-diagonal", sweeps=2, seed=3) for _ in range(2)]  # no order that locks decide
    assert np.array_equal(same[0].users, same[1].users)
    other = factorize(ratings, "block-diagonal", sweeps=2, seed=4)
    assert not np.array_equal(same[0].users, other.users)
    initial = (np.full((60, 4), 0.5), np.full((25, 4), -0.5))
    given = factorize(ratings, "serial", rank=4, sweeps=0, initial=initial)
    assert (given.users == 0.5).all() and (given.items == -0.5).all() and given.rmse == []
    positive = factorize(ratings, "edge-locked", rank=4, sweeps=3, nonnegative=True, initial=initial)
    assert positive.users.min() >= 0 and positive.items.min() >= 0


HALF = [name for name, s in STRATEGIES.items() if s.gpu and "float16" in s.plan.storages]


@pytest.mark.parametrize("name", HALF)
def test_float16_storage_learns_as_well(name, ratings):
    full, half = (
        factorize(ratings, name, rank=6, sweeps=5, learning_rate=0.05, executor="host", storage=storage)
        for storage in ("float32", "float16")
    )
    assert half.users.dtype == np.float32
    assert np.array_equal(half.users, half.users.astype(np.float16))
    assert half.rmse[-1] == pytest.approx(full.rmse[-1], rel=0.02)


def test_float16_is_numpys_float16():
    # Extremes, subnormals and ties: what one sweep over a lonely rating leaves of everybody else's first vectors.
    features = [0, 1, -1, 65504, 65519, 6e-8, 3e-8, 2e-8, 6.1e-5, 1 + 2**-11, 1 + 3 * 2**-11, -0.1, 1e-3, np.pi, 2047.5]
    users = np.array(features, np.float32)[:, None].repeat(4, axis=1)
    shape = (users.shape[0], 1)
    lonely = sparse.coo_array(([1.0], ([1], [0])), shape=shape)
    item = np.full((1, 4), 0.5, np.float32)
    made = factorize(lonely, "tiles", rank=4, sweeps=1, initial=(users, item), learning_rate=1e-3, regularization=0.0,
                     executor="host", storage="float16", users="resident")  # fmt: skip
    expected = users.astype(np.float16).astype(np.float32)
    rest = np.arange(shape[0]) != 1
    assert np.array_equal(made.users[rest], expected[rest])


def test_float16_is_refused_where_it_is_not_known(ratings):
    with pytest.raises(ValueError, match="this schedule stores vectors as float32, not float16"):
        factorize(ratings, "agm-edge", storage="float16")
    with pytest.raises(ValueError, match="storage='double'"):
        factorize(ratings, "tiles", storage="double")


def test_patches_refuse_hubs():
    hub = Ratings(np.arange(2000), np.zeros(2000, int), np.ones(2000), (2000, 1))
    with pytest.raises(Skip, match="largest degree here is 2,000.* take tiles"):
        factorize(hub, "patches")


def test_auto_takes_patches_for_roads(monkeypatch):
    monkeypatch.setattr("lockstep.sgd.strategies.auto.calibration", lambda: ("", {}))
    road = twins.twin("CAL", factor=100)
    assert model.scatter(road) < 0.05
    assert choose(road, get_executor("host"))[0] == "patches"
    shuffled = twins.twin("CAL", factor=100, shuffled=True)
    assert model.scatter(shuffled) > 0.5
    assert choose(shuffled, get_executor("host"))[0] == "tiles"


def test_auto_takes_what_is_predicted_from_the_features(monkeypatch):
    coefficients = {"tiles": np.ones(len(model.FEATURES)), "sgm": 2 * np.ones(len(model.FEATURES))}
    monkeypatch.setattr("lockstep.sgd.strategies.auto.calibration", lambda: ("a machine", coefficients))
    ratings = skewed()
    strategy, reason = choose(ratings, get_executor("host"))
    assert strategy == "tiles" and f"predicted {model.features(ratings).sum():.3g} ms" in reason


def test_auto_says_why(ratings):
    result = factorize(ratings, sweeps=1)
    assert result.strategy in STRATEGIES and result.stats["reason"]
    forced = factorize(ratings, sweeps=1, executor="host")
    assert STRATEGIES[forced.strategy].gpu and forced.stats["reason"]


def test_the_bits_do_not_depend_on_how_many_threads_share_an_edge():
    ratings = skewed(30, 12, 90)
    problem = Problem(ratings, 16)
    found = []
    for lanes in (1, 2, 4):
        plan = STRATEGIES["agm-edge"].plan_for(problem, get_executor("host"), lanes=lanes)
        plan.reset()
        plan.run()
        found.append(plan.vectors()[0].copy())
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_the_oracle_is_plain_gradient_descent():
    ratings = skewed(10, 5, 20)
    problem = Problem(ratings, 4, 0.1, 0.3)
    users, items = (v.astype(np.float64) for v in problem.first_vectors())
    vectors = [v.copy() for v in problem.first_vectors()]
    reference.sweep(
        ratings.users, ratings.items, ratings.values, np.arange(20), *vectors, np.float32(0.1), problem.decay, False
    )
    for u, i, r in zip(ratings.users, ratings.items, ratings.values, strict=True):
        error = r - users[u] @ items[i]
        users[u], items[i] = (
            users[u] + 0.1 * (error * items[i] - 0.3 * users[u]),
            items[i] + 0.1 * (error * users[u] - 0.3 * items[i]),
        )
    assert np.allclose(vectors[0], users, rtol=1e-5) and np.allclose(vectors[1], items, rtol=1e-5)


@pytest.mark.parametrize("shape", [(3,), (2.5, 3), (2, 2, 2), "ab"])
def test_a_shape_is_two_whole_numbers(shape):
    with pytest.raises(ValueError, match="expected two whole numbers"):
        Ratings([0], [0], [1.0], shape=shape)


def test_a_share_is_a_number():
    with pytest.raises(ValueError, match="share=None"):
        Ratings([0], [0], [1.0]).split(None)
