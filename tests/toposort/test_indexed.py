"""`narrow` where a block counts in slots of its shared memory: one for each vertex, or some in turns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.graphs import Graph, acyclic, generators
from lockstep.machine import get_executor
from lockstep.toposort import CycleError, topological_sort, verify
from lockstep.toposort.resident import Chains, Narrow
from lockstep.toposort.unproven import UnnumberedAuto, UnnumberedNarrow

GRAPHS = {
    "window": lambda seed: generators.window_dag(1500, 9000, 15, seed=seed),
    "layered": lambda seed: generators.layered(1200, 60, seed=seed),
    "wide": lambda seed: generators.window_dag(1500, 6000, 120, seed=seed),
    "short rows": lambda seed: generators.window_dag(1500, 3000, 15, seed=seed),
}


class Slots(Narrow):
    """Keeps what it gave the kernel, to be looked at: {crowded, ...}, and numbers."""

    def recorded(self):
        found = super().recorded()
        self.extra, self.numbers = found[2], found[3]
        return found

    @property
    def crowded(self):
        return bool(self.executor.get(self.extra)[0])


class Bytes(Slots):
    counter_choices = (8,)


class Wide(Slots):
    counter_choices = (16,)


class Few(Slots):
    """A fifth as many slots as vertices, or so."""

    rooms = (10, 300)


class Fewest(Slots):
    counter_choices = (16,)
    rooms = (10, 48)


class Short(Slots):
    """Lists of a few words."""

    list_words = 24


class ShortFew(Few):
    list_words = 24


KINDS = [Slots, Bytes, Wide, Few, Fewest, Short, ShortFew]


def sort(kind, graph, executor):
    plan = kind(graph, executor)
    plan.prepare()
    assert verify(plan.run(), graph) == "exact"
    return plan


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GRAPHS)
def test_counts(kind, name, host):
    graph = GRAPHS[name](0)
    plan = sort(kind, graph, host)
    assert plan.code.bits == {Bytes: 8, Wide: 16, Few: 8, Fewest: 16, ShortFew: 8}.get(kind, plan.code.bits)
    assert (plan.code.epoch_bits > 0) == (kind in (Few, Fewest, ShortFew))
    for _ in range(2):  # nothing is left of a run before
        plan.prepare()
        assert verify(plan.run(), graph) == "exact"


def test_a_chunk_holds_most_rows(host):
    for arcs, chunk in ((2100, 4), (4500, 8), (12000, 16)):
        assert Narrow(generators.window_dag(1500, arcs, 60), host).chunk == chunk


def layers_of(sizes, rng, extra, reach):
    """A graph of layers of these sizes; each vertex has up to `extra` predecessors more, up to `reach` layers back."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = []
    for level in range(1, len(sizes)):
        for v in range(starts[level], starts[level + 1]):
            pairs.append((rng.integers(starts[level - 1], starts[level]), v))
            for back in rng.integers(1, 1 + min(reach, level), rng.integers(0, extra + 1)):
                pairs.append((rng.integers(starts[level - back], starts[level - back + 1]), v))
    n = int(starts[-1])
    return Graph.from_edges(*rng.permutation(n)[np.unique(pairs, axis=0)].T, n=n)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    sizes=st.lists(st.integers(1, 30), min_size=4, max_size=60),
    extra=st.integers(1, 11),
    reach=st.sampled_from([1, 3, 60]),
    share=st.integers(2, 20),
    bits=st.sampled_from([8, 16]),
    words=st.sampled_from([8, 24, 1020]),
)
def test_whoever_meets_a_stranger_in_a_slot(seed, sizes, extra, reach, share, bits, words):
    """Arcs from far back defeat the guess which vertices need a slot at once: levels are done again by others."""
    graph = layers_of(sizes, np.random.default_rng(seed), extra, reach)

    class Shared(Slots):
        counter_choices = (bits, 16)
        rooms = (1, max(4, graph.n // share * bits // 8))
        list_words = words

    plan = Shared(graph, get_executor("host"))
    plan.prepare()
    assert verify(plan.run(), graph) == "exact"


def packed(plan):
    """Whether rows were packed, for a block that goes without slots; the first of them serve the numbering, too."""
    return bool((plan.executor.get(plan.rows)[plan.graph.n // 2 :] != -1).any())


def test_strangers_make_a_block_give_up_its_slots(host):
    graph = acyclic(generators.erdos_renyi(1500, 4000, seed=3))
    for kind, gives_up in ((Slots, False), (Few, True)):
        plan = kind(graph, host)
        plan.rows[...] = -1
        plan.prepare()
        assert verify(plan.run(), graph) == "exact"
        assert packed(plan) == gives_up


def test_late_sources_do_not_mislead_the_guess(host):
    """Every thirtieth vertex is a source, at the end as at the beginning: steps back to it tell nothing."""
    rng = np.random.default_rng(0)
    n, sources, targets = 6000, [], []
    for v in range(1, n):
        if v % 30:
            preds = np.unique(rng.integers(max(0, v - 30), v, 5))
            sources += preds.tolist()
            targets += [v] * preds.size
    ids = rng.permutation(n)
    graph = Graph.from_edges(ids[sources], ids[targets], n=n)

    class Fifth(Slots):
        rooms = (10, n // 5)

    plan = Fifth(graph, host)
    plan.rows[...] = -1
    plan.prepare()
    assert verify(plan.run(), graph) == "exact"
    assert plan.code.epoch_bits and not plan.crowded and not packed(plan)
    places = host.get(plan.numbers)[ids]  # {slot | epoch} along the order in which they were made
    rank = (places & (1 << plan.code.epoch_bits) - 1) * plan.code.slots + (places >> plan.code.epoch_bits)
    made = np.arange(n)
    assert np.abs(rank - made)[made % 30 != 0].max() < plan.code.slots  # a source needs no slot


@pytest.mark.parametrize("seed", range(3))
def test_levels_of_one_vertex_and_of_many_by_turns(seed, host):
    rng = np.random.default_rng(seed)
    graph = layers_of(rng.choice([1, 2, 5, 12, 30], 150), rng, 2, 1)
    for kind in (Slots, Few, Short, ShortFew):
        sort(kind, graph, host)


def test_rows_of_several_chunks(host):
    """Rows of up to 64 arcs; now and then more of them get ready at once than a short list has room for."""
    rng = np.random.default_rng(1)
    sizes = np.tile([3, 60, 20, 5, 1, 40], 12)
    graph = layers_of(sizes, rng, 10, 1)
    longest = int(np.diff(graph.offsets).max())
    assert 16 < longest <= 64
    for kind in (Slots, Short, Few, ShortFew):
        assert sort(kind, graph, host).longest == longest


def forgetful(runs, seed=0):
    """Narrow stretches with wide ones between; the last layer has lost its first predecessors in the first stretch."""
    rng = np.random.default_rng(seed)
    sizes = ([20] * 30 + [60, 180, 500, 500, 180, 60]) * runs + [20] * 30
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = int(starts[-1])
    pairs = [
        (u, v)
        for level in range(1, len(sizes))
        for v in range(starts[level], starts[level + 1])
        for u in starts[level - 1] + rng.choice(sizes[level - 1], 3, replace=False)
    ]
    pairs += [(rng.integers(starts[5], starts[6]), v) for v in range(n - 20, n)]
    return Graph.from_edges(*rng.permutation(n)[np.array(pairs)].T)


@pytest.mark.parametrize("kind", [Slots, Few, Short])
@pytest.mark.parametrize("runs", [1, 2, 3])
def test_nobody_is_forgotten_who_is_not_met_between_two_leaves(kind, runs, host):
    sort(kind, forgetful(runs), host)


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_fuzzed_counting(fuzz):
    for seed in range(4):
        executor = get_executor("host", seed=seed, fuzz=fuzz)
        for kind in (Slots, Few, Fewest, ShortFew):
            sort(kind, list(GRAPHS.values())[seed % 4](seed), executor)


@pytest.mark.parametrize(
    "graph",
    [
        generators.disjoint_paths(600, 30),  # a lane takes a vertex's row
        acyclic(generators.road_like(900)),  # and few vertices are ready at a time
        Graph.from_edges(np.repeat(np.arange(4), 80), np.tile(np.arange(4, 84), 4)),  # rows of 80 arcs
        Graph.from_edges(np.repeat(np.arange(70_000), 2), np.tile([70_000, 70_001], 70_000)),  # in-degrees of 70,000
    ],
    ids=["paths", "roads", "long-rows", "in-degrees"],
)
def test_graphs_that_no_code_describes(graph, host):
    assert Narrow(graph, host).code is None


def test_sparse_graphs_with_many_sources_are_counted(host):
    assert Narrow(acyclic(generators.erdos_renyi(1500, 1700, seed=1)), host).code


def test_chains_counts_by_rows(host):
    assert Chains(GRAPHS["window"](0), host).code is None


def test_a_graph_that_may_have_a_cycle_shares_no_slots(host, monkeypatch):
    """What `topological_sort` is given may have a cycle, from which no steps lead back to a source."""
    monkeypatch.setattr(Narrow, "rooms", (10, 300))
    graph = GRAPHS["window"](0)
    assert Narrow(graph, host).code.epoch_bits and UnnumberedNarrow(graph, host).code is None
    assert all(kind(graph, host).code is None for kind in set(UnnumberedAuto(graph, host).kinds))
    for strategy in ("narrow", "auto"):
        assert verify(topological_sort(graph, strategy, executor=host), graph)
    sources, targets = graph.edges()[:2]
    cyclic = Graph.from_edges(np.append(sources, targets[-1]), np.append(targets, sources[-1]), n=graph.n)
    for strategy in ("narrow", "auto"):
        with pytest.raises(CycleError):
            topological_sort(cyclic, strategy, executor=host)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_counts_on_the_gpu(kind, cuda):
    for ids in ("random", "ordered"):
        sort(kind, generators.window_dag(60_000, 400_000, 200, ids=ids), cuda)
    sort(kind, generators.window_dag(60_000, 180_000, 200), cuda)
    sort(kind, generators.layered(60_000, 1_200), cuda)
