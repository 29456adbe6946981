"""Builds: the code and data that a recorded row was measured with, compared with today's.

The column `kernel` of a row is the id of a build. A table gives the digests of each id, a line an id:

=========  ===================================================  =======================================================
component  what it is                                           what changes it
=========  ===================================================  =======================================================
device     the kernels that the strategy may launch (`device`)  an instruction, a barrier, a launch bound
host       the Python that its plan reaches (`host`)            a statement, an operator, a constant, a launch shape
protocol   a number that a person raises (`protocol`)           how runs are timed, ordered, verified and derived
data       the generator, or the content of a registered file   a generator's seed or rule; a file of other content
=========  ===================================================  =======================================================

A row is fresh if its build has today's digests, or if a chain of confirmations (`confirm`) leads from its host code to
today's. Kernels added since, or compiled with further macro definitions, do not make a row stale, as long as today's
kernels include all of its build. Renaming, moving, commenting or reflowing changes no digest. A study maps labels to
code: ``origin(label, dataset)`` in its `origins` returns an `Origin`, or None for rows in which nothing can go stale.
"""

import functools
import json
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import networkx as nx

from lockstep import paths
from lockstep.evidence import computer
from lockstep.graphs import Graph
from lockstep.graphs.registry import registry
from lockstep.machine import MachineError, arguments, cuda, executor, launches, source
from lockstep.studies import PACKAGES

from . import device, host, kept, lookup, protocol
from .device import digest
from .origin import origins
from .tables import append, read

FILE, PIECES, CONFIRMED = "builds.csv", "pieces.json", "confirmations.csv"
COLUMNS = ["id", "study", "strategy", "device", "host", "protocol", "data", "commit", "date", "why"]
LAUNCHED = (cuda.CudaExecutor, executor.Executor, executor.Kernel, launches.Launch, launches.LaidOut, launches.Again,
            cuda._Graph)  # fmt: skip
# Not followed: kernels have digests of their own, independent of how their text is read and parameters are named.
CUT = (*host.CUT, source.__name__, arguments.__name__, f"{lookup.NAME}.machine.errors")
GRAPHS = f"{lookup.NAME}.graphs"


class Parts(NamedTuple):
    """Digests of a build's components."""

    device: str
    host: str
    protocol: str
    data: str


class Build(str):
    """The id of a build, as written in rows; `record` adds the digests of a new one to the table beside them."""

    def __new__(cls, name, line=None, pieces=None):
        found = super().__new__(cls, name)
        found.line, found.pieces = line, pieces
        return found

    def record(self, folder, executor=None):
        """Append this build to the table of a folder of recordings, unless it is known already.

        Raises
        ------
        MachineError
            A GPU runs kernels that were compiled with macro definitions which are not listed.
        """
        if executor is not None and executor.name == "cuda" and (found := device.unlisted(executor.modules)):
            raise MachineError(
                f"{found[0]}: no `// compile:` line of the file lists these macro definitions, so a row measured with "
                "them could not be told to be stale. Add them there, then run: lockstep provenance lock"
            )
        if self.line is not None:
            add(Path(folder), [self.line], self.pieces)
            self.line = None


# -- what would run today


@functools.cache
def origin(study, strategy, dataset):
    """The `Origin` of a label on a data set, or None."""
    return origins(study).origin(strategy, dataset)


@functools.cache
def code(roots, given, entry):
    """Code reachable from a plan, see `host.code`; if it names kernels, including the launch code."""
    found = host.code(*roots, entry=entry, given=(Graph, *given), cut=CUT)
    if not any(text.endswith(".cu") for text in found.texts):
        return found
    return host.code(*roots, entry=(*entry, "__call__"), given=(Graph, *LAUNCHED, *given), cut=CUT)


@functools.cache
def machine_code(study, texts, kernels=None):
    """{`file macros: kernel`: digest} of the kernels that host code names, in all variants of their files."""
    folders = [lookup.PACKAGE / PACKAGES[study], lookup.PACKAGE / "machine"]
    files = [file for folder in folders for file in sorted(folder.rglob("*.cu")) if file.name in texts]
    found = {}
    for file in files:
        names = device.kernels(file, device.variants(file)[0])
        # a kernel's name may be composed from literals: match parts longer than 3 characters
        named = [name for name in names if any(len(text) > 3 and text in name for text in texts)]
        wanted = set(named or names) if kernels is None else set(kernels)
        for variant in device.variants(file):
            known, text = device.kernels(file, variant), device.key(file, source.settled(file, dict(variant)))
            found |= {f"{text}: {name}": known[name] for name in sorted(wanted & set(names))}
    return found


@functools.cache
def data(roots, dataset, left=()):
    """Digest of a data set: its generator's code, and the content of a registered one."""
    cuts = [CUT if root.__module__.startswith(GRAPHS) else (*CUT, GRAPHS) for root in roots]
    found = [host.code(root, given=(Graph,), cut=cut, left=left).digest for root, cut in zip(roots, cuts, strict=True)]
    return digest(*found, _content(dataset))


@functools.cache
def _content(dataset):
    table = registry()
    known = table[table["name"] == dataset]
    return "" if known.empty else " ".join(map(str, known.iloc[0][["n", "m", "digest"]]))


def present(study, strategy, dataset):
    """(`Parts`, pieces of device and host) of today's code, or None where nothing can go stale."""
    found = _present(study, strategy, dataset)
    return found and (_numbered(found[0], study), found[1])


