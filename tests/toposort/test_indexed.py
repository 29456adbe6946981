"""`narrow` where a block goes by records: slots for all vertices, or in turns; strangers; what sends it back."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lockstep.graphs import Graph, acyclic, generators
from lockstep.machine import get_executor
from lockstep.toposort import STRATEGIES, CycleError, Problem, topological_sort, verify
from lockstep.toposort.strategies.chains import Chains
from lockstep.toposort.strategies.competitors import RacingNarrow
from lockstep.toposort.strategies.narrow import Narrow
from lockstep.toposort.strategies.serial import kahn


def made(kind, graph, executor=None):
    """A plan of this kind, built."""
    return kind.make(STRATEGIES[kind.name], Problem.of(graph), executor, kind.Options())


GRAPHS = {
    "window": lambda seed: generators.window_dag(1500, 9000, 15, seed=seed),
    "layered": lambda seed: generators.layered(1200, 60, seed=seed),
    "wide": lambda seed: generators.window_dag(1500, 6000, 120, seed=seed),
    "short rows": lambda seed: generators.window_dag(1500, 3000, 15, seed=seed),
}


class Indexed(Narrow):
    """Keeps the arrays that a test looks into."""

    def recorded(self):
        arguments = super().recorded()
        self.extra, self.numbers = arguments[2:4]
        return arguments

    @property
    def crowded(self):
        """Whether two vertices of a slot were both counted in part when block 0 was to come back."""
        return bool(self.executor.get(self.extra[:1])[0])

    @property
    def gave_up(self):
        """Whether block 0 went on without records: packed rows tell the other way. They must be -1 beforehand."""
        return bool((self.executor.get(self.rows)[:, 0] >= 0).all())


class Bytes(Indexed):
    counter_choices = (8,)


class Halves(Indexed):
    counter_choices = (16,)


class Few(Indexed):
    rooms = 10, 400  # bytes


class VeryFew(Halves):
    rooms = 10, 300


class Short(Indexed):
    """A level of a few more vertices than others sends the block back, and so do some long rows."""

    list_words = 24


class ShortFew(Few):
    list_words = 24


KINDS = [Indexed, Bytes, Halves, Few, VeryFew, Short, ShortFew]


def sort(kind, graph, executor):
    plan = made(kind, graph, executor)
    plan.rows[...] = -1
    plan.reset()
    assert verify(plan.run(), graph) == "exact"
    assert plan.code
    return plan


def kind_of(**settings):
    return type("Made", (Indexed,), settings)


def layers_of(sizes, in_degree, rng):
    """Pairs for layers of these sizes: each vertex has so many distinct predecessors in the layer before, if it can."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = [
        (u, v)
        for level in range(1, len(sizes))
        for v in range(starts[level], starts[level + 1])
        for u in starts[level - 1] + rng.choice(sizes[level - 1], min(in_degree, sizes[level - 1]), replace=False)
    ]
    return starts, pairs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GRAPHS)
def test_sorts_again_and_again(kind, name, host):
    graph = GRAPHS[name](0)
    plan = sort(kind, graph, host)
    for _ in range(2):
        plan.reset()
        assert verify(plan.run(), graph) == "exact"


def test_counters_are_as_small_as_can_be_and_not_all_vertices_have_one(host):
    graph = GRAPHS["window"](0)
    assert {kind: (made(kind, graph, host).code.bits, made(kind, graph, host).code.slots) for kind in KINDS} == {
        Indexed: (4, 1500),
        Bytes: (8, 1500),
        Halves: (16, 1500),
        Few: (8, 400),  # an epoch and an in-degree take more than 4 bits
        VeryFew: (16, 150),
        Short: (4, 1500),
        ShortFew: (8, 400),
    }
    many = made(Narrow, generators.window_dag(2_000_000, 4_000_000, 20), host).code
    assert many.slots < 2_000_000 <= many.slots << many.epoch_bits


@pytest.mark.parametrize("arcs, chunk", [(3000, 4), (6000, 8), (9000, 16)])
def test_few_rows_take_more_than_a_chunk(arcs, chunk, host):
    assert made(Narrow, generators.window_dag(1500, arcs, 15), host).chunk == chunk


def misguessed(counted, in_degree, front=20, late=60, width=6):
    """Narrow layers, and a vertex that gets ready far later than it seems: `counted` predecessors come early, and the
    last one `late` layers after the first. Which of its predecessors it is numbered by, ids decide: the early ones have
    the largest. One behind it alone is numbered early too, and counts nothing until then.
    """
    starts, pairs = layers_of([width] * (front + 120), in_degree, np.random.default_rng(0))
    late_one = int(starts[-1])
    pairs += [(starts[front + k] + k % width, late_one) for k in range(counted)]
    pairs += [(starts[front + late], late_one), (late_one, late_one + 1)]
    u, v = late_one + 1 - np.array(pairs).T
    return Graph.from_edges(u, v, n=late_one + 2), 1


