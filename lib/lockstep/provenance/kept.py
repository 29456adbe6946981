"""What today's code comes to, kept from one run to the next as long as no file that decides it is written."""

import functools
import json
import sys
from pathlib import Path

from lockstep import cache, paths
from lockstep.studies import PACKAGES

from . import device, lookup


@functools.cache
def _file(study):
    """Where it is kept: the name tells of all files of the library but other studies', and of the tables that count."""
    files = [device.LOCK, *(file for kind in ("*.py", "*.cu*", "*.[hc]pp") for file in lookup.PACKAGE.rglob(kind))]
    others = tuple(lookup.PACKAGE / name for name in PACKAGES.values() if name not in ("machine", PACKAGES[study]))
    files = [file for file in files if not any(other in file.parents for other in others)]
    files.append(paths.DATA / "datasets.csv")
    return paths.CACHE / "provenance" / f"{study}-{cache.name_of(sys.version, files=filter(Path.is_file, files))}.json"


@functools.cache
def _held(study):
    try:
        return json.loads(_file(study).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def kept(study, key, compute):
    """What was kept of a study under a text; else what `compute()` returns now: a text, a list of texts, or None."""
    held = _held(study)
    if key not in held:
        held[key] = compute()
        held[""] = "new"
    return held[key]


def keep():
    """Write down what is new."""
    for study in PACKAGES:
        held = _held(study)
        if held.pop("", None):
            cache.write(_file(study), json.dumps(held).encode())
