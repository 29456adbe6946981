"""The strategies with kernels under fuzzed schedules: whatever the order of the threads, the order of the vertices
is valid.
"""

import shutil

import numpy as np
import pytest

from lockstep.graphs import Graph, generators
from lockstep.machine import get_executor
from lockstep.toposort import STRATEGIES, Problem, topological_sort, verify
from lockstep.toposort.strategies import narrow, persistent
from lockstep.toposort.strategies.narrow import Narrow
from lockstep.toposort.strategies.persistent import Persistent


def made(kind, graph, executor=None):
    """A plan of this kind, built."""
    return kind.make(STRATEGIES[kind.name], Problem.of(graph), executor, kind.Options())


GPU = [name for name, s in STRATEGIES.items() if s.gpu]

SMALL = {
    "window": lambda: generators.window_dag(70, 250, 8),
    "paths": lambda: generators.disjoint_paths(60, 12),
}


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
@pytest.mark.parametrize("strategy", GPU)
def test_fuzzed_schedules(strategy, fuzz):
    graphs = [make() for make in SMALL.values()]
    for seed in range(200):
        executor = get_executor("host", seed=seed, fuzz=fuzz, multiprocessors=2)
        graph = graphs[seed % len(graphs)]
        assert verify(topological_sort(graph, strategy, executor=executor), graph) == "exact", seed


@pytest.mark.parametrize("strategy", ["persistent", "narrow", "asynchronous", "chains"])
def test_fuzzed_changes_of_width(strategy, wide_and_narrow):
    graph = wide_and_narrow
    for seed in range(5):
        executor = get_executor("host", seed=seed, fuzz="sync", multiprocessors=3)
        assert verify(topological_sort(graph, strategy, executor=executor), graph) == "exact", seed


class Ahead(Persistent):
    """A warp keeps no vertex, so it looks ahead to its next one; as on a GPU, where rows have more than one arc."""

    keep = 0


def sort_fuzzed(kind, fuzz, seeds, largest, *others):
    """One schedule a seed, of the small graphs in turn; the largest, which takes longest, twice."""
    graphs = [*(make() for make in SMALL.values()), *others]
    for seed in range(seeds):
        graph = largest if seed < 2 else graphs[seed % len(graphs)]
        plan = made(kind, graph, get_executor("host", seed=seed, fuzz=fuzz, multiprocessors=2 + seed % 2))
        plan.reset()
        assert verify(plan.run(), graph) == "exact", seed


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_fuzzed_looks_ahead(fuzz, wide_and_narrow):
    sort_fuzzed(Ahead, fuzz, 60, wide_and_narrow, generators.layered(120, 15))


class Wide(Persistent):
    """All blocks share every level, as they do wide ones on a GPU."""

    subset_max_width = 0


def rows_of_all_lengths():
    """Levels in which some rows are one arc long, some as many as lanes share them, and some far longer."""
    sources, targets = [0] * 30, list(range(1, 31))
    for v in range(1, 31):
        arcs = (1, 3, 9, 40)[v % 4]
        sources += [v] * arcs
        targets += [31 + (v * 7 + k) % 60 for k in range(arcs)]
    return Graph.from_edges(sources, targets, n=91, name="rows-of-all-lengths")


class NarrowAhead(Narrow):
    """Block 0 is hardly ever alone, so the subset looks ahead."""

    keep, waits = 0, (30, 0)


class NarrowWide(Narrow):
    """All blocks share the levels that block 0 does not take; those come late."""

    subset_max_width, arcs_alone, arcs_counted, waits = 0, 0, 0, (8, 0)


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
@pytest.mark.parametrize("kind", [NarrowAhead, NarrowWide])
def test_fuzzed_narrow_shares_levels(kind, fuzz, wide_and_narrow):
    """What it has in common with `persistent`, with records and without."""
    sort_fuzzed(kind, fuzz, 40, wide_and_narrow, rows_of_all_lengths(), generators.layered(600, 20))


def swelling(sizes):
    """Layers of these sizes: each vertex has a predecessor in the layer before, and a successor in the next."""
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    arcs = [
        (starts[k] + i % size, starts[k + 1] + i % following)
        for k, (size, following) in enumerate(zip(sizes, sizes[1:], strict=False))
        for i in range(max(size, following))
    ]
    return Graph.from_edges(*zip(*arcs, strict=True), n=sum(sizes))


class NarrowByRows(Narrow):
    """Without records, also where rows are long."""

    def rows_are_worth_records(self):
        return False


def with_long_arcs(sizes, over):
    """As `swelling`, late layers with the least ids, and arcs over so many layers from the first vertex of small and of
    large ones.
    """
    graph, starts = swelling(sizes), [sum(sizes[:k]) for k in range(len(sizes))]
    sources, targets = graph.edges()
    long = [(a, b) for a, b, size in zip(starts, starts[over:], sizes, strict=False) if not 3 < size < 600]
    ends = [list(end) + [arc[k] for arc in long] for k, end in enumerate((sources, targets))]
    return Graph.from_edges(*(graph.n - 1 - np.array(end) for end in ends), n=graph.n)


