import numpy as np
import pandas as pd
import pytest

from lockstep.graphs import DatasetMissing
from lockstep.sgd import Ratings, planted
from lockstep.sgd.experiments import further, likeness, skewed, twins
from lockstep.sgd.strategies import model


@pytest.mark.parametrize("name", [n for n in twins.TABLE if n != "STACK-printed"])
def test_a_twin_has_the_size_it_says(name):
    size = twins.shrunk(twins.TABLE[name], 500)
    twin = twins.twin(name, factor=500)
    assert twin.shape == (size.users, size.items) and twin.m == size.edges
    users, items = twin.degrees()
    assert items.max() == size.largest
    assert not twin.has_duplicates()
    if size.kind == "road":
        arcs = set(zip(twin.users.tolist(), twin.items.tolist(), strict=True))
        assert all((b, a) in arcs for a, b in arcs) and all(a != b for a, b in arcs)
        assert np.sort(items)[-2] <= 6
    again = twins.twin(name, factor=500)
    assert np.array_equal(again.users, twin.users) and np.array_equal(again.values, twin.values)
    other = twins.twin(name, factor=500, seed=1)
    assert not np.array_equal(other.users, twin.users)
    # What was made without checks passes them.
    Ratings(twin.users, twin.items, twin.values, twin.shape, duplicates="refuse")


def test_shuffled_roads_are_the_same_graph_under_other_names():
    plain, shuffled = (twins.twin("CAL", factor=2000, shuffled=s) for s in (False, True))
    assert plain.m == shuffled.m
    assert np.array_equal(*(np.sort(np.bincount(t.items, minlength=t.n_items)) for t in (plain, shuffled)))
    near, far = (np.abs(t.users - t.items).mean() for t in (plain, shuffled))
    assert far > 3 * near


def test_a_hilbert_curve_steps_from_cell_to_neighboring_cell():
    x, y = np.arange(64) % 8, np.arange(64) // 8
    place = likeness.hilbert(x, y, 3)
    order = np.argsort(place)
    assert sorted(place) == list(range(64))
    assert set(np.abs(np.diff(x[order])) + np.abs(np.diff(y[order]))) == {1}


def test_curved_roads_are_the_same_graph_with_many_more_diagonals():
    plain = twins.twin("CAL", factor=100)
    curved = likeness.curved(plain)
    assert np.array_equal(*(np.sort(np.bincount(t.items, minlength=t.n_items)) for t in (plain, curved)))
    few, many = (len(np.unique(t.items.astype(np.int64) - t.users)) for t in (plain, curved))
    assert few <= 10 and many > 1000
    Ratings(curved.users, curved.items, curved.values, curved.shape, duplicates="refuse")
    again = likeness.curved(plain)
    assert np.array_equal(again.users, curved.users) and np.array_equal(again.values, curved.values)


def test_a_curved_twin_of_new_york_is_as_the_kept_table_says_and_near_new_york():
    try:
        found = likeness.table(["USA-road-d.NY"])
    except DatasetMissing:
        pytest.skip("USA-road-d.NY is not here")
    kept = pd.read_csv(likeness.FILE)
    kept = kept[kept["graph"] == "USA-road-d.NY"].reset_index(drop=True)
    assert kept["figure"].tolist() == found["figure"].tolist()
    assert np.allclose(kept[["real", "twin"]], found[["real", "twin"]], rtol=1e-5)
    near = found.set_index("figure")["twin over real"]
    assert near["diagonals"] == pytest.approx(1, abs=0.2)
    assert near[["an edge's reach, median", "an edge's reach, nine tenths"]].between(0.5, 2).all()


