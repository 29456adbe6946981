"""What today's code comes to, kept from one run to the next as long as no file that decides it is written."""

import functools
import json
import os
import sys

from lockstep import paths

from . import device, host


@functools.cache
def _file():
    """Where it is kept: the name tells of all files of the library, and of the tables that count."""
    files = [*host.PACKAGE.rglob("*.py"), *host.PACKAGE.rglob("*.cu*"), *host.PACKAGE.rglob("*.[hc]pp"), device.LOCK]
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
    """Write down what is new. That a cache cannot be written is no error."""
    held = _held()
    if held.pop("", None):
        file = _file()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            for old in sorted(file.parent.glob("*.json"), key=os.path.getmtime)[:-8]:
                old.unlink(missing_ok=True)
            scratch = file.with_suffix(f".{os.getpid()}")
            scratch.write_text(json.dumps(held), encoding="utf-8")
            scratch.replace(file)
        except OSError:
            pass
