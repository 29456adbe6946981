"""DAGs that programs make."""

import numpy as np
import pytest

from lockstep.graphs import GraphError, task_graphs
from lockstep.toposort import topological_sort

MADE = {
    "wavefront": (lambda **k: task_graphs.wavefront(6, 9, **k), 54, 14),
    "butterfly": (lambda **k: task_graphs.butterfly(4, **k), 80, 5),
    "reduction": (lambda **k: task_graphs.reduction(31, **k), 31, 5),
    "call_tree": (lambda **k: task_graphs.call_tree(50, **k), 50, None),
    "cholesky": (lambda **k: task_graphs.cholesky(6, **k), 56, 16),
    "fork_join": (lambda **k: task_graphs.fork_join(4, 7, **k), 33, 9),
    "lu": (lambda **k: task_graphs.lu(4, **k), 30, 10),
    "stencil": (lambda **k: task_graphs.stencil(5, 8, **k), 40, 5),
}


@pytest.mark.parametrize("name", task_graphs.FAMILIES)
@pytest.mark.parametrize("ids", ["ordered", "random"])
def test_what_they_are(name, ids):
    make, n, depth = MADE[name]
    graph = make(ids=ids)
    found = topological_sort(graph, "serial")
    assert graph.n == n and found.depth == (depth or found.depth)
    ins, outs = graph.in_degrees(), np.diff(graph.offsets)
    if name == "wavefront":
        assert graph.m == 5 * 9 + 6 * 8 + 5 * 8 and ins.max() == outs.max() == 3 and (ins == 0).sum() == 1
    elif name == "butterfly":
        assert graph.m == 2 * 4 * 16 and sorted(set(ins)) == sorted(set(outs)) == [0, 2]
    elif name == "reduction":
        assert sorted(set(ins)) == [0, 2] and (outs == 0).sum() == 1 and outs.max() == 1
    elif name == "cholesky":
        assert graph.m == 15 + 35 + 35 + 20 and (ins == 0).sum() == 1 and (outs == 0).sum() == 1 and ins.max() == 3
    elif name == "lu":
        assert graph.m == 14 + 14 + 14 + 12 and (ins == 0).sum() == 1 and (outs == 0).sum() == 1 and ins.max() == 3
    elif name == "stencil":
        assert graph.m == 4 * (8 + 7 + 7) and sorted(set(ins)) == sorted(set(outs)) == [0, 2, 3]
    elif name == "fork_join":
        assert graph.m == 4 * 14 and sorted(set(ins)) == sorted(set(outs)) == [0, 1, 7]
    else:
        assert graph.m == n - 1 and ins.max() == 1 and (ins == 0).sum() == 1 and outs.max() > 2


@pytest.mark.parametrize("name", task_graphs.FAMILIES)
def test_random_ids_are_another_numbering_of_the_same(name):
    make = MADE[name][0]
    ordered, random, again, other = make(ids="ordered"), make(), make(ids="random"), make(seed=5)
    degrees = [sorted(zip(graph.in_degrees(), np.diff(graph.offsets), strict=True)) for graph in (ordered, random)]
    assert degrees[0] == degrees[1]
    np.testing.assert_array_equal(random.targets, again.targets)
    assert not np.array_equal(random.targets, other.targets)


def test_the_butterfly_pairs_by_each_bit_once():
    graph = task_graphs.butterfly(3, ids="ordered")
    for v in range(24):
        own = graph.targets[graph.offsets[v] : graph.offsets[v + 1]]
        assert set(own) == {v + 8, (v ^ (1 << v // 8)) + 8}


def test_a_factorization_computes_a_factor():
    """Tasks done in the order that the sort gives, each on its tile of one number, leave L of L L' = A."""
    tiles = 5
    graph = task_graphs.cholesky(tiles, ids="ordered")
    tasks = [(i, j, k) for i in range(tiles) for j in range(i + 1) for k in range(j + 1)]
    whole = np.random.default_rng(0).normal(size=(tiles, tiles))
    whole = whole @ whole.T + tiles * np.eye(tiles)
    part = np.tril(whole)
    for v in topological_sort(graph, "serial").order:
        i, j, k = tasks[v]
        if k < j:
            part[i, j] -= part[i, k] * part[j, k]
        else:
            part[i, j] = np.sqrt(part[i, i]) if i == j else part[i, j] / part[j, j]
    np.testing.assert_allclose(part, np.linalg.cholesky(whole))


def test_the_other_factorization_computes_both_factors():
    """As above: each tile of one number ends as its place in L, whose diagonal is 1, or in U."""
    tiles = 5
    graph = task_graphs.lu(tiles, ids="ordered")
    tasks = [(i, j, k) for i in range(tiles) for j in range(tiles) for k in range(min(i, j) + 1)]
    whole = np.random.default_rng(0).normal(size=(tiles, tiles)) + tiles * np.eye(tiles)
    part = whole.copy()
    for v in topological_sort(graph, "serial").order:
        i, j, k = tasks[v]
        if k < min(i, j):
            part[i, j] -= part[i, k] * part[k, j]
        elif i > j:
            part[i, j] /= part[j, j]
    np.testing.assert_allclose((np.tril(part, -1) + np.eye(tiles)) @ np.triu(part), whole)


def test_a_cell_waits_for_its_neighbourhood():
    graph = task_graphs.stencil(3, 6, ids="ordered")
    for v in range(12):
        own = graph.targets[graph.offsets[v] : graph.offsets[v + 1]] - (v // 6 + 1) * 6
        assert sorted(own) == [cell for cell in (v % 6 - 1, v % 6, v % 6 + 1) if 0 <= cell < 6]


def test_the_smallest_and_the_impossible():
    assert task_graphs.wavefront(1, 1).m == task_graphs.butterfly(0).m == task_graphs.reduction(1).m == 0
    assert task_graphs.call_tree(0).n == 0
    assert task_graphs.cholesky(1).n == 1 and task_graphs.cholesky(2).m == 3 and task_graphs.fork_join(1, 1).m == 2
    assert task_graphs.lu(1).n == 1 and task_graphs.lu(2).m == 5 and task_graphs.stencil(1, 4).m == 0
    with pytest.raises(GraphError, match="rows is 0"):
        task_graphs.wavefront(0, 3)
    with pytest.raises(GraphError, match="ids is 'any'"):
        task_graphs.reduction(9, ids="any")
