"""Readers for what is not one graph: ratings, batches of small graphs, coordinates."""

import re
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sparse

from . import named, numbers, text
from .containers import open_text
from .graph import Graph, GraphError
from .numbers import Table

if TYPE_CHECKING:
    from lockstep.typing import PathLike


def read_ratings(path: "PathLike | IO[bytes]", member: str | None = None, ids: bool = False) -> Any:
    """Ratings as a sparse matrix, users x items.

    Parameters
    ----------
    path : path-like
        CSV, with or without a header line, whose first three columns are user, item and rating (MovieLens,
        Jester; a fourth such as the time is ignored), also separated by tabs or ``::``; or lists
        ``user item item ...`` of a user's items (Gowalla), each with rating 1; plain, compressed or in an archive, or
        an open binary file. Ids are whole numbers; in a CSV they are names if the first line of ratings has one, or if
        one begins with a zero, as an ISBN may: 007 is not 7. Lines that begin with # or % are comments. A first
        line is a header if none of its three fields is a number and the third ends in a word such as "rating".
    member : str, optional
        Which file of an archive.
    ids : bool
        Return the file's own ids too.

    Returns
    -------
    matrix : scipy.sparse.coo_array, float64
        Users and items that occur, each numbered in the order of their ids; entries in the order of the file,
        repeated ones kept apart.
    users, items : int64 or text arrays, shapes of the matrix's rows and columns
        Only if ``ids``: the file's ids of rows and columns.

    Raises
    ------
    GraphError
        Names file and line of what is not a rating.
    """
    data, name = open_text(path, member)
    if data[:14] == b"%%MatrixMarket":
        raise GraphError(
            f"{name} is a Matrix Market file; expected ratings as lines 'user,item,rating' (Python takes the matrix: "
            "lockstep.sgd.Ratings.of(scipy.io.mmread(file)))"
        )
    start, first = next(((at, line) for at, line in text.lines(data) if line and line[:1] not in b"#%"), (0, b""))
    for mark in (b"::", b"\t"):
        if b"," not in first and ((mark == b"::" and mark in first) or _in_columns(data, mark)):
            if b"," in data and any(b"," in line and line[:1] not in b"#%" for _, line in text.lines(data)):
                raise GraphError(
                    f"{name} is separated by {mark.decode()!r}, and a line of it holds a comma; expected decimal "
                    "points, and names without commas"
                )
            data, first = data.replace(mark, b","), first.replace(mark, b",")
    if b"," not in first and (b";" in first or b"|" in first):
        raise GraphError(
            f"{name}: its first line is {first[:60].decode(errors='replace')!r}; expected commas, tabs or '::' between "
            "user, item and rating"
        )
    if b"," in first:
        three = (named.fields(first) + [b""] * 3)[:3]
        header = _is_header(three)
        if not header and all(three) and not any(map(named.numeric, three)):
            raise GraphError(
                f"{name}: its first line is {text.shown(first)}; expected 'user,item,rating' with a finite rating, or "
                f"a header whose third column is called rating, or {', '.join(sorted(RATING - {'rating'}))}"
            )
        if header and (b"item" in named.fields(first)[0].lower() or b"user" in named.fields(first)[1].lower()):
            raise GraphError(f"{name} names its columns {first.decode(errors='replace')}; expected user, item, rating")
        users, items, values = _csv(data, name, text.after(data, start) if header else start)
    else:
        table = Table(data, name, "a user id and the ids of items, separated by blanks")
        widths = np.diff(table.ends, prepend=0)
        if len(table) > 1 and widths[0] in (3, 4) and (widths == widths[0]).all():
            raise GraphError(
                f"{name}: each of its {len(table)} lines has {widths[0]} numbers, so it may hold 'user item rating' or "
                "lists 'user item item'; expected commas or tabs between user, item and rating"
            )
        every = _all_ids(table)
        lengths = np.diff(table.ends, prepend=0)
        head = np.zeros(every.size, bool)
        head[table.ends - lengths] = True
        users = np.repeat(every[head], lengths - 1)
        items = every[~head]
        values = np.ones(items.size)
    if not users.size:
        raise GraphError(f"{name} holds no rating; expected lines 'user,item,rating'")
    user_ids, row = np.unique(users, return_inverse=True)
    item_ids, column = np.unique(items, return_inverse=True)
    matrix = sparse.coo_array((values, (row, column)), shape=(user_ids.size, item_ids.size))
    return (matrix, user_ids, item_ids) if ids else matrix


def _in_columns(data, mark):
    """Whether the first lines all have three or four fields between marks, as ratings have; lists have any number."""
    widths = {line.count(mark) for _, line in text.lines(data, 60) if line and line[:1] not in b"#%"}
    return widths in ({2}, {3})


RATING = {"rating", "ratings", "score", "stars", "value", "weight", "count", "preference", "r"}


def _is_header(three):
    """Whether the first three fields of a line name columns: none is a number, and the third is or ends in a word of
    `RATING`, since ids may be words too.
    """
    word = three[2].strip(b'"').decode("utf-8", "replace").lower()
    return not any(map(named.numeric, three)) and (word in RATING or any(word.endswith(one) for one in RATING))