class Met(Halves):
    """A hundred slots for any graph."""

    rooms = 10, 200

    def rows_are_worth_records(self):
        return True


@pytest.mark.parametrize("in_degree", [1, 2, 4, 6])
@pytest.mark.parametrize("counted", [1, 2, 4, 9])
def test_strangers_are_met(counted, in_degree, host):
    """Whose slot it is has counted less than a stranger's in-degree, as much, one less than that, or more."""
    graph, late_one = misguessed(counted, in_degree)
    plan = sort(Met, graph, host)
    numbers, bits = host.get(plan.numbers), plan.code.epoch_bits
    slot, epoch = numbers >> bits, numbers & (1 << bits) - 1
    (stranger,) = np.flatnonzero((slot == slot[late_one]) & (epoch == epoch[late_one] + 1))
    assert plan.degrees_on_host[[late_one, stranger]].tolist() == [counted + 1, in_degree]
    assert plan.gave_up and not plan.crowded


@pytest.mark.parametrize("front, gives_up", [(20, True), (560, False)])
def test_after_many_levels_a_stranger_is_no_reason_to_give_up(front, gives_up, host):
    graph, _ = misguessed(3, 4, front, late=18)  # done a level after the first stranger is met
    assert sort(Met, graph, host).gave_up == gives_up


def test_arcs_from_anywhere_to_anywhere_meet_strangers(host):
    graph = acyclic(generators.erdos_renyi(1500, 4000, seed=3))
    assert sort(VeryFew, graph, host).gave_up and not sort(Indexed, graph, host).gave_up


