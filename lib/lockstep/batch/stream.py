"""A batch through an engine: loading, copying, computing and writing of different pieces at the same time.

The paper uses one thread for loading and one for computing, with a queue between them. Here each of several threads
processes whole pieces: load and check, copy to the device, launch, fetch, write. A lock serializes
launches, so the device processes one pack at a time, on one stream; fetching results overlaps with loading in other
threads. The thread pool's queue of pieces replaces the paper's queue, in the batch's order. With ``loaders=1`` one
thread at a time loads, as in the paper; saturating a current disk needs several. One thread without overlap is the
paper's baseline.
"""

import concurrent.futures
import contextlib
import os
import threading
import time
from dataclasses import dataclass, field

import numpy as np

from .batch import GraphBatch
from .output import Output, OutputError
from .upload import Slot


def usual_threads(workers=1):
    """Threads of one of `workers` workers on this machine: one a core, 2 to 8, which saturate a disk."""
    return max(2, min(8, len(os.sched_getaffinity(0)) // workers))


@dataclass
class Done:
    """Result of one piece; seconds of each step, on the thread's clock (`compute`: device events)."""

    piece: str
    graphs: int
    bytes: int
    problems: list
    checksums: np.ndarray
    seconds: dict


@dataclass
class Report:
    """Report of a batch.

    Attributes
    ----------
    graphs, pieces, resumed : int
        Graphs done now; pieces done now; pieces that were done before.
    problems : list of Problem
    bytes : int
        Of the packs that were loaded.
    seconds : dict
        Sums over the pieces of ``load``, ``copy``, ``plan``, ``compute``, ``fetch`` and ``write``, and ``wall``, from
        the first piece to the last.
    checksums : uint64 array
        Of all graphs in the batch's order.
    """

    graphs: int = 0
    pieces: int = 0
    resumed: int = 0
    bytes: int = 0
    problems: list = field(default_factory=list)
    seconds: dict = field(default_factory=dict)
    checksums: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))

    def add(self, done):
        """Count a piece."""
        self.graphs += done.graphs
        self.pieces += 1
        self.bytes += done.bytes
        self.problems += done.problems
        for step, seconds in done.seconds.items():
            self.seconds[step] = self.seconds.get(step, 0.0) + seconds


class Pipeline:
    """Processes pieces from files to results; thread-safe.

    Parameters
    ----------
    batch : GraphBatch
        Loads and checks pieces.
    engine : Engine or None
        None: only load, without copies, to measure loading.
    output : Output, optional
        Where results go; without it they are only summed up in checksums.
    sink : callable, optional
        ``sink(piece, loaded, lengths, values)`` is called with every piece's results.
    loaders : int, optional
        Threads that load at the same time; all by default.
    """

    def __init__(self, batch, engine, output=None, sink=None, loaders=None):
        self.batch, self.engine, self.output, self.sink = batch, engine, output, sink
        self.computing = threading.Lock()
        self.loading = threading.Semaphore(loaders) if loaders else contextlib.nullcontext()
        self.executor = getattr(engine, "executor", None)
        self.device = self.executor is not None and self.executor.name == "cuda"
        self.stream = self.executor.xp.cuda.Stream(non_blocking=True) if self.device else None
        self.own = threading.local()

    def __call__(self, piece):
        """Do one piece; returns Done."""
        clock = _Clock()
        if self.output is not None and self.output.done(piece):  # on a cluster, by a worker that died afterwards
            problems, checksums = self.output.read(piece)
            return Done(piece.name, checksums.size, 0, problems, checksums, clock.seconds)
        if self.device and not hasattr(self.own, "slot"):
            self.own.slot = Slot(self.executor)
        slot = self.own.slot if self.device else None
        with self.loading, clock("load"):
            loaded = self.batch.load_piece(piece, slot.memory if slot else None)
        pack, checksums = loaded.pack, np.zeros(0, np.uint64)
        if self.engine is not None and len(pack):
            wanted = self.sink is not None or (self.output is not None and self.output.keep == "values")
            way = self._on_device if slot else self._here
            lengths, values, checksums = way(pack, slot, clock, wanted)
            with clock("write"):
                if self.output is not None:
                    self.output.write(piece, loaded, lengths, values, checksums)
                if self.sink is not None:
                    self.sink(piece, loaded, lengths, values)
        elif self.output is not None:
            with clock("write"):
                nothing = np.zeros(0)
                self.output.write(piece, loaded, None, nothing, checksums)
        return Done(piece.name, len(pack), pack.nbytes, loaded.problems, checksums, clock.seconds)

    def _here(self, pack, slot, clock, wanted):
        with self.computing, clock("compute"):
            found = self.engine.prepare(pack).run()
        return np.diff(found.starts), found.values, _checks(found.checksums, pack)

    def _on_device(self, pack, slot, clock, wanted):
        cuda, executor = self.executor.xp.cuda, self.executor
        with clock("copy"):
            there = slot.upload(pack)
        begin, end, last = cuda.Event(), cuda.Event(), cuda.Event()
        with self.stream:
            with clock("plan"):
                task = self.engine.prepare(there)
            with self.computing:
                begin.record()
                found = task.run()
                end.record()
                arrays = [found.values] if wanted else []
                arrays += [] if found.checksums is None else [found.checksums]
                fetched = [executor.pinned(array.shape, array.dtype) for array in arrays]
                for target, array in zip(fetched, arrays, strict=True):
                    executor.fetch(target, array)
                last.record()
        with clock("fetch"):
            last.synchronize()
        clock.seconds["compute"] = cuda.get_elapsed_time(begin, end) / 1e3
        checksums = None if found.checksums is None else fetched[-1]
        return np.diff(found.starts), fetched[0] if wanted else None, _checks(checksums, pack)


