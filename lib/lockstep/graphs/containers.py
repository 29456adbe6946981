"""Read the text of one file from a path: containers are recognized by content, not by file name.

Archives are read in memory, member by member, and never unpacked to disk, so member paths cannot escape the
archive.
"""

import bz2
import contextlib
import fnmatch
import functools
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

import pyarrow

from . import memory, text
from .graph import GraphError

GRAPH_SUFFIXES = (".mtx", ".gr", ".graph", ".txt", ".csv", ".tsv", ".edges", ".el", ".nde",
                  ".metis", ".col")  # fmt: skip
_COMPRESSED = {
    b"\x28\xb5\x2f\xfd": ("zstandard", functools.partial(pyarrow.input_stream, compression="zstd")),
    b"\x1f\x8b": ("gzip", gzip.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
    b"BZh": ("bzip2", bz2.open),
}
_DAMAGE = (
    EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError, NotImplementedError,
    RuntimeError, ValueError,
)


def open_text(path, member=None):
    """The bytes of a text file, and its name for messages.

    Parameters
    ----------
    path : path-like or binary file
        A plain file; one compressed by gzip, xz, bzip2 or zstandard; a zip or tar archive, compressed or
        not. An open one is read to its end; messages call it by its ``name``.
    member : str, optional
        Which file of an archive: its path or name, or a pattern such as ``"*_A.txt"``. Without it the archive
        must hold one file that can be the graph: its only one, or the only one called like its folder or the
        archive.

    Raises
    ------
    GraphError
        If there is no such file, it is a directory, empty, truncated or damaged, not text, or holds or unpacks to
        more than an eighth of the memory that may be used (``LOCKSTEP_MEMORY``).
    """
    opened = contextlib.nullcontext(path) if hasattr(path, "read") else None
    path = Path(str(getattr(path, "name", "the open file")) if opened else path)
    if not opened and path.is_dir():
        raise GraphError(f"{path} is a directory; expected a file that holds a graph")
    try:
        with opened or path.open("rb") as file:
            data = _content(file, path, "holds")
    except FileNotFoundError:
        raise GraphError(f"{path}: no such file") from None
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror}") from None
    name, inside = str(path), False
    for _ in range(4):  # .tar.gz takes two steps, a zip that holds .gz files also two
        kind, unpack = _container(data)
        if kind is None:
            break
        try:
            if unpack is not None:
                with unpack(io.BytesIO(data)) as file:
                    data = _content(file, name, "unpacks to")
                continue
            name, data = _member(data, kind, name, path, member)
            inside = True
        except GraphError:
            raise
        except _DAMAGE as error:
            raise GraphError(
                f"{name}: {kind} data is truncated or damaged ({error or type(error).__name__}); expected a "
                "complete file, so fetch it again"
            ) from None
    if member is not None and not inside:
        raise GraphError(f"{name} is not an archive, so it has no member {member!r}")
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if not data.strip():
        raise GraphError(f"{name} is empty; expected a line for each edge or rating")
    if b"\0" in data[:4096]:
        raise GraphError(
            f"{name} is not text (line {data.count(10, 0, data.index(0)) + 1} holds a zero "
            "byte); expected an edge list, DIMACS, Matrix Market, METIS or CSV, plain or compressed"
        )
    if (at := text.lone_return(data)) is not None:
        raise GraphError(f"{name}, line {text.line_number(data, at)}: a carriage return without a line feed; expected "
                         "lines that end in LF or CR LF")  # fmt: skip
    return data, name


def _content(file, name, verb):
    """All bytes of an open file; GraphError if they exceed `memory.check_text`'s limit."""
    found = io.BytesIO()
    while part := file.read(2**20):
        if isinstance(part, str):
            raise GraphError(f"{name} was opened as text; expected a file opened in binary mode, 'rb'")
        found.write(part)
        memory.check_text(found.tell(), name, verb)
    return found.getvalue()


def _container(data):
    for magic, (kind, unpack) in _COMPRESSED.items():
        if data.startswith(magic):
            return kind, unpack
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip", None
    if data[257:262] == b"ustar":
        return "tar", None
    return None, None


def _member(data, kind, name, path, wanted):
    """Read the requested member, or the one that holds the graph."""
    if kind == "zip":
        archive = zipfile.ZipFile(io.BytesIO(data))
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        fetch = archive.open
    else:
        archive = tarfile.open(fileobj=io.BytesIO(data))
        names = [info.name for info in archive.getmembers() if info.isfile()]
        fetch = archive.extractfile
    with archive:
        if not names:
            raise GraphError(f"{name}: the {kind} archive holds no files; expected a graph")
        chosen = _choose(names, wanted, path)
        if chosen is None:
            shown = ", ".join(sorted(names)[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            what = f"no single file that matches {wanted!r}" if wanted else "more than one file"
            if any(one.endswith("_graph_indicator.txt") for one in names) and not wanted:
                told = "holds a batch of graphs; expected one graph (swarm, advise --batch)"
                raise GraphError(f"{name}: the archive {told}")
            told = f"say which (member=, --member; of a batch: unpack it, and give the folder), of: {shown}"
            raise GraphError(f"{name}: the archive holds {what}; {told}")
        with fetch(chosen) as file:
            return f"{name}:{chosen}", _content(file, f"{name}:{chosen}", "unpacks to")


def _choose(names, wanted, path):
    if wanted is not None:
        found = [n for n in names if wanted in (n, PurePosixPath(n).name)] or [
            n for n in names if fnmatch.fnmatchcase(n, wanted)
        ]
        return found[0] if len(found) == 1 else None
    if len(names) == 1:
        return names[0]
    stem = path.name.split(".")[0]
    found = [
        n
        for n in names
        if PurePosixPath(n).suffix in GRAPH_SUFFIXES and PurePosixPath(n).stem in (stem, PurePosixPath(n).parent.name)
    ]
    return found[0] if len(found) == 1 else None
