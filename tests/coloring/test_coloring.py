"""Every strategy gives a coloring, the ladder the very one that its priorities define, on both executors."""

import re
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.coloring import STRATEGIES, Checker, Problem, color, oracle
from lockstep.coloring.problem import neighbors
from lockstep.coloring.results import views
from lockstep.coloring.strategies import auto, waiting
from lockstep.coloring.strategies.emptying import Emptying
from lockstep.coloring.strategies.waiting import NEAR, Early, Waiting
from lockstep.graphs import DatasetMissing, Graph, generators, load
from lockstep.graphs.registry import registry
from lockstep.machine import get_executor

NAMED = [name for name in STRATEGIES if name != "auto"]
ON_GPU = [name for name, strategy in STRATEGIES.items() if strategy.gpu]
BY_PRIORITY = [name for name, strategy in STRATEGIES.items() if "by-priority" in strategy.traits]
REGISTERED = [one["name"] for one in registry().to_dict("records") if one["kind"] == "graph"]


def undirected(pairs, n=None):
    pairs = np.array(pairs, np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, directed=False)


def complete(n):
    return undirected([(i, j) for i in range(n) for j in range(i)], n)


def cycle(n):
    return undirected([(i, (i + 1) % n) for i in range(n)], n)


def star(leaves):
    return undirected([(0, i) for i in range(1, leaves + 1)], leaves + 1)


SHAPES = {
    "one vertex": undirected([], 1),
    "isolated vertices": undirected([], 100),
    "one edge": undirected([(0, 1)]),
    "cycle of 5": cycle(5),
    "cycle of 200": cycle(200),
    "complete 7": complete(7),
    "complete 70": complete(70),
    "star": star(500),
    "two stars that share leaves": undirected([(h, i) for h in (0, 1) for i in range(2, 300)]),
    "complete bipartite": undirected([(i, 40 + j) for i in range(40) for j in range(50)]),
    "clique and isolated": undirected([(i, j) for i in range(40) for j in range(i)], 90),
}


def host(**options):
    return get_executor("host", **options)


def checked(graph, strategy, **options):
    result = color(graph, strategy, **options)
    Checker(graph, options.get("seed", 0))(result, STRATEGIES[strategy].traits)
    assert result.strategy == strategy
    assert result.count == np.unique(result.colors).size
    return result


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("strategy", NAMED)
def test_every_strategy_colors_plain_shapes(strategy, shape):
    checked(SHAPES[shape], strategy, executor="host")