@st.composite
def mixed(draw):
    """A random DAG: layers of few vertices, arcs from the layer before, and some from any layer before that."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = rng.choice(draw(st.sampled_from([(1, 2, 5, 12, 30), (3, 4), (10, 20, 30), (1, 8)])), rng.integers(30, 120))
    most, far = draw(st.integers(2, 12)), draw(st.sampled_from([0, 0.001, 0.02, 0.3]))
    starts, pairs = layers_of(sizes, 1, rng)
    for level in range(1, len(sizes)):
        for v in range(starts[level], starts[level + 1]):
            for _ in range(rng.integers(0, most)):
                before = 0 if rng.random() < far else starts[level - 1]
                pairs.append((rng.integers(before, starts[level]), v))
    return Graph.from_edges(*rng.permutation(starts[-1])[np.array(pairs)].T, n=int(starts[-1]))


@settings(max_examples=40, deadline=None)
@given(mixed(), st.integers(2, 20), st.sampled_from([24, 60, 1020]), st.integers(0, 100), st.sampled_from([1, 2, 9]))
def test_any_graph_with_any_number_of_slots(graph, epochs, list_words, seed, narrow_levels):
    kind = kind_of(rooms=(4, max(4, 2 * graph.n // epochs)), list_words=list_words, waits=(narrow_levels, 0))
    executor = get_executor("host", seed=seed, fuzz=["none", "sync", "memory"][seed % 3])
    assume(made(kind, graph, executor).code)
    sort(kind, graph, executor)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_levels_of_one_vertex_and_of_many_by_turns(seed, kind, host):
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 5, 12, 30], 150)
    starts, pairs = layers_of(sizes, 3, rng)
    sort(kind, Graph.from_edges(*rng.permutation(starts[-1])[np.array(pairs)].T), host)


def forgetful(runs, seed=0):
    """Narrow stretches with wide ones between; the last layer has lost its first predecessors in the first stretch."""
    rng = np.random.default_rng(seed)
    starts, pairs = layers_of(([20] * 30 + [60, 180, 800, 800, 180, 60]) * runs + [20] * 30, 3, rng)
    n = int(starts[-1])
    pairs += [(rng.integers(starts[5], starts[6]), v) for v in range(n - 20, n)]
    return Graph.from_edges(*rng.permutation(n)[np.array(pairs)].T)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("runs", [1, 2, 3])
def test_a_vertex_not_met_between_two_leaves_is_kept(runs, kind, host):
    """A level that is too wide sends the block back; what it has counted others count on, and later it itself again."""
    sort(kind, forgetful(runs), host)


def test_two_of_a_slot_that_have_lost_predecessors_leave_no_room(host):
    """All in the second narrow stretch have, by the wide level; with a slot for each that is no matter."""
    starts, pairs = layers_of([20] * 30 + [60, 180, 500, 180, 60] + [20] * 60, 3, np.random.default_rng(0))
    pairs += [(starts[32] + v % 500, v) for v in range(starts[36], starts[-1])]
    graph = Graph.from_edges(*np.array(pairs).T)  # ids in order: a vertex is numbered by one of the layer before
    leaves = {"arcs_counted": 75}
    few = sort(kind_of(rooms=(10, 300), counter_choices=(16,), **leaves), graph, host)
    all_have_one = sort(kind_of(**leaves), graph, host)
    assert few.crowded and few.gave_up
    assert not all_have_one.crowded and not all_have_one.gave_up


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_others_do_the_level_in_which_a_stranger_is_met_at_once(fuzz):
    """They find rows in the queue that were there before block 0 tried, and rows put there since: the same."""
    graph = acyclic(generators.erdos_renyi(600, 1500, seed=3))
    for seed in range(20):
        executor = get_executor("host", seed=seed, fuzz=fuzz)
        assert sort(kind_of(rooms=(10, 120), waits=(1 + seed % 4, 0)), graph, executor).gave_up


def long_rows(arcs, width=10, layers=60):
    """Layers in which each vertex leads to all of the next few, so many arcs in all, and every tenth layer to one."""
    v = np.arange(width * layers)
    last = np.minimum((v // width + 1) * width + np.where(v // width % 10 == 9, 1, arcs), v.size)
    pairs = [(u, w) for u in v for w in range((u // width + 1) * width, last[u])]
    return Graph.from_edges(*np.array(pairs).T)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("arcs", [17, 33, 64])
def test_rows_of_several_chunks(arcs, kind, host):
    """Ten of them at a time are too many for a short list."""
    plan = sort(kind, long_rows(arcs), host)
    assert plan.chunk == 16 and plan.longest == arcs


@pytest.mark.parametrize("kind", KINDS)
def test_vertices_without_successors(kind, host):
    """They lead nowhere, and there are some in all layers."""
    rng = np.random.default_rng(0)
    starts, pairs = layers_of([8] * 100, 3, rng)
    n = int(starts[-1])
    pairs += [(u, v) for v in range(n, n + 200) for u in rng.choice(n, rng.integers(1, 4))]
    sort(kind, Graph.from_edges(*rng.permutation(n + 200)[np.array(pairs)].T), host)


@pytest.mark.parametrize("fuzz", ["none", "sync", "memory"])
@pytest.mark.parametrize("behind", [0, 200])
@pytest.mark.parametrize("ring", [1, 2, 3, 50])
def test_what_is_not_on_or_behind_a_cycle_is_sorted(ring, behind, fuzz):
    """Steps back along a cycle never end: they must not lead to a place beyond all others."""
    dag, rng = generators.window_dag(600, 2400, 20), np.random.default_rng(ring)
    n, round_it = dag.n, dag.n + np.arange(ring)
    path = np.concatenate([[n], n + ring + np.arange(behind)])
    pieces = [dag.edges(), (round_it, np.roll(round_it, -1)), (path[:-1], path[1:])]
    pieces += [([0], [n]), (rng.integers(0, n, behind), path[1:])]
    graph = Graph.from_edges(*(np.concatenate(ends) for ends in zip(*pieces, strict=True)))
    expected = np.empty(graph.n, np.int64)
    assert kahn(graph.offsets, graph.targets, graph.in_degrees(), expected) == n
    for kind in (Indexed, kind_of(rooms=(10, 200)), kind_of(rooms=(10, 200), counter_choices=(16,), list_words=24)):
        plan = made(kind, graph, get_executor("host", seed=ring, fuzz=fuzz))
        plan.reset()
        place = np.full(graph.n, graph.n)
        place[plan.run().order] = np.arange(n)
        assert bool(plan.code.epoch_bits) == (kind is not Indexed)
        assert (place[:n] < n).all() and (place[dag.edges()[0]] < place[dag.edges()[1]]).all()


def test_a_cycle_is_told_of_where_vertices_share_slots(host, monkeypatch):
    monkeypatch.setattr(Narrow, "rooms", (10, 300))
    graph = GRAPHS["window"](0)
    sources, targets = graph.edges()[:2]
    cyclic = Graph.from_edges(np.append(sources, targets[-1]), np.append(targets, sources[-1]), n=graph.n)
    assert made(Narrow, graph, host).code.epoch_bits and made(Narrow, cyclic, host).code.epoch_bits
    assert verify(topological_sort(graph, "narrow", executor=host), graph)
    with pytest.raises(CycleError):
        topological_sort(cyclic, "narrow", executor=host)
    racing = made(RacingNarrow, cyclic, host)  # what `auto` runs, which would give so small a graph to the CPU
    racing.reset()
    expected = np.empty(graph.n, np.int64)
    assert racing.run().order.size == kahn(cyclic.offsets, cyclic.targets, cyclic.in_degrees(), expected) < graph.n


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fraction", [5, 8])
def test_late_sources_do_not_mislead(fraction, seed, host):
    """Every fifth vertex is led to by one, too: seen from there it would be ready at once."""
    dag, rng = generators.window_dag(3000, 15_000, 30, seed=seed), np.random.default_rng(seed)
    late = 3000 + np.arange(600)
    graph = Graph.from_edges(*np.concatenate([dag.edges(), [late, rng.integers(0, 3000, late.size)]], axis=1))
    plan = sort(kind_of(rooms=(10, 2 * graph.n // fraction), counter_choices=(16,), waits=(6, 0)), graph, host)
    assert plan.code.slots <= graph.n // fraction and not plan.gave_up and not plan.crowded


def test_what_is_ready_from_late_sources_alone_is_done_before_block_0_begins(host):
    """Such a vertex leads to one whose turn is far off: so the block waits for some levels more than two."""
    graph = generators.window_dag(3000, 9000, 30)
    assert (graph.in_degrees() == 0).sum() == 150
    early, later = (kind_of(rooms=(10, 1200), counter_choices=(16,), waits=(levels, 0)) for levels in (2, 6))
    assert sort(early, graph, host).gave_up and not sort(later, graph, host).gave_up
    assert Narrow.least_narrow_levels >= 6


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
@pytest.mark.parametrize("kind", KINDS)
def test_fuzzed(kind, fuzz):
    graphs = [*(make(1) for make in GRAPHS.values()), misguessed(3, 4)[0], long_rows(33)]
    for seed in range(6):
        sort(kind, graphs[seed], get_executor("host", seed=seed, fuzz=fuzz, multiprocessors=2 + seed % 3))


@pytest.mark.parametrize(
    "graph",
    [
        generators.disjoint_paths(600, 30),  # a lane takes a vertex's row
        Graph.from_edges(np.repeat(np.arange(4), 65), np.tile(np.arange(4, 69), 4)),  # rows of five chunks
        Graph.from_edges(np.repeat(np.arange(33_000), 2), np.tile([33_000, 33_001], 33_000)),  # in-degrees of 33,000
    ],
    ids=["paths", "long-rows", "in-degrees"],
)
def test_graphs_that_no_code_describes(graph, host):
    assert made(Narrow, graph, host).code is None


def history(n, seed=0):
    """As of commits: each follows the one before or one a little earlier, and some merge two."""
    rng, v = np.random.default_rng(seed), np.arange(1, n)
    merges = v[rng.random(n - 1) < 0.3]
    behind = np.concatenate([v, merges])
    back = np.concatenate([rng.integers(1, 4, v.size), rng.integers(2, 40, merges.size)])
    return Graph.from_edges(np.maximum(behind - back, 0), behind)


@pytest.mark.parametrize(
    "make, worth",
    [
        (lambda: generators.disjoint_paths(3000, 100), False),
        (lambda: acyclic(generators.road_like(3000)), False),
        (lambda: history(3000), False),
        (lambda: generators.random_dag(3000, 3600), True),
        (lambda: generators.window_dag(3000, 6000, 20), True),
    ],
    ids=["paths", "roads", "commits", "sparse-random", "window"],
)
def test_records_are_worth_it_where_many_are_ready_or_rows_have_some_arcs(make, worth, host):
    plan = made(Narrow, make(), host)
    assert plan.rows_are_worth_records() == bool(plan.code) == worth


def test_chains_goes_by_no_records(host):
    assert made(Chains, GRAPHS["window"](0), host).code is None


class TenthOfThem(Indexed):
    """On a GPU, whose levels are wider."""

    @property
    def rooms(self):
        return 10, self.graph.n // 5

    counter_choices = (16,)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [Indexed, Bytes, Halves, TenthOfThem, VeryFew, Short])
def test_on_the_gpu(kind, cuda):
    for ids in ("random", "ordered"):
        graph = generators.window_dag(60_000, 400_000, 200, ids=ids)
        sort(kind, graph, cuda)
    sort(kind, generators.window_dag(60_000, 180_000, 200), cuda)
    sort(kind, generators.layered(60_000, 1_200), cuda)
    sort(kind, acyclic(generators.erdos_renyi(30_000, 60_000)), cuda)
    sort(kind, forgetful(3), cuda)
