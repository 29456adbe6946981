"""The registry of data sets: their names, official addresses and expected sizes and degree digests.

`load` searches the mirror folder (``LOCKSTEP_MIRROR``), then the cache, then downloads from the official address;
the file is brought to the declared canonical form and checked. A graph whose registered n, m or degree digest
differs is refused.
"""

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import paths
from . import fetching
from .builtin import load_builtin
from .canonical import canonical, check, degree_digest, edge_count
from .graph import Graph, GraphError
from .ratings import read_batch, read_coordinates, read_ratings
from .reading import read

if TYPE_CHECKING:
    from lockstep.typing import Array, PathLike


class DatasetMissing(GraphError):
    """A data set is neither stored nor downloadable here; the message says how to get it."""


def registry():
    """The registry as a table of text: data/datasets.csv, or the file that ``LOCKSTEP_DATASETS`` names."""
    path = Path(os.environ.get("LOCKSTEP_DATASETS") or paths.DATA / "datasets.csv")
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError:
        raise GraphError(f"{path}: no registry of data sets; run inside the compendium's folder") from None


def _named(table, name):
    return table[table["name"].str.lower() == str(name).lower()]


def unknown(name):
    """Error message for a name that is not registered, with similar names."""
    close = difflib.get_close_matches(str(name), registry()["name"], 3, 0.5)
    hint = f"; did you mean {', '.join(close)}?" if close else ""
    return f"no data set {name!r} is registered{hint} ('lockstep datasets' lists all)"


def _entry(name):
    found = _named(registry(), name)
    if len(found):
        return found.iloc[0]
    raise GraphError(unknown(name))


def _here(entry, mirror):
    """(status, path) of a data set on this machine."""
    if entry["url"].startswith("builtin:"):
        return "built-in", None
    folder = mirror or os.environ.get("LOCKSTEP_MIRROR")
    for name in _file_names(entry) if folder else ():
        if (Path(folder) / name).is_file():
            return "mirror", Path(folder) / name
    cached = paths.CACHE / _cache_name(entry)
    return ("present", cached) if cached.is_file() else ("missing", None)


def _file_names(entry):
    """File names of a data set in a mirror: registered and official, each also without compression suffix."""
    official = entry["url"].rsplit("/", 1)[-1] if entry["url"].startswith("http") else ""
    found = {}
    for name in (*entry["mirror"].split(";"), official):
        plain = name.rsplit(".", 1)[0] if name.endswith((".xz", ".gz", ".bz2")) else name
        found |= {name: None, plain: None}
    return [name for name in found if name]


def _cache_name(entry):
    return f"{entry['name']}--{entry['url'].rsplit('/', 1)[-1]}"


PLACED = " and put it, under its own name, into a folder that LOCKSTEP_MIRROR names"


def _how(entry):
    """How to get a data set, in one sentence."""
    if not entry["url"].startswith("http"):
        return entry["how"]
    how = f"fetch {entry['url']}{PLACED}"
    return f"{how}; {entry['how']}" if entry["how"] else how


def _locate(entry, mirror, offline):
    """(path, status) of a data set's file, fetched if necessary; DatasetMissing if unobtainable."""
    status, path = _here(entry, mirror)
    if path is not None:
        return path, status
    folder = mirror or os.environ.get("LOCKSTEP_MIRROR")
    tried = [f"the mirror {folder} does not hold it" if folder else "no mirror is set"]
    if not entry["url"].startswith("http"):
        tried.append("it has no official file to download")
    elif offline or (offline is None and fetching.offline()):
        tried.append("the network is not used")
    else:
        try:
            return Path(fetching.fetch(entry["url"], _cache_name(entry))), "fetched"
        except GraphError as error:
            tried.append(str(error))
    raise DatasetMissing(f"{entry['name']} is not here: {', '.join(tried)}. To get it: {_how(entry)}")


def _loaded(name, kinds, mirror, offline, reader):
    """Find, read, check. A file that was just fetched and fails the check is deleted from the cache."""
    entry = _entry(name)
    if entry["kind"] not in kinds:
        function = {
            "graph": "load",
            "ratings": "load_ratings",
            "batch": "load_batch",
            "coordinates": "load_coordinates",
        }
        raise GraphError(
            f"{entry['name']} is {entry['kind']}; expected {' or '.join(kinds)} here (use "
            f"lockstep.graphs.{function[entry['kind']]})"
        )
    path, status = _locate(entry, mirror, offline)
    try:
        result, found = reader(entry, path)
        check(found, (entry["n"], entry["m"], entry["digest"]), path, entry["name"])
    except GraphError as error:
        if status == "fetched":
            path.unlink()
            raise GraphError(f"{error}. It was fetched from {entry['url']} and has been deleted again") from None
        if status == "present":
            raise GraphError(f"{error}. Delete {path} to fetch it again") from None
        raise
    return result


def kind(name):
    """What the registry holds under a name: ``graph``, ``ratings``, ``batch`` or ``coordinates``; None if nothing."""
    found = _named(registry(), name)
    return found["kind"].iloc[0] if len(found) else None