def test_how_many_colors_plain_shapes_take():
    for strategy in NAMED:
        assert checked(complete(7), strategy, executor="host").count == 7
        assert checked(star(50), strategy, executor="host").count == 2
        assert checked(SHAPES["isolated vertices"], strategy, executor="host").count == 1


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 90))
    m = draw(st.integers(0, 6 * n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    # Squaring pulls one end to low ids, so that some vertices have many neighbors.
    ends = (rng.random(m) ** draw(st.integers(1, 4)) * n).astype(int), rng.integers(0, n, m)
    pairs = np.unique(np.sort(np.column_stack(ends), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, directed=False)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(0, 2**32 - 1), st.sampled_from(["none", "sync", "memory"]))
def test_random_graphs_under_any_interleaving(graph, seed, fuzz):
    for strategy in ON_GPU:
        checked(graph, strategy, seed=seed, executor=host(seed=seed, fuzz=fuzz, multiprocessors=2))


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_random_graphs_on_the_cpu(graph):
    for strategy in set(NAMED) - set(ON_GPU):
        checked(graph, strategy)


@pytest.mark.parametrize(
    "strategy, times", [("waiting", 200), ("early", 200), ("emptying", 30), ("stealing", 200), ("binned", 200)]
)
def test_many_interleavings_give_the_same_colors(strategy, times):
    graph = generators.rmat(7, 1500, seed=3, directed=False, simple=True)
    outcomes = {
        checked(graph, strategy, executor=host(seed=seed, fuzz="memory", multiprocessors=2)).colors.tobytes()
        for seed in range(times)
    }
    assert len(outcomes) == 1


@pytest.mark.parametrize("strategy", NAMED)
def test_a_seed_gives_the_same_colors_again(strategy):
    graph = generators.rmat(8, 2000, seed=1, directed=False, simple=True)
    first = color(graph, strategy, seed=7, executor="host").colors
    assert np.array_equal(first, color(graph, strategy, seed=7, executor=host(seed=99, fuzz="sync")).colors)
    if STRATEGIES[strategy].gpu:
        assert not np.array_equal(first, color(graph, strategy, seed=8, executor="host").colors)


def test_the_ladder_agrees_with_itself_and_stealing_with_randomized():
    graph = generators.rmat(9, 6000, seed=2, directed=False, simple=True)
    ladder = {color(graph, name, executor="host").colors.tobytes() for name in BY_PRIORITY}
    rounds = {
        color(graph, name, executor="host").colors.tobytes() for name in ("randomized", "staying", "queues", "stealing")
    }
    assert len(BY_PRIORITY) == 5 and len(ladder) == 1
    assert len(rounds) == 1


@pytest.mark.parametrize("strategy", ["binned", "waiting", "early"])
def test_cliques_wider_than_a_set_of_colors(strategy):
    # On the emulator a warp's set holds 64 colors, on a GPU 1,024.
    for n in (64, 65, 150):
        for fuzz in ("none", "memory"):
            assert checked(complete(n), strategy, executor=host(multiprocessors=2, fuzz=fuzz)).count == n


@pytest.mark.parametrize("early", [Early, Waiting])
def test_low_degrees_are_colored_alike_by_both_kernels(early):
    class Anywhere(early):
        def near(self):
            return None

    graphs = generators.road_like(600, seed=1), generators.erdos_renyi(n=300, m=700, seed=2), star(15)
    for graph in (neighbors(g, warn=False)[0] for g in graphs):
        assert graph.out_degrees().max() <= NEAR[1]
        check = Checker(graph, 3)
        for seed in range(20):
            executor = host(seed=seed, fuzz="memory", multiprocessors=1 + seed % 5)
            for plan in (early, Anywhere):
                plan = plan.make(STRATEGIES["early"], Problem(graph, 3), executor)
                for _ in range(2):  # what a run leaves behind must not disturb the next
                    plan.reset()
                    check(plan.run(), STRATEGIES["early"].traits)


def test_a_block_may_be_late_to_clear_what_the_run_before_left(monkeypatch, tmp_path):
    """The last block comes when the others have built their lists: its old states are colors, of no use to them."""
    kernels = shutil.copytree(waiting.KERNELS, tmp_path / "kernels")
    loop = "    for (int i = tid; i < size; i += THREADS) {\n"
    before, clear, behind = (kernels / "near.cu").read_text().partition(loop)
    assert clear
    late = "    for (int k = 0; blockIdx.x == gridDim.x - 1 && k < 3000; ++k) pause(100);\n"
    (kernels / "near.cu").write_text(before + late + clear + behind)
    monkeypatch.setattr(waiting, "KERNELS", kernels)

    class Left(Early):
        def words(self, size, value=None, dtype=np.int32):
            return super().words(size, 1 if value is None else value, dtype)  # a color, of another run

    graph = neighbors(generators.erdos_renyi(n=300, m=500, seed=2), warn=False)[0]
    assert graph.out_degrees().max() <= NEAR[1]
    plan = Left.make(STRATEGIES["early"], Problem(graph, 3), host(multiprocessors=3))
    plan.reset()
    Checker(graph, 3)(plan.run(), STRATEGIES["early"].traits)


def test_ranges_that_no_shared_memory_holds_are_left_to_the_other_kernel():
    executor = host(multiprocessors=1)
    entry = STRATEGIES["early"]
    assert Early.make(entry, Problem(cycle(100)), executor).near() is not None
    assert Early.make(entry, Problem(cycle(executor.max_shared)), executor).near() is None


def test_emptying_takes_colors_away():
    for scale, m, before, after in ((9, 4000, 14, 14), (9, 6000, 19, 18), (10, 20000, 30, 29)):
        graph = generators.rmat(scale, m, seed=1, directed=False, simple=True)
        assert checked(graph, "early", executor="host").count == before
        assert checked(graph, "emptying", executor="host").count == after


def test_emptying_leaves_alone_who_has_too_many_neighbors():
    # A clique of four, one of them a hub: only the hub could be recolored, and its degree is too large for that.
    leaves = np.arange(4, 9_004)
    pairs = [(i, j) for i in range(4) for j in range(i)] + [(0, leaf) for leaf in leaves]
    assert checked(undirected(pairs), "emptying", executor="host").count == 4


@pytest.mark.parametrize("seed", range(4))
def test_every_limit_of_emptying_is_met_alike_by_kernel_and_oracle(seed, tmp_path, monkeypatch):
    """With small limits, small graphs meet them: too many members, steps, neighbors, entries of the queue."""
    rng = np.random.default_rng(seed)
    limits = {"most_colors": 12, "most_members": 6, "base_steps": 1, "most_conflicts": 2, "longest_row": 24,
              "tenure": 2, "queue_capacity": 7}  # fmt: skip
    text = Emptying.second_file.read_text()
    for name, value in limits.items():
        value = value if rng.random() < 0.7 or name == "most_members" else getattr(oracle, name.upper())
        text, found = re.subn(rf"constexpr int {name} = \d+;", f"constexpr int {name} = {value};", text)
        assert found == 1
        monkeypatch.setattr(oracle, name.upper(), value)
    for name in ("_elsewhere", "_empty"):  # Numba has compiled the usual limits in
        monkeypatch.setattr(oracle, name, getattr(oracle, name).py_func)
    file = tmp_path / "emptying.cu"
    file.write_text(text)
    changed = type("Changed", (Emptying,), {"second_file": file})
    ends = set()
    for turn in range(12):
        graph = generators.rmat(7, int(rng.integers(100, 1500)), seed=turn, directed=False, simple=True)
        executor = host(seed=turn, fuzz="sync", multiprocessors=2)
        plan = changed.make(STRATEGIES["emptying"], Problem(graph, turn), executor)
        plan.reset()
        result = plan.run()
        assert Checker(graph, turn)(result, STRATEGIES["emptying"].traits) == "exact"
        ends.add(color(graph, "early", executor="host", seed=turn).count - result.count)
    assert len(ends) > 1


def test_hubs_cost_no_more_than_their_arcs():
    # 40,000 leaves around each of two hubs: anything quadratic in a row would not end here.
    leaves = np.arange(2, 40_002)
    graph = Graph.from_edges(np.repeat([0, 1], leaves.size), np.tile(leaves, 2), directed=False)
    for strategy in ("greedy", "randomized", "hybrid", "degree", "binned", "early"):
        executor = host()
        count = checked(graph, strategy, executor=executor).count
        assert count == 2 or count <= 5 and "smallest" not in STRATEGIES[strategy].traits
        assert executor.counts["atomics"] < 8 * graph.m


def test_active_vertices_shrink_from_all_to_none():
    graph = generators.rmat(9, 4000, seed=5, directed=False, simple=True)
    for strategy in ("randomized", "stealing", "hybrid", "degree", "smallest", "largest"):
        result = checked(graph, strategy, executor="host")
        assert result.active[0] == graph.n and result.active.size == result.stats["rounds"]
        assert (np.diff(result.active) <= 0).all() and result.active[-1] > 0
        if strategy in ("randomized", "stealing"):
            assert np.array_equal(-np.diff(result.active, append=0), np.bincount(result.colors))
    assert color(graph, "early", executor="host").active.tolist() == [graph.n]


def test_no_graph_to_color():
    for strategy in STRATEGIES:
        result = color(Graph.from_edges([], [], n=0), strategy, executor="host")
        assert result.count == 0 and result.colors.size == 0 and result.active.size == 0


def test_auto_says_what_it_took_and_why():
    graph = generators.road_like(400, seed=1)
    result = color(graph, executor="host")
    assert result.strategy in STRATEGIES and STRATEGIES[result.strategy].gpu and result.stats["reason"]


def test_auto_empties_colors_where_there_are_many_arcs_and_long_rows(monkeypatch):
    monkeypatch.setattr(auto, "MANY", 5_000)
    skewed, roads = generators.rmat(9, 6000, seed=1, directed=False, simple=True), generators.road_like(4000, seed=1)
    result = color(skewed, executor="host")
    assert result.strategy == "emptying" and "7,644 arcs" in result.stats["reason"]
    Checker(skewed)(result, STRATEGIES["emptying"].traits)
    assert color(roads, executor="host").strategy == "early"
    assert color(generators.rmat(8, 1000, seed=1, directed=False, simple=True), executor="host").strategy == "early"


def registered(name):
    """A registered graph as it is colored; the test is skipped where it is neither in a mirror nor in the cache."""
    try:
        return neighbors(load(name, offline=True), warn=False)[0]
    except DatasetMissing as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_graphs(name):
    graph = registered(name)
    check = Checker(graph)
    check(color(graph, "greedy"), STRATEGIES["greedy"].traits)
    if graph.m < 200_000:
        for strategy in ("randomized", "hybrid", "early"):
            check(color(graph, strategy, executor="host"), STRATEGIES[strategy].traits)


@pytest.mark.parametrize("name", ["HC-BIOGRID", "caidaRouterLevel", "coAuthorsDBLP"])
def test_a_greedy_loop_in_the_peers_order_takes_the_colors_that_the_peer_was_seen_to_take(name):
    graph = registered(name)
    assert oracle.greedy(graph, oracle.peers_order(graph)).max() + 1 == views.PEERS[name][1]


def test_the_peers_order_is_by_degree_and_then_by_the_hash():
    graph = SHAPES["two stars that share leaves"]
    order = oracle.peers_order(graph)
    assert set(order[:2].tolist()) == {0, 1} and np.array_equal(np.sort(order), np.arange(graph.n))
    assert not np.array_equal(order[2:], np.sort(order[2:])) and not np.array_equal(order[2:], -np.sort(-order[2:]))


@pytest.mark.gpu
@pytest.mark.parametrize("name", REGISTERED)
def test_registered_graphs_on_a_gpu(name, cuda):
    graph = registered(name)
    check = Checker(graph)
    for strategy in ("auto", *ON_GPU):
        result = color(graph, strategy, executor=cuda)
        check(result, STRATEGIES[result.strategy].traits)


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", ON_GPU)
def test_on_a_gpu(strategy, cuda):
    for graph in (*SHAPES.values(), generators.rmat(14, 200_000, directed=False, simple=True, seed=1)):
        checked(graph, strategy, executor=cuda)


@pytest.mark.gpu
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), st.integers(0, 2**32 - 1))
def test_random_graphs_on_a_gpu(cuda, graph, seed):
    for strategy in ON_GPU:
        checked(graph, strategy, seed=seed, executor=cuda)


@pytest.mark.gpu
def test_more_colors_than_a_warps_set_on_a_gpu(cuda):
    for strategy in ("early", "emptying"):  # the second leaves such a coloring as it is
        assert checked(complete(1500), strategy, executor=cuda).count == 1500
