"""A batch on several GPUs or several machines: a Dask cluster, one worker a GPU.

Every piece of the batch is a task. Dask's scheduler assigns the next one to a worker with free threads, the paper's
dynamic scheduling over GPUs; ``schedule="static"`` assigns the pieces beforehand, for comparison. A worker runs a few
tasks at a time in threads that share one engine, so that loading and computing overlap as on one machine (`stream`).

A task writes its part of the results and returns checksums: if a worker dies, only its running tasks are
repeated, by other workers. If the scheduler is lost, or without workers for long, the run ends (`watching`); the same
call resumes it from the existing parts. Dask pickles messages between its own processes; no file is a pickle.

The same code runs with workers without a GPU, as in the tests. On other machines start per GPU
``CUDA_VISIBLE_DEVICES=0 dask worker ADDRESS --nthreads 8``, with this package installed and the same paths.
"""

import contextlib
import logging
import os
import threading
import time
from collections import Counter
from pathlib import Path

from lockstep.machine import gpu_available
from lockstep.output import plural

from .batch import GraphBatch
from .stream import Pipeline, Report, bar, closed, opened, usual_threads
from .watching import LIMIT, ClusterError, asked, finished, workers_of

SCHEDULES = ("dynamic", "static")


@contextlib.contextmanager
def connected(scheduler=None, workers=None, executor=None):
    """A Dask client of the cluster at an address, or of one made here and closed again.

    Parameters
    ----------
    scheduler : str, optional
        Address of a running scheduler, ``tcp://host:8786``.
    workers : int, optional
        Of a cluster made here: one a GPU by default, or one in all without GPUs.
    executor : str, optional
        "cuda" or "host"; None: GPUs if available.

    Raises
    ------
    ValueError
        Fewer than one worker, or more than available GPUs.
    """
    from distributed import Client

    if workers is not None and workers < 1:
        raise ValueError(f"{workers} workers asked for; expected at least one")
    if scheduler is not None:
        with _unlogged(), Client(scheduler, timeout=30) as client:
            yield client
        return
    from distributed import Nanny, Scheduler, SpecCluster

    gpus = _gpus() if executor != "host" else []
    count = workers or max(len(gpus), 1)
    if gpus and count > len(gpus):
        raise ValueError(f"{count} workers asked for, but {len(gpus)} GPUs answer; expected at most one worker a GPU")
    threads = str(max(len(os.sched_getaffinity(0)) // count, 1))
    places = {}
    for i in range(count):
        env = {"NUMBA_NUM_THREADS": threads, **({"CUDA_VISIBLE_DEVICES": gpus[i]} if gpus else {})}
        options = {"nthreads": usual_threads(count), "env": env, "memory_limit": 0, "dashboard_address": None,
                   "silence_logs": logging.ERROR}  # fmt: skip
        places[i] = {"cls": Nanny, "options": options}
    master = {"cls": Scheduler, "options": {"dashboard": False, "host": "127.0.0.1", "port": 0}}
    made = SpecCluster(workers=places, scheduler=master, silence_logs=logging.ERROR)
    with made as cluster, Client(cluster) as client:
        client.wait_for_workers(count, timeout=120)
        yield client


@contextlib.contextmanager
def _unlogged():
    """Suppress the log messages of Dask and its event loop on broken connections, which `watching` reports."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "asyncio")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _gpus():
    """CUDA_VISIBLE_DEVICES names of the GPUs available to this process."""
    if not gpu_available():
        return []
    import cupy

    count = cupy.cuda.runtime.getDeviceCount()
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    return visible[:count] if visible else [str(i) for i in range(count)]


def run_cluster(batch, spec, out=None, *, client, schedule="dynamic", workers=None, worker_timeout=LIMIT, keep="values",
                progress=False):  # fmt: skip
    """Put a batch through engines on all workers of a cluster.

    Parameters
    ----------
    batch : GraphBatch or what makes one
    spec : callable
        ``spec()`` makes an engine on the machine where it is called; it is sent to the workers.
    out : path-like, optional
        As for `stream.run`; workers on other machines need the same path.
    client : distributed.Client
        See `connected`.
    schedule : {"dynamic", "static"}
        "static" is for comparison: pieces assigned to a worker that dies are not computed.
    workers : int, optional
        Only so many of the cluster's.
    worker_timeout : float
        Seconds without a worker for remaining pieces after which the run ends.
    keep, progress
        As for `stream.run`.

    Returns
    -------
    Report
        ``seconds["wall"]`` begins when every worker has its engine; ``seconds["busiest"]`` is the largest computing
        time of a worker.

    Raises
    ------
    ClusterError
        The scheduler is lost, there is no worker for `worker_timeout` seconds, or one piece kills several. Finished
        parts stay in ``out``.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule is {schedule!r}; expected one of {', '.join(SCHEDULES)}")
    engine = spec()
    batch = GraphBatch.of(batch).suited(engine)
    output = opened(batch, engine, None if out is None else Path(out).absolute(), keep)
    job = (os.urandom(8).hex(), batch, spec, output)
    todo = [piece.absolute() for piece in batch.pieces if output is None or not output.done(piece)]
    report, found, busy = Report(resumed=len(batch.pieces) - len(todo)), {}, Counter()
    with bar(batch, todo, progress) as advance, _accounted(batch, output):
        addresses = workers_of(client, worker_timeout)[:workers]
        asked(client, client.run, _prepare, job, workers=addresses, on_error="ignore")  # `_piece` raises it again
        start = time.perf_counter()
        futures = {}
        for number, piece in enumerate(todo):
            where = {"workers": [addresses[number % len(addresses)]]} if schedule == "static" else {}
            if workers is not None and schedule == "dynamic":
                where = {"workers": addresses}
            futures[client.submit(_piece, job, piece, pure=False, key=f"{job[0]}-{piece.name}", **where)] = number
        for future, (worker, done) in finished(client, futures, worker_timeout):
            report.add(done)
            busy[worker] += done.seconds.get("compute", 0.0)
            found[futures[future]] = done.checksums
            advance(done)
    report.seconds["wall"] = time.perf_counter() - start
    report.seconds["busiest"] = max(busy.values(), default=0.0)
    return closed(batch, output, report, [found[number] for number in sorted(found)])


@contextlib.contextmanager
def _accounted(batch, output):
    """Append the batch's progress to a ClusterError."""
    try:
        yield
    except ClusterError as error:
        if output is None:
            raise
        total = sum(piece.count for piece in batch.pieces)
        done = sum(piece.count for piece in batch.pieces if output.done(piece))
        told = f"{done:,} of {plural(total, 'graph')} are done and stay in {output.folder}; the same call goes on there"
        raise ClusterError(f"{error}. {told}") from None


# -- on the workers

_lock = threading.Lock()
_pipelines = {}


def _prepare(job):
    """Create a job's engine in this process, unless it exists; the previous job's is released."""
    name, batch, spec, output = job
    with _lock:
        if name not in _pipelines:
            _pipelines.clear()
            _pipelines[name] = Pipeline(batch, spec(), output)


def _piece(job, piece):
    """Do a piece; returns (worker, Done)."""
    from distributed import get_worker

    _prepare(job)
    return get_worker().address, _pipelines[job[0]](piece)
