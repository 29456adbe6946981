"""What commands write: results to a file or to standard output, all else by the logger `lockstep` to standard error."""

import contextlib
import json
import logging
import math
import operator
import secrets
import stat
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

log = logging.getLogger("lockstep")
LATER = 2.0  # s after which a terminal shows a step's elapsed time


def configure_logging(args) -> None:
    """Send what is logged to standard error: by `--quiet` warnings alone, by `--verbose` also how long steps took."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.handlers, log.propagate = [handler], False
    quiet, verbose = getattr(args, "quiet", False), getattr(args, "verbose", False)
    log.setLevel(logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO)


@contextlib.contextmanager
def warnings_logged():
    """Log what the package warns of as one line each; other libraries' warnings stay as they are."""
    with warnings.catch_warnings():
        plain = warnings.showwarning

        def show(message, category, *where):
            if category.__module__.partition(".")[0] == "lockstep":
                log.warning(str(message))
            else:
                plain(message, category, *where)

        warnings.showwarning = show
        yield


@contextlib.contextmanager
def timed(what):
    """Log a step's time at level DEBUG; unless `--quiet`, a terminal shows elapsed seconds after `LATER` s."""
    started, ended = time.perf_counter(), threading.Event()

    def count():
        width = 0
        while not ended.wait(LATER if not width else 1):
            told = f"{what}: {time.perf_counter() - started:.0f} s"
            width = max(width, len(told))
            print(f"\r{told}", end="", file=sys.stderr, flush=True)
        if width:
            print(f"\r{' ' * width}\r", end="", file=sys.stderr, flush=True)

    shown = sys.stderr.isatty() and log.isEnabledFor(logging.INFO)
    counter = threading.Thread(target=count, daemon=True)
    if shown:
        counter.start()
    try:
        yield
    finally:
        ended.set()
        if shown:
            counter.join()
    log.debug("%s: %.3f s", what, time.perf_counter() - started)


def is_stdout(path) -> bool:
    """Whether results go to standard output: no file is named, or ``-``."""
    return path is None or str(path) == "-"


def display_name(file) -> str:
    """Name of an input in messages."""
    return "<stdin>" if str(file) == "-" else str(file)


def check_writable(args) -> None:
    """Refuse an output that cannot be written before anything is computed for it.

    Raises
    ------
    ValueError
        It is a folder or a file that is read, there is no way to make its folder, or nothing can be written there.
    """
    read = getattr(args, "file", None) or []
    read = [read] if isinstance(read, str) else read
    for name in ("output", "plot"):
        path = getattr(args, name, None)
        if is_stdout(path):
            continue
        if path.is_dir():
            raise ValueError(f"--{name} {path}: this is a folder; name a file")
        if path.is_file() and any(Path(file).is_file() and path.samefile(file) for file in read):
            raise ValueError(f"--{name} {path}: this is the file that is read; name another")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"--{name} {path}: {path.parent} cannot be made ({error.strerror})") from None
        try:
            # What is there already may be a pipe or a device, which must not be opened twice.
            if not path.exists():
                tempfile.TemporaryFile(dir=path.parent).close()
        except OSError as error:
            raise ValueError(f"--{name} {path}: nothing can be written to {path.parent} ({error.strerror})") from None


@contextlib.contextmanager
def open_output(path, mode="w"):
    """The file to write results to, which appears under its name whole or not at all, with the mode of the file that
    it replaces; or standard output.

    Raises
    ------
    ValueError
        It cannot be written to its end: the disk is full, for instance.
    """
    how = {"encoding": "utf-8", "newline": ""} if mode == "w" else {}
    if is_stdout(path):
        yield sys.stdout if mode == "w" else sys.stdout.buffer
        return
    through = path.exists() and not path.is_file()  # a pipe or a device, which no file may replace
    there = path if through else path.resolve()  # not the link to a file, but the file
    scratch = there if through else there.with_name(f".{secrets.token_hex(8)}.new")  # no file of anybody else
    made = False
    try:
        with scratch.open(mode if through else mode.replace("w", "x"), **how) as file:
            made = not through
            if made and there.exists():
                _same_mode(scratch, there)
            yield file
        if made:
            scratch.replace(there)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ValueError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        if made:
            scratch.unlink(missing_ok=True)


def _same_mode(scratch, there):
    """Copy permission bits from the file to be replaced to its still empty replacement."""
    mode = stat.S_IMODE(there.stat().st_mode)
    if stat.S_IMODE(scratch.stat().st_mode) != mode:
        scratch.chmod(mode)


def write_column(values, path, labels=None, whole=False) -> None:
    """Write a line per vertex, 2^16 at a time: `value`, or `name<tab>value` where vertices have names.

    `whole`: finite values are written as integers.
    """
    with open_output(path) as out:
        for first in range(0, len(values), 2**16):
            some = values[first : first + 2**16].tolist()
            if whole:
                some = [int(number) if math.isfinite(number) else number for number in some]
            if labels is None:
                out.write("".join(f"{value}\n" for value in some))
            else:
                names = labels[first : first + len(some)]
                out.write("".join(f"{name}\t{value}\n" for name, value in zip(names, some, strict=True)))


def write_table(found, path) -> None:
    """Write a table as CSV, unless `path` is None."""
    if path is not None:
        with open_output(path) as out:
            found.to_csv(out, index=False, lineterminator="\n")


def write_json(args, graph, result, **found) -> None:
    """One JSON object: the file, the strategy with its reason, what was found; numbers that are not finite are null.

    Arrays are in the order of the vertices, whose names are in `labels` if they have any.
    """
    import numpy as np

    told = {"file": args.file, "strategy": result.strategy, "reason": str(result.stats.get("reason", ""))}
    told["notes"] = list(map(str, result.stats.get("notes", ())))
    if graph is not None:
        told |= {"vertices": graph.n, "arcs": graph.m}
        told |= {} if graph.labels is None else {"labels": [as_written(one) for one in graph.labels]}
    for name, value in found.items():
        told[name] = finite(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)
    with open_output(args.output if graph is not None else None) as out:
        out.write(json.dumps(told, allow_nan=False) + "\n")


def as_written(vertex):
    """A vertex's number or label as JSON has it: a whole number, or text."""
    return operator.index(vertex) if hasattr(vertex, "__index__") else str(vertex)


def finite(value):
    """The same with None for NaN and infinities, which JSON lacks."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plural(count, one, several=None) -> str:
    """A number with its noun: 1 layer, 2 layers."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def error_line(error, args) -> str:
    """An error in one line, with the file whose graph it is about."""
    from lockstep.graphs import GraphError

    line = " ".join(str(error).split()) or type(error).__name__
    files = getattr(args, "file", [])
    files = [files] if isinstance(files, str) else files
    ours = isinstance(error, GraphError) or hasattr(error, "cycle")
    if not (ours and len(files) == 1):
        return line
    return line if display_name(files[0]) in line else f"{display_name(files[0])}: {line}"
