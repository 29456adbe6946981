"""`auto`: who is tried, who wins, and that the loser stops."""

import threading
import time

import numpy as np
import pytest

from lockstep.graphs import Graph, generators
from lockstep.toposort import CycleError, TopologicalOrder, topological_sort, verify
from lockstep.toposort.baselines import Serial
from lockstep.toposort.choice import OTHERS, SAMPLES, Auto, Costs, RacingChains, RacingNarrow, count_links
from lockstep.toposort.oracle import layers
from lockstep.toposort.serial import kahn, kahn_racing


@pytest.fixture(scope="module")
def words():
    return np.zeros(16, np.uint64)


def race(graph, words, enough=10**9, steps=10, plan=None):
    plan = plan or Serial(graph)
    arrays = graph.offsets, graph.targets, plan.left, plan.order
    return *kahn_racing(*arrays, words.ctypes.data, words[8:].ctypes.data, enough, steps, 256), plan.order


def test_small_graphs_are_the_cpus(host):
    found = topological_sort(generators.random_dag(300, 900), executor=host)
    assert found.strategy == "serial" and "a launch" in str(found.stats["reason"])


def test_the_gpu_is_tried_where_the_cpu_takes_a_while(host):
    graph = generators.random_dag(60_000, 120_000)
    found = topological_sort(graph, executor=host)
    assert found.strategy == "narrow" and "both began" in str(found.stats["reason"])
    assert verify(found, graph) == "exact"


def test_runs_of_links_are_sampled(host):
    graph = generators.disjoint_paths(80_000, 100)
    found = topological_sort(graph, executor=host)
    assert found.strategy == "chains" and "1-1 runs" in str(found.stats["reason"])
    assert verify(found, graph) == "exact"


def test_sampling_stops_when_it_has_seen_enough_others():
    def links(graph, others=OTHERS):
        return count_links(graph.offsets, graph.targets, graph.in_degrees(), SAMPLES, others)

    assert links(generators.disjoint_paths(4000, 4000)) >= SAMPLES - OTHERS
    mixed = generators.disjoint_paths(4000, 4)  # a quarter begins no link
    assert links(mixed) == -1
    assert SAMPLES / 2 < links(mixed, SAMPLES + 1) < SAMPLES


def test_the_cpu_looks_about_as_often_whatever_a_vertex_takes(host):
    """A vertex of forty arcs takes as long as many with one: it is the time between two looks that counts."""
    sparse, dense = (Auto(generators.random_dag(n, m), host) for n, m in ((200_000, 200_000), (20_000, 800_000)))
    assert sparse.often > 5 * dense.often
    spans = [plan.often * plan.serial / plan.graph.n for plan in (sparse, dense)]
    assert spans == pytest.approx([spans[0]] * 2, rel=0.2)


def test_a_cycle_is_found_whoever_is_first(host):
    ring = np.arange(80_000)
    with pytest.raises(CycleError):
        topological_sort(Graph.from_edges(ring, (ring + 1) % ring.size), executor=host)


def test_the_cpu_sorts_and_stops_the_other(words):
    graph = generators.random_dag(3000, 9000, seed=1)
    words[:] = 0
    count, path, first, order = race(graph, words)
    assert (count, first, words[8]) == (graph.n, True, 1)
    assert path < layers(graph, order)[1]
    again = Serial(graph)
    kahn(graph.offsets, graph.targets, again.left, again.order)
    np.testing.assert_array_equal(order, again.order)


def test_the_cpu_gives_up_at_once_if_the_other_is_done(words):
    words[:] = 0
    words[0] = 1
    assert race(generators.random_dag(3000, 9000), words)[:3] == (0, 0, False)
    assert words[8] == 0


def test_a_long_path_decides_for_the_cpu(words):
    words[:] = 0
    graph = generators.layered(3000, 1000)
    count, path, first, order = race(graph, words, enough=300, steps=5000)
    assert (count, path, first, words[8]) == (graph.n, 300, True, 1)
    assert verify(TopologicalOrder(graph, order, "serial"), graph) == "exact"


