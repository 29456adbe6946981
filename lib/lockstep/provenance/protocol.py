"""The protocol of a study: a version number of the code that times, orders, verifies and derives from runs.

A digest of code shared by all strategies of a study would make all its rows stale with each edit. So the protocol is a
number, raised manually, with a reason, when rows before and after must not be compared. The table lists the digests of
the syntax trees that are valid for each number; trees not listed for the present number are reported as an error
(`unclear`) until the user decides: ``lockstep provenance protocol STUDY --why "..."`` raises the number, with
``--same`` it confirms the new trees for the present one.
"""

import functools
from importlib import import_module

from lockstep import paths
from lockstep.evidence import computer, timing
from lockstep.evidence.study import Study
from lockstep.graphs import Graph
from lockstep.machine import cuda
from lockstep.studies import PACKAGES

from . import host, kept, lookup
from .origin import origins
from .tables import append, read

FILE = "protocol.csv"
COLUMNS = ["study", "number", "trees", "commit", "date", "why"]
HARNESS = (Study.measure, Study._round, Study._warm_up, timing.once, timing.check, timing.Warmth.up,
           cuda.CudaExecutor.timer, cuda.CudaExecutor.device_ms)  # fmt: skip
# Modules that store or describe rows do not affect measured values.
CUT = tuple(name for name in host.CUT if name != f"{lookup.NAME}.evidence") + tuple(
    f"{lookup.NAME}.evidence.{name}" for name in ("recording", "computer", "nvml", "reading", "ledger", "parts")
)


def lines():
    """The table, the oldest line first."""
    return read(paths.RECORDINGS / FILE)


def number(study):
    """The present number of a study's protocol; 0 where the table has none."""
    file = paths.RECORDINGS / FILE
    written = file.stat() if file.is_file() else None
    return _numbers(file, written and (written.st_mtime_ns, written.st_size)).get(study, 0)


@functools.lru_cache(1)
def _numbers(file, _):
    return {line["study"]: int(line["number"]) for line in read(file)}


@functools.cache
def trees(study):
    """Digest of the code of a study's protocol."""
    table = getattr(import_module(f"{lookup.NAME}.{PACKAGES[study]}"), "STRATEGIES", {})
    own = origins(study).PROTOCOL
    plans = tuple(dict.fromkeys(kind for strategy in table.values() for kind in strategy.plan.__mro__))
    harness = host.code(*HARNESS, cut=CUT, guards=True)
    study = host.code(*own, entry=("__call__",), given=(Graph,), cut=CUT, left=plans, guards=True)
    return host.digest(harness.digest, study.digest)


def unclear():
    """Studies whose present trees the table does not list for the present number."""
    held = {(line["study"], int(line["number"]), line["trees"]) for line in lines()}
    now = {study: kept.kept(study, "protocol", lambda study=study: trees(study)) for study in PACKAGES}
    kept.keep()
    return [study for study in PACKAGES if (study, number(study), now[study]) not in held]


def write(study, why, same=False):
    """Add a line for the present trees of a study: with a new number, or confirmed for the present one.

    Raises
    ------
    ValueError
        Without a reason.
    """
    if not why.strip():
        raise ValueError("say why: what changed in how runs are timed, ordered, verified or derived from")
    told = number(study) + (not same)
    line = [study, told, trees(study), computer.commit() or "", computer.now(), why.strip()]
    append(paths.RECORDINGS / FILE, COLUMNS, [line])
    return told