def _all_ids(table):
    """All numbers of a table as ids from 0."""
    lengths = np.diff(table.ends, prepend=0)
    row = np.repeat(np.arange(len(table)), lengths)
    wrong = (table.values < 0) | (table.values != np.floor(table.values)) | (table.values >= numbers.EXACT)
    bad = np.flatnonzero(wrong)
    if bad.size:
        raise table.error(int(row[bad[0]]), f"id {table.values[bad[0]]:.15g} (whole numbers from 0 to 2^53 - 1)")
    return table.values.astype(np.int64)


_COMMENTED = re.compile(rb"^[ \t]*[#%][^\s,][^,\n]*,[^,\n]*,[ \t]*[+-]?[.\d]+[ \t\r]*(?:,[^,\n]*)?$", re.M)


def _csv(data, name, start):
    named.refuse_commented(data, name, text.after(data, start), _COMMENTED, "a rating")
    some = text.lines(data[start : start + 2**16], 60)
    first = next((line for _, line in some if line and line[:1] not in b"#%"), b"")
    if not all(map(named.numeric, named.fields(first)[:2])) or named.padded(data, start):
        expected = "'user,item,rating' with a finite rating"
        lines, rows = named.rows(data, name, start, expected, (3, 4))
        users, items = (np.array([row[k] for row in rows], str) for k in (0, 1))
        return users, items, named.reals([row[2] for row in rows], lines, name, expected)
    expected = "'user,item,rating' with whole numbers as ids and a finite rating"
    table = Table(data, name, expected, start=start)
    columns = table.columns((3, 4))
    users, items = (numbers.ids(table, columns[:, k], 0) for k in (0, 1))
    ratings = np.ascontiguousarray(columns[:, 2])
    if (bad := np.flatnonzero(~np.isfinite(ratings))).size:
        raise table.error(int(bad[0]), f"rating {ratings[bad[0]]}")
    return users, items, ratings


def read_batch(path: "PathLike") -> tuple[Graph, np.ndarray]:
    """A batch of small graphs in the TU collection's layout, as one undirected Graph.

    Reads ``*_A.txt`` (arcs, both ways, ids from 1 through all graphs) and ``*_graph_indicator.txt`` (the
    graph of each vertex, from 1, in order) out of an archive, wherever they lie in it.

    Returns
    -------
    graph : Graph
        All graphs side by side.
    starts : int64 array, shape (graphs + 1,)
        Graph k has the vertices ``starts[k]`` to ``starts[k + 1] - 1``.
    """
    data, name = open_text(path, "*_graph_indicator.txt")
    table = Table(data, name, "the number of one vertex's graph, from 1")
    owner = numbers.ids(table, table.columns((1,))[:, 0], 1) - 1
    falling = np.flatnonzero((np.diff(owner) < 0) | (np.diff(owner) > 1))
    if falling.size or owner[0] != 0:
        row = int(falling[0]) + 1 if falling.size else 0
        raise table.error(row, f"graph {owner[row] + 1} out of order (graphs are numbered 1, 2, ... in order)")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner))])
    data, name = open_text(path, "*_A.txt")
    table = Table(data, name, f"two vertex ids from 1 to {owner.size}")
    columns = table.columns((2,))
    u, v = (numbers.ids(table, columns[:, k], 1, owner.size) - 1 for k in (0, 1))
    across = np.flatnonzero(owner[u] != owner[v])
    if across.size:
        raise table.error(int(across[0]), "an edge between two graphs")
    one_way = Graph.from_edges(u, v, n=owner.size)
    try:
        return Graph(one_way.offsets, one_way.targets, directed=False), starts
    except GraphError:
        raise GraphError(
            f"{name}: some edge is listed in one direction only; expected both arcs of every edge"
        ) from None


def read_coordinates(path: "PathLike | IO[bytes]", member: str | None = None) -> np.ndarray:
    """Coordinates of a DIMACS .co file, float64, shape (n, 2): longitude, latitude, degrees x 10^6."""
    return _coordinates(*open_text(path, member))


def _coordinates(data, name):
    """DIMACS .co: ``p aux sp co n``, then ``v id x y``."""
    for start, line in text.lines(data):
        fields = line.split()
        if fields[:4] == [b"p", b"aux", b"sp", b"co"] and len(fields) == 5 and fields[4].isdigit():
            break
        if fields and fields[0] != b"c":
            told = f"found {text.shown(line)}; expected the problem line 'p aux sp co <nodes>'"
            raise text.error(data, name, start, told)
    else:
        raise GraphError(f"{name}: no problem line found; expected 'p aux sp co <nodes>'")
    n = int(fields[4])
    expected = f"'v <id> <x> <y>' with ids 1 to {n}"
    table = Table(data, name, expected, start=text.after(data, start), comments=b"c", lead=b"v")
    columns = table.columns((3,))
    nodes = numbers.ids(table, columns[:, 0], 1, n) - 1
    if nodes.size != n or np.unique(nodes).size != n:
        told = f"expected one line for each, found {nodes.size} lines for {np.unique(nodes).size} nodes"
        raise text.error(data, name, start, f"the header says {n} nodes; {told}")
    out = np.empty((n, 2))
    out[nodes] = columns[:, 1:]
    return out
