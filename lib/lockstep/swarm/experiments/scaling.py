"""Batches from disk: overlap of loading and computing, graphs of one size, results written out, several GPUs.

Shards are made once; before every timed run they are flushed to disk and evicted from the page cache, so that
loading reads the disk. Every run's checksums, one for each graph, are compared with the CPU's (`sums`).
"""

import functools
import re
import shutil
import time

import pyarrow as pa
from pyarrow import csv

from lockstep import paths
from lockstep.batch import shards, stream
from lockstep.batch.batch import GraphBatch
from lockstep.batch.cluster import connected, run_cluster
from lockstep.evidence import Candidate, VerificationError
from lockstep.evidence.parts import Unmeasurable
from lockstep.provenance import build

from ..strategies.engine import engine_from
from . import cases
from .labels import STUDY, engine_of, gpus_label, gpus_of_label, lacking, options_of, parameters_of
from .sums import Sums

WAYS = {  # labels: the strategy, and how `stream.run` is told; without one the batch is only loaded
    "overlapped": ("swarm", {}),
    "one-loader": ("swarm", {"threads": 3, "loaders": 1}),  # a thread loads, another computes; a third fetches
    "one-thread": ("swarm", {"threads": 1}),
    "paper-one-loader": ("paper", {"threads": 2, "loaders": 1}),  # as published: one loads, the other computes
    "paper-one-thread": ("paper", {"threads": 1}),
    "paper-text-one-loader": ("paper", {"threads": 2, "loaders": 1}),  # the same from files of edges
    "paper-text-one-thread": ("paper", {"threads": 1}),
    "loading": (None, {}),
    "loading-one-thread": (None, {"threads": 1}),
    "written": ("swarm", {}),
}
TOGETHER = {"overlapped": "(all three)", "paper-one-loader": "(all three by paper)"}
PIECES = 25  # of a batch of files of edges: as many as a hundred thousand graphs have shards


def candidate(batch, label, measure, options, executor, sums, dataset, out=None):
    """A way through a batch, made ready to be measured; one that only loads has no engine."""
    if label == "reading":
        return _reading(batch, label, dataset)
    strategy, how = WAYS[label]
    engine = _engine(strategy, measure, executor, options)

    def prepare():
        if out is not None:
            shutil.rmtree(out, ignore_errors=True)
        batch.evict()

    def run():
        report = stream.run(batch, engine, out, **how)
        if out is not None:
            shards.evict(out.glob("*.parquet"))  # includes flushing to disk
        return report

    def verify(report):
        if engine is None:
            if report.graphs != len(batch):
                raise VerificationError(f"{report.graphs} graphs loaded, {len(batch)} are there")
            return "not-applicable"
        return sums(report)

    def counts(report):
        found = {step: (seconds, "s") for step, seconds in report.seconds.items() if step != "wall"}
        found |= {"bytes": (batch.nbytes, "B"), "minutes": (report.seconds["wall"] / 60, "min")}
        for step in ("load", "compute"):
            if step in report.seconds:
                found[f"{step}_us"] = (report.seconds[step] / report.graphs * 1e6, "us")
        if out is not None:
            found["written_bytes"] = (sum(path.stat().st_size for path in out.glob("*.parquet")), "B")
        return found

    return Candidate(label, run, verify, build(STUDY, label, dataset), prepare=prepare, counts=counts)


def _engine(strategy, measure, executor, options):
    """The engine of a way; without a GPU the `cpu` strategy replaces `swarm`."""
    if executor.name == "host" and strategy == "paper":
        raise Unmeasurable("the paper's method is timed on a GPU alone")
    strategy = "cpu" if strategy and executor.name == "host" else strategy
    return engine_of(strategy, measure, executor, options) if strategy else None


def _reading(batch, label, dataset):
    """Reading the shards' bytes alone, with the loading threads: the disk's rate."""
    made = []

    def prepare():
        if not made:
            made.append(shards.Scan(batch.files, stream.usual_threads()))
        batch.evict()

    def verify(size):
        if size != batch.nbytes:
            raise VerificationError(f"{size:,} bytes read of {batch.nbytes:,}")
        return "not-applicable"

    return Candidate(label, lambda: made[0](), verify, build(STUDY, label, dataset), prepare=prepare,
                     counts=lambda size: {"bytes": (size, "B")})  # fmt: skip


