"""One graph by all multiprocessors (alone.cu): the CPU's bits, what it is not for, and who takes it."""

import itertools

import numpy as np
import pytest

from lockstep.graphs import Graph
from lockstep.machine import get_executor, why_no_gpu
from lockstep.swarm import Engine, Pack, analyze
from lockstep.swarm.strategies import alone


def graph(seed, n, m, directed=False):
    return Graph.from_edges(*np.random.default_rng(seed).integers(0, n, (2, m)), n=n, directed=directed)


def same_bits(pack, executor="host", own=None, **options):
    wanted = Engine("betweenness", None, "cpu", **options).run(pack)
    task = Engine("betweenness", executor, "alone", own, **options).prepare(pack)
    for _ in range(2):  # what a launch leaves behind is what the next one wants to find
        found = task.run().get()
        np.testing.assert_array_equal(found.checksums, wanted.checksums)
        np.testing.assert_allclose(found.values, wanted.values, rtol=1e-12)
    return task


@pytest.mark.parametrize("options", [{}, {"endpoints": True}, {"precision": "single"}], ids=str)
def test_bits_of_the_cpu(options):
    star = Graph.from_edges(np.zeros(40, int), np.arange(1, 41), n=41, directed=False)
    line = Graph.from_edges(np.arange(69), np.arange(1, 70), n=70, directed=False)
    empty = [Graph.from_edges([], [], n=n, directed=False) for n in (0, 1, 5)]
    pack = Pack.of([graph(1, 40, 120), empty[0], star, empty[1], line, graph(2, 97, 300), empty[2]])
    for own in ({}, {"sources": 1}, {"sources": 7}, {"threads": 32, "sources": 32}):
        task = same_bits(pack, own=own, **options)
        assert task.launches == 6, "one for each graph that has vertices"


def test_parallel_arcs_and_loops():
    ends = np.random.default_rng(3).integers(0, 20, (2, 30))
    ends = np.concatenate([ends, ends, [[3, 3, 7], [3, 3, 7]]], axis=1)
    same_bits(Pack.of([Graph.from_edges(*ends, n=20, directed=False)]))


def test_path_counts_beyond_single_precision():
    """80 layers of 3: 3^79 shortest paths are too many for float32; what they decide is NaN."""
    layers = np.arange(240).reshape(80, 3)
    ends = np.array([pair for a, b in itertools.pairwise(layers) for pair in itertools.product(a, b)])
    pack = Pack.of([Graph.from_edges(ends[:, 0], ends[:, 1], directed=False)])
    for sources in (0, 5):
        same_bits(pack, own={"sources": sources})
        values = same_bits(pack, own={"sources": sources}, precision="single").run().get().values
        assert np.isnan(values).any()


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_any_schedule(fuzz):
    pack = Pack.of([graph(4, 12, 20), graph(5, 40, 70)])
    for seed in range(3):
        same_bits(pack, get_executor("host", seed=seed, fuzz=fuzz), {"sources": 5}, endpoints=True)


def test_what_it_is_not_for_goes_the_way_of_a_batch(monkeypatch):
    machine = get_executor("host")
    assert alone.sources(512, 6000, 8, machine) >= 1 and alone.sources(0, 0, 8, machine) == 1
    assert alone.sources(alone.MOST_VERTICES + 1, 4000, 8, machine) == 0, "ids have 11 bits"
    turned = Pack.of([graph(6, 30, 60, directed=True)])
    assert same_bits(turned).launches == Engine("betweenness", machine, "swarm").prepare(turned).launches > 1
    small = Pack.of([graph(7, 60, 50)])
    for wanted, room in ((5, alone.need(60, 100, 5, 8)), (0, alone.need(60, 100, 1, 8) - 1)):
        monkeypatch.setattr(machine, "max_shared", room)
        assert alone.sources(60, 100, 8, machine, 30) == wanted
        same_bits(small, machine, {"sources": 30})


def test_a_single_graph_is_taken_so():
    one, two = analyze([graph(8, 30, 60)], executor="host"), analyze([graph(8, 30, 60)] * 2, executor="host")
    assert (one.strategy, two.strategy) == ("alone", "swarm") and one.stats["launches"] == 1
    np.testing.assert_array_equal(one[0], two[1])
    assert analyze([graph(8, 30, 60)], "closeness", "host").strategy == "swarm"
    for other in (graph(8, 30, 60, directed=True), graph(8, alone.MOST_VERTICES + 1, 40)):
        found = analyze([other], executor="host")
        assert found.strategy == "swarm" and "one graph" not in found.stats["reason"], "what ran is what is said"
    assert analyze([graph(8, 30, 60)], executor="host", strategy="swarm").strategy == "swarm"


@pytest.mark.gpu
@pytest.mark.skipif(why_no_gpu() is not None, reason="no GPU")
@pytest.mark.parametrize("n", [2, 33, 131, 512, 1024, 2047])
def test_on_the_gpu(n):
    pack = Pack.of([graph(n, n, 7 * n), graph(n + 1, n, n)])
    for options in ({}, {"endpoints": True}, {"precision": "single"}):
        same_bits(pack, "cuda", **options)
