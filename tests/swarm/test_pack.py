"""Many graphs in one set of arrays, and each of them back."""

import networkx as nx
import numpy as np
import pytest

from lockstep.batch.pack import Pack, join, pack_of
from lockstep.batch.weights import unheld
from lockstep.graphs import Graph, GraphError


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_graph_comes_back(directed, weighted, some, same):
    graphs = some(directed, weighted)
    pack = Pack.of(graphs)
    assert len(pack) == len(graphs)
    assert all(same(pack[i], graph) for i, graph in enumerate(graphs))
    assert same(pack[-1], graphs[-1])
    assert pack.n.tolist() == [graph.n for graph in graphs]
    assert pack.offsets.size == pack.n.sum() + len(pack)
    assert (pack.n.dtype, pack.m.dtype, pack.offsets.dtype, pack.targets.dtype) == (
        np.int32, np.int32, np.int32, np.uint16)  # fmt: skip
    assert pack.vertex_start.dtype == pack.arc_start.dtype == np.int64


def test_more_arcs_than_offsets_can_count_are_refused():
    few, many = Graph.from_edges([0], [1]), Graph.from_edges([0], [1])
    many.targets = np.broadcast_to(np.int32(1), 2**31)  # in no memory
    with pytest.raises(GraphError, match="graph 1 of the batch has 2,147,483,648 stored arcs; at most 2,147,483,647"):
        Pack.of([few, many])


def test_ids_take_32_bits_only_where_16_do_not_suffice(same):
    wide = Graph.from_edges([0], [65_536], n=65_537, directed=False)
    assert Pack.of([wide]).targets.dtype == np.int32
    full = Graph.from_edges([0], [65_535], n=65_536, directed=False)
    pack = Pack.of([full])
    assert pack.targets.dtype == np.uint16
    assert same(pack[0], full)


def test_slices_and_selections(some, same):
    graphs = some(weighted=True)
    pack = Pack.of(graphs)
    part = pack[2:5]
    assert [same(part[i], graphs[2 + i]) for i in range(3)] == [True] * 3
    assert np.shares_memory(part.targets, pack.targets)
    order = [5, 0, 5, 3]
    taken = pack.take(order)
    assert all(same(taken[i], graphs[k]) for i, k in enumerate(order))
    assert all(same(pack[::2][i], graphs[2 * i]) for i in range(4))
    assert len(pack[3:3]) == 0
    with pytest.raises(IndexError, match="graph 7 of a pack of 7"):
        pack[7]


def test_joined_packs_are_one(some, same):
    graphs = some()
    joined = join([Pack.of(graphs[:3]), Pack.empty(), Pack.of(graphs[3:])])
    assert all(same(joined[i], graph) for i, graph in enumerate(graphs))
    assert len(join([])) == 0


def test_what_people_have():
    graph = nx.petersen_graph()
    pack = Pack.of([graph, nx.path_graph(3)])
    assert pack.n.tolist() == [10, 3] and pack.m.tolist() == [30, 4] and not pack.directed
    assert Pack.of(pack) is pack
    matrices = Pack.of([nx.to_scipy_sparse_array(nx.path_graph(3, create_using=nx.DiGraph))])
    assert matrices.directed and matrices.weights.dtype == np.float32
    assert len(Pack.of([])) == 0
    assert pack.nbytes == sum(getattr(pack, a).nbytes for a in "n m vertex_start arc_start offsets targets".split())


def test_graphs_that_do_not_fit_together_are_named():
    with pytest.raises(GraphError, match="graph 1 of the batch is directed, graph 0 of the batch is undirected"):
        Pack.of([nx.path_graph(3), nx.path_graph(3, create_using=nx.DiGraph)])
    heavy = nx.Graph()
    heavy.add_edge(0, 1, weight=2)
    with pytest.raises(GraphError, match="graph 1 of the batch has weights, graph 0 of the batch has none"):
        Pack.of([nx.path_graph(3), heavy])
    with pytest.raises(GraphError, match="graph 1 of the batch: cannot take a str"):
        Pack.of([nx.path_graph(3), "no graph"])


@pytest.mark.gpu
def test_to_the_device_and_back(cuda, some, same):
    cupy = cuda.xp
    graphs = some(weighted=True)
    pack = Pack.of(graphs).to(cupy)
    assert isinstance(pack.targets, cupy.ndarray) and pack.to(cupy) is pack
    assert all(same(pack[i], graph) for i, graph in enumerate(graphs))
    assert isinstance(pack.take([1, 2]).targets, cupy.ndarray)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "weight, told",
    [(2**24 + 1, "16777217"), (1e39, r"1e\+39"), (1e-300, "1e-300"), (1e-40, "1e-40"), (2.0**60 + 256, "")],
)
def test_a_weight_that_float32_does_not_hold_is_refused(weight, told):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[1, weight, 0.1], n=4)
    with pytest.raises(GraphError, match=rf"graph 1 of the batch: weight of arc 1 \(from 1 to 2\) is {told}"):
        Pack.of([Graph.from_edges([0], [1], weights=[2]), graph])
    with pytest.raises(GraphError, match="batch-of-one: weight of arc 1"):
        pack_of(graph, [0, 4], "batch-of-one")
    assert unheld(np.array([2**24, 2**24 + 2, 0.1, 2.0**120, -1e-37, np.inf, np.nan, 0, 2.0**-140])).size == 0
    assert unheld(np.array([2**24, -(2**24) - 1, 2**53 + 1, 2**62, 2**63 - 1])).tolist() == [1, 2, 4]
    for kind in (np.int8, np.uint8, np.int16, np.uint16):
        assert unheld(np.array([np.iinfo(kind).min, 1, np.iinfo(kind).max], kind)).size == 0
    for kind in (np.int32, np.uint32, np.int64, np.uint64):
        assert unheld(np.array([0, np.iinfo(kind).max], kind)).tolist() == [1]
