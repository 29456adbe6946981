"""`auto`: who is tried, who wins, and that the loser stops."""

import ctypes
import threading
import time

import numpy as np
import pytest

from lockstep.graphs import Graph, acyclic, generators, task_graphs
from lockstep.toposort import STRATEGIES, CycleError, Problem, topological_sort, verify
from lockstep.toposort.oracle import layers
from lockstep.toposort.result import TopologicalOrder
from lockstep.toposort.strategies import auto, competitors
from lockstep.toposort.strategies.auto import Auto
from lockstep.toposort.strategies.competitors import RacingAsynchronous, RacingChains, RacingNarrow
from lockstep.toposort.strategies.cpu_gpu_race import kahn_narrow, kahn_racing, mostly_links
from lockstep.toposort.strategies.narrow import Narrow
from lockstep.toposort.strategies.serial import Serial, kahn


def made(kind, graph, executor=None):
    """A plan of this kind, built."""
    return kind.make(STRATEGIES[kind.name], Problem.of(graph), executor, kind.Options())


@pytest.fixture(scope="module")
def words():
    return np.zeros(1, np.uint64)


def arrays(plan):
    return plan.graph.offsets, plan.graph.targets, plan.left, plan.order


def race(plan, words, head=0, tail=0, until=None):
    return kahn_racing(*arrays(plan), head, tail, words.ctypes.data, 256, until or plan.graph.n)


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


def test_trees_that_spread_are_sorted_by_layers(host):
    """Of a call tree one vertex is a source, of a reduction every second one."""
    for make, strategy in ((task_graphs.call_tree, "narrow"), (task_graphs.reduction, "asynchronous")):
        graph = make(30_000, ids="random")
        found = topological_sort(graph, executor=host)
        assert found.strategy == strategy and verify(found, graph) == "exact"
        assert ("is a source" in str(found.stats["reason"])) == (strategy == "narrow")


def test_small_sparse_graphs_are_not_sorted_by_layers(host):
    sizes = (50_000, 40_000), (50_000, 50_000), (50_000, 60_000), (200_000, 180_000)
    kinds = [made(Auto, generators.random_dag(*size), host).usual for size in sizes]
    assert kinds == [RacingAsynchronous, RacingAsynchronous, RacingNarrow, RacingNarrow]
    graph = generators.random_dag(7_000, 6_000)
    found = topological_sort(graph, executor=host)
    assert found.strategy == "asynchronous" and verify(found, graph) == "exact"


def test_sampling_tells_runs_from_what_merely_has_as_many_arcs():
    def links(graph):
        return mostly_links(graph.offsets, graph.in_degrees())

    assert links(generators.disjoint_paths(4000, 4000)) and links(generators.disjoint_paths(4000, 40))
    assert not links(generators.disjoint_paths(4000, 4))  # a quarter begins no link
    assert not links(generators.random_dag(4000, 4000)) and not links(task_graphs.reduction(4000))


def test_the_cpu_looks_about_as_often_whatever_a_vertex_takes(host):
    """A vertex of forty arcs takes as long as many with one: it is the time between two looks that counts."""
    sparse, dense = (made(Auto, generators.random_dag(n, m), host) for n, m in ((200_000, 200_000), (20_000, 800_000)))
    assert sparse.often > 2 * dense.often
    spans = [plan.often * plan.serial_us / plan.graph.n for plan in (sparse, dense)]
    assert spans == pytest.approx([spans[0]] * 2, rel=0.2)


@pytest.mark.parametrize("size", [8_000, 80_000])
def test_a_cycle_is_found_by_cpu_and_by_gpu(size, host):
    ring = np.arange(size)
    with pytest.raises(CycleError):
        topological_sort(Graph.from_edges(ring, (ring + 1) % ring.size), executor=host)


def test_narrow_levels_are_the_cpus_alone(host):
    for graph in (generators.layered(9_000, 1_500, ids="random"), acyclic(generators.road_like(9_001, seed=3))):
        plan = made(Auto, graph, host)
        found = topological_sort(graph, executor=host)
        assert not plan.by_cpu and found.strategy == "serial" and "few are ready" in str(found.stats["reason"])
        assert verify(found, graph) == "exact"


