"""CPU checksums of every graph of a batch from disk, computed once and cached.

A run of a million graphs yields a checksum for each of them. The CPU computes all of them too (`checksums`) and saves
them in a file after every few shards, so that interrupted computations resume and batches with the same first graphs
share them. None of this is timed. The CPU's checksums are themselves verified by slower methods on a seeded
sample of the graphs.
"""

import concurrent.futures
import os

import numpy as np

from lockstep import paths
from lockstep.batch import shards
from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack
from lockstep.evidence import VerificationError
from lockstep.provenance import host

from .. import checksums, problem
from ..strategies.engine import Engine
from . import synthetic

AT_ONCE = 64  # graphs per task of a core
BLOCK = 16  # shards after which what is known is written
LOADERS = 4  # threads that load shards meanwhile
DISTANCES = ("closeness", "apsp")  # both come from the same search, whatever their form


class Known:
    """The CPU's checksums of the graphs that batches of Benchmark II begin with.

    Parameters
    ----------
    measure : str
    options : dict
    which : int or str, optional
        The size of all graphs, if they are of one; `text` for those from files of edges, whose neighbors stand in
        another order: the last bits of betweenness depend on it.

    Attributes
    ----------
    file : Path
        The known checksums: a line a graph, a column a measure. Its name has a digest of the sources of generator
        and computation.
    """

    def __init__(self, measure, options, which=None):
        self.measure, self.options = measure, options
        self.columns = DISTANCES if measure in DISTANCES else (measure,)
        told = [] if measure in DISTANCES else [f"{key}={value}" for key, value in sorted(options.items())]
        fast = measure in DISTANCES or (measure == "betweenness" and not told)  # what `checksums` knows
        self.engine = None if fast else Engine(measure, None, "cpu", **options)
        computes = (checksums.distances, checksums.betweenness) if fast else (self.engine.method.tasks[measure],)
        left = (shards.write_shard, GraphBatch)  # how shards are written is no part of what is in them
        digest = host.code(synthetic.million, *computes, entry=("run",), left=left).digest
        name = ["distances" if measure in DISTANCES else measure, *told, *([str(which)] if which else []), digest]
        self.file = paths.CACHE / "swarm" / "checksums" / f"{'-'.join(name)}.npy"

    def read(self):
        """What is known; nothing if the file is not there or damaged."""
        nothing = np.zeros((0, len(self.columns)), np.uint64)
        try:
            found = np.load(self.file, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return nothing
        return found if found.dtype == np.uint64 and found.shape[1:] == nothing.shape[1:] else nothing

    def write(self, known):
        """Write them atomically."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.file.with_name(f"{self.file.name}.{os.getpid()}.part")
        with scratch.open("wb") as file:
            np.save(file, known)
        scratch.replace(self.file)

    def of(self, batch):
        """The checksums of all graphs of a batch; what is not known yet is computed.

        Raises
        ------
        VerificationError
            A graph of the batch cannot be used, or the CPU's ways differ on a graph.
        """
        known = self.read()
        if len(known) < len(batch):
            todo = [piece for piece in batch.pieces if piece.first + piece.count > len(known)]
            cores = concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)), thread_name_prefix="core")
            loaders = concurrent.futures.ThreadPoolExecutor(LOADERS, thread_name_prefix="shard")
            with cores, loaders:
                for at in range(0, len(todo), BLOCK):
                    block = todo[at : at + BLOCK]
                    found = [self.compute(loaded, batch, cores) for loaded in loaders.map(batch.load_piece, block)]
                    known = np.concatenate([known[: block[0].first], *found])
                    if at + BLOCK < len(todo):
                        self.write(known)
            try:
                self._look(batch, known)
            except VerificationError:
                self.file.unlink(missing_ok=True)
                raise
            self.write(known)  # whole only after its check, which is not repeated
        return known[: len(batch), self.columns.index(self.measure)]

    def compute(self, loaded, batch, cores):
        """A line for each graph of a piece."""
        pack = loaded.pack
        if loaded.problems:
            bad = loaded.problems[0]
            raise VerificationError(f"graph {bad.graph} ({bad.name}) of {batch.source}: {bad.reason}")
        if self.engine is not None:
            return self.engine.run(pack).checksums[:, None]
        found = np.zeros((len(self.columns), len(pack)), np.uint64)

        def some(first):
            part, own = pack[first : first + AT_ONCE], found[:, first : first + AT_ONCE]
            way = checksums.distances if len(own) > 1 else checksums.betweenness
            way(part.offsets, part.targets, part.vertex_start, part.arc_start, part.directed, *own)

        list(cores.map(some, range(0, len(pack), AT_ONCE)))
        return found.T

    def _look(self, batch, known):
        """Verify a seeded sample of all graphs by single-source searches, and the cheap ones among these by NetworkX
        and SciPy in full."""
        drawn = np.sort(np.random.default_rng(len(batch)).permutation(len(batch))[: problem.LOOKED_AT])
        pack = Pack.of([batch[int(i)] for i in drawn])
        few = pack.take(np.flatnonzero(pack.n.astype(np.int64) * pack.m <= problem.WORK // 4))
        for column, measure in enumerate(self.columns):
            options = self.options if measure == self.measure else {}
            engine = Engine(measure, None, "cpu", **options)
            wrong = np.flatnonzero(engine.run(pack).checksums != known[drawn, column])
            if wrong.size:
                raise VerificationError(f"{measure}: the CPU's two ways differ on graph {drawn[wrong[0]]}")
            if len(few):
                problem.Case("the sample", few, True).check(measure, options, engine.run(few))


class Sums:
    """Holds the checksums of runs on one batch against the CPU's, graph by graph.

    Parameters
    ----------
    batch : GraphBatch
        Of Benchmark II (`cases.benchmark`).
    measure : str
    options : dict
    which : int or str, optional
        As of `Known`.
    """

    def __init__(self, batch, measure, options, which=None):
        self.batch, self.measure, self.known = batch, measure, Known(measure, options, which)
        self.expected = None

    def prepare(self):
        """Compute missing CPU checksums."""
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
