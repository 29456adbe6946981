"""Breadth-first search, held against NetworkX."""

import networkx as nx
import numpy as np
import pytest

from lockstep.graphs import generators
from lockstep.graphs.search import visit


@pytest.mark.parametrize("seed", range(3))
def test_levels_and_order_are_networkxs(seed):
    graph = generators.erdos_renyi(60, 80, seed=seed)
    level, queue = np.full(graph.n, -1, np.int32), np.empty(graph.n, np.int32)
    count = visit(graph.offsets, graph.targets, 7, level, queue)
    expected = nx.single_source_shortest_path_length(graph.to_networkx(), 7)
    assert {v: int(level[v]) for v in range(graph.n) if level[v] >= 0} == expected
    assert count == len(expected) and sorted(queue[:count]) == sorted(expected)
    assert (np.diff(level[queue[:count]]) >= 0).all(), "the nearest first"
    # where it has been it does not go again
    assert visit(graph.offsets, graph.targets, 7, level, queue) == 1
