"""Every graph of a batch from disk held against the CPU: checksums of all, computed once and kept.

A run of a million graphs leaves a checksum for each of them. The CPU computes them all too (`checksums`) and keeps what
it has in a file, some shards at a time: who is interrupted goes on there, and every batch that begins with the same
graphs has them already. None of this is timed. What the CPU finds is itself held against the slower ways, on a seeded
sample of the graphs.
"""

import concurrent.futures
import hashlib
import inspect
import os

import numpy as np

from lockstep.evidence import VerificationError
from lockstep.graphs import draws

from . import cases, checksums, stream, synthetic
from .measures import MEASURES
from .pack import Pack
from .run import Engine
from .task import Task, Values

AT_ONCE = 64  # graphs that a core takes at once
BLOCK = 16  # shards after which what is known is written


class Checks:
    """What `stream.run` takes as an engine: checksums alone, on all cores.

    Parameters
    ----------
    measure : str
        closeness, apsp or betweenness, of unweighted graphs, whatever the form; betweenness as it is by default.
    """

    executor = None

    def __init__(self, measure):
        self.measure = MEASURES[measure]
        self.options = self.measure.filled({})
        self.pool = concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)), thread_name_prefix="check")

    def prepare(self, pack):
        """A Task that computes the pack's checksums."""
        return _Checked(self, pack)

    def compute(self, pack):
        """The checksums of a pack, on one core."""
        found, other = np.zeros(len(pack), np.uint64), np.zeros(len(pack), np.uint64)
        arrays = (pack.offsets, pack.targets, pack.vertex_start, pack.arc_start, pack.directed)
        if self.measure.name == "betweenness":
            checksums.betweenness(*arrays, found)
        elif self.measure.name == "closeness":
            checksums.distances(*arrays, found, other)
        else:
            checksums.distances(*arrays, other, found)
        return found


class _Checked(Task):
    def __init__(self, engine, pack):
        self.engine, self.pack = engine, pack

    def run(self):
        parts = [self.pack[i : i + AT_ONCE] for i in range(0, len(self.pack), AT_ONCE)]
        found = np.concatenate([np.zeros(0, np.uint64), *self.engine.pool.map(self.engine.compute, parts)])
        return Values(self.engine.measure.name, np.zeros(0), np.zeros(len(self.pack) + 1, np.int64), found)


class Known:
    """The CPU's checksums of the graphs that batches of Benchmark II begin with.

    Parameters
    ----------
    measure : str
    options : dict
    size : int, optional
        Of all graphs, if they are of one.

    Attributes
    ----------
    file : Path
        Holds them, as far as they are known; its name has a digest of what makes the graphs and of what computes.
    """

    def __init__(self, measure, options, size=None):
        self.measure, self.options = measure, options
        told = {} if measure in ("closeness", "apsp") else options  # their forms have the same checksums
        self.engine = Engine(measure, None, "cpu", **options) if told else Checks(measure)
        name = [measure, *(f"{key}={value}" for key, value in sorted(told.items())), *([str(size)] if size else [])]
        self.file = cases.paths.CACHE / "swarm" / "checksums" / f"{'-'.join([*name, _digest()])}.npy"

    def read(self):
        """What is known; nothing if the file is not there or damaged."""
        try:
            found = np.load(self.file, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return np.zeros(0, np.uint64)
        return found if found.dtype == np.uint64 and found.ndim == 1 else np.zeros(0, np.uint64)

    def write(self, known):
        """Keep them; the file appears whole or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.file.with_name(f"{self.file.name}.{os.getpid()}.part")
        with open(scratch, "wb") as stream_:
            np.save(stream_, known)
        scratch.replace(self.file)

    def of(self, batch):
        """The checksums of all graphs of a batch; what is not known yet is computed.

        Raises
        ------
        VerificationError
            A graph of the batch cannot be used, or the CPU's ways differ on a graph.
        """
        known = self.read()
        lacking = known.size < len(batch)
        while known.size < len(batch):
            todo = [piece for piece in batch.pieces if piece.first + piece.count > known.size][:BLOCK]
            report = stream.run(batch.of_pieces(todo), self.engine)
            if report.problems:
                bad = report.problems[0]
                raise VerificationError(f"graph {bad.graph} ({bad.name}) of {batch.source}: {bad.reason}")
            known = np.concatenate([known[: todo[0].first], report.checksums])
            self.write(known)
        if lacking:
            self._look(batch, known)
        return known[: len(batch)]

    def _look(self, batch, known):
        """Hold a seeded sample of all graphs against one source after the other, and of these those on which it takes
        little time against NetworkX and SciPy in full."""
        drawn = np.sort(np.random.default_rng(len(batch)).permutation(len(batch))[: cases.LOOKED_AT])
        pack = Pack.of([batch[int(i)] for i in drawn])
        values = Engine(self.measure, None, "cpu", **self.options).run(pack)
        wrong = np.flatnonzero(values.checksums != known[drawn])
        if wrong.size:
            self.file.unlink(missing_ok=True)
            raise VerificationError(f"{self.measure}: the CPU's two ways differ on graph {drawn[wrong[0]]}")
        few = pack.take(np.flatnonzero(pack.n.astype(np.int64) * pack.m <= cases.WORK // 4))
        if len(few):
            case = cases.Case("the sample", few, True)
            case.check(self.measure, self.options, Engine(self.measure, None, "cpu", **self.options).run(few))


def _digest():
    """Of what makes the graphs, and of what computes the checksums."""
    parts = [inspect.getsource(synthetic), inspect.getsource(draws), inspect.getsource(checksums)]
    parts[-1] = parts[-1].replace(checksums.__doc__, "")
    return hashlib.sha256(" ".join(" ".join(parts).split()).encode()).hexdigest()[:16]


class Sums:
    """Holds the checksums of runs on one batch against the CPU's, graph by graph.

    Parameters
    ----------
    batch : GraphBatch
        Of Benchmark II (`cases.benchmark`).
    measure : str
    options : dict
    size : int, optional
        Of all graphs, if they are of one.
    """

    def __init__(self, batch, measure, options, size=None):
        self.batch, self.measure, self.known = batch, measure, Known(measure, options, size)
        self.expected = None

    def prepare(self):
        """Compute what the CPU does not know yet."""
        if self.expected is None:
            self.expected = self.known.of(self.batch)

    def __call__(self, report):
        """`exact`: every graph has the CPU's checksum.

        Raises
        ------
        VerificationError
            Names the first graph that has another one.
        """
        self.prepare()
        if report.checksums.size != len(self.batch):
            raise VerificationError(f"{self.measure}: {report.checksums.size} of {len(self.batch)} graphs done")
        wrong = np.flatnonzero(report.checksums != self.expected)
        if wrong.size:
            raise VerificationError(
                f"{self.measure}: {wrong.size} of {len(self.batch)} graphs have other checksums than the CPU's, graph "
                f"{wrong[0]} first"
            )
        return "exact"
