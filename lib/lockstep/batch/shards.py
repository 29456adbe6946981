"""Shards: files that hold some thousands of graphs each, one row a graph, in formats that pandas reads.

    name      text
    n         int32, vertices
    offsets   list of int32, n + 1 numbers that begin with 0
    targets   list of uint16, or of int32 where some graph has more than 65,536 vertices
    weights   list of float32, where there are any (of another type: read as float32, see `weights_not_held`)

Two formats, distinguished by suffix. In ``.arrow`` (Arrow's IPC file, "Feather") the lists of a column are contiguous,
in a `Pack`'s layout: a shard is loaded by reading its bytes, into
page-locked memory for example, without parsing. ``.parquet`` packs ids of graphs this small into 10 or 11 bits
each, which saves space and costs unpacking; other tools write it. Metadata ``directed`` is "yes" or "no";
without it graphs are as the caller specifies, else undirected, and then each arc must have a reverse arc.
"""

import concurrent.futures
import os
import queue
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lockstep.graphs import GraphError

from .pack import SMALL, Pack
from .weights import not_held, unheld

FORMATS = ("arrow", "parquet")


def write_shard(path, pack):
    """Write a host pack as one shard, atomically.

    Parameters
    ----------
    path : path-like
        Its suffix, ``.arrow`` or ``.parquet``, selects the format.
    pack : Pack
    """
    path = Path(path)
    if path.suffix[1:] not in FORMATS:
        raise ValueError(f"{path.name}: expected a name that ends in .arrow or .parquet")
    scratch = path.with_name(f"{path.name}.{os.getpid()}.part")
    batch = as_batch(pack)
    try:
        if path.suffix == ".arrow":
            with pa.ipc.new_file(str(scratch), batch.schema) as writer:
                writer.write_batch(batch)
        else:
            packed = ["targets.list.element"]  # ids repeat, offsets and weights do not
            with pq.ParquetWriter(scratch, batch.schema, compression="none", use_dictionary=packed) as writer:
                writer.write_batch(batch)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def as_batch(pack):
    """A host pack as an Arrow record batch that shares its arrays."""
    k = len(pack)
    rows = pack.vertex_start + np.arange(k + 1)
    names = pack.names if pack.names is not None else map(str, range(k))
    columns = {
        "name": pa.array(names, pa.string()),
        "n": pa.array(pack.n),
        "offsets": _list(rows, pack.offsets),
        "targets": _list(pack.arc_start, pack.targets),
    }
    if pack.weights is not None:
        columns["weights"] = _list(pack.arc_start, pack.weights)
    batch = pa.RecordBatch.from_pydict(columns)
    return batch.replace_schema_metadata({"directed": "yes" if pack.directed else "no"})


def _list(starts, values):
    wide = int(starts[-1]) >= 2**31
    kind = pa.LargeListArray if wide else pa.ListArray
    return kind.from_arrays(pa.array(starts.astype(np.int64 if wide else np.int32)), pa.array(values))