def load(name: str, mirror: "PathLike | None" = None, offline: bool | None = None) -> Graph:
    """A registered graph in its canonical form, checked.

    Parameters
    ----------
    name : str
        As `datasets` lists it; case does not matter.
    mirror : path-like, optional
        Folder to look in first; ``LOCKSTEP_MIRROR`` by default.
    offline : bool, optional
        True: never use the network; by default ``LOCKSTEP_OFFLINE`` decides.

    Returns
    -------
    Graph
        Directed or not, simple or not, with loops and isolated ids or without, as data/datasets.csv declares.

    Raises
    ------
    DatasetMissing
        If it is neither stored nor downloadable here; the message says how to get it.
    GraphError
        If no such graph is registered, or the file is not that graph.
    """
    entry = _entry(name)
    if entry["url"].startswith("builtin:"):
        graph = load_builtin(entry["name"])
        check(_facts(graph), (entry["n"], entry["m"], entry["digest"]), "what NetworkX carries", entry["name"])
        return graph
    return _loaded(name, ("graph",), mirror, offline, _read_graph)


def _facts(graph):
    return graph.n, edge_count(graph), degree_digest(graph)


def _read_graph(entry, path):
    member = entry["member"] if "archive" in entry["format"] and _is_official(entry, path) else None
    graph = read(
        path, directed=entry["directed"] == "yes", weights=entry["weights"] == "yes", name=entry["name"],
        member=member or None, check_header=entry["isolated"] == "keep",
    )
    graph = canonical(graph, loops=entry["loops"], parallel=entry["parallel"], isolated=entry["isolated"])
    return graph, _facts(graph)


def _is_official(entry, path):
    return path.name.endswith(entry["url"].rsplit("/", 1)[-1])


def load_ratings(name: str, mirror: "PathLike | None" = None, offline: bool | None = None) -> Any:
    """Registered ratings as a SciPy COO array, users x items (see `read_ratings`); checked like `load`."""

    def reader(entry, path):
        member = entry["member"] if _is_official(entry, path) else None
        matrix = read_ratings(path, member or None)
        rows, columns = matrix.coords
        both = Graph.from_edges(rows, columns + matrix.shape[0], n=sum(matrix.shape))
        return matrix, (f"{matrix.shape[0]}+{matrix.shape[1]}", matrix.nnz, degree_digest(both))

    return _loaded(name, ("ratings",), mirror, offline, reader)


def located_ratings(name: str) -> tuple[Path, str | None]:
    """(path, member) of registered ratings, for `read_ratings`, after `load_ratings` has checked them."""
    load_ratings(name)
    entry = _entry(name)
    path, _ = _locate(entry, None, None)
    return path, entry["member"] or None if _is_official(entry, path) else None


def load_batch(name: str, mirror: "PathLike | None" = None, offline: bool | None = None) -> "tuple[Graph, Array]":
    """A registered batch of small graphs: (all side by side, first vertex of each); checked too."""

    def reader(entry, path):
        graph, starts = read_batch(path)
        graph.name = entry["name"]
        return (graph, starts), _facts(graph)

    return _loaded(name, ("batch",), mirror, offline, reader)


def load_coordinates(name: str, mirror: "PathLike | None" = None, offline: bool | None = None) -> "Array":
    """Registered node coordinates, float64, shape (n, 2)."""

    def reader(_, path):
        places = read_coordinates(path)
        return places, (len(places), "", "")

    return _loaded(name, ("coordinates",), mirror, offline, reader)


def fetched(name: str) -> str:
    """Get a registered data set of any kind and check it; says where it is.

    Raises
    ------
    DatasetMissing, GraphError
        As of `load`.
    """
    readers = {"graph": load, "ratings": load_ratings, "batch": load_batch, "coordinates": load_coordinates}
    entry = _entry(name)
    readers[entry["kind"]](name)
    status, path = _here(entry, None)
    return f"{status}{f', {path}' if path else ''}, checked"


def datasets(mirror: "PathLike | None" = None) -> pd.DataFrame:
    """Every registered data set and whether it is stored here; no network, no data file is opened.

    Returns
    -------
    DataFrame
        name; status: ``present`` (downloaded earlier), ``mirror``, ``built-in`` or ``missing``; source,
        licence; how to get it; kind, study, n, m; checked: what `load` holds it against.
    """
    table = registry()
    status = [_here(entry, mirror)[0] for _, entry in table.iterrows()]
    ways = {"built-in": "needs nothing", "present": "it is here", "mirror": "it is here"}
    table = table.assign(
        status=status,
        source=table["url"].where(table["url"].str.startswith("http"), table["source"]),
        how=[ways.get(one) or _how(entry) for one, (_, entry) in zip(status, table.iterrows(), strict=True)],
        checked=[
            ", ".join(word for word, value in (("n", one.n), ("m", one.m), ("degrees", one.digest)) if value)
            or "not checked"
            for one in table.itertuples()
        ],
    )
    columns = ["name", "status", "source", "licence", "how", "kind", "study", "n", "m", "checked"]
    return table[columns].reset_index(drop=True)
