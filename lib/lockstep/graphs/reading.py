"""Read a graph from a file; container and format are detected from the content."""

import re
import warnings
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Literal

import numpy as np

from . import csr, formats, memory, text
from .containers import GRAPH_SUFFIXES, open_text
from .graph import Graph, GraphError, GraphWarning

if TYPE_CHECKING:
    from lockstep.typing import PathLike

FORMATS = {
    "edges": formats.edge_list,
    "dimacs": formats.dimacs,
    "mtx": formats.matrix_market,
    "metis": formats.metis,
    "nde": formats.nde,
}


def read(
    path: "PathLike | IO[bytes]", *, directed: bool | None = None, weights: bool | None = None, compact: bool = False,
    format: Literal["edges", "dimacs", "mtx", "metis", "nde"] | None = None, member: str | None = None,
    check_header: bool = True, names: bool | None = None, name: str | None = None,
) -> Graph:
    """Read a graph from an edge list (SNAP, CSV), DIMACS .gr, Matrix Market, METIS .graph or LASAGNE .nde.

    Parameters
    ----------
    path : path-like or binary file
        Plain, gz, xz, bz2, zst, zip, tar or tar.gz; container and format are found by content, not by name.
    directed : bool, optional
        By default as in the file's header, else True. False: every line is an undirected edge, of which both arcs
        are stored.
    weights : bool, optional
        None: weights if the file has them. False: leave them out. True: refuse a file without.
    compact : bool
        Number the ids that occur 0, 1, ... in their order (``labels`` keeps the old ones). By default ids are
        kept, and n is the header's or the largest id plus one. Ids start at 1 in DIMACS, Matrix Market and
        METIS, and become ids from 0.
    format : {"edges", "dimacs", "mtx", "metis", "nde"}, optional
        Required only if the content is ambiguous.
    member : str, optional
        Which file of an archive, by name or pattern.
    check_header : bool
        False: do not compare the sizes in an edge list's comments with its body.
    names : bool, optional
        The ids of an edge list are names, of any text without the separator; ``labels`` holds them, in the order in
        which they occur. None: where the first two lines have ends that are no numbers. False: never.
    name : str, optional
        The graph's name; the file's by default.

    Returns
    -------
    Graph

    Raises
    ------
    GraphError
        For every kind of bad input: names the file, the line, and what was expected. Also where text or vertices would
        take more memory than the machine has available, or than ``LOCKSTEP_MEMORY`` allows.
    """
    data, shown = open_text(path, member)
    if format is not None and format not in FORMATS:
        raise GraphError(f"format is {format!r}; expected one of {', '.join(FORMATS)}")
    found = format or sniff(data, shown)
    if names and not format and found in ("metis", "nde"):  # whose numbers are names here
        found = "edges"
    if names and found != "edges":
        raise GraphError(f"{shown} is no edge list ({found}); expected one, for only there ids can be names")
    options = {"check_header": check_header, "names": names} if found == "edges" else {}
    body = FORMATS[found](data, shown, **options)
    if weights is False:
        body.weights = None
    elif weights and body.weights is None:
        expected = "a third number in every line" if found == "edges" else f"a {found} file that says it has them"
        raise GraphError(f"{shown} has no weights; expected {expected}")
    graph = _build(body, shown, directed, compact)
    graph.name = stem(shown if hasattr(path, "read") else path) if name is None else name
    return graph


def stem(path):
    """The file's name without the endings that tell container and format."""
    path = PurePath(path)
    while path.suffix.lower() in (*GRAPH_SUFFIXES, ".metis", ".gz", ".xz", ".bz2", ".zst", ".zip", ".tar", ".tgz"):
        path = path.with_suffix("")
    return path.name


