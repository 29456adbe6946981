"""A batch of graphs, possibly larger than memory: a sequence of graphs read in pieces."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sparse

from lockstep.graphs import Graph, GraphError
from lockstep.graphs.memory import SETTING

from . import content, shards
from .check import GOOD, Problem, judge, one_way, reason
from .pack import Pack, join
from .sources import SHARDS, HeadPiece, MemoryPiece, cuts, pieces_of

if TYPE_CHECKING:
    from lockstep.typing import BatchLike, PathLike

MOST = 2**31 - 1  # vertices of a graph, as offsets and ids are stored


class Loaded(NamedTuple):
    """A piece of a batch: the usable graphs, their numbers in the batch, the problems of the others, and
    {number of a graph: names of its vertices}, of those that have some.
    """

    pack: Pack
    numbers: np.ndarray
    problems: list
    labels: dict


class GraphBatch:
    """Many graphs from one source.

    Parameters
    ----------
    source : path-like, str, Pack or sequence
        A folder of shards (``.arrow``, ``.parquet``) or a file of them; a folder of files with one graph each; an
        archive in the TU collection's layout (``NAME_A.txt``, ``NAME_graph_indicator.txt``); the name of a registered
        batch (`PROTEINS`); a Pack; a sequence of Graphs, NetworkX graphs or SciPy matrices.
    directed : bool, optional
        For files of edges: by default as in each file's header, True without one; True reads an edge
        of an undirected file as two arcs. For shards without this metadata: undirected by default.
    bad : {"skip", "refuse"}
        Treatment of unusable graphs (unreadable, empty, an id out of range, too many vertices, more
        than ``LOCKSTEP_MEMORY`` allows, a weight that float32 does not hold): recorded in ``problems`` and left out,
        or an error.
    max_vertices : int
        Graphs with more are unusable.
    weights : bool
        False drops all weights: for measures without weights, if weights are not lengths, or if only
        some graphs have them.
        Weights are stored as float32. Fractions are rounded; integers that float32 does not represent exactly
        (most above 2^24) and values below 1.2e-38 are not accepted.
    pack_bytes : int
        Iteration gives packs of about this size at most.

    Attributes
    ----------
    pieces : list
        The pieces of the source, in order; `load_piece` loads one.
    problems : list of Problem
        Of the pieces loaded since the last iteration began: number, name and reason of each graph left out.

    Raises
    ------
    GraphError
        There is no such source; files or graphs in memory mix directed and undirected, or weighted and unweighted ones
        (detected on loading; graphs without arcs are compatible with both); with ``bad="refuse"`` the first unusable
        graph.

    Examples
    --------
    >>> import networkx as nx
    >>> batch = GraphBatch([nx.path_graph(4), nx.star_graph(3)])
    >>> len(batch), batch[1].out_degrees().tolist()
    (2, [3, 1, 1, 1])
    >>> [pack.n.tolist() for pack in batch]
    [[4, 4]]
    """

    def __init__(
        self, source: "BatchLike", *, directed: bool | None = None, bad: Literal["skip", "refuse"] = "skip",
        max_vertices: int = MOST, weights: bool = True, pack_bytes: int = 64 * 2**20,
    ) -> None:
        if bad not in ("skip", "refuse"):
            raise ValueError(f"bad is {bad!r}; expected 'skip' or 'refuse'")
        if not 1 <= max_vertices <= MOST:
            raise ValueError(f"max_vertices is {max_vertices}; expected 1 to {MOST}")
        self.bad, self.max_vertices, self.pack_bytes = bad, int(max_vertices), int(pack_bytes)
        self.directed = directed
        self.weights, self.lengths, self.fitting = bool(weights), False, MOST
        self.source = str(source) if isinstance(source, (str, Path)) else "memory"
        self.pieces = pieces_of(source, directed, self.pack_bytes, self.weights)
        self._check_direction()
        self.problems = []
        self._piece = functools.lru_cache(1)(self.load_piece)

    def _check_direction(self):
        """GraphError if graphs in memory, which say themselves whether they are directed, are not as asked for."""
        for piece in self.pieces if self.directed is not None else ():
            kind = getattr(piece, "graphs", None)
            there = kind.directed if isinstance(kind, Pack) else getattr(getattr(piece, "kind", None), "directed", None)
            if isinstance(piece, MemoryPiece) and there not in (None, self.directed):
                words = ("directed", "undirected") if there else ("undirected", "directed")
                raise GraphError(f"the graphs of {self.source} are {words[0]}; {words[1]} ones were asked for")

    @classmethod
    def of(cls, source: "BatchLike", **options: Any) -> "GraphBatch":
        """``source`` itself if it is a GraphBatch, else one made of it; of a single graph a batch of one."""
        one = isinstance(source, Graph) or sparse.issparse(source) or getattr(source, "ndim", 0) == 2
        if one or any(hasattr(source, name) for name in ("is_directed", "weighted_edge_list", "columns")):
            source = [source]  # pyright: ignore[reportAssignmentType]
        return source if isinstance(source, cls) else cls(source, **options)

    def __len__(self) -> int:
        return sum(piece.count for piece in self.pieces)

    def __repr__(self):
        return f"<GraphBatch of {len(self):,} graphs in {len(self.pieces):,} pieces from {self.source}>"

    def __getstate__(self):
        """What another process needs to load pieces, which are handed over one by one."""
        return {**self.__dict__, "pieces": [], "problems": [], "_piece": None}

    @property
    def nbytes(self) -> int:
        """Bytes of the source's files or Pack; for other sequences, graphs."""
        return sum({str(getattr(piece, "path", piece.name)): piece.size for piece in self.pieces}.values())

    @property
    def files(self) -> list:
        """The source's files, each once; none of a batch in memory."""
        return sorted({path for piece in self.pieces for path in piece.files})

    def evict(self) -> None:
        """Evict the source's files from the page cache, so that the next read is cold."""
        shards.evict(self.files)

    def fill(self) -> None:
        """Load the source's files into the page cache, so that the next read is warm."""
        shards.Scan(self.files, 2)()

    def lies_in(self, folder: Path) -> bool:
        """Whether files of the source lie in that folder, to which nothing must be added."""
        parents = {file.parent for file in self.files}
        return folder.is_dir() and any(parent.is_dir() and folder.samefile(parent) for parent in parents)

    def asked(self) -> dict[str, Any]:
        """The non-default options that determine which graphs are read, and how."""
        usual = inspect.signature(GraphBatch).parameters
        names = ("directed", "max_vertices", "bad", "weights")
        return {name: getattr(self, name) for name in names if getattr(self, name) != usual[name].default}

    def digest(self) -> str:
        """Fingerprint of the source: a hash of its pieces' names, counts and contents (`content`)."""
        return content.digest(self.pieces)

    def of_pieces(self, pieces: list) -> "GraphBatch":
        """Some of the pieces as a batch of their own; graphs keep their numbers."""
        new = object.__new__(GraphBatch)
        new.__dict__.update(self.__dict__, pieces=list(pieces), problems=[])
        new._piece = functools.lru_cache(1)(new.load_piece)
        return new

    def head(self, count: int) -> "GraphBatch":
        """The first ``count`` graphs as a batch of its own, which keep their numbers; nothing is read for it."""
        some = [piece for piece in self.pieces if piece.first < count]
        if some and (last := count - some[-1].first) < some[-1].count:
            some[-1] = HeadPiece(some[-1], last)
        return self.of_pieces(some)

    def suited(self, engine: Any) -> "GraphBatch":
        """The batch with an engine's requirements: graphs with a nonpositive weight are unusable if weights are
        lengths, and so are graphs whose values do not fit in memory. Both batches record such
        graphs in the same ``problems``.
        """
        if engine is None:
            return self
        new = object.__new__(GraphBatch)
        new.__dict__.update(self.__dict__, lengths=engine.lengths, fitting=engine.most_vertices)
        new._piece = functools.lru_cache(1)(new.load_piece)
        return new

    def load_piece(self, piece: Any, memory: "Callable | None" = None) -> Loaded:
        """Load and check one piece.

        Parameters
        ----------
        piece : one of `pieces`
        memory : callable, optional
            See `read_shard`.

        Returns
        -------
        Loaded
        """
        pack, numbers, problems, labels = piece.load(memory, self.weights)
        unsaid = pack.directed is None
        pack.directed = bool(pack.directed)
        if not self.weights:
            pack = pack.unweighted()
        most, why = self.max_vertices, ""
        if self.fitting < most:
            most, why = self.fitting, f", or the values do not fit into memory ({SETTING}=SIZE raises the limit)"
        code, place = judge(pack, most, self.lengths)
        found = {int(i): reason(pack, i, code[i], place[i], most, why) for i in np.flatnonzero(code != GOOD)}
        if unsaid:
            found |= one_way(pack, code)
        known = {problem.graph for problem in problems}
        for i, why in found.items():
            if int(numbers[i]) not in known:
                problems.append(Problem(int(numbers[i]), pack.name(i), why))
        if problems:
            problems.sort()
            if self.bad == "refuse":
                first = problems[0]
                raise GraphError(
                    f"graph {first.graph} ({first.name}) of {self.source}: {first.reason} (bad='skip' leaves it out)"
                )
            self.problems += problems
            keep = np.flatnonzero(~np.isin(numbers, [problem.graph for problem in problems]))
            if keep.size < len(pack):
                pack, numbers = pack.take(keep), numbers[keep]
        return Loaded(shards.narrow(pack), numbers, problems, labels)

    def __iter__(self) -> "Iterator[Pack]":
        self.problems = []
        for piece in self.pieces:
            pack = self.load_piece(piece).pack
            if len(pack) and pack.nbytes <= self.pack_bytes:
                yield pack
                continue
            for first, last in cuts(pack, self.pack_bytes):
                yield pack[first:last]

    def __getitem__(self, index: int) -> Graph:
        """Graph ``index`` as a Graph; its piece is loaded, and cached until another piece is accessed."""
        i = int(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"graph {i} of a batch of {len(self)}")
        i %= len(self)
        piece = next(piece for piece in self.pieces if piece.first <= i < piece.first + piece.count)
        found = self._piece(piece)
        place = int(np.searchsorted(found.numbers, i))
        if place == found.numbers.size or found.numbers[place] != i:
            problem = next(problem for problem in found.problems if problem.graph == i)
            raise GraphError(f"graph {i} ({problem.name}) of {self.source} cannot be used: {problem.reason}")
        graph = found.pack[place]
        graph.labels = found.labels.get(i)
        return graph

    def write(self, folder: "PathLike", *, format: Literal["arrow", "parquet"] = "arrow",
              graphs: int = 4096) -> "GraphBatch":  # fmt: skip
        """Write the usable graphs as shards, replacing those of an earlier write into the folder once all are written.

        Shards number vertices from 0: names of vertices are not written.

        Parameters
        ----------
        folder : path-like
        format : {"arrow", "parquet"}
        graphs : int
            In a shard; the last holds the rest.

        Returns
        -------
        GraphBatch
            What was written.

        Raises
        ------
        GraphError
            No graph is usable, or the folder is what is read, or it holds other shards.
        """
        if format not in shards.FORMATS:
            raise ValueError(f"format is {format!r}; expected one of {', '.join(shards.FORMATS)}")
        if graphs < 1:
            raise ValueError(f"graphs is {graphs}; expected one or more in a shard")
        folder = Path(folder)
        if self.lies_in(folder):
            raise GraphError(f"{folder} is what is read; write the shards somewhere else")
        there = [path for path in folder.glob("[!.]*") if path.suffix in SHARDS]
        earlier = {path for path in there if path.stem.startswith("shard-") and path.suffix[1:] in shards.FORMATS}
        if others := sorted(set(there) - earlier):
            raise GraphError(f"{folder} holds another shard, {others[0].name}; write the shards somewhere else")
        waiting, count, written = [], 0, []

        def flush():
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f".new-{os.getpid()}-{len(written):05d}.{format}"  # readers pass over such names
            shards.write_shard(path, join(waiting))
            written.append(path)
            waiting.clear()

        try:
            for pack in self:
                first = 0
                while first < len(pack):
                    last = min(first + graphs - count, len(pack))
                    waiting.append(pack[first:last])
                    count += last - first
                    first = last
                    if count == graphs:
                        flush()
                        count = 0
            if waiting:
                flush()
            if not written:
                raise GraphError(f"{self.source} holds no graph that can be used; nothing was written")
            for old in earlier:
                old.unlink()
            for number, path in enumerate(written):
                path.rename(folder / f"shard-{number:05d}.{format}")
        finally:
            for path in written:
                path.unlink(missing_ok=True)
        options = {name: getattr(self, name) for name in ("bad", "max_vertices", "weights", "pack_bytes")}
        return GraphBatch(folder, **options)
