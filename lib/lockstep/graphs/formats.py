"""Parsers, one function for each format; their docstrings describe the formats.

Every parser takes (data, name) and returns a `Body`, from which `reading.read` builds the Graph. All check the header
against the body; errors name the file, the line and what was expected.
"""

import re
import warnings
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from . import named, text
from .graph import GraphError, GraphWarning
from .numbers import EXACT, Table, ids, whole_or_real
from .text import error, shown


@dataclass
class Body:
    """Parsed content of a file: arcs or edges with ids from 0, labels; ``n`` and ``directed`` if in a header."""

    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None
    n: int | None = None
    directed: bool | None = None
    stored_both: bool = False  # the file lists both arcs of each undirected edge (METIS)
    labels: Any = None  # array (n,) of text, if ids are names


# ------------------------------------------------------------------------- SNAP edge lists
_SIZES = re.compile(rb"nodes:\s*(\d[\d,]*)\s+edges:\s*(\d[\d,]*)", re.I)
_DIRECTION = re.compile(rb"(?<![\w-])(un-?|non-?|not (?:a )?)?directed\b(\s*[:=]\s*(?:no|false|0)\b)?", re.I)
_COMMENTED = re.compile(rb"^[ \t]*[#%][^\s,][^,\t\n]*[,\t][^,\t\n]+(?:[,\t][ \t]*[+-]?[.\d]+[ \t\r]*)?$", re.M)
_APART = "and at most one weight, separated by blanks, tabs or a comma"
_EDGE = f"two node ids (whole numbers) {_APART}"


def header_of(data):
    """What comments before an edge list say: (line, nodes, edges), and whether it is directed; else None."""
    sizes, directed = None, None
    for start, line in text.lines(data):
        if line and line[:1] not in b"#%":
            break
        found = _SIZES.search(line)
        if found and sizes is None:
            sizes = (text.line_number(data, start), *(int(group.replace(b",", b"")) for group in found.groups()))
        word = _DIRECTION.search(line)
        if word and directed is None:
            directed = bool(word[1]) == bool(word[2])
    return sizes, directed


def edge_list(data, name, check_header=True, names=None):
    """SNAP's edge lists and CSV: a line is ``source target [weight]``; lines that begin with # or % are comments.

    Ids are whole numbers, or names (see `named`, or by ``names=True``), which are numbered in the order in which they
    occur; ids such as 007 and 7, one number spelled twice, are refused. A first line of words such as
    ``source,target,weight`` is a header; other words are an edge, with a GraphWarning where both stand in no other
    line of a CSV file.

    A comment ``# Nodes: 7115 Edges: 103689`` must match the body: 103689 lines and 7115 distinct ids, or fewer if
    no id exceeds 7115 (the others are isolated). A comment with the word "directed" or "undirected" sets the
    direction ("directed: no" that of undirected edges).
    """
    sizes, directed = header_of(data)
    body = list(islice(((at, line) for at, line in text.lines(data) if line and line[:1] not in b"#%"), 3))
    start = header = body[0][0] if body else 0
    if body and named.is_header(body[0][1]):
        start, body = text.after(data, start), body[1:]
    if body and (names or (names is None and named.is_named([line for _, line in body]))):
        found = _named(data, name, start, directed)
        words = [field.decode("utf-8", "replace") for field in named.fields(data[header:start])]
        again = {*found.labels} & {*words}  # they are vertices; a third is a column's name, which no edge has
        if len(words) == 2 and again:
            found = _named(data, name, header, directed)
            told = f"'{words[0]}' and '{words[1]}' occur in other lines too, and are read as an edge"
            _warn_of_columns(name, text.line_number(data, header), told)
        elif start == header and re.search(rb"[,\t]", body[0][1]) and _alone(found):
            one, other = (repr(str(found.labels[end])) for end in (found.sources[0], found.targets[0]))
            told = f"{one} and {other} occur in no other line, and are read as an edge"
            _warn_of_columns(name, text.line_number(data, start), told)
        if sizes is not None and check_header and sizes[1:] != (found.n, found.sources.size):
            there = f"{found.n} names and {found.sources.size} lines"
            told = f"the header says {sizes[1]} nodes and {sizes[2]} edges; found {there}"
            raise GraphError(f"{name}, line {sizes[0]}: {told}")
        return found
    expected = _EDGE if names is False else _EDGE.replace("numbers", "numbers, or names in all lines")
    table = Table(data, name, expected, start=start)
    if not len(table) and sizes is None:
        raise GraphError(f"{name} holds no edge; expected lines with {_EDGE}")
    if names is None and named.spelled_twice(data, start):
        raise GraphError(f"{name}: {named.spelled_twice(data, start)}")
    columns = table.columns((2, 3))
    sources, targets = ids(table, columns[:, 0], 0), ids(table, columns[:, 1], 0)
    body = Body(sources, targets, whole_or_real(columns[:, 2]) if columns.shape[1] == 3 else None, directed=directed)
    if sizes is not None and check_header:
        body.n = _check_sizes(name, sizes, sources, targets)
    return body


