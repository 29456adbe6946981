"""Sweeps that count their updates: every serializable schedule passes, and one that loses an update does not."""

import numpy as np
import pytest

from lockstep.machine import get_executor
from lockstep.sgd import STRATEGIES, Problem, Ratings
from lockstep.sgd.experiments import twins, updates
from lockstep.sgd.experiments.preparation import candidate

from .conftest import skewed

EXACT = [name for name, s in STRATEGIES.items() if s.gpu and s.exact]


def built(name, ratings, rank=8, seed=0, **options):
    return STRATEGIES[name].plan_for(
        Problem(ratings, rank, 0.05), get_executor("host", seed=seed, fuzz="sync"), **options
    )


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("lanes", [1, 2])
def test_serializable_schedules_lose_no_update(name, lanes, ratings):
    plan = built(name, ratings, lanes=lanes)
    plan.reset()
    plan.run()
    before = [side.copy() for side in plan.vectors()]
    assert updates.check(plan) == 1
    assert all(np.array_equal(a, b) for a, b in zip(plan.vectors(), plan.first, strict=True))
    plan.run()  # the check leaves the plan as it was
    if name in ("agm-edge", "agm-node", "sgm", "diagonal", "block-diagonal", "patches"):
        assert all(np.array_equal(a, b) for a, b in zip(plan.vectors(), before, strict=True))


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXACT)
def test_counters_are_compared_on_the_gpu(cuda, name, ratings):
    """A count that is one off at one node of either side is found, where it is."""
    plan = STRATEGIES[name].plan_for(Problem(ratings, 8, 0.05), cuda)
    assert updates.check(plan) == 1
    present = plan.present
    for side, what in enumerate(("user", "item")):

        def off(side=side):
            sides = [vectors.copy() for vectors in present()]
            sides[side][3, side] += np.float32(updates.UNIT)
            return sides

        plan.present = off
        with pytest.raises(updates.LostUpdate, match=rf"{name}: {what} 3 counts .*\(1 of "):
            updates.check(plan)


def test_hogwild_is_told_apart(ratings):
    """Its tally is right and its error falls; single runs may be serial by chance."""
    caught = 0
    for seed in range(5):
        try:
            updates.check(built("hogwild", ratings, seed=seed))
        except updates.LostUpdate as error:
            assert "was lost or applied twice" in str(error)
            caught += 1
    assert caught


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("side", [0, 1])
def test_one_update_lost_or_doubled_at_one_node_is_found(change, side, ratings):
    """The tally stays right: the update was made, but another wrote over it in one chunk of one vector."""
    plan = built("agm-edge", ratings, rank=8)
    edge, launch = 7, plan.launch

    def sweep(*args, **more):
        launch(*args, **more)
        vectors, nodes = ((plan.user_vectors, plan.users), (plan.item_vectors, plan.items))[side]
        scale = plan.rate * updates.FIXED / updates.UNIT
        vectors[nodes[edge], 4 + side] += np.float32(change * np.round(plan.values[edge] * scale) * updates.UNIT)

    plan.launch = sweep
    what = ("user", "item")[side]
    with pytest.raises(updates.LostUpdate, match=rf"agm-edge: {what} \d+ counts .*\(1 of "):
        updates.check(plan)


def test_what_is_measured_is_refused_if_it_races(monkeypatch, ratings):
    """Edge-locked passes whose locks do nothing: all edges at once, as Hogwild takes them."""

    def unlocked(self, work, count):
        kernel = self.kernel("hogwild", "online.cu")
        edges = dict(count=np.int32(count), users=self.users, items=self.items, values=self.values)
        kernel(self.grid(kernel, work=count), self.threads, **edges, **self.state, applied=self.applied)

    monkeypatch.setattr(STRATEGIES["edge-locked"].plan, "passes", unlocked)
    with pytest.raises(updates.LostUpdate):
        for seed in range(5):
            candidate("edge-locked", Problem(ratings, 8, 0.05), get_executor("host", seed=seed, fuzz="sync"), "")


def test_a_skipped_edge_is_refused(ratings):
    plan = built("agm-edge", ratings)
    plan.steps[-1] -= 1
    with pytest.raises(updates.LostUpdate, match="259 updates of 260 edges"):
        updates.check(plan)


def test_part_of_a_sweep_and_odd_ratings():
    rng = np.random.default_rng(0)
    made = skewed()
    assert updates.check(built("diagonal", made, limit=5)) == 1
    for values in (rng.normal(0, 1, made.m), np.round(4 * rng.random(made.m)) / 2 - 1, np.full(made.m, 2.5 / 1024),
                   1e12 * (1 + rng.random(made.m))):  # fmt: skip
        share = updates.check(built("tiles", Ratings(made.users, made.items, values, made.shape)))
        assert 0.5 < share <= 1
    assert updates.check(built("tiles", Ratings([0], [0], [1e30]))) is None
    assert updates.check(built("tiles", Ratings([], [], [], (3, 2)))) == 1
    half = STRATEGIES["tiles"].plan_for(Problem(made, 8, storage="float16"), get_executor("host"))
    assert updates.check(half) is None


def test_counters_hold_at_the_edge_of_their_room():
    hub = Ratings(np.arange(200_000) % 1000, np.zeros(200_000, int), 1 + np.arange(200_000) % 5)
    plan = built("agm-edge", hub, rank=128)
    scale, share, expected = updates._expected(plan)
    assert share == 1 and updates.ROOM / 4 < expected[1][0].max() <= updates.ROOM
    assert scale == 4


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("rank", [16, 64])
def test_on_a_gpu(name, rank, cuda):
    made = twins.twin("CAL", factor=40) if name == "patches" else skewed(5000, 900, 60_000)
    assert updates.check(STRATEGIES[name].plan_for(Problem(made, rank, 0.01), cuda)) > 0.9


@pytest.mark.gpu
def test_hogwild_on_a_gpu(cuda):
    with pytest.raises(updates.LostUpdate):
        updates.check(STRATEGIES["hogwild"].plan_for(Problem(skewed(5000, 900, 60_000), 16, 0.01), cuda))