def _checks(checksums, pack):
    """Checksums; zeros if the strategy provides none."""
    return np.zeros(len(pack), np.uint64) if checksums is None else checksums


class _Clock:
    def __init__(self):
        self.seconds = {}

    @contextlib.contextmanager
    def __call__(self, step):
        start = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - start


def run(batch, engine, out=None, *, threads=None, loaders=None, keep="values", sink=None, progress=False):
    """Put a batch through an engine.

    Parameters
    ----------
    batch : GraphBatch or what makes one
    engine : Engine or None
        None: only load.
    out : path-like, optional
        Folder for the results (`Output`). An interrupted run is resumed: pieces with results are not
        repeated.
    threads : int, optional
        Threads that process whole pieces; 1: no overlap. By default `usual_threads`.
    loaders : int, optional
        Threads that load at the same time; all by default.
    keep : {"values", "checksums"}
        What is written of each graph.
    sink : callable, optional
        See `Pipeline`.
    progress : bool
        Show a bar.

    Returns
    -------
    Report

    Raises
    ------
    OutputError
        ``out`` holds the results of something else.
    GraphError
        A graph is unusable, with ``bad="refuse"``.
    """
    batch = GraphBatch.of(batch).suited(engine)
    output = opened(batch, engine, out, keep)
    return carry_out(batch, Pipeline(batch, engine, output, sink, loaders), output, threads, progress)


def opened(batch, engine, out, keep):
    """The folder of results, made or taken up; None without one."""
    if out is None or engine is None:
        return None
    what = {"batch": batch.digest(), "source": batch.source, "measure": engine.measure.name, "options": engine.options}
    if not getattr(engine, "checksums", True):  # a run by another strategy must not go on with these
        what["checksums"] = False
    output = Output(out, what | batch.asked(), keep)
    if batch.lies_in(output.folder):
        raise OutputError(f"{out} holds the graphs; choose another folder for the results")
    output.start()
    return output


def carry_out(batch, pipeline, output, threads, progress):
    """Do the pieces that are not done yet in some threads, and report."""
    todo = [piece for piece in batch.pieces if output is None or not output.done(piece)]
    report, found = Report(resumed=len(batch.pieces) - len(todo)), []
    pool = concurrent.futures.ThreadPoolExecutor(threads or usual_threads(), thread_name_prefix="piece")
    start = time.perf_counter()
    try:
        with bar(batch, todo, progress) as advance:
            for future in [pool.submit(pipeline, piece) for piece in todo]:
                done = future.result()
                report.add(done)
                found.append(done.checksums)
                advance(done)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    report.seconds["wall"] = time.perf_counter() - start
    return closed(batch, output, report, found)


def closed(batch, output, report, found):
    """The report of a batch all of whose pieces are done."""
    if output is not None:
        report.problems, report.checksums = output.finish(batch.pieces)
    elif found:
        report.checksums = np.concatenate(found)
        report.problems.sort()
    return report


@contextlib.contextmanager
def bar(batch, todo, progress):
    """A progress bar in graphs; gives the function that moves it on."""
    from tqdm import tqdm

    total = sum(piece.count for piece in batch.pieces)
    left = sum(piece.count for piece in todo)
    with tqdm(total=total, initial=total - left, unit=" graphs", unit_scale=True, disable=not progress) as shown:
        yield lambda done: shown.update(done.graphs + len(done.problems))