def _alone(found):
    """Whether the first row may be an unknown header: neither of its words occurs in another row."""
    ends = np.append(found.sources, found.targets)
    return found.sources.size > 1 and np.bincount(ends)[[found.sources[0], found.targets[0]]].max() == 1


def _warn_of_columns(name, line, told):
    told = f"{name}, line {line}: {told}; if they name columns, delete that line"
    warnings.warn(told, GraphWarning, stacklevel=3)


def _named(data, name, start, directed):
    expected = f"two names {_APART}"
    named.refuse_commented(data, name, text.after(data, start), _COMMENTED, "an edge")
    numbers, rows = named.rows(data, name, start, expected, (2, 3))
    (sources, targets), labels = named.numbered([row[0] for row in rows], [row[1] for row in rows])
    weights = None
    if len(rows[0]) == 3:
        weights = whole_or_real(named.reals([row[2] for row in rows], numbers, name, expected))
    return Body(sources, targets, weights, n=labels.size, directed=directed, labels=labels)


def _check_sizes(name, sizes, sources, targets):
    line, nodes, edges = sizes
    way_out = "; if the header is known to be wrong, read with check_header=False"
    if sources.size != edges:
        raise GraphError(
            f"{name}, line {line}: the header says {edges} edges; expected as many lines of edges, found "
            f"{sources.size}{way_out}"
        )
    largest = int(max(sources.max(), targets.max())) if edges else -1
    distinct = present(sources, targets).size
    if distinct == nodes:
        return None
    if distinct > nodes or largest > nodes:
        raise GraphError(
            f"{name}, line {line}: the header says {nodes} nodes; expected as many different ids (or ids "
            f"up to {nodes}), found {distinct} and the largest is {largest}{way_out}"
        )
    return max(nodes, largest + 1)


def present(sources, targets):
    """The distinct ids among the arcs, sorted."""
    largest = int(max(sources.max(initial=-1), targets.max(initial=-1)))
    if largest < 16 * (sources.size + 1024):  # marking is faster than sorting, unless the ids are far apart
        seen = np.zeros(largest + 1, bool)
        seen[sources] = True
        seen[targets] = True
        return np.flatnonzero(seen)
    return np.union1d(sources, targets)


# ------------------------------------------------------------------------- DIMACS
def dimacs(data, name):
    """DIMACS .gr (9th challenge): ``p sp n m``, then ``a from to weight``, ids from 1; ``c`` comments. Or .col (2nd
    challenge): ``p edge n m``, then ``e one other``, undirected; a file may list each edge once or both ways.
    """
    for start, line in text.lines(data):
        fields = line.split()
        if not fields or fields[0] == b"c":
            continue
        if fields[:1] == [b"p"]:
            if fields[1:4] == [b"aux", b"sp", b"co"]:
                told = "expected 'p sp n m' (coordinates: lockstep.graphs.read_coordinates)"
                raise error(data, name, start, f"these are node coordinates, not a graph; {told}")
            if len(fields) == 4 and fields[2].isdigit() and fields[3].isdigit():
                break
        told = f"found {shown(line)}; expected the problem line 'p sp <nodes> <arcs>' before any arc"
        raise error(data, name, start, told)
    else:
        raise GraphError(f"{name}: no problem line found; expected 'p sp <nodes> <arcs>' (of an edge list with a "
                         "vertex called c: format='edges')")  # fmt: skip
    n, m = int(fields[2]), int(fields[3])
    if fields[1] in (b"edge", b"col"):
        return _coloring(data, name, start, n, m)
    expected = f"'a <from> <to> [<weight>]' with node ids 1 to {n}"
    table = Table(data, name, expected, start=text.after(data, start), comments=b"c", lead=b"a")
    columns = table.columns((2, 3))
    if len(table) != m:
        told = f"the header says {m} arcs; expected as many 'a' lines, found {len(table)}"
        raise error(data, name, start, told)
    one, other = (ids(table, columns[:, k], 1, n) - 1 for k in (0, 1))
    return Body(one, other, whole_or_real(columns[:, 2]) if columns.shape[1] == 3 else None, n=n, directed=True)


