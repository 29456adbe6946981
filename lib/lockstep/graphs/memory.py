"""Memory limit for graphs: an input estimated to exceed it is refused before it is allocated."""

import functools
import os
import re
from pathlib import Path

from .graph import GraphError

SETTING = "LOCKSTEP_MEMORY"
TEXT = 8  # estimated peak bytes per byte of text read: the text, its numbers, the graph
VERTEX = 64  # estimated bytes per vertex for a graph and results on it, without arcs
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def limit():
    """Bytes that a graph may take: ``LOCKSTEP_MEMORY``, else the memory available at the first call.

    Raises
    ------
    ValueError
        ``LOCKSTEP_MEMORY`` is not a size.
    """
    text = os.environ.get(SETTING, "").strip()
    if not text:
        return _available()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", text.upper())
    if found is None:
        raise ValueError(f"{SETTING} is {text!r}; expected a number of bytes, or a size such as 500M or 64G")
    return int(float(found[1]) * _UNITS[found[2]])


@functools.cache
def _available():
    """Bytes available to this process: the least of physical, available and control-group memory."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for file, pattern, unit in (
        ("/proc/meminfo", r"^MemAvailable:\s*(\d+) kB$", 1024),
        ("/sys/fs/cgroup/memory.max", r"^(\d+)$", 1),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", r"^(\d+)$", 1),
    ):
        try:
            number = re.search(pattern, Path(file).read_text(), re.M)
        except OSError:
            continue
        if number:
            found.append(int(number[1]) * unit)
    return min(found)


def size(count):
    """A number of bytes in binary units, at most GiB: 500 MiB, 12.5 GiB."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.4g} {unit}"
        count /= 1024


def check_text(count, name, verb):
    """Refuse a text of more bytes than the limit leaves room for.

    Parameters
    ----------
    count : int
        Bytes so far.
    name, verb : str
        Of the file, and what it does: "holds", "unpacks to".

    Raises
    ------
    GraphError
    """
    if count * TEXT > limit():
        raise GraphError(
            f"{name} {verb} more than {size(limit() // TEXT)}; expected at most an eighth of the {size(limit())} of "
            f"memory that may be used ({SETTING}=SIZE, such as 64G, raises the limit)"
        )


def check_vertices(n, name, sparse):
    """Refuse a graph of more vertices than the limit leaves room for.

    Parameters
    ----------
    n : int
    name : str
        Of the file.
    sparse : bool
        Most ids do not occur, so that numbering those that do would help.

    Raises
    ------
    GraphError
    """
    if n * VERTEX > limit():
        compact = "; read(FILE, compact=True) in Python numbers only the ids that occur" if sparse else ""
        raise GraphError(
            f"{name} has {n:,} vertices, which take about {size(n * VERTEX)}; expected at most "
            f"{limit() // VERTEX:,}, as {size(limit())} may be used ({SETTING}=SIZE, such as 64G, raises the "
            f"limit{compact})"
        )