@functools.cache
def _present(study, strategy, dataset):
    found = origin(study, strategy, dataset)
    if found is None:
        return None
    plan = code(found.roots, found.given, found.entry)
    kernels = machine_code(study, plan.texts, found.kernels)
    parts = Parts(digest(*(f"{name} {what}" for name, what in sorted(_by_content(kernels)))) if kernels else "",
                  plan.digest, "", data(found.data, dataset, found.left))  # fmt: skip
    return parts, {parts.device: kernels, parts.host: plan.pieces}


def parts_of(study, strategy, dataset):
    """`Parts` of today's code, or None; cached between runs."""

    def compute():
        now = present(study, strategy, dataset)
        return now and list(now[0])

    found = kept.kept(study, f"{strategy} {dataset}", compute)
    return found and _numbered(Parts(*found), study)


def _numbered(parts, study):
    """With the present number of the protocol, which is not cached: a person raises it."""
    return parts._replace(protocol=str(protocol.number(study)))


def _by_content(kernels):
    """{(macros, digest)} of kernels, without names of files and kernels."""
    return {(name.rpartition(": ")[0].partition(" ")[2], what) for name, what in kernels.items()}


def build(study, strategy, dataset):
    """The value of column `kernel` for a row measured now; "" where nothing can go stale."""
    now = present(study, strategy, dataset)
    if now is None:
        return ""
    parts, pieces = now
    name = _id(study, strategy, parts, dataset, _written())
    if name:
        return Build(name)
    line = {"id": digest(study, strategy, *parts), "study": study, "strategy": strategy, **parts._asdict(),
            "commit": computer.commit() or "", "date": computer.now(), "why": ""}  # fmt: skip
    return Build(line["id"], line, pieces)


@functools.lru_cache(4096)
def _id(study, strategy, parts, dataset, _):
    """The id of the oldest known build that is equivalent to these parts."""
    return next((line["id"] for line in known().get((study, strategy), ()) if not changed(line, parts, dataset)), None)


# -- what is recorded


def add(folder, lines, pieces=None):
    """Append new builds to a folder's table, and the pieces of their digests to the file beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    have = {(line["study"], line["strategy"], line["id"]) for line in read(folder / FILE)}
    fresh = [line for line in lines if (line["study"], line["strategy"], line["id"]) not in have]
    append(folder / FILE, COLUMNS, [[line[column] for column in COLUMNS] for line in fresh])
    if pieces:
        keep(folder, pieces)


def publish(source, target):
    """Add the builds of a machine's results to those that are published."""
    table, lines = source / PIECES, read(source / FILE)
    add(target, lines, json.loads(table.read_text(encoding="utf-8")) if table.is_file() else None)
    import_module(f"{__package__}.confirm").keep_traces(target, {(line["study"], line["strategy"]) for line in lines})


def keep(folder, pieces):
    """Write pieces of digests into a folder's table, a line a digest."""
    file = folder / PIECES
    before = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    after = before | {name: found for name, found in pieces.items() if name and name not in before}
    if after != before:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(after[name])}" for name in sorted(after))
        file.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def _folders():
    return [paths.RECORDINGS, *sorted(paths.RESULTS.glob("*/"))]


def _written():
    files = [folder / name for folder in _folders() for name in (FILE, CONFIRMED)]
    return tuple(file.stat().st_mtime_ns if file.is_file() else 0 for file in files)


def made_of():
    """{digest: its pieces} of all builds in the tables."""
    return _pieces(tuple(file.stat().st_mtime_ns for file in _piece_files()))


@functools.lru_cache(1)
def _pieces(_):
    found = {}
    for file in _piece_files():
        found |= json.loads(file.read_text(encoding="utf-8"))
    return found


def _piece_files():
    return [folder / PIECES for folder in _folders() if (folder / PIECES).is_file()]


def known():
    """{(study, strategy): lines of builds, the oldest first}, of what is published and of what was measured here."""
    return _known(_written())


@functools.lru_cache(1)
def _known(_):
    found = {}
    for folder in _folders():
        for line in read(folder / FILE):
            found.setdefault((line["study"], line["strategy"]), []).append(line)
    return found


@functools.lru_cache(1)
def _confirmed(_):
    """Graph of host digests; an edge is a confirmation that two are equivalent."""
    return nx.Graph([(line["before"], line["after"]) for folder in _folders() for line in read(folder / CONFIRMED)])


def leads(before, after):
    """Whether a chain of confirmations leads from one digest to another."""
    links = _confirmed(_written())
    return before == after or (before in links and after in links and nx.has_path(links, before, after))


def changed(line, parts, dataset):
    """The components in which a build differs from today's code on a data set."""
    checks = {"device": line["device"] == parts.device or _holds(line, dataset),
              "host": leads(line["host"], parts.host), "protocol": line["protocol"] == parts.protocol,
              "data": parts.data in line["data"].split()}  # fmt: skip
    return [name for name, equal in checks.items() if not equal]


def _holds(line, dataset):
    """Whether today's kernels include all of a build's."""
    study, strategy = line["study"], line["strategy"]

    def compute():
        now = present(study, strategy, dataset)
        return sorted(" ".join(one) for one in _by_content(now[1][now[0].device]))

    before = made_of().get(line["device"])
    now = kept.kept(study, f"{strategy} {dataset} kernels", compute) if before else ()
    return bool(before) and {" ".join(one) for one in _by_content(before)} <= set(now)
