"""Every graph of a batch from disk is held against the CPU's checksums, which are computed once and kept."""

import ast
import inspect

import numpy as np
import pytest

from lockstep.batch import shards, stream
from lockstep.evidence import VerificationError
from lockstep.graphs import draws, search
from lockstep.provenance import host, lookup
from lockstep.swarm import checksums, oracle, oracle_structure, problem, vectors
from lockstep.swarm.experiments import cases, sums, synthetic
from lockstep.swarm.strategies import baselines
from lockstep.swarm.strategies.engine import Engine


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(cases.paths, "CACHE", tmp_path)
    return tmp_path / "swarm"


def by_cpu(batch, measure="betweenness", **options):
    """A run's report, not by way of `checksums`."""
    return stream.run(batch, Engine(measure, None, "cpu", **options))


def refuse():
    raise KeyboardInterrupt


@pytest.mark.parametrize("measure, options", [("closeness", {}), ("apsp", {"reduce": "total"}), ("betweenness", {})])
def test_one_wrong_graph_in_the_middle(cache, measure, options):
    batch = cases.benchmark(40, shard=16)
    held, report = sums.Sums(batch, measure, options), by_cpu(batch, measure, **options)
    assert held(report) == "exact"
    report.checksums[21] ^= np.uint64(1)
    with pytest.raises(VerificationError, match=f"{measure}: 1 of 40 graphs have other checksums .* graph 21 first"):
        held(report)
    report.checksums = report.checksums[:39]
    with pytest.raises(VerificationError, match="39 of 40 graphs done"):
        held(report)


def test_one_arc_that_is_another_on_the_disk(cache):
    """What a device read wrongly: the run sees an arc that the CPU did not see."""
    batch = cases.benchmark(24, shard=8)
    held = sums.Sums(batch, "closeness", {})
    held.prepare()
    pack = batch.load_piece(batch.pieces[1]).pack
    targets, first = pack.targets.copy(), int(pack.arc_start[5])
    targets[first] = next(t for t in range(int(pack.n[5])) if t not in pack[5].targets[: pack[5].offsets[1]] and t)
    pack.targets = targets
    shards.write_shard(batch.pieces[1].path, pack)
    with pytest.raises(VerificationError, match="1 of 24 graphs have other checksums than the CPU's, graph 13 first"):
        held(by_cpu(batch, "closeness"))


@pytest.fixture
def loaded(monkeypatch):
    """The first graphs of the pieces that are computed, as they are."""
    seen, compute = [], sums.Known.compute

    def noted(known, piece, *args):
        seen.append(int(piece.numbers[0]))
        return compute(known, piece, *args)

    monkeypatch.setattr(sums.Known, "compute", noted)
    return seen


def test_known_once_for_all_batches_that_begin_alike(cache, loaded):
    whole = sums.Known("apsp", {}).of(cases.benchmark(30, shard=8))
    assert whole.tolist() == by_cpu(cases.benchmark(30), "apsp").checksums.tolist()
    assert loaded == [0, 8, 16, 24]
    loaded.clear()
    for known in (sums.Known("apsp", {}), sums.Known("apsp", {"reduce": "total"})):  # a reduction changes none
        assert known.of(cases.benchmark(20, shard=4)).tolist() == whole[:20].tolist()
    near = sums.Known("closeness", {"form": "harmonic"}).of(cases.benchmark(30))  # by the same search
    assert near.tolist() == by_cpu(cases.benchmark(30), "closeness").checksums.tolist()
    assert not loaded
    assert sums.Known("apsp", {}).of(cases.benchmark(36, shard=8))[:30].tolist() == whole.tolist()
    assert loaded == [24, 32]
    assert sums.Known("apsp", {}, 64).of(cases.benchmark(3, 64)).size == 3 and loaded == [24, 32, 0]
    assert len(list((cache / "checksums").iterdir())) == 2


def test_interrupted_and_taken_up(cache, loaded, monkeypatch):
    monkeypatch.setattr(sums, "BLOCK", 1)
    batch, known = cases.benchmark(40, shard=8), sums.Known("betweenness", {})
    with monkeypatch.context() as patched:
        load = batch.load_piece
        patched.setattr(batch, "load_piece", lambda piece: load(piece) if piece.first < 24 else refuse())
        with pytest.raises(KeyboardInterrupt):
            known.of(batch)
    assert len(known.read()) == 24 and loaded == [0, 8, 16]
    assert known.of(batch).tolist() == by_cpu(batch).checksums.tolist() and loaded[3:] == [24, 32]
    known.file.write_bytes(known.file.read_bytes()[:100])
    assert len(known.read()) == 0 and known.of(batch).size == 40