def _coloring(data, name, start, n, m):
    expected = f"'e <one> <other>' with node ids 1 to {n}"
    table = Table(data, name, expected, start=text.after(data, start), comments=b"cnd", lead=b"e")
    columns = table.columns((2,))
    one, other = (ids(table, columns[:, k], 1, n) - 1 for k in (0, 1))
    pairs = np.unique(np.sort(np.stack([one, other], 1), axis=1), axis=0)
    if len(table) not in (m, 2 * m, m / 2) or len(pairs) > m:
        told = f"expected as many 'e' lines, or each edge both ways, found {len(table)} with {len(pairs)} edges"
        raise error(data, name, start, f"the header says {m} edges; {told}")
    return Body(pairs[:, 0], pairs[:, 1], None, n=n, directed=False)


# ------------------------------------------------------------------------- Matrix Market
def matrix_market(data, name):
    """Matrix Market: banner, comments with %, ``rows columns entries``, then ``i j [value]`` from 1.

    Coordinate files of patterns, integers or reals; general (directed), or symmetric (undirected: only the
    lower triangle is in the file).
    """
    banner = data[: data.find(b"\n")].decode("ascii", "replace").strip().lower().split()
    good = (
        len(banner) == 5
        and banner[1:3] == ["matrix", "coordinate"]
        and banner[3] in ("pattern", "integer", "real")
        and banner[4] in ("general", "symmetric")
    )
    if not good:
        raise GraphError(
            f"{name}, line 1: found '{' '.join(banner)}'; expected '%%MatrixMarket matrix coordinate' with "
            "pattern, integer or real, and general or symmetric"
        )
    body = ((at, line) for at, line in text.lines(data, len(data)) if line and not line.startswith(b"%"))
    start, line = next(body, (len(data), b""))
    fields = line.split()
    if len(fields) != 3 or not all(field.isdigit() for field in fields):
        raise error(data, name, start, f"found {shown(line)}; expected the sizes 'rows columns entries'")
    rows, width, entries = map(int, fields)
    if rows != width:
        told = f"the matrix is {rows} x {width}; expected a square one, an adjacency matrix"
        raise error(data, name, start, told)
    pattern = banner[3] == "pattern"
    expected = f"'i j{'' if pattern else ' value'}', i from 1 to {rows}, j from 1 to {width}"
    table = Table(data, name, expected, start=text.after(data, start), comments=b"%")
    columns = table.columns((2,) if pattern else (3,))
    if len(table) != entries:
        told = f"the header says {entries} entries; expected as many lines, found {len(table)}"
        raise error(data, name, start, told)
    i, j = ids(table, columns[:, 0], 1, rows) - 1, ids(table, columns[:, 1], 1, width) - 1
    if banner[4] == "symmetric" and (i < j).any():
        raise table.error(int(np.flatnonzero(i < j)[0]), "an entry above the diagonal of a symmetric matrix")
    if banner[3] == "integer":
        far = (np.abs(columns[:, 2]) >= EXACT) | (columns[:, 2] != np.floor(columns[:, 2]))
        if far.any():
            value = columns[far][0, 2]
            told = f"{value:.15g}, beyond 2^53, as an integer" if abs(value) >= EXACT else f"{value:.15g} as an integer"
            raise table.error(int(np.flatnonzero(far)[0]), told)
    weights = None if pattern else whole_or_real(columns[:, 2], banner[3] == "integer")
    return Body(i, j, weights, n=max(rows, width), directed=banner[4] == "general")


