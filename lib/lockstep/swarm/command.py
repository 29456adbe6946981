"""`lockstep swarm`: a measure of every graph of a batch, from a path to a folder of results."""

import functools
import json
import sys
import time
from pathlib import Path

from lockstep.batch.batch import MOST, GraphBatch
from lockstep.batch.cluster import connected, run_cluster
from lockstep.batch.sources import SHARDS
from lockstep.batch.stream import run
from lockstep.batch.watching import LIMIT, ClusterError
from lockstep.graphs import GraphError
from lockstep.graphs.containers import GRAPH_SUFFIXES
from lockstep.output import log, plural

from .strategies.engine import engine_from
from .strategies.table import STRATEGIES

STEPS = {"load": "loading", "copy": "copying", "compute": "computing", "write": "writing"}


def compute(source, measure, out, *, scheduler=None, workers=None, worker_timeout=LIMIT, strategy="auto",
            executor=None, threads=None, keep="values", bad="skip", directed=None, max_vertices=MOST, weights=True,
            progress=False, options=None):  # fmt: skip
    """Compute a measure of every graph of a batch.

    Parameters
    ----------
    source : path-like or what else `GraphBatch` takes
    measure : str
        A name in MEASURES.
    out : path-like
        Folder for the results; see `lockstep.batch.output`. An interrupted run is resumed.
    scheduler : str, optional
        Address of a Dask scheduler.
    workers : int, optional
        Compute on a Dask cluster made here, of so many workers; with a scheduler, on so many of its workers. Without
        both: in this process.
    worker_timeout : float
        Seconds without a worker after which a run on a cluster ends.
    strategy, executor, options
        Of the `Engine`.
    threads : int, optional
        Threads that process pieces from file to results (in this process).
    keep : {"values", "checksums"}
    bad, directed, max_vertices, weights
        Of the `GraphBatch`.
    progress : bool
        Show a bar.

    Returns
    -------
    Report
    """
    if not worker_timeout > 0:
        raise ValueError(f"worker_timeout={worker_timeout:g}; expected more than 0 seconds")
    if keep == "checksums" and not STRATEGIES.find(strategy).checksums:
        raise ValueError(f"strategy {strategy!r} makes no checksums; keep values, or take another strategy")
    batch = GraphBatch.of(source, bad=bad, directed=directed, max_vertices=max_vertices, weights=weights)
    _tell_passed_over(source, batch, out)
    spec = functools.partial(engine_from, measure, executor, strategy, dict(options or {}))
    if scheduler is None and workers is None:
        return run(batch, spec(), out, threads=threads, keep=keep, progress=progress)
    spec()  # wrong names are refused before connecting
    with connected(scheduler, workers, executor) as client:
        some = workers if scheduler else None  # of a cluster made here all, also those that replace one that died
        return run_cluster(batch, spec, out, client=client, workers=some, worker_timeout=worker_timeout, keep=keep,
                           progress=progress)  # fmt: skip


def _tell_passed_over(source, batch, out):
    """Name what a folder holds besides the batch's files; hidden entries are left out."""
    if not isinstance(source, (str, Path)) or not Path(source).is_dir():
        return
    used = {file for piece in batch.pieces for file in piece.files}
    others = [entry for entry in sorted(Path(source).glob("[!.]*")) if entry not in used and entry != Path(out)]
    if others:
        shown = ", ".join(entry.name for entry in others[:5]) + (", ..." if len(others) > 5 else "")
        names = ", ".join((*SHARDS, *GRAPH_SUFFIXES))
        taken = f"expected names that end with {names}; where there are shards, they alone are read"
        log.warning(f"{source}: {plural(len(others), 'entry', 'entries')} passed over ({shown}); {taken}")


def main(args):
    """Carry out `lockstep swarm` for parsed arguments; returns the exit status.

    Raises
    ------
    GraphError
        Graphs were left out, and no other is there: nothing was computed, now or in an earlier run.
    ClusterError
        The cluster was lost; the same command resumes the run.
    """
    names = ("scheduler", "workers", "worker_timeout", "strategy", "executor", "keep", "bad", "max_vertices")
    start = time.perf_counter()
    try:
        report = compute(
            args.input,
            args.measure,
            args.out,
            progress=sys.stderr.isatty() and not args.quiet,
            directed=True if args.directed else False if args.undirected else None,
            weights=not args.unweighted,
            options={name: _value(text) for name, text in args.option.items()},
            **{name: getattr(args, name) for name in names},
        )
    except ClusterError as error:
        raise ClusterError(f"{error}: {args.typed}") from None
    if report.problems and not report.checksums.size:
        first, count = report.problems[0], len(report.problems)
        none = "its only graph cannot be used" if count == 1 else f"none of its {count:,} graphs can be used"
        rest = f" (why the others cannot: {args.out}/_problems.csv)" if count > 1 else ""
        raise GraphError(f"{args.input}: {none}; graph {first.graph} ({first.name}): {first.reason}{rest}")
    log.info(f"{args.input}: {_told(args.measure, report, start)}; results in {args.out}")
    tell_left_out(report.problems, f": {args.out}/_problems.csv")
    if args.json:
        bad = [{"graph": int(one.graph), "name": one.name, "reason": one.reason} for one in report.problems]
        told = {"input": args.input, "measure": args.measure, "out": args.out, "graphs": report.graphs,
                "resumed": report.resumed, "seconds": report.seconds, "left_out": bad}  # fmt: skip
        print(json.dumps(told, indent=1))
    return 0


def tell_left_out(problems, where=""):
    """Name the first ten graphs that were left out, and ``where`` the others are named."""
    for problem in problems[:10]:
        log.warning(f"left out: graph {problem.graph} ({problem.name}): {problem.reason}")
    if len(problems) > 10:
        log.warning(f"and {len(problems) - 10:,} more{where}")


def _told(measure, report, start):
    """What was done, and how long it took."""
    if report.resumed and not report.pieces:
        return f"{measure} of {plural(report.checksums.size, 'graph')} was there from an earlier run"
    steps = ", ".join(f"{word} {report.seconds[step]:.2f} s" for step, word in STEPS.items() if step in report.seconds)
    done = f"{measure} of {plural(report.graphs, 'graph')} in {time.perf_counter() - start:.2f} s"
    if steps:
        done += f" ({steps})"
    if report.resumed:
        pieces = "piece was" if report.resumed == 1 else "pieces were"
        done += f"; {report.resumed:,} {pieces} there from an earlier run"
    return done


def _value(text):
    """An option's value as Python would write it: a number, a truth value, or text."""
    known = {"true": True, "false": False, "none": None}
    if text.lower() in known:
        return known[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