def evict(paths):
    """Bring files to the disk and out of the page cache, so that the next reading of them comes from the disk."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


class Scan:
    """Read files without parsing, to measure the disk's rate with several threads.

    Parameters
    ----------
    paths : sequence of path-like
    threads : int
    """

    def __init__(self, paths, threads):
        self.paths = [Path(path) for path in paths]
        most = max(path.stat().st_size for path in self.paths)
        self.room = [np.ones(most, np.uint8) for _ in range(min(threads, len(self.paths)))]  # touched: allocated now

    def __call__(self):
        """Read all files once; returns the bytes that were read."""
        free, read = queue.SimpleQueue(), []
        for room in self.room:
            free.put(room)

        def one(path):
            room = free.get()
            read.append(_content(path, lambda size: room).size)
            free.put(room)

        with concurrent.futures.ThreadPoolExecutor(len(self.room)) as pool:
            list(pool.map(one, self.paths))
        return sum(read)


def pieces(path):
    """Graphs in each piece of a shard that is read at once: a record batch, or a row group."""
    path = Path(path)
    try:
        if path.suffix == ".parquet":
            facts = pq.ParquetFile(path).metadata
            return [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
        with pa.memory_map(str(path)) as file:
            reader = pa.ipc.open_file(file)
            return [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    except (pa.ArrowException, OSError) as error:
        raise GraphError(f"{path} cannot be read as a shard: {error}; expected an Arrow file or Parquet") from None


def read_shard(path, piece=0, memory=None):
    """One piece of a shard, and the contradictions between its columns.

    Parameters
    ----------
    path : path-like
    piece : int
        Which record batch or row group.
    memory : callable, optional
        ``memory(bytes)`` gives a writable uint8 array to read an Arrow file into, page-locked for example; the pack's
        arrays then lie in it.

    Returns
    -------
    pack : Pack
        Not checked: ids may be out of range (`check.judge`); rows without offsets have -1 vertices there.
    wrong : dict
        {row: why} of rows that contradict themselves.

    Raises
    ------
    GraphError
        The file cannot be read, or its columns are not those of a shard.
    """
    path = Path(path)
    try:
        if path.suffix == ".parquet":
            table = pq.ParquetFile(path).read_row_group(piece)
            batches = table.combine_chunks().to_batches()
            batch = batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)
        else:
            batch = pa.ipc.open_file(pa.py_buffer(_content(path, memory))).get_batch(piece)
    except (pa.ArrowException, OSError) as error:
        raise GraphError(f"{path} cannot be read as a shard: {error}; expected an Arrow file or Parquet") from None
    return _pack(batch, path)


def doubtful_weights(path):
    """Whether some of a shard's weights may be missing, or are of another type than the float32 that they are read as;
    only metadata are read.

    Raises
    ------
    GraphError
        They are no lists of numbers, or the metadata's ``directed`` is neither yes nor no.
    """
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        schema, parts = file.schema_arrow, range(file.num_row_groups)
    else:
        file = pa.ipc.open_file(pa.memory_map(str(path)))
        schema, parts = file.schema, range(file.num_record_batches)
    if (schema.metadata or {}).get(b"directed", b"no") not in (b"yes", b"no"):
        said = schema.metadata[b"directed"].decode(errors="replace")
        raise GraphError(f"{path} has directed={said} in its metadata; expected yes or no")
    if "weights" not in schema.names:
        return False
    kind = schema.field("weights").type
    inner = kind.value_type if pa.types.is_list(kind) or pa.types.is_large_list(kind) else None
    if inner is None or not (pa.types.is_integer(inner) or pa.types.is_floating(inner)):
        raise GraphError(f"{path} holds {kind} in column weights; expected a list of numbers a graph")
    if inner != pa.float32():
        return True
    if path.suffix != ".parquet":
        return any(file.get_batch(part).column("weights").values.null_count for part in parts)
    leaves = [file.schema.column(place).path.split(".")[0] for place in range(len(file.schema))]
    told = [file.metadata.row_group(part).column(leaves.index("weights")).statistics for part in parts]
    return any(one is None or one.null_count != 0 for one in told)  # counts empty lists too


def weights_refused(path, piece):
    """{row: why} of the rows of a piece with a weight that is missing or that float32 does not hold."""
    if path.suffix == ".parquet":
        table = pq.ParquetFile(path).read_row_group(piece, columns=["weights"])
        column = table.column("weights").combine_chunks()
    else:
        with pa.memory_map(str(path)) as file:
            column = pa.ipc.open_file(file).get_batch(piece).column("weights")
    starts, weights, _ = _flat(column)
    missing = np.asarray(column.values.slice(column.offsets[0].as_py(), weights.size).is_null())
    wrong = {}
    for place in np.union1d(np.flatnonzero(missing), unheld(weights))[::-1]:  # backwards, so that the first one stays
        row = int(np.searchsorted(starts, place, side="right")) - 1
        arc = int(place - starts[row])
        lacks = f"weight of arc {arc} is missing; expected a number for every arc"
        wrong[row] = lacks if missing[place] else not_held(arc, weights[place])
    return wrong


def _content(path, memory):
    size = path.stat().st_size
    place = np.empty(size, np.uint8) if memory is None else memory(size)
    with path.open("rb", buffering=0) as file:
        done = 0
        while done < size:
            count = file.readinto(memoryview(place)[done:size])
            if not count:
                raise OSError(f"ends after {done} of {size} bytes")
            done += count
    return place[:size]


def _pack(batch, path):
    names = batch.schema.names
    for column in ("offsets", "targets"):
        kind = batch.schema.field(column).type if column in names else None
        if kind is None or not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
            found = f"has the columns {', '.join(names)}" if kind is None else f"holds {kind} in column {column}"
            raise GraphError(f"{path} {found}; expected a column {column} that holds a list of whole numbers a graph")
        if not pa.types.is_integer(kind.value_type):
            raise GraphError(f"{path} holds lists of {kind.value_type} in column {column}; expected whole numbers")
    rows, offsets, missing = _flat(batch.column("offsets"))
    arc_start, targets, _ = _flat(batch.column("targets"))
    wrong = {int(i): "it has no offsets" for i in np.flatnonzero(missing)}
    vertex_start = rows - np.arange(rows.size)
    if "n" in names:
        stated = batch.column("n").to_numpy(zero_copy_only=False)
        for i in np.flatnonzero(stated != np.diff(vertex_start)):
            found = int(vertex_start[i + 1] - vertex_start[i]) + 1
            wrong.setdefault(int(i), f"it says n = {stated[i]}, which does not go with {found} offsets")
    weights = None
    if "weights" in names:
        weight_start, weights, _ = _flat(batch.column("weights"))
        weights = weights.astype(np.float32, copy=False)
        counts = np.diff(weight_start)
        for i in np.flatnonzero(counts != np.diff(arc_start)):
            wrong.setdefault(int(i), f"it has {counts[i]} weights for {arc_start[i + 1] - arc_start[i]} arcs")
        if not np.array_equal(weight_start, arc_start):  # flat again, so that the other graphs keep theirs
            weights = _aligned(weight_start, weights, arc_start)
    stated = (batch.schema.metadata or {}).get(b"directed")
    called = Names(batch.column("name")) if "name" in names else None
    if offsets.dtype != np.int32:
        offsets = np.clip(offsets, -1, 2**31 - 1).astype(np.int32)
    pack = Pack(offsets, targets, vertex_start, arc_start, weights, names=called)
    # None: the caller must determine whether graphs of a shard without this metadata are directed.
    pack.directed = None if stated is None else stated == b"yes"
    return pack, wrong


def _flat(column):
    """Starts and values of a list column as NumPy arrays, and which rows are null; nothing is copied."""
    starts = np.asarray(column.offsets).astype(np.int64)
    values = column.values.slice(starts[0], starts[-1] - starts[0])
    if values.null_count:
        values = (
            values.fill_null(-1)
            if not pa.types.is_unsigned_integer(values.type)
            else values.cast(pa.int64()).fill_null(-1)
        )
    missing = np.asarray(column.is_null()) if column.null_count else np.zeros(len(column), bool)
    return starts - starts[0], values.to_numpy(zero_copy_only=False), missing


def _aligned(weight_start, weights, arc_start):
    out = np.zeros(int(arc_start[-1]), np.float32)
    for i in np.flatnonzero(np.diff(weight_start) == np.diff(arc_start)):
        out[arc_start[i] : arc_start[i + 1]] = weights[weight_start[i] : weight_start[i + 1]]
    return out


def narrow(pack):
    """The pack with ids in 16 bits where they fit, else in 32; its graphs have been checked."""
    kind = np.uint16 if pack.n.max(initial=0) <= SMALL else np.int32
    if pack.targets.dtype == kind:
        return pack
    return Pack(pack.offsets, pack.targets.astype(kind), pack.vertex_start, pack.arc_start, pack.weights,
                pack.directed, pack.names)  # fmt: skip


class Names:
    """A column of names that are decoded on access: most of a million are never read."""

    def __init__(self, column):
        self.column = column

    def __len__(self):
        return len(self.column)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Names(self.column[index])
        name = self.column[int(index)].as_py()
        return "" if name is None else name

    def __iter__(self):
        return iter(self.column.to_pylist())

    def __arrow_array__(self, type=None):
        return self.column if type is None else self.column.cast(type)
