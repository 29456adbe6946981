import numpy as np
import pandas as pd
import pytest

from lockstep.graphs import DatasetMissing
from lockstep.sgd import Ratings, planted
from lockstep.sgd.experiments import likeness, twins


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


def test_published_sizes():
    table = twins.TABLE
    printed = {"IMDB": 1.3, "CITP": 7.5, "POKEC": 3.3, "LIVEJ": 9.7, "CAL": 3.8, "E": 7.2, "W": 12.5, "CTR": 28.2}
    for name, millions in printed.items():
        assert (table[name].users + table[name].items) / 1e6 == pytest.approx(millions, abs=0.06)


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
