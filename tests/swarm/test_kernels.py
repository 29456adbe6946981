"""The kernels: the bits of the CPU on the emulator, whatever the schedule, the sizes and where things lie."""

import gc
import itertools
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.graphs import Graph, GraphError
from lockstep.machine import get_executor, why_no_gpu
from lockstep.swarm import MEASURES, STRATEGIES, Engine, Pack
from lockstep.swarm.strategies import binning, distances
from lockstep.swarm.strategies.distances import chunks, room
from lockstep.swarm.strategies.shared import DeviceTask

WEIGHTED = ("closeness", "apsp")
ON_GPU = [name for name, strategy in STRATEGIES.items() if strategy.gpu]
CASES = [(s, m) for s in ON_GPU for m in STRATEGIES[s].measures]
VARIANTS = [
    {},
    {"shared": "metadata"},
    {"shared": "nothing"},
    {"persistent": False},
    {"width": 8, "words": 1},
    {"width": 16, "words": 2, "busy": 1},
    {"sparse": 0},
    {"sparse": 99, "busy": 1, "threads": 32},
]


@pytest.mark.parametrize("n, m", [(1 << 30, 1), (5, 2**31 - 2**20 - 15), ((2**31 - 2**20) // 3 + 1, 0)])
def test_graphs_whose_rows_an_int_does_not_count_are_refused(n, m):
    starts = (np.array([0, count]) for count in (n, m))
    huge = Pack(np.zeros(0, np.int32), np.zeros(0, np.uint16), *starts)
    method = SimpleNamespace(executor=get_executor("host"), measure=MEASURES["pagerank"], options={})
    with pytest.raises(GraphError, match=f"up to {n:,} vertices and {m:,} .*2,146,435,072 together"):
        DeviceTask(method, huge)
    DeviceTask(method, Pack(np.zeros(0, np.int32), np.zeros(0, np.uint16), np.array([0, 5]), np.array([0, m // 2])))


@pytest.mark.parametrize(("n", "words", "fits"), [(67_076_095, 32, True), (67_076_096, 32, False), (2**26, 16, True)])
def test_sets_of_sources_that_an_int_does_not_count_are_refused(n, words, fits):
    host = SimpleNamespace(n=np.array([n]), m=np.array([0]))
    task = SimpleNamespace(pack=SimpleNamespace(host=host), method=SimpleNamespace(strategy_options={"words": words}))
    error = AttributeError if fits else GraphError  # where it fits, planning goes on with what this task lacks
    with pytest.raises(error, match="executor" if fits else f"at most {(2**31 - 2**20) // words:,} vertices: give"):
        distances.spread_distances(task, (None, np.zeros(1), None), None, None, 0)


def graphs(seed, directed, sizes, weighted=False):
    rng = np.random.default_rng(seed)
    found = []
    for n, m in sizes:
        ends = rng.integers(0, n, (2, m))
        weights = rng.random(m) + 0.01 if weighted else None
        found.append(Graph.from_edges(*ends, n=n, directed=directed, weights=weights))
    return found


SIZES = [(1, 0), (5, 4), (33, 0), (40, 120), (70, 90), (97, 300)]


def path(n):
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n, directed=False)


def same_bits(pack, measure, executor, strategy="swarm", own=None, **options):
    wanted = Engine(measure, None, "cpu", **options).run(pack)
    found = Engine(measure, executor, strategy, own, **options).run(pack).get()
    wrong = np.flatnonzero(wanted.checksums != found.checksums)
    assert wrong.size == 0, f"{strategy} {own} {options}: {measure} differs on graphs {wrong}"
    assert len(found) == len(wanted) == len(pack)
    for one, two in zip(wanted, found, strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-12)
    return found


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize(("strategy", "measure"), CASES)
def test_bits_of_the_cpu(strategy, measure, directed):
    pack = Pack.of(graphs(1, directed, SIZES[:4] if strategy == "level" else SIZES))
    same_bits(pack, measure, "host", strategy)


@pytest.mark.parametrize("own", VARIANTS, ids=str)
@pytest.mark.parametrize("measure", MEASURES)
def test_bits_wherever_things_lie(measure, own):
    for directed in (False, True):
        same_bits(Pack.of(graphs(2, directed, SIZES)), measure, "host", own=own)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("measure", WEIGHTED)
def test_lengths(measure, directed):
    pack = Pack.of(graphs(3, directed, SIZES, weighted=True))
    for options in [{"reduce": "total"}, {"reduce": "matrix"}] if measure == "apsp" else [{}, {"form": "harmonic"}]:
        for own in ({}, {"shared": "nothing"}, {"width": 8}):
            same_bits(pack, measure, "host", own=own, **options)


@pytest.mark.parametrize("placement", ["shared", "global"])
@pytest.mark.parametrize("measure", ["betweenness", "closeness", "apsp"])
def test_the_papers_placement(measure, placement):
    same_bits(Pack.of(graphs(4, True, SIZES)), measure, "host", "paper", {"placement": placement})


@pytest.mark.parametrize("options", [{"precision": "single"}, {"endpoints": True}], ids=str)
@pytest.mark.parametrize("strategy", ON_GPU)
def test_betweenness_options(strategy, options):
    same_bits(Pack.of(graphs(5, False, SIZES[:4])), "betweenness", "host", strategy, **options)


def test_levels_beyond_the_near_planes():
    """More levels than four planes count, and than five do."""
    pack = Pack.of([path(n) for n in (15, 16, 17, 18, 33, 34, 130)])
    for measure, own in itertools.product(("betweenness", "closeness", "apsp"), ({}, {"sparse": 0, "words": 1})):
        same_bits(pack, measure, "host", own=own)
    deep = Engine("betweenness", "host", "swarm").run(pack[6:]).get()[0]
    np.testing.assert_array_equal(deep, [i * (129 - i) for i in range(130)])


def test_path_counts_beyond_32_bits():
    """30 layers of 5, each complete to the next: 5^29 shortest paths."""
    layers = np.arange(150).reshape(30, 5)
    ends = np.array([pair for a, b in itertools.pairwise(layers) for pair in itertools.product(a, b)])
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], directed=False)
    for sparse in (0, 99):
        same_bits(Pack.of([graph]), "betweenness", "host", own={"sparse": sparse})


def test_path_counts_beyond_single_precision():
    """80 layers of 3: 3^79 shortest paths are too many for float32; what they decide is NaN, nothing is wrong."""
    layers = np.arange(240).reshape(80, 3)
    ends = np.array([pair for a, b in itertools.pairwise(layers) for pair in itertools.product(a, b)])
    pack = Pack.of([Graph.from_edges(ends[:, 0], ends[:, 1], directed=False), path(40)])
    (double, near), (single, far) = (
        Engine("betweenness", None, "cpu", precision=precision).run(pack) for precision in ("double", "single")
    )
    assert np.isfinite(double).all() and np.isnan(single).any()
    np.testing.assert_allclose(single[np.isfinite(single)], double[np.isfinite(single)], rtol=1e-4)
    np.testing.assert_array_equal(near, far)
    for strategy in ON_GPU[1:]:
        if "betweenness" in STRATEGIES[strategy].measures:
            for own in ({"sparse": 0}, {"sparse": 99}) if strategy == "swarm" else (None,):
                same_bits(pack, "betweenness", "host", strategy, own, precision="single")


def test_which_graphs_are_taken_by_pairs():
    """Sparse ones without long rows, and what suits no lane for a pair is left to a lane for a source."""
    star = Graph.from_edges(np.zeros(40, int), np.arange(1, 41), n=41, directed=False)
    wheel = Graph.from_edges(np.zeros(32, int), np.arange(1, 33), n=33, directed=False)
    empty = Graph.from_edges(np.zeros(0, int), np.zeros(0, int), n=3, directed=False)
    nothing = Graph.from_edges(np.zeros(0, int), np.zeros(0, int), n=0, directed=False)
    dense = graphs(13, False, [(12, 60)])[0]
    pack = Pack.of([nothing, path(9), star, wheel, dense, path(2047), path(2048), empty, nothing])
    machine = get_executor("host")
    taken = binning.paired(pack.host, 7, 8, machine)
    np.testing.assert_array_equal(taken, [False, True, False, True, False, True, False, True, False])
    few = Pack.of([nothing, path(9), star, wheel, dense, empty, nothing])
    for options in ({}, {"endpoints": True}):
        same_bits(few, "betweenness", "host", **options)


def test_parallel_arcs_and_loops_in_pairs():
    rng = np.random.default_rng(14)
    ends = rng.integers(0, 20, (2, 30))
    ends = np.concatenate([ends, ends, [[3, 3, 7], [3, 3, 7]]], axis=1)[:, rng.permutation(63)]
    pack = Pack.of([Graph.from_edges(*ends, n=20, directed=False)])
    same_bits(pack, "betweenness", "host", own={"sparse": 99})


def test_items_hold_every_source_once():
    n = np.array([2047, 30, 500, 1, 77])
    m = 4 * n
    machine = get_executor("host")
    for threads in (None, 128, 32, 1024):
        seen = [np.zeros(size, int) for size in n]
        for b in binning.pairs(np.arange(5), n, m, 8, machine, {}, threads):
            assert b.shared <= machine.max_shared
            for graph, first, count in b.items:
                assert count > 0
                seen[graph][first : first + count] += 1
        assert all((s == 1).all() for s in seen)


def test_wide_ids(monkeypatch):
    """Ids of 32 bits, in the pack and in the copy, give what 16 bits give."""
    pack = Pack.of(graphs(6, True, SIZES))
    wide = Pack(pack.offsets, pack.targets.astype(np.int32), pack.vertex_start, pack.arc_start, directed=True)
    for measure in ("betweenness", "closeness", "components", "walks"):  # each is compiled once more
        same_bits(wide, measure, "host")
    monkeypatch.setattr(binning, "NARROW", 0)
    for measure in ("betweenness", "closeness"):
        same_bits(pack, measure, "host", own={"words": 1})


def test_a_graph_beyond_shared_memory_falls_back(monkeypatch):
    machine = get_executor("host")
    monkeypatch.setattr(machine, "max_shared", 600)
    pack = Pack.of(graphs(7, False, [(10, 20), (90, 200), (20, 30)]))
    for measure in ("betweenness", "closeness", "apsp"):
        same_bits(pack, measure, machine)
        task = Engine(measure, machine, "paper", **({"reduce": "total"} if measure == "apsp" else {})).prepare(pack)
        assert task.fallbacks == (1 if measure == "betweenness" else 0)
    monkeypatch.setattr(machine, "max_shared", 200)
    same_bits(pack, "betweenness", machine, "paper")
    same_bits(pack, "closeness", machine, "paper")
    same_bits(pack, "apsp", machine, "paper")
    with pytest.raises(ValueError, match="a graph exceeds shared memory"):
        Engine("betweenness", machine, "graph").prepare(pack)


def test_launches_a_graph():
    """The paper's counts: one launch a graph for all distances, two for closeness and betweenness."""
    few, many = (Pack.of(graphs(8, False, [(20, 40)] * k)) for k in (2, 7))
    for measure, each in (("apsp", 1), ("closeness", 2), ("betweenness", 2)):
        options = {"reduce": "total"} if measure == "apsp" else {}
        tasks = [Engine(measure, "host", "paper", **options).prepare(pack) for pack in (few, many)]
        assert tasks[1].launches - tasks[0].launches == 5 * each
        tasks = [Engine(measure, "host", "swarm", **options).prepare(pack) for pack in (few, many)]
        assert tasks[1].launches == tasks[0].launches <= 3


def test_distances_in_parts():
    """Matrices that do not fit into the memory for them are made and reduced part by part."""
    pack = Pack.of(graphs(9, False, SIZES))
    for strategy in ("swarm", "paper", "packed"):
        same_bits(pack, "apsp", "host", strategy, {"memory": 12_000}, reduce="total")
    assert chunks(np.array([0, 4, 8, 108, 110]), 10) == [0, 2, 3, 4]
    assert chunks(np.array([0]), 10) == [0, 0]


def test_a_task_runs_again():
    pack = Pack.of(graphs(10, False, SIZES))
    for strategy, measure in CASES:
        task = Engine(measure, "host", strategy).prepare(pack[:4])
        first = task.run().get()
        second = task.run().get()
        np.testing.assert_array_equal(first.checksums, second.checksums)


def test_no_graphs():
    for strategy, measure in CASES:
        found = Engine(measure, "host", strategy).run(Pack.empty()).get()
        assert len(found) == 0 and found.checksums.size == 0


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
@pytest.mark.parametrize("measure", MEASURES)
def test_any_schedule(measure, fuzz):
    pack = Pack.of(graphs(11, True, [(1, 0), (12, 30), (40, 70)]))
    options = {"limit": 20} if measure == "pagerank" else {}
    for seed in range(2):
        executor = get_executor("host", seed=seed, fuzz=fuzz)
        same_bits(pack, measure, executor, **options)
        if measure in ("betweenness", "closeness", "apsp"):
            same_bits(pack[1:2], measure, executor, "paper")
        if measure == "betweenness":
            same_bits(Pack.of(graphs(11, False, [(12, 20), (40, 70)])), measure, executor, endpoints=True)
    if measure in WEIGHTED:
        pack = Pack.of(graphs(12, True, [(12, 30), (40, 70)], weighted=True))
        same_bits(pack, measure, get_executor("host", seed=2, fuzz=fuzz))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), directed=st.booleans())
def test_any_graphs(seed, directed):
    rng = np.random.default_rng(seed)
    sizes = [(int(n), int(rng.integers(0, 4 * n + 1))) for n in rng.integers(1, 100, 4)]
    pack = Pack.of(graphs(seed, directed, sizes))
    own = VARIANTS[seed % len(VARIANTS)]
    for measure in ("betweenness", "closeness", "apsp", "components", "strong", "triangles"):
        same_bits(pack, measure, "host", own=own)


def test_every_graph_is_in_one_item():
    rng = np.random.default_rng(0)
    n, m = rng.integers(0, 3000, 500), rng.integers(0, 60_000, 500)
    seen = np.zeros((500, 3000), int)

    def size(n, width):
        return n * width * 8

    for one in binning.bins(n, m, [32, 16, 8], size, 1, 4, get_executor("host"), lambda w: {"WIDTH": w}):
        assert one.shared <= 227 * 1024 and one.threads & (one.threads - 1) == 0
        for graph, first, count in one.items:
            width = one.defines["WIDTH"]
            seen[graph, first * width : (first + count) * width] += 1
    for i in range(500):
        assert (seen[i, : n[i]] == 1).all()


@pytest.mark.gpu
@pytest.mark.parametrize(("strategy", "measure"), CASES)
def test_on_a_gpu(strategy, measure):
    if reason := why_no_gpu():
        pytest.skip(f"no GPU: {reason}")
    sizes = [*SIZES, (200, 700), (600, 4000)] if strategy != "level" else SIZES
    for directed in (False, True):
        same_bits(Pack.of(graphs(13, directed, sizes)), measure, "cuda", strategy)
    if strategy == "swarm":
        for own in VARIANTS:
            same_bits(Pack.of(graphs(14, False, sizes)), measure, "cuda", own=own)


def test_distances_leave_room_for_other_threads():
    def machine(name, total):
        runtime = SimpleNamespace(memGetInfo=lambda: (total // 2, total))
        executor = SimpleNamespace(name=name, xp=SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
        return SimpleNamespace(executor=executor, strategy_options={"memory": 4 << 30})

    assert room(machine("cuda", 16 << 30)) == 1 << 30
    assert room(machine("cuda", 141 << 30)) == room(machine("host", 1)) == 4 << 30


@pytest.mark.parametrize("measure", MEASURES)
def test_memory_is_given_back_at_once(measure):
    """A task ends with its last reference, without Python's collector of circles, which is off while runs are timed."""
    pack = Pack.of(graphs(3, False, SIZES))
    engine = Engine(measure, get_executor("host"), "swarm")
    gc.collect()
    gc.disable()
    try:
        task = engine.prepare(pack)
        found, gone = task.run(), weakref.ref(task)
        assert len(found) == len(pack) and (task.launches > 1 or measure not in ("betweenness", "closeness", "apsp"))
        del task, found
        assert gone() is None
    finally:
        gc.enable()