@pytest.mark.parametrize("name", [n for n, size in twins.TABLE.items() if size.kind == "scale-free"])
def test_a_skewed_twin_has_the_size_it_says_and_users_of_the_wanted_degree(name):
    size = twins.shrunk(twins.TABLE[name], 200)
    twin = skewed.twin(name, factor=200)
    users, items = twin.degrees()
    assert twin.shape == (size.users, size.items) and twin.m == size.edges and items.max() == size.largest
    wanted = min(size.largest // 2, size.items * 99 // 100)
    scatter = 4 * np.sqrt(wanted)
    assert 0.8 * wanted - scatter < users.max() < 1.2 * wanted + scatter  # a quarter of the items was the limit before
    Ratings(twin.users, twin.items, twin.values, twin.shape, duplicates="refuse")


def test_skewed_degrees_and_reach_are_those_of_real_graphs_within_a_half():
    try:
        found = likeness.table(["soc-Epinions1"]).set_index("figure")
    except DatasetMissing:
        pytest.skip("soc-Epinions1 is not here")
    now, plain = found["twin over real"], found["power law"] / found["real"]
    for figure in ("edges of the busiest hundredth", "items of one edge or none", "diagonals"):
        assert abs(np.log(now[figure])) < np.log(1.5)
        assert plain[figure] == 0 or abs(np.log(now[figure])) < abs(np.log(plain[figure]))
    assert found["power law"]["items of one edge or none"] == 0


@pytest.mark.parametrize(
    "nodes, edges, largest", [(1000, 5000, 400), (1000, 1000, 500), (300, 90, 40), (5, 5, 1), (1, 7, 7)]
)
def test_lognormal_degrees_add_up_and_their_largest_is_the_first(nodes, edges, largest):
    degrees = skewed.lognormal(nodes, edges, largest)
    assert degrees.sum() == edges and degrees.size == nodes and degrees.min() >= 0
    assert degrees[0] == degrees.max() == min(largest, edges)


def test_weights_leave_each_user_the_wanted_number_of_distinct_items():
    random = np.random.default_rng(1)
    degrees, wanted = np.full(50, 40), skewed.lognormal(400, 2000, 45)
    weights = skewed.weights_of(wanted, degrees)
    drawn = np.array([random.choice(400, 40, replace=False, p=weights / weights.sum()) for _ in range(2000)])
    busiest = 50 * (drawn == 0).any(axis=1).mean()
    assert busiest == pytest.approx(45, rel=0.1)


def test_published_sizes():
    table = twins.TABLE
    printed = {"IMDB": 1.3, "CITP": 7.5, "POKEC": 3.3, "LIVEJ": 9.7, "CAL": 3.8, "E": 7.2, "W": 12.5, "CTR": 28.2}
    for name, millions in printed.items():
        assert (table[name].users + table[name].items) / 1e6 == pytest.approx(millions, abs=0.06)


@pytest.mark.parametrize("name", ["BAY", "youtube-groups"])
def test_further_originals_have_the_sizes_of_theirs(name):
    made, size = further.twin(name), further.SIZES[name]
    degrees = np.diff(made.offsets)
    assert (made.shape, made.m, degrees.max()) == ((size.users, size.items), size.edges, size.largest)
    keys = made.items.astype(np.int64) * made.n_users + made.users
    assert np.unique(keys).size == size.edges
    if size.kind == "road":
        back = made.users.astype(np.int64) * made.n_users + made.items
        assert np.array_equal(np.sort(keys), np.sort(back)), "both ways"
        assert model.diagonals(made) > 1_000, "ids along a curve"


def test_planted_ratings_are_of_rank_eight_and_a_little_noise():
    users, items = (ids.ravel() for ids in np.meshgrid(np.arange(60), np.arange(50)))
    exact = planted(users, items, noise=0.0).reshape(50, 60).astype(np.float64) - 3
    values = np.linalg.svd(exact, compute_uv=False)
    assert values[7] > 1 and values[8] < 1e-4
    noisy = planted(users, items)
    assert np.abs(noisy - planted(users, items, noise=0.0)).max() <= 0.3 + 1e-5
    assert 2.9 < noisy.mean() < 3.1


def test_power_law_adds_up():
    for nodes, edges, largest in ((100, 1000, 200), (100, 50, 20), (17770, 990_000, 2277), (5, 5, 1)):
        degrees = twins.power_law(nodes, edges, largest)
        assert degrees.sum() == edges and degrees.max() <= largest and degrees.size == nodes
