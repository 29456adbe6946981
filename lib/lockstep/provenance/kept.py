"""Cache of the digests of today's code, keyed by the files that they depend on."""

import functools
import json
import sys
from pathlib import Path

from lockstep import cache, choose, paths
from lockstep.studies import PACKAGES

from . import device, lookup


@functools.cache
def _file(study):
    """Cache file of a study, named by its own and shared source files, the lock, the registry and the fitted rules."""
    files = [device.LOCK, *(file for kind in ("*.py", "*.cu*", "*.[hc]pp") for file in lookup.PACKAGE.rglob(kind))]
    others = tuple(lookup.PACKAGE / name for name in PACKAGES.values() if name not in ("machine", PACKAGES[study]))
    files = [file for file in files if not any(other in file.parents for other in others)]
    files += [paths.DATA / "datasets.csv", paths.DATA / choose.FILE]  # `auto` follows rules that are data
    return paths.CACHE / "provenance" / f"{study}-{cache.name_of(sys.version, files=filter(Path.is_file, files))}.json"


@functools.cache
def _held(study):
    try:
        return json.loads(_file(study).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def kept(study, key, compute):
    """The cached value of a study under a key, else that of `compute()`: str, list of str, or None."""
    held = _held(study)
    if key not in held:
        held[key] = compute()
        held[""] = "new"
    return held[key]


def keep():
    """Write changed caches to disk."""
    for study in PACKAGES:
        held = _held(study)
        if held.pop("", None):
            cache.write(_file(study), json.dumps(held).encode())