def test_narrow_goes_from_lanes_to_the_ring_and_to_the_grid_and_back():
    """Rows of three arcs among lanes, 33 vertices out of 17, a vertex more than the ring holds at either end of it."""
    narrow_levels = [1, 3, 1, 2, 1] * 5
    swell = [17, 33, 17, *[1] * 5, 641, 700]
    for level in (0, 1):
        sizes = [*narrow_levels, *swell, *narrow_levels, *[2] * level, *swell, *narrow_levels]
        graph = with_long_arcs(sizes, 9)
        for seed in range(3):
            plan = made(NarrowByRows, graph, get_executor("host", seed=seed, fuzz="sync", multiprocessors=2))
            plan.reset()
            assert verify(plan.run(), graph) == "exact", (level, seed)


@pytest.mark.parametrize("before", [0, 1])
def test_a_vertex_beyond_the_ring_overwrites_no_row_of_the_other_ring(before, monkeypatch, tmp_path):
    """The first warp reads its rows when the second has filled the next ring and found one vertex more."""
    kernels = shutil.copytree(narrow.KERNELS, tmp_path / "kernels")
    text = (kernels / "alone.cuh").read_text()
    read = "            const int i = base + (lane >> shift);\n"
    assert text.count(read) == 1
    filled = "*const_cast<volatile int*>(pushed) > p.capacity"
    late = f"            for (int k = 0; !one_warp && threadIdx.x < 32 && !({filled}) && k < 20000; ++k) pause(100);\n"
    (kernels / "alone.cuh").write_text(text.replace(read, late + read))
    monkeypatch.setattr(narrow, "KERNELS", kernels)
    sizes = [1] * 8000 + [60] * (1 + before) + [1440, 5, 1]  # about an arc a vertex: a ring of 640 rows; two warps
    wide, over, few, last = (sum(sizes[:k]) for k in (8000, -3, -2, -1))
    arcs = [(v, v + 1) for v in range(wide - 1)] + [(wide - 1, wide + i) for i in range(60)]
    arcs += [(wide + i, wide + 60 + i) for i in range(60 * before)]
    arcs += [(over - 60 + i % 60, over + i) for i in range(1440)]
    arcs += [(over + i, few + i % 5) for i in range(1440)] + [(few + i, last) for i in range(5)]
    graph = Graph.from_edges(*zip(*arcs, strict=True), n=sum(sizes))
    plan = made(NarrowByRows, graph, get_executor("host", multiprocessors=2, budget=1_000_000))
    plan.reset()
    assert verify(plan.run(), graph) == "exact"


@pytest.mark.parametrize("kind", [Ahead, Persistent, NarrowAhead])
def test_a_block_may_be_late_at_a_barrier_while_a_subset_goes_on(kind, monkeypatch, tmp_path):
    """The last block polls the last barrier of all blocks when the subset has long sorted the levels behind it."""
    kernels = shutil.copytree(narrow.KERNELS, tmp_path / "kernels")
    text = (kernels / "resident.cuh").read_text()
    before, look, behind = text.partition("do seen = load_relaxed(counter);\n")
    assert "int level_barrier(" in before and "void run_all_blocks(" in behind
    late = "for (int i = 0; blockIdx.x == gridDim.x - 1 && i < 3000; ++i) pause(100);\n"
    (kernels / "resident.cuh").write_text(before + late + look + behind)
    for module in (narrow, persistent):
        monkeypatch.setattr(module, "KERNELS", kernels)
    executor = get_executor("host", multiprocessors=3, budget=1_000_000)
    plan = made(type("Late", (kind,), {"subset": 1}), swelling(([100] * 2 + [10] * 6) * 3), executor)
    plan.reset()
    assert verify(plan.run(), plan.graph) == "exact"


@pytest.mark.parametrize("tail", [0, 4])
def test_block_0_is_not_alone_for_a_short_tail(tail, host):
    """A graph that thins out by half from level to level: packed rows would tell that block 0 was alone."""
    sizes = [64, 32, 16, 8, 4, 2, 1]
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    arcs = [(a + i, b + i // 2) for a, b, size in zip(starts, starts[1:], sizes, strict=False) for i in range(size)]
    graph = Graph.from_edges(*zip(*arcs, strict=True), n=sum(sizes))
    plan = made(type("Waiting", (Narrow,), {"waits": (1, tail)}), graph, host)
    plan.rows[...] = -1
    plan.reset()
    assert verify(plan.run(), graph) == "exact"
    assert (host.get(plan.rows)[:, 0] >= 0).all() == (tail == 0)


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_fuzzed_wide_levels(fuzz, wide_and_narrow):
    sort_fuzzed(Wide, fuzz, 60, wide_and_narrow, rows_of_all_lengths(), generators.layered(600, 6))


def test_a_race_would_be_seen():
    """The same kernel with a lost update in it fails under fuzz: the test above can fail."""
    from lockstep.toposort.strategies.shared import KERNELS

    text = (KERNELS / "naive.cu").read_text()
    broken = text.replace("atomicSub(&in_degrees[targets[k]], 1)", "in_degrees[targets[k]] -= 1")
    assert broken != text
    graph = Graph.from_edges([k for k in range(40)] * 2, [40] * 40 + [41] * 40)
    assert any(not _sorts(broken, graph, seed) for seed in range(20))


def _sorts(text, graph, seed):
    import tempfile
    from pathlib import Path

    from lockstep.toposort.strategies.naive import Naive

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "naive.cu"
        file.write_text(text)
        executor = get_executor("host", seed=seed, fuzz="memory", multiprocessors=2)
        original = executor.load
        executor.load = lambda path, defines=None: original(file, defines)
        plan = made(Naive, graph, executor)
        plan.reset()
        return plan.run().order.size == graph.n
