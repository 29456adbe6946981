"""Detection of changed batches: hashes of files and of graphs in memory.

A file up to `WHOLE` bytes is hashed in full, so that a copy has the same hash. Of a larger
one size, modification time and some blocks are hashed: hashing takes about as long as reading shards, and
runs measured from a cold disk must not find them in the page cache.
"""

import hashlib

import numpy as np

from lockstep.graphs import GraphError, graph_of

from .pack import Pack

WHOLE = 2**22  # bytes
BLOCK = 2**14  # bytes of each block of a larger file
BLOCKS = 4


def digest(pieces):
    """Hash of the pieces' names, counts and contents, in hexadecimal."""
    found, known = hashlib.sha256(), {}
    for piece in pieces:
        _add(found, piece.name, piece.first, piece.count, piece.size)
        for path in piece.files:
            if path not in known:
                known[path] = of_file(path)
            _add(found, path.name, known[path])
        _add_graphs(found, getattr(piece, "graphs", ()))
    return found.hexdigest()[:16]


def of_file(path):
    """Hash of the file's content, in hexadecimal."""
    facts, found = path.stat(), hashlib.sha256()
    whole = facts.st_size <= WHOLE
    if not whole:
        _add(found, facts.st_size, facts.st_mtime_ns)
    with path.open("rb", buffering=0) as file:
        for at in [0] if whole else np.linspace(0, facts.st_size - BLOCK, BLOCKS).astype(int).tolist():
            file.seek(at)
            found.update(file.read(WHOLE if whole else BLOCK))
    return found.hexdigest()


def _add_graphs(found, graphs):
    if isinstance(graphs, Pack):
        pack = graphs.to(np)
        _add(found, pack.directed, *(pack.names if pack.names is not None else ()))
        _add_arrays(found, pack.offsets, pack.targets, pack.vertex_start, pack.arc_start, pack.weights)
        return
    for thing in graphs:
        try:
            graph = graph_of(thing)
        except GraphError as error:  # it is left out when the piece is loaded, for this reason
            _add(found, error)
            continue
        _add(found, graph.directed, graph.name, *(graph.labels if graph.labels is not None else ()))
        _add_arrays(found, graph.offsets, graph.targets, graph.weights)


def _add(found, *what):
    for one in what:
        text = str(one).encode("utf-8", "surrogateescape")
        found.update(b"%d " % len(text) + text)


def _add_arrays(found, *arrays):
    for array in arrays:
        _add(found, None if array is None else f"{array.dtype} {array.size}")
        if array is not None:
            found.update(np.ascontiguousarray(array).view(np.uint8))