def _warm(executor, labels, measure, options):
    """Compile what will run, on a small batch."""
    small = cases.benchmark(200 if executor.name == "cuda" else 4)
    for strategy in {WAYS[label][0] for label in labels if label in WAYS} - {None}:
        stream.run(small, _engine(strategy, measure, executor, options))


def _measured(study, part, cell, executor, batch, dataset, parameters=None, out=None, which=None):
    for measure, labels in lacking(study, cell, dataset, parameters).items():
        options = options_of(cell, measure)
        sums = Sums(batch, measure, options, which)
        if study.selected(part):
            _warm(executor, labels, measure, options)
            if any(WAYS[label][0] for label in labels if label in WAYS):
                sums.prepare()
        chosen = [
            candidate(batch, label, measure, options, executor, sums, dataset, out if label == "written" else None)
            for label in labels
        ]
        study.measure(part, cell.experiment, dataset, chosen, rounds=cell.rounds, warmup=False,
                      parameters=parameters_of(cell, measure, parameters))  # fmt: skip


def _size_and_count(name):
    """What a name of `cases` says: graphs of which size (None: of all sizes), and how many."""
    size, count = re.fullmatch(r"benchmark-(?:(\d+)-)?(\d+)", name).groups()
    return size and int(size), int(count)


def _stream(study, part, cell, executor, *, text=False, options=None):
    """A batch from its own shards, or from files of edges."""
    dataset, (_, count) = cell.graph, _size_and_count(cell.graph)
    if lacking(study, cell, dataset, {"graphs": count}) or not study.counted(cell.experiment, dataset, "(batch)"):
        begin = time.perf_counter()
        batch = cases.benchmark(count)
        batch = _of_edges(batch, f"{count}", count, PIECES) if text else batch
        making = time.perf_counter() - begin
        values = {"bytes": (batch.nbytes, "B"), "making": (making, "s"), "shards": (len(batch.pieces), "1")}
        study.count(part, cell.experiment, dataset, "(batch)", values)
        _measured(study, part, cell, executor, batch, dataset, {"graphs": count}, which="text" if text else None)
        yield f"{cell.experiment} {count:,} graphs, {batch.nbytes / 1e9:.2f} GB, made in {making:.1f} s"
    for label, name in TOGETHER.items():
        _together(study, part, cell, dataset, label, name)


def _together(study, part, cell, dataset, label, name):
    """All measures, one after the other, once each of them is there."""
    rows = study.rows()
    rows = rows[(rows["experiment"] == cell.experiment) & (rows["dataset"] == dataset)]
    each = rows[(rows["metric"] == "minutes") & (rows["strategy"] == label)].groupby("parameters")["value"].mean()
    if len(each) == 3 and study.selected(part):
        study.count(part, cell.experiment, dataset, name, {"minutes": (each.sum(), "min")},
                    kernel=build(STUDY, label, dataset))  # fmt: skip


def _sizes(study, part, cell, executor, *, files=0, options=None):
    """Graphs of one size: shards, and the first of them as files of edges, as the paper has them."""
    dataset, (size, count) = cell.graph, _size_and_count(cell.graph)
    text = {"loading-one-thread": build(STUDY, "loading-one-thread", dataset)} if files else {}
    if not lacking(study, cell, dataset, {"size": size}) and not study.lacking(
        "edge-lists", dataset, text, parameters={"size": size}, rounds=cell.rounds
    ):
        return
    batch = cases.benchmark(count, size)
    _measured(study, part, cell, executor, batch, dataset, {"size": size}, which=size)
    if files := min(files, count):
        few = _of_edges(batch, f"{size}-{files}", files)
        one = candidate(few, "loading-one-thread", "", {}, executor, None, dataset)
        study.measure(part, "edge-lists", dataset, [one], rounds=cell.rounds, warmup=False, parameters={"size": size})
    yield f"{cell.experiment} {count:,} graphs of {size} vertices"


