"""Benchmark II: the table's shares, simple graphs, the same ones in any company."""

import numpy as np
import pytest

from lockstep.batch.batch import GraphBatch
from lockstep.graphs import Graph
from lockstep.swarm.experiments import synthetic
from lockstep.swarm.experiments.synthetic import SIZES, TABLE_3, classes, generate, million


def test_the_table_is_kept():
    kinds, sizes = classes()
    for kind, name in enumerate(("rmat", "random")):
        assert tuple(int(((kinds == kind) & (sizes == n)).sum()) for n in SIZES) == TABLE_3[name]
    for count in (1, 7, 1000):
        kinds, sizes = classes(count)
        assert kinds.size == sizes.size == count
    assert abs((classes(1000)[1] == 1024).sum() - 200) <= 1


def test_graphs_are_simple_and_of_the_degree_wanted():
    numbers = np.arange(60)
    kinds, sizes = numbers // 6 % 2, np.array(SIZES)[numbers % 6]
    pack = generate(numbers, kinds, sizes)
    assert pack.n.tolist() == sizes.tolist()
    for i in range(60):
        graph = pack[i]
        Graph(graph.offsets, graph.targets, directed=False)  # checks ids and both directions
        sources, targets = graph.edges()
        assert (sources != targets).all() and np.unique(sources * 2048 + targets).size == graph.m
        assert 7 <= graph.m / graph.n <= 16.1
    heavy = [max(pack[i].out_degrees()) / (pack[i].m / pack[i].n) for i in range(60) if sizes[i] == 1024]
    assert min(heavy[::2]) > 3 > max(heavy[1::2])  # R-MAT has hubs, random has none


def test_a_graph_is_the_same_in_any_company(same):
    numbers = np.array([3, 99, 12345])
    together = generate(numbers, [0, 1, 0], [64, 128, 32], seed=5)
    alone = generate(numbers[1:2], [1], [128], seed=5)
    assert same(together[1], alone[0])
    other = generate(numbers[1:2], [1], [128], seed=6)
    assert not np.array_equal(other.targets, alone.targets)


def test_shards_are_written_once(tmp_path):
    told = []
    batch = million(tmp_path, 300, graphs=128, say=told.append)
    assert (len(batch), told, len(batch.pieces)) == (300, [0, 1, 2], 3)
    before = batch.digest()
    (tmp_path / "shard-00001.arrow").unlink()
    again = million(tmp_path, 300, graphs=128, say=told.append)
    assert told[3:] == [1] and again.digest() == before
    sizes = np.concatenate([pack.n for pack in again])
    assert set(sizes) == set(SIZES) and 0.1 < (sizes == 1024).mean() < 0.3
    small = million(tmp_path / "small", 100, sizes=[32, 64])
    assert {int(n) for pack in small for n in pack.n} == {32, 64}
    with pytest.raises(ValueError, match="count is 0"):
        million(tmp_path, 0)
    assert isinstance(again, GraphBatch) and synthetic.DEGREES == (8, 16)