@pytest.mark.parametrize(
    "make", [lambda: task_graphs.call_tree(15_000), lambda: task_graphs.wavefront(90, 120), lambda: head_and_body()]
)
def test_the_gpu_is_tried_as_soon_as_levels_are_wide(make, host, monkeypatch):
    """Wherever that is, and however quick the CPU: it goes on from there."""
    monkeypatch.setattr(Auto, "costs", auto.Costs(launches=0))
    graph = make()
    plan = made(Serial, graph)
    head, tail = kahn_narrow(*arrays(plan), auto.ROOTS, auto.WIDTH, auto.SLACK, 0)
    assert 0 < head < graph.n / 2 and tail - head > auto.WIDTH
    assert race(plan, np.zeros(1, np.uint64), head, tail) == (graph.n, graph.n)
    again = made(Serial, graph)
    kahn(*arrays(again))
    np.testing.assert_array_equal(plan.order, again.order)
    found = topological_sort(graph, executor=host)
    assert found.strategy != "serial" and verify(found, graph) == "exact"


def head_and_body():
    """A path of 300 vertices that leads to one with many successors."""
    path, many = np.arange(300), np.arange(301, 9_000)
    sources = np.concatenate([path, np.full(many.size, 300), many[:-3000]])
    return Graph.from_edges(sources, np.concatenate([path + 1, many, many[3000:]]))


def test_what_is_left_must_be_worth_a_launch():
    plan = made(Serial, head_and_body())
    assert kahn_narrow(*arrays(plan), auto.ROOTS, auto.WIDTH, auto.SLACK, plan.graph.n) == (plan.graph.n,) * 2


