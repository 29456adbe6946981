"""Where a batch's graphs come from. A source is cut into pieces, each loaded, computed and written as a whole.

A piece is a small descriptor with a `load` method, which can be sent to another thread, process or machine. `load`
returns an unchecked `Pack`, the numbers of its graphs in the batch, the problems of unreadable graphs, and
names of vertices: {number of a graph: its names}, of those that have some.
If neither a shard nor a setting specifies whether its graphs are directed, the pack's
``directed`` is None: the caller must then check that each arc has a reverse arc.
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lockstep.graphs import Graph, GraphError, graph_of, load_batch, read, read_batch
from lockstep.graphs.containers import GRAPH_SUFFIXES
from lockstep.graphs.registry import registry

from . import shards
from .check import Problem
from .edge_files import plain_pack
from .pack import Kind, Pack, pack_of
from .weights import weight_not_held

SHARDS = (".arrow", ".feather", ".parquet")
PACKED = (".gz", ".xz", ".bz2", ".zst")


@dataclass(frozen=True)
class ShardPiece:
    """One record batch or row group of a shard."""

    name: str
    first: int
    count: int
    path: Path
    index: int
    directed: bool | None = None  # where the shard does not say
    doubtful: bool = False  # whether weights may be missing, or are of another type than float32

    @property
    def size(self):
        return self.path.stat().st_size

    @property
    def files(self):
        return (self.path,)

    def absolute(self):
        """The same for a process that works in another folder."""
        return dataclasses.replace(self, path=self.path.absolute())

    def load(self, memory=None, weights=True):
        with np.errstate(over="ignore"):  # of weights that are too large for float32, which are told below
            pack, wrong = shards.read_shard(self.path, self.index, memory)
        if pack.directed is None:
            pack.directed = self.directed or None
        elif self.directed not in (None, pack.directed):
            there, asked = ("directed", "undirected") if pack.directed else ("undirected", "directed")
            raise GraphError(f"{self.path} says that its graphs are {there}; {asked} ones were asked for")
        if self.doubtful and weights:
            wrong = shards.weights_refused(self.path, self.index) | wrong
        problems = [Problem(self.first + i, pack.name(i), why) for i, why in wrong.items()]
        return pack, np.arange(self.first, self.first + len(pack)), problems, {}


@dataclass(frozen=True)
class FilesPiece:
    """Some files that hold one graph each."""

    name: str
    first: int
    paths: tuple
    directed: bool | None  # None: as each file says
    kind: Kind | None  # that the batch's graphs are of

    @property
    def count(self):
        return len(self.paths)

    @property
    def size(self):
        return sum(path.stat().st_size for path in self.paths)

    @property
    def files(self):
        return self.paths

    def absolute(self):
        return dataclasses.replace(self, paths=tuple(path.absolute() for path in self.paths))

    def load(self, memory=None, weights=True):
        pack = plain_pack(self.paths, self.directed) if len(self.paths) > 1 else None
        if pack is not None and self.kind is not None and self.kind[:2] == (pack.directed, False):
            return pack, np.arange(self.first, self.first + len(pack)), [], {}
        take = _reader(self.directed, weights)
        return _each(self.paths, take, self.first, [path.name for path in self.paths], self.paths, self.kind)


@dataclass(frozen=True, eq=False)  # equal to itself alone: a list of graphs has no hash
class MemoryPiece:
    """Graphs in memory: a Pack, or any sequence of inputs of `Graph.of`."""

    name: str
    first: int
    graphs: Any
    kind: Kind | None = None  # that the batch's graphs are of, if this is no Pack

    @property
    def count(self):
        return len(self.graphs)

    @property
    def size(self):
        return self.graphs.nbytes if isinstance(self.graphs, Pack) else len(self.graphs)

    @property
    def files(self):
        return ()

    def absolute(self):
        return self

    def load(self, memory=None, weights=True):
        if isinstance(self.graphs, Pack):
            return self.graphs, np.arange(self.first, self.first + len(self.graphs)), [], {}
        names = [str(getattr(graph, "name", "") or self.first + i) for i, graph in enumerate(self.graphs)]
        shown = [_shown(self.first + i, graph) for i, graph in enumerate(self.graphs)]
        return _each(self.graphs, _taker(weights), self.first, names, shown, self.kind)


@dataclass(frozen=True, eq=False)
class HeadPiece:
    """The first graphs of another piece, which is loaded whole."""

    piece: Any
    count: int

    @property
    def name(self):
        return f"{self.piece.name}-head"

    @property
    def first(self):
        return self.piece.first

    @property
    def size(self):
        return self.piece.size

    @property
    def files(self):
        return self.piece.files

    @property
    def path(self):
        """The file that it lies in, by which sizes are added up once; its name if it is in memory."""
        return getattr(self.piece, "path", self.name)

    @property
    def graphs(self):
        """Those in memory, by which `content` knows a batch."""
        return getattr(self.piece, "graphs", ())[: self.count]

    def absolute(self):
        return dataclasses.replace(self, piece=self.piece.absolute())

    def load(self, memory=None, weights=True):
        pack, numbers, problems, labels = self.piece.load(memory, weights)
        end = self.first + self.count
        kept = int(np.searchsorted(numbers, end))
        few = {number: names for number, names in labels.items() if number < end}
        return pack[:kept], numbers[:kept], [problem for problem in problems if problem.graph < end], few


def _reader(directed, weights):
    """A function that reads a graph from a file."""
    return functools.partial(read, directed=directed, weights=None if weights else False)


def _taker(weights):
    """A function that converts graph-like inputs to a Graph."""

    def take(thing):
        graph = graph_of(thing)
        if weights or graph.weights is None:
            return graph
        return Graph._trusted(graph.offsets, graph.targets, None, graph.directed, graph.name, graph.labels)

    return take


def _shown(number, graph):
    """Label of a graph in messages."""
    name = str(getattr(graph, "name", "") or "")
    return f"graph {number} of the batch" + (f" ({name})" if name else "")


def _kind(named, take):
    """The kind of the graphs of a batch, given with names: that of the first that can be taken and has arcs."""

    def usable():
        for thing, name in named:
            try:
                yield take(thing), name
            except GraphError:
                continue

    return Kind.of(usable())


def _each(things, take, first, names, shown, kind):
    """Load graphs one by one; unreadable ones become problems, one of another kind is an error."""
    found, numbers, called, problems = [], [], [], []
    for i, thing in enumerate(things):
        try:
            graph = take(thing)
        except GraphError as error:
            problems.append(Problem(first + i, names[i], str(error)))
            continue
        kind = kind or Kind.of([(graph, shown[i])])
        kind.check(graph, shown[i])
        if why := weight_not_held(graph):
            problems.append(Problem(first + i, names[i], why))
            continue
        found.append(graph)
        numbers.append(first + i)
        called.append(graph.name or names[i])
    pack = Pack.of(found, kind)
    pack.names = called
    labels = {number: graph.labels for number, graph in zip(numbers, found, strict=True) if graph.labels is not None}
    return pack, np.array(numbers, np.int64), problems, labels


def pieces_of(source, directed=None, piece_bytes=64 * 2**20, weights=True):
    """The pieces of a source: what a path, a registered name or a sequence holds, in order.

    Parameters
    ----------
    source : path-like, str, Pack or sequence
    directed : bool, optional
        For files of edges: by default as in each file's header, True without one. For shards without this
        metadata: False by default.
    piece_bytes : int
        About the size of a piece of files (4096 at most) or of a Pack; sequences: 1024 graphs.
    weights : bool
        Whether pieces will be loaded with weights; files and graphs in memory must then all have them, or none.

    Raises
    ------
    GraphError
        There is nothing to read.
    """
    if isinstance(source, Pack):
        return _cut_pack(source, "memory", piece_bytes)
    if isinstance(source, Mapping):
        raise GraphError(f"a batch of {type(source).__name__}; expected a sequence of graphs, such as its values")
    if not isinstance(source, (str, Path)):
        try:
            graphs = list(source) if not hasattr(source, "__len__") or not hasattr(source, "__getitem__") else source
        except TypeError:
            kind = type(source).__name__
            raise GraphError(f"a batch of {kind}; expected a path, a registered name or a sequence of graphs") from None
        kind = _kind(((graph, _shown(i, graph)) for i, graph in enumerate(graphs)), _taker(weights))
        cuts = range(0, len(graphs), 1024)
        return [MemoryPiece(f"memory-{at // 1024:05d}", at, graphs[at : at + 1024], kind) for at in cuts]
    path = Path(source)
    if path.is_dir():
        found = sorted(p for p in path.glob("[!.]*") if p.suffix in SHARDS)
        return _shards(found, directed) if found else _files(path, directed, piece_bytes, weights)
    if path.is_file():
        if path.suffix in SHARDS:
            return _shards([path], directed)
        if path.suffix in (".zip", ".tgz") or ".tar" in path.suffixes:
            return _cut_pack(pack_of(*read_batch(path), path.name.split(".")[0]), path.name.split(".")[0], piece_bytes)
        return _files(path, directed, piece_bytes, weights)
    if len(path.parts) == 1 and not path.suffix:
        if str(source).lower() not in set(registry()["name"].str.lower()):
            raise GraphError(
                f"{source}: no such file or folder, and no data set of that name ('lockstep datasets' lists them)"
            )
        graph, starts = load_batch(str(source))
        return _cut_pack(pack_of(graph, starts, graph.name), graph.name, piece_bytes)
    raise GraphError(f"{path}: no such file or folder; expected shards, edge lists or a TU archive")


def _shards(paths, directed):
    found, first, names = [], 0, set()
    for path in paths:
        counts, doubtful = shards.pieces(path), shards.doubtful_weights(path)
        for index, count in enumerate(counts):
            name = path.stem if len(counts) == 1 else f"{path.stem}-{index:05d}"
            while name in names:  # as of a.arrow and a.parquet: each has results of its own
                name += path.suffix
            names.add(name)
            found.append(ShardPiece(name, first, count, path, index, directed, doubtful))
            first += count
    return found


def _files(path, directed, piece_bytes, weights):
    def named(p):
        plain = p.with_suffix("") if p.suffix in PACKED else p
        return p.is_file() and not p.name.startswith(".") and plain.suffix.lower() in GRAPH_SUFFIXES

    paths = sorted(filter(named, path.iterdir())) if path.is_dir() else [path]
    if not paths:
        raise GraphError(
            f"{path} holds no shard ({', '.join(SHARDS)}) and no file of a graph ({', '.join(GRAPH_SUFFIXES)})"
        )
    kind = _kind(zip(paths, paths, strict=True), _reader(directed, weights))
    found, some, size = [], [], 0
    for number, p in enumerate(paths):
        some.append(p)
        size += p.stat().st_size
        if size >= piece_bytes or len(some) == 4096 or number == len(paths) - 1:
            name = f"files-{len(found):05d}"
            found.append(FilesPiece(name, number + 1 - len(some), tuple(some), directed, kind))
            some, size = [], 0
    return found


def _cut_pack(pack, name, piece_bytes):
    return [MemoryPiece(f"{name}-{i:05d}", a, pack[a:b]) for i, (a, b) in enumerate(cuts(pack, piece_bytes))]


def cuts(pack, most):
    """Where to cut a pack so that no part is larger than ``most`` bytes, unless one graph alone is."""
    each = pack.arc_start * (pack.targets.itemsize + (4 if pack.weights is not None else 0))
    each = each + pack.vertex_start * 4 + np.arange(len(pack) + 1) * 28  # offsets, and bytes per graph
    found, first = [], 0
    while first < len(pack):
        last = int(np.searchsorted(each, each[first] + most, side="right")) - 1
        last = min(max(last, first + 1), len(pack))
        found.append((first, last))
        first = last
    return found