# ------------------------------------------------------------------------- METIS
def metis(data, name):
    """METIS .graph: ``n m [fmt [ncon]]``, then line v lists the neighbors of vertex v, from 1.

    Undirected, every edge in two lines. Of ``fmt`` (hundreds: vertex sizes, tens: vertex weights, units: edge
    weights) only edge weights are kept: no study uses the others.
    """
    table = Table(data, name, "the neighbors of one vertex (numbers, from 1)", comments=b"%", blank_rows=True)
    rows = np.concatenate([[0], table.ends])
    first = 0
    while first < len(table) and rows[first] == rows[first + 1]:
        first += 1
    if first == len(table):
        raise GraphError(f"{name} holds no number; expected a METIS header 'n m [fmt [ncon]]'")
    header = table.values[rows[first] : rows[first + 1]]
    if not 2 <= header.size <= 4 or (header < 0).any() or (header != np.floor(header)).any():
        raise table.error(first, f"{header.size} numbers, not the header 'n m [fmt [ncon]]' of a METIS file")
    n, m = int(header[0]), int(header[1])
    fmt = int(header[2]) if header.size > 2 else 0
    if fmt not in (0, 1, 10, 11, 100, 101, 110, 111):
        raise table.error(first, f"fmt {fmt:03d}, not three digits of 0 and 1 in the header of a METIS file")
    constraints = int(header[3]) if header.size > 3 else 1
    lead = (fmt >= 100) + (constraints if fmt // 10 % 10 else 0)
    step = 2 if fmt % 10 else 1
    following = len(table) - first - 1
    if following < n or rows[first + 1 + n] != rows[-1]:  # blank lines at the end do no harm
        raise GraphError(f"{name}: the header says {n} vertices; expected as many lines after it, found {following}")
    starts, ends = rows[first + 1 : first + 1 + n] + lead, rows[first + 2 : first + 2 + n]
    lengths = ends - starts
    odd = np.flatnonzero((lengths < 0) | (lengths % step != 0))
    if odd.size:
        raise table.error(
            first + 1 + int(odd[0]), f"{lengths[odd[0]] + lead} numbers, which fmt {fmt:03d} does not allow"
        )
    degrees = lengths // step
    if degrees.sum() != 2 * m:
        raise GraphError(
            f"{name}: the header says {m} edges; expected {2 * m} neighbors, each edge in two lines, found "
            f"{degrees.sum()}"
        )
    sources = np.repeat(np.arange(n), degrees)
    places = np.arange(2 * m) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    places = np.repeat(starts, degrees) + step * places
    neighbors = table.values[places]
    bad = np.flatnonzero((neighbors < 1) | (neighbors > n) | (neighbors != np.floor(neighbors)))
    if bad.size:
        raise table.error(
            first + 1 + int(sources[bad[0]]), f"neighbor {neighbors[bad[0]]:.15g} (ids run from 1 to {n})"
        )
    loops = np.flatnonzero(neighbors == sources + 1)
    if loops.size:
        row = int(sources[loops[0]])
        raise table.error(first + 1 + row, f"vertex {row + 1} among its own neighbors (a METIS file has no loops)")
    weights = whole_or_real(table.values[places + 1]) if step == 2 else None
    return Body(sources, neighbors.astype(np.int64) - 1, weights, n=n, directed=False, stored_both=True)


# ------------------------------------------------------------------------- LASAGNE .nde
def nde(data, name):
    """LASAGNE's .nde: a line ``n``, n lines ``vertex degree``, then a line for each edge; ids from 0.

    Each vertex has one line of the n. A GraphWarning if the degrees do not fit the edges that follow: the file may be
    cut off.
    """
    table = Table(data, name, "'n', then n lines 'vertex degree', then lines with the two ends of an edge")
    if len(table) < 1 or table.ends[0] != 1 or table.values[0] < 0 or table.values[0] != np.floor(table.values[0]):
        raise table.error(0, "no number of vertices alone in the first line")
    n = int(table.values[0])
    lengths = np.diff(table.ends)
    if (lengths != 2).any():
        row = int(np.flatnonzero(lengths != 2)[0]) + 1
        raise table.error(row, f"{lengths[row - 1]} numbers")
    if lengths.size < n:
        raise GraphError(
            f"{name}: the first line says {n} vertices; expected a line with the degree of each, found "
            f"{lengths.size} lines"
        )
    pairs = table.values[1:].reshape(-1, 2)
    bad = np.flatnonzero(((pairs < 0) | (pairs != np.floor(pairs))).any(axis=1) | (pairs[:, 0] >= n))
    ends = pairs[n:]
    bad = bad if bad.size else n + np.flatnonzero((ends >= n).any(axis=1))
    if bad.size:
        raise table.error(int(bad[0]) + 1, f"a number out of range (ids run from 0 to {n - 1})")
    ends = ends.astype(np.int64)
    again = np.flatnonzero(np.bincount(pairs[:n, 0].astype(np.int64), minlength=n) != 1)
    if again.size:
        raise GraphError(f"{name}: the first line says {n} vertices; expected a line with the degree of each, but "
                         f"vertex {again[0]} has none or several")  # fmt: skip
    told, loops = int(pairs[:n, 1].sum()), int((ends[:, 0] == ends[:, 1]).sum())
    if told not in (2 * len(ends), 2 * len(ends) - loops):
        warnings.warn(f"{name}: the degrees add up to {told}; expected {2 * len(ends)}, twice the edges that follow "
                      "(the file may be cut off)", GraphWarning, stacklevel=2)  # fmt: skip
    return Body(ends[:, 0], ends[:, 1], None, n=n, directed=False)