def _of_edges(batch, name, count, pieces=1):
    """The first graphs of a batch, each in a file of its edges as text; they are made if they are not there yet.

    The header keeps isolated vertices with the largest ids.
    """
    folder = paths.CACHE / "swarm" / f"edges-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        file = folder / f"{i:06d}.txt"
        if not file.is_file():
            graph = batch[i]
            edges = pa.table(dict(zip("st", graph.edges(once=True), strict=True)))
            with file.open("wb") as out:
                out.write(f"# Nodes: {graph.n} Edges: {len(edges)}\n".encode())
                csv.write_csv(edges, out, csv.WriteOptions(include_header=False, delimiter=" "))
    size = sum(file.stat().st_size for file in folder.glob("*.txt"))
    return GraphBatch(folder, directed=False, pack_bytes=size // pieces + 1)


def _writing(study, part, cell, executor, *, shard=4096, options=None):
    """Results written beside the graphs, against the same run that keeps checksums alone."""
    _, count = _size_and_count(cell.graph)
    if not lacking(study, cell, cell.graph, {"graphs": count}):
        return
    batch, out = cases.benchmark(count, shard=shard), paths.CACHE / "swarm" / "results"
    _measured(study, part, cell, executor, batch, cell.graph, {"graphs": count}, out)
    shutil.rmtree(out, ignore_errors=True)
    yield f"{cell.experiment} results of {count:,} graphs"


def _gpus(study, part, cell, executor, *, gpus, cached=False, shard=1024, options=None):
    """The same batch on 1, 2, ... GPUs of this machine, with static or dynamic scheduling of pieces.

    Shards are on a cold disk or, with `cached`, in the page cache, so that the disk is no bottleneck.
    """
    (_, count), here = _size_and_count(cell.graph), gpus_of(executor, gpus)
    asked, beyond = [n for n in gpus if n <= here], [str(n) for n in gpus if n > here]
    if here < 2 or not asked:
        needed = f"{' or '.join(beyond)} are asked for" if beyond else "two or more are needed"
        raise Unmeasurable(f"this machine has {here} GPU{'s' * (here != 1)}; {needed}")
    experiment, dataset = cell.experiment, cell.graph
    device = "cuda" if executor.name == "cuda" else "host"
    ways = {
        measure: [gpus_label(n, way) for n in asked for way in (schedules if n > 1 else schedules[:1])]
        for measure, schedules in cell.strategies.items()
    }
    more = {"graphs": count, **({"disk": "cached"} if cached else {})}
    todo = lacking(study, cell, dataset, more, ways)
    if todo and study.selected(part):
        batch = cases.benchmark(count, shard=shard)
        with connected(workers=max(asked), executor=device) as client:
            for measure, labels in todo.items():
                options = options_of(cell, measure)
                sums = Sums(batch, measure, options)
                sums.prepare()
                spec = functools.partial(engine_from, measure, device, "swarm" if device == "cuda" else "cpu", options)
                place = batch.fill if cached else batch.evict
                chosen = [_on_gpus(client, batch, spec, label, sums, dataset, place) for label in labels]
                study.measure(part, experiment, dataset, chosen, rounds=cell.rounds,
                              parameters=parameters_of(cell, measure, more))  # fmt: skip
    for n in asked if not cached else ():
        _together(study, part, cell, dataset, gpus_label(n, "dynamic"), f"(all three) on {n}")
    yield f"{cell.experiment} {count:,} graphs on {', '.join(map(str, asked))} GPUs"
    if beyond:
        raise Unmeasurable(f"not on {' or '.join(beyond)} GPUs, this machine has {here}")


def gpus_of(executor, asked):
    """Number of GPUs; on the emulator the largest number requested, as CPU workers."""
    return executor.xp.cuda.runtime.getDeviceCount() if executor.name == "cuda" else max(asked)


def _on_gpus(client, batch, spec, label, sums, dataset, place):
    gpus, schedule = gpus_of_label(label)

    def run():
        return run_cluster(batch, spec, client=client, schedule=schedule, workers=gpus)

    def counts(report):
        found = {step: (seconds, "s") for step, seconds in report.seconds.items() if step != "wall"}
        wall = report.seconds["wall"]
        return {**found, "gpus": (gpus, "1"), "work": (wall, "s"), "minutes": (wall / 60, "min")}

    return Candidate(label, run, sums, build(STUDY, label, dataset), prepare=place, counts=counts)


KINDS = {"stream": _stream, "sizes": _sizes, "writing": _writing, "gpus": _gpus}
