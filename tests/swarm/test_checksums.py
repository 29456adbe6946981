"""Checksums of every graph by the CPU, with many sources at once: those of one source after the other."""

import networkx as nx
import numpy as np
import pytest

from lockstep.batch.pack import Pack
from lockstep.graphs import Graph
from lockstep.swarm import checksums, oracle
from lockstep.swarm.experiments import synthetic
from lockstep.swarm.strategies.engine import Engine


def fast(pack, measure):
    """The checksums of a pack by `checksums`."""
    found, other = np.zeros(len(pack), np.uint64), np.zeros(len(pack), np.uint64)
    arrays = (pack.offsets, pack.targets, pack.vertex_start, pack.arc_start, pack.directed)
    if measure == "betweenness":
        checksums.betweenness(*arrays, found)
    else:
        checksums.distances(*arrays, *((found, other) if measure == "closeness" else (other, found)))
    return found


def random(n, m, directed, seed):
    draw = np.random.default_rng(seed)
    return Graph.from_edges(*draw.integers(0, n, (2, m)), n=n, directed=directed)


def packs():
    """Loops, arcs that repeat, vertices without any; one word of sources, several, several sets of words; deep ones."""
    sizes = [(1, 0), (1, 2), (5, 0), (7, 12), (64, 100), (65, 300), (130, 700), (600, 3000)]
    for directed in (False, True):
        yield Pack.of([random(n, m, directed, seed) for seed, (n, m) in enumerate(sizes)])
    some = [nx.path_graph(70), nx.cycle_graph(41), nx.star_graph(80), nx.complete_graph(33), nx.grid_2d_graph(9, 9)]
    yield Pack.of(some)
    yield Pack.of([nx.gn_graph(40, seed=1), nx.path_graph(20, nx.DiGraph)])
    yield synthetic.generate(np.arange(12), np.arange(12) % 2, np.array(synthetic.SIZES * 2))


@pytest.mark.parametrize("measure", ["closeness", "apsp", "betweenness"])
def test_equal_to_the_oracle(measure):
    for pack in packs():
        assert fast(pack, measure).tolist() == Engine(measure, None, "cpu").run(pack).checksums.tolist()


def test_equal_to_networkx():
    """Not by way of the oracle: checksums of NetworkX' own distances, and of whole numbers of its betweenness."""
    graph = nx.gnp_random_graph(70, 0.1, seed=4)
    pack = Pack.of([graph])
    far = dict(nx.all_pairs_shortest_path_length(graph))
    entries = [(v * 70 + t, far[v].get(t, -1) % 2**64) for v in range(70) for t in range(70)]
    check = sum(int(oracle.mixed(place, np.uint64(entry))) for place, entry in entries)
    assert int(fast(pack, "apsp")[0]) == check % 2**64
    tree = nx.balanced_tree(2, 4)  # every dependency is a whole number
    twice = {v: round(2 * value) for v, value in nx.betweenness_centrality(tree, normalized=False).items()}
    bits = oracle.fraction_bits(len(tree))
    check = sum(int(oracle.mixed(v, np.uint64(value << bits))) for v, value in twice.items())
    assert int(fast(Pack.of([tree]), "betweenness")[0]) == check % 2**64


def test_more_paths_than_a_number_counts():
    """A ladder of 350 rungs of which each multiplies the paths by eight: those vertices have no betweenness."""
    layers = [range(8 * i, 8 * i + 8) for i in range(350)]
    edges = [(u, v) for a, b in zip(layers, layers[1:], strict=False) for u in a for v in b]
    pack = Pack.of([Graph.from_edges(*np.array(edges).T, n=2800, directed=False)])
    values = Engine("betweenness", None, "cpu").run(pack)
    assert np.isnan(values[0]).any()
    assert fast(pack, "betweenness").tolist() == values.checksums.tolist()
