"""Results on disk: a folder with one Parquet file for each piece of the batch, so that a killed run can resume.

    _run.json           measure, options and batch: a folder never mixes two runs
    part-NAME.parquet   graph (number in the batch), name, values (a list: one a vertex; of distances the matrix row by
                        row, -1 for no path; of walks the vertices one walk after the other), checksum; labels
                        (a list of text: the vertices' names) where graphs of the piece have some
    _problems.csv       the graphs that were left out, and why; written when all is done
    _run.lock           held by the run that is under way: a second one is refused

``pandas.read_parquet(folder)`` reads all parts at once and skips names that begin with an underscore. Parts are
written atomically.
"""

import csv
import fcntl
import io
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .check import Problem

KEEP = ("values", "checksums")
_held = {}  # {folder: its lock file}, of this process's runs


class OutputError(ValueError):
    """A folder of results that belongs to something else."""


class Output:
    """A folder of results.

    Parameters
    ----------
    folder : path-like
    what : mapping, optional
        Computation and batch, serializable as JSON; None opens a folder that `start` made.
    keep : {"values", "checksums"}
        What a part holds of each graph.
    """

    def __init__(self, folder, what=None, keep="values"):
        if keep not in KEEP:
            raise ValueError(f"keep is {keep!r}; expected one of {', '.join(KEEP)}")
        self.folder, self.what, self.keep = Path(folder), what, keep

    def start(self):
        """Create the folder, or resume its run.

        Raises
        ------
        OutputError
            It holds results of something else, another run is writing into it, or it is no folder.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise OutputError(f"{self.folder} is a file; name a folder for the results")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._hold()
        file, what = self.folder / "_run.json", {**(self.what or {}), "keep": self.keep}
        if not any(self.folder.glob("part-*.parquet")):  # no parts to mix with
            if not file.is_file() and (self.folder / "_problems.csv").is_file():
                raise OutputError(f"{self.folder} holds a _problems.csv of something else; choose another folder")
            _replace(file, json.dumps(what, indent=1) + "\n")
        elif not file.is_file():
            raise OutputError(f"{self.folder} holds parts but no _run.json; choose another folder")
        else:
            try:
                known = dict(json.loads(file.read_text()))
            except (ValueError, TypeError):
                told = "is damaged: it does not say whose results these are. Choose another folder"
                raise OutputError(f"{file} {told}") from None
            other = [key for key in {**known, **what} if known.get(key) != what.get(key)]
            if other:
                told = "; ".join(f"{key} is {known.get(key)!r} there, {what.get(key)!r} now" for key in other)
                if "batch" in other and "source" not in other:
                    told += f" (the input, {what.get('source')}, has changed since)"
                raise OutputError(f"{self.folder} holds results of another run: {told}. Choose another folder")
        for torn in self.folder.glob(".part-*"):
            torn.unlink(missing_ok=True)

    def _hold(self):
        """Hold the folder against other processes until this one ends."""
        where = self.folder.resolve()
        if where in _held and (where / "_run.lock").is_file():
            return
        file = (where / "_run.lock").open("w")
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _held[where] = file
        except BlockingIOError:
            told = "wait for it, or choose another folder"
            raise OutputError(f"another run is writing into {self.folder}; {told}") from None

    def part(self, piece):
        """The file of a piece's results."""
        return self.folder / f"part-{piece.name}.parquet"

    def done(self, piece):
        """Whether a piece's results are there."""
        return self.part(piece).is_file()

    def write(self, piece, loaded, lengths, values, checksums):
        """Write the results of a piece.

        Parameters
        ----------
        piece : a piece of the batch
        loaded : Loaded
        lengths : int array, shape (k,), or None
            Values of each graph; None: one number a graph.
        values : array, shape (sum(lengths),) or (k,)
            None if `keep` is "checksums".
        checksums : uint64 array, shape (k,)
        """
        columns = {"graph": pa.array(loaded.numbers), "name": _names(loaded.pack)}
        if self.keep == "values":
            columns["values"] = pa.array(values) if lengths is None else _lists(lengths, values)
        columns["checksum"] = pa.array(checksums)
        if loaded.labels:
            named = [loaded.labels.get(number) for number in loaded.numbers.tolist()]
            texts = [None if names is None else list(map(str, names)) for names in named]
            columns["labels"] = pa.array(texts, pa.list_(pa.string()))
        table = pa.table(columns).replace_schema_metadata({"problems": json.dumps(loaded.problems)})
        path = self.part(piece)
        scratch = path.with_name(f".{path.stem}.{os.getpid()}")  # readers of a folder pass over such names
        try:
            packed = self.keep == "values" and np.asarray(values).dtype.kind in "iu"  # few values: dictionary
            columns = ["values.list.element"] if packed else False
            pq.write_table(table, scratch, compression="none", use_dictionary=columns, write_statistics=False)
            scratch.replace(path)
        finally:
            scratch.unlink(missing_ok=True)

    def read(self, piece):
        """(problems, checksums) of a piece that is done.

        Raises
        ------
        OutputError
            The part is damaged; other parts are unaffected.
        """
        try:
            table = pq.read_table(self.part(piece), columns=["checksum"])
            problems = [Problem(*one) for one in json.loads(table.schema.metadata[b"problems"])]
        except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
            told = "delete it, and the same command computes its graphs again"
            raise OutputError(f"{self.part(piece)} is damaged ({' '.join(str(error).split())[:80]}); {told}") from None
        return problems, table["checksum"].to_numpy()

    def finish(self, pieces):
        """Write _problems.csv from all parts; returns (problems, checksums) of the whole batch, in its order."""
        for torn in self.folder.glob(".part-*"):  # of a worker that died
            torn.unlink(missing_ok=True)
        found = [self.read(piece) for piece in pieces]
        problems = [problem for some, _ in found for problem in some]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(Problem._fields)
        writer.writerows(problems)
        _replace(self.folder / "_problems.csv", text.getvalue())
        return problems, np.concatenate([np.zeros(0, np.uint64), *(checksums for _, checksums in found)])


def _names(pack):
    return pa.array(pack.names if pack.names is not None else [pack.name(i) for i in range(len(pack))], pa.string())


def _lists(lengths, values):
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    wide = int(starts[-1]) >= 2**31
    kind = pa.LargeListArray if wide else pa.ListArray
    return kind.from_arrays(pa.array(starts.astype(np.int64 if wide else np.int32)), pa.array(values))


def _replace(path, text):
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)
