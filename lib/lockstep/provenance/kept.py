"""What today's code comes to, kept from one run to the next as long as no file that decides it is written."""

import functools
import json
import sys

from lockstep import cache, paths

from . import device, lookup


@functools.cache
def _file():
    """Where it is kept: the name tells of all files of the library, and of the tables that count."""
    files = [device.LOCK, *(file for kind in ("*.py", "*.cu*", "*.[hc]pp") for file in lookup.PACKAGE.rglob(kind))]
    files += [paths.DATA / "datasets.csv", paths.RECORDINGS / "protocol.csv"]
    told = sorted(f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files if file.is_file())
    return paths.CACHE / "provenance" / f"{device.digest(sys.version, *told)}.json"


@functools.cache
def _held():
    try:
        return json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def kept(key, compute):
    """What was kept under a key, a text; else what `compute()` returns now: a text, a list of texts, or None."""
    held = _held()
    if key not in held:
        held[key] = compute()
        held[""] = "new"
    return held[key]


def keep():
    """Write down what is new."""
    held = _held()
    if held.pop("", None):
        cache.write(_file(), json.dumps(held).encode())