def test_no_path_is_longer_than_the_graph_is_deep(words):
    for seed in range(5):
        graph = generators.random_dag(3000, 9000, seed=seed)
        depth = layers(graph, topological_sort(graph, "serial").order)[1]
        words[:] = 0
        count, path, first, _ = race(graph, words, enough=depth, steps=20_000)
        assert (count, first) == (graph.n, True) and 0 < path < depth


def test_a_path_without_end_is_no_trap(words):
    words[:] = 0
    ring = np.arange(1000)
    graph = Graph.from_edges(ring, (ring + 1) % 1000)
    count, path, first, _ = race(graph, words, enough=2000, steps=5000)
    assert (count, path, first) == (0, 2000, True)


def test_enough_layers_take_the_gpu_as_long_as_the_cpu_needs():
    costs = Costs()
    for m, aim in ((10**3, 300.0), (10**6, 300.0), (10**6, 1e4), (8 * 10**6, 1e5)):
        found = costs.enough(m, aim)
        took = found * (costs.level + costs.wider * np.log2(1 + m / found))
        assert took == pytest.approx(aim, rel=0.05)


def test_the_cpu_gives_up_in_the_middle(words):
    """Somebody else's store is seen while the loop runs: the compiler may not keep the word in a register."""
    n = 4_000_000
    graph = generators.disjoint_paths(n, n, ids="random")
    race(generators.random_dag(10, 9), words)  # compiled
    plan = Serial(graph)
    for wait in (0.05, 0.1, 0.2):  # a million random vertices take some 50 ms; to find the source takes some more
        words[:] = 0
        plan.prepare()
        other = threading.Thread(target=lambda wait=wait: (time.sleep(wait), words.__setitem__(0, 1)))
        other.start()
        count, _, first, _ = race(graph, words, plan=plan)
        other.join()
        if count > 0:
            break
    assert 0 < count < n and not first


@pytest.mark.parametrize("kind", [RacingNarrow, RacingChains])
@pytest.mark.parametrize(
    "make", [lambda: generators.window_dag(900, 2000, 4), lambda: generators.disjoint_paths(4000, 2000)]
)
def test_a_kernel_that_is_told_to_stop_stops(kind, make, host):
    """Between levels, wherever it is; the next run starts anew."""
    graph = make()
    plan = kind(graph, host)
    plan.prepare()
    depth = layers(graph, topological_sort(graph, "serial").order)[1]
    plan.race.on_host[8] = 1
    plan.run()
    assert plan.race.on_host[0] == 1  # says that it is over
    count = int(host.get(plan.levels)[1])
    assert count < graph.n and int(host.get(plan.levels)[0]) < depth
    plan.prepare()
    assert verify(plan.run(), graph) == "exact"


def test_what_decides_is_a_cost_of_the_machine(host, monkeypatch):
    graph = generators.random_dag(300, 900)
    monkeypatch.setattr(Auto, "costs", Costs(launch=0.1, chains=0.1))
    assert topological_sort(graph, executor=host).strategy == "narrow"


@pytest.mark.gpu
@pytest.mark.parametrize(
    "make",
    [
        lambda: generators.window_dag(100_000, 300_000, 4),  # deep: the CPU wins
        lambda: generators.random_dag(1_000_000, 3_000_000),  # shallow: the GPU does
        lambda: generators.disjoint_paths(1_000_000, 1_000_000),
    ],
)
def test_race_on_the_gpu(make, cuda):
    graph = make()
    plan = Auto(graph, cuda)
    plan.warm()
    seen = set()
    for _ in range(5):
        plan.prepare()
        found = plan.run()
        assert verify(found, graph) == "exact"
        seen.add(found.strategy)
    assert seen <= {"serial", "narrow", "chains"}


@pytest.mark.gpu
def test_a_deep_sort_on_the_gpu_ends_when_it_is_told_to(cuda):
    graph = generators.layered(200_000, 100_000)
    plan = RacingNarrow(graph, cuda)
    plan.prepare()
    plan.run()
    time.sleep(0.002)
    plan.race.on_host[8] = 1
    begin = time.perf_counter()
    cuda.synchronize()
    assert time.perf_counter() - begin < 0.005  # to its end it would take 20 ms and more
    assert int(cuda.get(plan.levels)[1]) < graph.n
