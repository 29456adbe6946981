"""Many small files of edges at once.

`read` finds a file's container, format, header and names by its content, which costs as much for ten edges as for a
thousand. Where all files of a piece are plain, every line two ids apart by one blank or tab, their lines are parsed as
one table by PyArrow, and their graphs built as parts of one. Anything else is left to `read`, which reads more formats
and names what is wrong.
"""

import re

import numpy as np
import pyarrow as pa
from pyarrow import csv

from lockstep.graphs import Graph
from lockstep.graphs.formats import header_of
from lockstep.graphs.reading import SMALL, sniff, stem

from .pack import pack_of

COMMENTS = re.compile(rb"(?:#[^\n]*\n)*")
OTHERS = (".graph", ".metis", ".nde")  # formats that a name may tell
MOST = 10**6  # vertices, beyond which `read` compares them with the memory


def plain_pack(paths, directed=None):
    """The Pack of files that all are plain edge lists, as `read` would give their graphs; else None.

    Parameters
    ----------
    paths : sequence of Path
    directed : bool, optional
        As of `read`.
    """
    if any(word in path.name for path in paths for word in OTHERS):
        return None
    try:
        texts = [path.read_bytes() for path in paths]
    except OSError:
        return None
    heads = [COMMENTS.match(text)[0] for text in texts]
    bodies = [text[len(head) :] for text, head in zip(texts, heads, strict=True)]
    bodies = [body if body.endswith(b"\n") else body + b"\n" for body in bodies]
    joined, lines = b"".join(bodies), np.array([body.count(b"\n") for body in bodies])
    ends = _two_columns(joined)
    if ends is None or len(ends[0]) != lines.sum() or not all(body[:1].isdigit() for body in bodies):
        return None
    sources, targets = ends
    first = np.cumsum(lines) - lines
    n = np.maximum.reduceat(np.maximum(sources, targets), first).astype(np.int64) + 1
    said = set()
    for i, head in enumerate(heads):
        sizes, word = header_of(head) if head else (None, None)
        said.add(word)
        if sizes is not None:
            if sizes[2] != lines[i] or sizes[1] < n[i]:
                return None
            n[i] = sizes[1]
    following = lines - 1  # if the first line is METIS's header
    metis = (sources[first] >= SMALL) & (following // 2 <= sources[first]) & (sources[first] <= following)
    maybe = [i for i in np.flatnonzero(metis) if not heads[i]]
    if len(said) > 1 or n.max() > MOST or any(sniff(texts[i], str(paths[i])) != "edges" for i in maybe):
        return None
    said = said.pop()
    if directed is None:
        directed = said is not False
    starts = np.concatenate([[0], np.cumsum(n)])
    if starts[-1] >= 2**31:
        return None
    shift = np.repeat(starts[:-1].astype(np.int32), lines)
    stored = directed and said is not False
    graph = Graph.from_edges(sources + shift, targets + shift, n=int(starts[-1]), directed=stored)
    graph.directed = directed
    pack = pack_of(graph, starts)
    pack.names = [stem(path) for path in paths]
    return pack


def _two_columns(text):
    """Both columns of a text of ids below 2^31, int32 arrays; None if it is none."""
    blank = b"\t" if b"\t" in text[:64] else b" "
    if text.translate(None, b"0123456789\n" + blank):
        return None
    names = ["source", "target"]
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(column_names=names, use_threads=False),
            csv.ParseOptions(delimiter=blank.decode(), quote_char=False),  # blank lines are passed over: too few rows
            csv.ConvertOptions(column_types=dict.fromkeys(names, pa.int32()), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return [table[name].to_numpy() for name in names]
