"""`narrow` where a block goes by records: counters in a table or in place, room for all or few, not for all graphs."""

import numpy as np
import pytest

from lockstep.graphs import Graph, acyclic, generators
from lockstep.machine import get_executor
from lockstep.toposort import verify
from lockstep.toposort.resident import Chains, Narrow

GRAPHS = {
    "window": lambda seed: generators.window_dag(1500, 9000, 15, seed=seed),
    "layered": lambda seed: generators.layered(1200, 60, seed=seed),
    "wide": lambda seed: generators.window_dag(1500, 6000, 120, seed=seed),
    "short rows": lambda seed: generators.window_dag(1500, 4500, 15, seed=seed),
}


class Cramped(Narrow):
    """A table of four buckets, lists of a few chunks: full again and again, so the block leaves and comes back."""

    bucket_bits, list_chunks, most_touched = 2, 24, 30
    counter_choices = ()


class Roomy(Narrow):
    bucket_bits, list_chunks = 8, 256
    counter_choices = ()


class Roomier(Narrow):
    bucket_bits, list_chunks = 11, 256
    counter_choices = ()


class Short(Narrow):
    """A counter for every vertex, but lists of a few chunks."""

    list_chunks = 24


class Bytes(Narrow):
    counter_choices = (8,)


def sort(kind, graph, executor):
    plan = kind(graph, executor)
    plan.prepare()
    assert verify(plan.run(), graph) == "exact"
    return plan


def counted_anew(plan):
    """Vertices whose in-degree was looked up again after the block had gone on alone: touched when it came back."""
    bits = plan.code[0]
    codes = plan.executor.get(plan.codes)
    return int((codes >> 3 & (1 << (29 - bits)) - 1 != plan.degrees_on_host).sum())


@pytest.mark.parametrize("kind", [Roomy, Cramped, Narrow, Short, Bytes])
@pytest.mark.parametrize("name", GRAPHS)
def test_counts(kind, name, host):
    plan = sort(kind, GRAPHS[name](0), host)
    assert plan.code and plan.executor.get(plan.touched)[0] == 0  # nobody is left on the list
    assert plan.chunk == (4 if name == "short rows" else 8)
    assert plan.indexed == {Roomy: 0, Cramped: 0, Bytes: 8}.get(kind, 8 if plan.degrees_on_host.max() > 15 else 4)


@pytest.mark.parametrize("seed", range(3))
def test_levels_of_one_vertex_and_of_many_by_turns(seed, host):
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 5, 12, 30], 150)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = [
        (starts[level - 1] + rng.integers(sizes[level - 1]), v)
        for level in range(1, len(sizes))
        for v in range(starts[level], starts[level + 1])
        for _ in range(rng.integers(1, 4))
    ]
    graph = Graph.from_edges(*rng.permutation(starts[-1])[np.array(pairs)].T)
    for kind in (Narrow, Short):
        assert sort(kind, graph, host).indexed


def test_in_degrees_are_moved_back_when_a_level_is_too_wide(host):
    graph = forgetful(2)
    assert sort(Narrow, graph, host).indexed
    assert sort(Short, graph, host).indexed


def test_counters_that_do_not_fit_are_looked_up(host):
    few, many = generators.window_dag(2_000, 6_000, 20), generators.window_dag(500_000, 1_500_000, 20)
    assert Narrow(few, host).indexed and not Narrow(many, host).indexed


def test_a_full_table_sends_the_block_back(host):
    """What it had counted is then counted on in global memory, and again in the table later."""
    graph = GRAPHS["window"](1)
    few, all_of_them = counted_anew(sort(Roomy, graph, host)), counted_anew(sort(Cramped, graph, host))
    assert all_of_them > few


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


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_nobody_is_forgotten_who_is_not_met_between_two_leaves(runs, host):
    graph = forgetful(runs)
    assert sort(Roomy, graph, host).code


@pytest.mark.parametrize("fits", [True, False])
def test_without_room_the_block_goes_on_without_a_table(fits, host):
    """Arcs to anywhere: more vertices are touched than the table takes over. Packed rows tell the other way."""
    graph = acyclic(generators.erdos_renyi(1500, 4000, seed=3))
    plan = (Roomier if fits else Cramped)(graph, host)
    plan.rows[...] = -1
    plan.prepare()
    assert plan.code and verify(plan.run(), graph) == "exact"
    assert (host.get(plan.rows)[:, 0] >= 0).all() == (not fits)


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_fuzzed_counting(fuzz):
    for seed in range(4):
        executor = get_executor("host", seed=seed, fuzz=fuzz)
        for kind in (Roomy, Cramped, Narrow, Short):
            sort(kind, list(GRAPHS.values())[seed % 4](seed), executor)


@pytest.mark.parametrize(
    "graph",
    [
        generators.disjoint_paths(600, 30),  # a lane takes a vertex's row
        Graph.from_edges(np.repeat(np.arange(4), 50), np.tile(np.arange(4, 54), 4)),  # rows of 50 arcs
        Graph.from_edges(np.repeat(np.arange(33_000), 2), np.tile([33_000, 33_001], 33_000)),  # in-degrees of 33,000
    ],
    ids=["paths", "long-rows", "in-degrees"],
)
def test_graphs_that_no_code_describes(graph, host):
    assert Narrow(graph, host).code is None


def test_chains_counts_in_no_table(host):
    assert Chains(GRAPHS["window"](0), host).code is None


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [Narrow, Bytes, Short, Roomier, Cramped])
def test_counts_on_the_gpu(kind, cuda):
    for ids in ("random", "ordered"):
        graph = generators.window_dag(60_000, 400_000, 200, ids=ids)
        sort(kind, graph, cuda)
    sort(kind, generators.window_dag(60_000, 180_000, 200), cuda)
    sort(kind, generators.layered(60_000, 1_200), cuda)