@pytest.mark.parametrize("n", [1, 15, 16, 17, 1000])
def test_all_sources_are_found(n):
    graph = generators.random_dag(n, n // 2, seed=n)
    plan, again = made(Serial, graph), made(Serial, graph)
    assert kahn_narrow(*arrays(plan), n, 0, n, n) == (n, n)
    kahn(*arrays(again))
    np.testing.assert_array_equal(plan.order, again.order)


@pytest.mark.parametrize("depth, begun", [(200, (100, 200)), (100, (0, 0)), (10, (0, 0))])
def test_the_cpu_begins_only_where_few_vertices_do(depth, begun):
    plan = made(Serial, generators.layered(20_000, depth, ids="random"))
    assert kahn_narrow(*arrays(plan), auto.ROOTS, auto.WIDTH, auto.SLACK, 0) == begun


def test_the_cpu_sorts_to_the_end_if_no_kernel_does(words):
    graph = generators.random_dag(3000, 9000, seed=1)
    plan, again = made(Serial, graph), made(Serial, graph)
    words[:] = 0
    assert race(plan, words) == (graph.n, graph.n)
    kahn(*arrays(again))
    np.testing.assert_array_equal(plan.order, again.order)


def test_the_cpu_says_when_it_will_soon_be_done(words):
    plan = made(Serial, generators.random_dag(3000, 9000))
    words[:] = 0
    head, tail = race(plan, words, until=2000)
    assert 2000 <= head < 2256 and head < tail
    assert race(plan, words, head, tail) == (3000, 3000)
    assert verify(TopologicalOrder(plan.graph, plan.order, ""), plan.graph)


def test_the_cpu_gives_up_at_once_if_the_other_is_done(words):
    words[:] = 1
    head, tail = race(made(Serial, generators.random_dag(3000, 9000)), words)
    assert head == 0 and tail != head


def test_the_cpu_gives_up_in_the_middle(words):
    """Somebody else's store is seen while the loop runs: the compiler may not keep the word in a register."""
    n = 4_000_000
    graph = generators.disjoint_paths(n, n, ids="random")
    words[:] = 0
    race(made(Serial, generators.random_dag(10, 9)), words)  # compiled
    plan = made(Serial, graph)
    # A million random vertices take some 50 ms and to find the source some more, on a core that does nothing else.
    for wait in (0.05, 0.1, 0.2, 0.4, 0.05, 0.1, 0.2, 0.4, 0.8):
        words[:] = 0
        plan.reset()
        other = threading.Thread(target=lambda wait=wait: (time.sleep(wait), words.__setitem__(0, 1)))
        other.start()
        count, tail = race(plan, words)
        other.join()
        if 0 < count < n:
            break
    assert 0 < count < n and count != tail


@pytest.mark.parametrize("kind", [RacingNarrow, RacingChains, RacingAsynchronous])
@pytest.mark.parametrize(
    "make", [lambda: generators.window_dag(900, 2000, 4), lambda: generators.disjoint_paths(4000, 2000)]
)
def test_a_kernel_that_is_told_to_stop_stops(kind, make, host):
    """Between levels, wherever it is; the next run starts anew."""
    graph = make()
    plan = made(kind, graph, host)
    plan.reset()
    depth = layers(graph, topological_sort(graph, "serial").order)[1]
    plan.race.end()
    plan.run()
    assert plan.race.completion.value == 1  # the completion flag
    found, count = (None, plan.summary()[1]) if kind is RacingAsynchronous else host.get(plan.levels)[:2]
    assert count < graph.n and (found is None or found < depth)
    plan.reset()
    assert verify(plan.run(), graph) == "exact"


# Of going through levels: how to get them, a graph, and how many levels a kernel that is told goes on for at most.
WAYS = {
    "all blocks": (
        {"subset_max_width": 0, "arcs_alone": 0, "waits": (1000, 0)}, lambda: generators.layered(6000, 200), 4,
    ),
    "subset": ({"code": None, "waits": (1000, 0)}, lambda: generators.layered(2000, 200), 4),
    "subset that looks ahead": ({"max_held": 0, "waits": (1000, 0)}, lambda: generators.layered(1000, 200), 4),
    "records": ({"waits": (2, 0)}, lambda: generators.layered(2000, 200), 4),
    "table": ({"counter_choices": (), "waits": (2, 0)}, lambda: generators.layered(2000, 200), 4),
    "block": ({"code": None, "waits": (2, 0)}, lambda: generators.layered(6000, 200), 8),
    "block and warp in turns": ({"code": None, "waits": (2, 0)}, lambda: task_graphs.fork_join(100, 60), 16),
    "lanes": ({"code": None, "waits": (2, 0)}, lambda: generators.disjoint_paths(1000, 200), 16),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_hears_within_a_few_levels(way, host):
    """The word that it looks at is where it writes the size of a level: so it is told when that level begins."""
    how, make, most = WAYS[way]
    told = 100

    class Told(Narrow):
        def load(self):
            self.stop = self.levels[2 + told : 4 + told].view(np.uint64)
            super().load()

    plan = made(type("Told", (Told,), how), make(), host)
    plan.reset()
    plan.levels[...] = 0
    plan.run()
    assert told < host.get(plan.levels)[0] <= told + 1 + most


def test_what_decides_is_a_cost_of_the_machine(host, monkeypatch):
    graph = generators.random_dag(3_000, 9_000)
    monkeypatch.setattr(auto, "launch_us", lambda executor: 0.1)
    assert topological_sort(graph, executor=host).strategy == "narrow"


def test_the_cpu_wins_where_the_gpu_is_not_done(host, monkeypatch):
    """On the emulator a launch returns when all is done: so the word that says so is hidden."""
    graph = generators.random_dag(60_000, 120_000)
    plan = made(Auto, graph, host)
    plan.warm()
    plan.reset()
    gpu = plan.plan(RacingNarrow)
    launch_all = gpu.launch_all

    def hidden():
        launch_all()
        gpu.race.completion.value = 0

    monkeypatch.setattr(gpu, "launch_all", hidden)
    found = plan.run()
    assert found.strategy == "serial" and "the CPU was done first" in str(found.stats["reason"])
    assert gpu.race.stop[0] == 1 and verify(found, graph) == "exact"
    gpu.race.reset()
    assert gpu.race.stop[0] == 0


class Driver:
    """What a race calls by its address: the driver's launch, which notes what it is given, and a clock."""

    def __init__(self, plan, done=0, answer=0, vertex_ns=None):
        self.plan, self.done, self.answer, self.vertex_ns, self.launched = plan, done, answer, vertex_ns, []
        answer, word, size = ctypes.c_int, ctypes.c_size_t, ctypes.c_uint  # as cuda.h has them
        launch = ctypes.CFUNCTYPE(answer, word, *[size] * 7, word, word)(self.launch)
        clock = ctypes.CFUNCTYPE(answer, answer, word)(self.clock)
        self.functions = launch, clock
        plan.record["launch"], plan.record["clock"] = [ctypes.cast(f, ctypes.c_void_p).value for f in self.functions]

    def launch(self, *words):
        self.launched.append(words)
        if len(self.launched) == len(self.gpu.steps):
            self.gpu.race.completion.value = self.done
        return self.answer

    def clock(self, _, address):
        """The time, or what it is if each vertex takes as long; a kernel that was told to stop says that it is over."""
        now = time.monotonic_ns() if self.vertex_ns is None else 1_000 + self.vertex_ns * int(self.plan.record["head"])
        seconds, nanoseconds = divmod(now, 10**9)
        ctypes.c_int64.from_address(address).value = seconds
        ctypes.c_int64.from_address(address + 8).value = nanoseconds
        if self.launched and self.gpu.race.told.value:
            self.gpu.race.completion.value = 1
        return 0

    @property
    def gpu(self):
        return self.plan.plan(RacingChains if self.plan.record["chosen"] else self.plan.usual)


def raced(graph, host, **driver):
    """A race of which nothing is left to Python."""
    plan = made(Auto, graph, host)
    plan.warm()
    begin_again(plan)
    return plan, Driver(plan, **driver)


def begin_again(plan):
    """The launches are ten numbers each, as `record` would give."""
    plan.reset()
    for number, kind in enumerate([plan.usual, RacingChains][: 1 + plan.maybe_chains]):
        gpu = plan.plan(kind)
        starts = range(1000 * number, 1000 * number + 10 * len(gpu.steps), 10)
        competitors.enter(plan.record, number, gpu.race, [range(start, start + 10) for start in starts])


@pytest.mark.parametrize(
    "make, launched",
    [
        (lambda: generators.random_dag(60_000, 120_000), [range(10)]),
        (lambda: generators.random_dag(20_000, 20_000), [range(10)]),  # might be links, but is not
        (lambda: generators.disjoint_paths(80_000, 100), [range(1000 + k, 1010 + k) for k in (0, 10, 20)]),
    ],
)
def test_the_driver_is_called_without_python_and_with_all_it_needs(make, launched, host):
    plan, driver = raced(make(), host, done=1)
    launches = host.counts["launches"]
    found = plan.run()
    assert driver.launched == [tuple(words) for words in launched] and not driver.gpu.race.told.value
    assert found.strategy == driver.gpu.name and "was done when" in str(found.stats["reason"])
    assert host.counts["launches"] == launches + len(launched)


@pytest.mark.parametrize("wide", [False, True])
def test_the_gpu_is_told_without_python_when_the_cpu_is_nearly_done(wide, host):
    graph = generators.random_dag(60_000, 120_000)
    if wide:
        graph.targets = graph.targets.astype(np.int64)
    plan, driver = raced(graph, host)
    race = driver.gpu.race
    found = plan.run()
    assert race.told.value == 1 and 0 < plan.record["told"] < graph.n
    assert found.strategy == "serial" and "the CPU was done first" in str(found.stats["reason"])
    assert plan.record["ended"] and verify(found, graph) == "exact"


@pytest.mark.parametrize("vertex_ns, left", [(1, 12_000), (5, 5_000), (50, 500), (400, 62)])
def test_the_word_leaves_by_the_rate_that_the_clock_shows(vertex_ns, left, host):
    """Whatever the constants say: when what is left takes as long as a kernel's end, but at most a fifth is."""
    plan, driver = raced(generators.random_dag(60_000, 120_000), host, vertex_ns=vertex_ns)
    plan.record["patience"], plan.record["farewell"] = 0, 25_000
    found = plan.run()
    assert found.strategy == "serial" and verify(found, plan.graph) == "exact"
    look = max(4, min(1024, int(1e3 * auto.LOOK_US / vertex_ns)))  # so often it is asked
    assert left - look <= plan.graph.n - plan.record["told"] <= left


def test_the_cpu_goes_on_alone_where_it_is_quick(host):
    """Many join few, and few part: by the constants it takes thirty launches, by the clock eight or less."""
    graph = task_graphs.fork_join(40, 250)
    for vertex_ns, alone in ((3, True), (30, False)):
        plan, driver = raced(graph, host, vertex_ns=vertex_ns)
        found = plan.run()
        assert (not driver.launched) == alone and ("nothing to launch for" in str(found.stats["reason"])) == alone
        assert found.strategy == "serial" and verify(found, graph) == "exact"


def test_what_the_driver_refuses_is_launched_by_python(host):
    graph = generators.random_dag(60_000, 120_000)
    plan, driver = raced(graph, host, answer=1)
    found = plan.run()
    assert len(driver.launched) == 1 and found.strategy == "narrow" and verify(found, graph) == "exact"


def test_the_cpu_waits_no_longer_than_is_said(host):
    plan, driver = raced(generators.random_dag(60_000, 120_000), host)
    spent = []
    for wait in (0.0, 1.0, 60.0):
        begin_again(plan)
        plan.record["patience"], driver.done = 1e9 * wait, wait == 60.0
        begin = time.perf_counter()
        found = plan.run()
        spent.append(time.perf_counter() - begin)
        assert found.strategy == ("narrow" if driver.done else "serial")
        driver.launched.clear()
    assert spent[1] > 1 > spent[0] and spent[2] < 30  # who is done is not waited for


@pytest.mark.gpu
@pytest.mark.parametrize(
    "make",
    [
        lambda: generators.window_dag(100_000, 300_000, 4),  # deep: the CPU wins
        lambda: generators.random_dag(1_000_000, 3_000_000),  # shallow: the GPU does
        lambda: generators.random_dag(100_000, 90_000),
        lambda: generators.disjoint_paths(1_000_000, 1_000_000),
    ],
)
def test_race_on_the_gpu(make, cuda):
    def unwanted():
        raise AssertionError("Python launched")

    graph = make()
    plan = made(Auto, graph, cuda)
    seen = set()
    for turn in range(6):
        if turn == 1:
            plan.warm()
            for gpu in plan._plans.values():
                gpu.launch_all = unwanted  # what has been launched once is launched by its address
        plan.reset()
        found = plan.run()
        assert verify(found, graph) == "exact"
        seen.add(found.strategy)
    assert seen <= {"serial", "narrow", "chains", "asynchronous"}


@pytest.mark.gpu
def test_a_deep_sort_on_the_gpu_ends_when_it_is_told_to(cuda):
    graph = generators.layered(200_000, 100_000)
    plan = made(RacingNarrow, graph, cuda)
    plan.reset()
    plan.run()
    time.sleep(0.002)
    begin = time.perf_counter()
    plan.race.end()
    assert time.perf_counter() - begin < 0.005  # to its end it would take 20 ms and more
    assert int(cuda.get(plan.levels)[1]) < graph.n


def test_a_race_is_prepared_once_all_of_the_kernel_before_has_ended(host, monkeypatch):
    plan = made(RacingAsynchronous, generators.random_dag(100, 90), host)
    plan.stop[0] = 1
    waited = []
    monkeypatch.setattr(type(host), "synchronize", lambda _: waited.append(int(plan.stop[0])))
    plan.reset()
    assert waited[0] == 1 and plan.stop[0] == 0