def test_the_cpu_is_itself_checked(cache, monkeypatch):
    real = sums.checksums.betweenness

    def off(*args):
        real(*args)
        args[-1][:] += np.uint64(1)

    monkeypatch.setattr(sums.checksums, "betweenness", off)
    known = sums.Known("betweenness", {})
    with pytest.raises(VerificationError, match="betweenness: the CPU's two ways differ on graph 0"):
        known.of(cases.benchmark(10))
    assert not known.file.exists()
    monkeypatch.undo()
    monkeypatch.setattr(cases.paths, "CACHE", cache.parent)
    monkeypatch.setattr(problem.oracle, "reference", lambda graph, *args, **options: np.zeros(graph.n))
    known = sums.Known("betweenness", {})
    for _ in range(2):  # what was found wrong is not kept
        with pytest.raises(VerificationError, match="other values than the reference"):
            known.of(cases.benchmark(10))


def test_interrupted_before_it_was_looked_at(cache, monkeypatch):
    batch, known, looked = cases.benchmark(10), sums.Known("closeness", {}), []
    with monkeypatch.context() as patched:
        patched.setattr(sums.Known, "_look", lambda *args: refuse())
        with pytest.raises(KeyboardInterrupt):
            known.of(batch)
    monkeypatch.setattr(sums.Known, "_look", lambda known, batch, found: looked.append(len(found)))
    for _ in range(2):
        known.of(batch)
    assert looked == [10]


def test_a_graph_that_cannot_be_used(cache):
    batch = cases.benchmark(8)
    pack = batch.load_piece(batch.pieces[0]).pack
    pack.targets = pack.targets.copy()
    pack.targets[int(pack.arc_start[3])] = 60_000
    shards.write_shard(batch.pieces[0].path, pack)
    with pytest.raises(VerificationError, match=r"graph 3 \(.*\) of .*benchmark-8: target of arc 0 is 60000"):
        sums.Sums(batch, "closeness", {}).prepare()


def test_options_that_change_the_numbers(cache):
    batch = cases.benchmark(6)
    for options in ({"endpoints": True}, {"precision": "single"}):
        assert sums.Sums(batch, "betweenness", options)(by_cpu(batch, **options)) == "exact"
    assert len({file.name for file in (cache / "checksums").iterdir()}) == 2


def test_a_measure_that_the_fast_way_does_not_know(cache):
    batch = cases.benchmark(6)
    assert sums.Sums(batch, "components", {})(by_cpu(batch, "components")) == "exact"


FAST, SLOW = ("apsp", {}), ("betweenness", {"endpoints": True})
MAKING = [synthetic.classes, synthetic._edges, synthetic.million, draws.permutation, draws.mix, draws.word]


@pytest.mark.parametrize("way", [FAST, SLOW])
@pytest.mark.parametrize("function", [*MAKING, oracle.mixed], ids=lambda function: function.__name__)
def test_what_the_kept_sums_depend_on(way, function, monkeypatch):
    assert changes_the_key(way, function, monkeypatch)


@pytest.mark.parametrize("function", [vectors._gathered, vectors.given, checksums._sweeps, oracle.fraction_bits,
                                      oracle.transposed, oracle.once, oracle.dependencies, search.visit],
                         ids=lambda function: function.__name__)  # fmt: skip
def test_what_the_fast_way_depends_on(function, monkeypatch):
    assert changes_the_key(FAST, function, monkeypatch) and changes_the_key(("betweenness", {}), function, monkeypatch)


@pytest.mark.parametrize("function", [oracle.betweenness, baselines.Cpu.tasks["betweenness"].run])
def test_what_another_way_depends_on(function, monkeypatch):
    assert changes_the_key(SLOW, function, monkeypatch) and not changes_the_key(FAST, function, monkeypatch)


def test_numbers_that_the_kept_sums_depend_on(monkeypatch):
    before = sums.Known(*FAST).file
    monkeypatch.setattr(oracle, "RECIPROCAL", 41)
    forget()
    assert sums.Known(*FAST).file != before
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("function", [oracle_structure.pagerank, oracle.closeness, shards.write_shard])
def test_what_the_kept_sums_do_not_depend_on(function, monkeypatch):
    """So they are not computed anew without need: it takes sixteen cores minutes."""
    assert not changes_the_key(FAST, function, monkeypatch)


def forget():
    """What is remembered of code that is the same as long as a process lasts."""
    for found in (host.code, host._function_text):
        found.cache_clear()


def changes_the_key(way, function, monkeypatch):
    """Whether one more statement in a function does."""
    before, plain = sums.Known(*way).file, inspect.unwrap(function)
    node = lookup.definitions(plain.__module__)[0][plain.__code__.co_firstlineno, plain.__name__]
    forget()
    with monkeypatch.context() as patched:
        patched.setattr(node, "body", [*node.body, ast.parse("0").body[0]])
        after = sums.Known(*way).file
    forget()
    return after != before