def _build(body, shown, directed, compact):
    if directed is None:
        directed = True if body.directed is None else body.directed
    n, labels = body.n, body.labels
    if compact and labels is None:
        labels = formats.present(body.sources, body.targets)
        if n is None or labels.size < n:
            body.sources, body.targets = (
                np.searchsorted(labels, body.sources),
                np.searchsorted(labels, body.targets),
            )
        n = labels.size
    elif n is None:
        n = int(max(body.sources.max(initial=-1), body.targets.max(initial=-1))) + 1
    if n > max(10**8, 1000 * body.sources.size):
        raise GraphError(
            f"{shown}: the largest id is {n - 1} in a file of {body.sources.size} edges; expected ids that "
            "are nearly all used (in Python, read(FILE, compact=True) renumbers those that occur)"
        )
    memory.check_vertices(n, shown, sparse=n > 2 * body.sources.size)
    if body.stored_both:
        offsets, targets, weights = csr.group(body.sources, body.targets, n, body.weights)
        try:
            graph = Graph(offsets, targets, weights, directed=False, labels=labels)
        except GraphError:
            raise GraphError(
                f"{shown}: some edge is not in the lines of both its ends with one weight; expected every "
                "edge twice in a METIS file"
            ) from None
        graph.directed = directed
        return graph
    # An undirected file read with directed=True becomes a directed graph with both arcs of each edge.
    graph = Graph.from_edges(
        body.sources,
        body.targets,
        n=n,
        weights=body.weights,
        labels=labels,
        directed=bool(body.directed is not False and directed),
    )
    graph.directed = directed
    return graph


def sniff(data, name):
    """Which format a text is, by its first lines; edge list or METIS, which look alike, by their sizes."""
    if data[:14].lower() == b"%%matrixmarket":
        return "mtx"
    for _, line in text.lines(data):
        fields = line.split()
        if not fields or line[:1] in b"#%":
            continue
        if _is_dimacs(data):
            return "dimacs"
        if len(fields) == 1 and fields[0].isdigit():
            return "nde" if _called(name, ".nde") or _is_nde(data, name) else "edges"
        break
    if not re.search(rb"^[ \t]*#", data[:4096], re.M) and _is_metis(data, name):
        return "metis"
    return "edges"


PROBLEMS = (b"sp", b"edge", b"col", b"aux", b"max", b"tw")  # of DIMACS, as a line `p` names them


def _is_dimacs(data):
    """Whether the first line that is no comment `c` is a problem line, or an arc of numbers without one before it."""
    for _, line in text.lines(data):
        fields = line.split()
        if fields and fields[0] != b"c":
            arc = fields[0] == b"a" and len(fields) == 4 and all(map(bytes.isdigit, fields[1:]))
            return arc or (fields[0] == b"p" and (len(fields) == 1 or fields[1] in PROBLEMS))
    return bool(data.strip())


def _called(name, *suffixes):
    """Whether a file, or a member of an archive, has one of these suffixes in its name."""
    return any(suffix in PurePath(name.rpartition(":")[2]).name for suffix in suffixes)


def _is_nde(data, name):
    """Whether the text is a valid .nde file, whose degrees fit its edges: not a number of vertices, then edges."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", GraphWarning)
            formats.nde(data, name)
    except (GraphError, GraphWarning):
        return False
    return True


SMALL = 10  # vertices below which a text that is valid as METIS and as edge list is an edge list


def _is_metis(data, name):
    """Whether the text is a valid METIS file: the header fits, every edge is listed at both ends.

    An edge list rarely is: its first line would have to give the number of lines and half the numbers that follow.
    Unless the name contains .graph or .metis, a text is no METIS file if its header gives 0 edges, or fewer than
    `SMALL` vertices and all lines have two numbers.
    """
    by_name = _called(name, ".graph", ".metis")
    for _, line in text.lines(data):
        if line and not line.startswith(b"%"):
            break
    fields = line.split()
    if not 2 <= len(fields) <= 4 or not all(field.isdigit() for field in fields):
        return False
    if not by_name and (int(fields[1]) == 0 or (int(fields[0]) < SMALL and _all_pairs(data))):
        return False
    following = data.count(b"\n") + (not data.endswith(b"\n")) - 1
    if not by_name and following < int(fields[0]):
        return False
    if not by_name and len(fields) == 2 and int(fields[0]) < following // 2 and b"%" not in data[:4096]:
        return False
    try:
        body = formats.metis(data, name)
        _build(body, name, False, False)
    except GraphError:
        return by_name  # the file name decides only which parser's error is raised
    return True


def _all_pairs(data):
    """Whether each line of a small text has two numbers, as an edge without a weight has."""
    return all(len(line.split()) in (0, 2) for _, line in text.lines(data, 2 * SMALL))
