"""Recordings: tidy raw samples, one row each, appended as they are measured.

A recording is a CSV file, `<machine>/<study>.csv`, with `machine.json` beside it. Rows are appended and
flushed one by one, so that a killed run loses at most the row being written; the next writing run removes a torn
last line and reports it. Nothing else in the file is rewritten.
"""

import csv
import fcntl
import io
import json
import math
import os
import sys
from pathlib import Path

import pandas as pd

from lockstep import paths

COLUMNS = [
    "study", "experiment", "dataset", "strategy", "parameters", "metric", "unit", "round", "value", "verified",
    "kernel",
]
VERIFIED = ("exact", "invariant", "measured-wrong", "not-applicable")
WITHDRAWN = "withdrawn"  # in place of these: an earlier derived figure that no row supports any more
CELL = ["study", "experiment", "dataset", "parameters"]
CLOCKS = "(clocks)"  # strategy column of rows with the GPU's state after a round
SAMPLE = [*CELL, "strategy", "round", "kernel"]  # key of one run


_TYPES = dict.fromkeys(COLUMNS, "object") | {"round": "int64", "value": "float64"}


class RecordingError(ValueError):
    """A recording cannot be read; the message names file and line."""


def canonical(parameters):
    """Parameters as canonical JSON: keys sorted, no spaces, so that equal parameters are equal text."""
    return json.dumps(dict(parameters or {}), sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value):
    if hasattr(value, "item"):
        return value.item()
    kind = type(value).__name__
    raise TypeError(f"parameters hold {value!r} of type {kind}: use numbers, text, booleans or None")


def frame(lines):
    """A DataFrame of lines of fields, typed."""
    rows = pd.DataFrame(lines, columns=COLUMNS, dtype=object)
    return rows.astype({"round": "int64", "value": "float64"})


def empty():
    """A recording with no rows and the right columns."""
    return frame([])


def parse(text, name="recording", first=1):
    """Parse a recording's text into lines of fields; a last line without line end is torn and ignored.

    Parameters
    ----------
    text : str
        The file's content, or with `first` above 1 what follows its first lines.
    name : str
        Name of the file in errors.
    first : int
        The number of the text's first line.

    Raises
    ------
    RecordingError
        For a wrong header, a line with too few or too many fields, a value or a round that is no number.
    """
    lines = list(csv.reader(io.StringIO(text[: text.rfind("\n") + 1])))
    if first == 1 and lines:
        header = lines.pop(0)
        if header != COLUMNS:
            raise RecordingError(f"{name}, line 1: the header is {header}, expected {COLUMNS}")
        first = 2
    for number, line in enumerate(lines, start=first):
        try:
            if len(line) != len(COLUMNS):
                raise ValueError(f"{len(line)} fields instead of {len(COLUMNS)}")
            int(line[COLUMNS.index("round")]), float(line[COLUMNS.index("value")])
        except ValueError as error:
            raise RecordingError(f"{name}, line {number}: {error}") from None
    return lines


def read(path):
    """Every row of the recording at `path` in the order of writing; no rows where there is no file."""
    path = Path(path)
    if not path.is_file():
        return empty()
    try:
        found = pd.read_csv(path, dtype=_TYPES, keep_default_na=False)
        text, plain = path.read_bytes(), list(found.columns) == COLUMNS and isinstance(found.index, pd.RangeIndex)
        # a line with a field too few has an empty last one as well, but does not end in a comma
        if plain and text[-1:] == b"\n" and text.count(b",\n") == (found["kernel"] == "").sum():
            return found
    except (ValueError, pd.errors.ParserError):
        pass  # the slower parser below reports the error and its line
    return frame(parse(path.read_text(), str(path)))


def current(rows):
    """Current rows: the last written of each sample, of the last build of each cell and strategy.

    After a change of a kernel the older samples stay in the file as history; mixing builds would compare two programs.
    Withdrawn figures are left out as well.
    """
    rows = rows.drop_duplicates([*SAMPLE, "metric"], keep="last")
    return rows[newest(rows) & (rows["verified"] != WITHDRAWN)].reset_index(drop=True)


REPEAT = 1000  # round = 1000 x recording + round within it, both from 0


def recorded(folder, study="[0-9]-*", earlier=False):
    """Current rows of all recordings in a machine's folder, see `joined`."""
    return joined(paths.recordings_of(folder, study), earlier)


def joined(files, earlier=False):
    """Current rows of a machine's recordings, in their order, with rounds numbered as by `REPEAT`.

    Rows of an earlier build are left out where a later recording has a newer one, unless `earlier`.
    """
    found, names = [], list(dict.fromkeys(file.parent for file in files))
    for file in files:
        rows = current(read(file))
        found.append(rows.assign(round=rows["round"] + REPEAT * names.index(file.parent)))
    if not found:
        return empty()
    rows = pd.concat(found, ignore_index=True)
    return rows if earlier else rows[newest(rows) | _of_newest(rows)].reset_index(drop=True)


def of(rounds):
    """Index of the recording of each round, from 0."""
    return rounds // REPEAT


def within(rounds):
    """Index of each round within its recording, from 0."""
    return rounds % REPEAT


def newest(rows):
    """Boolean mask of rows of the last build measured for their cell and strategy."""
    return rows["kernel"] == rows.groupby([*CELL, "strategy"], sort=False)["kernel"].transform("last")


_CHOICE = r"^(.*\D.*) ([0-9a-f]{16})$"  # the build of a derived row: a strategy and the id of its build


def _of_newest(rows):
    """Boolean mask of rows derived from one strategy's (the best of several) that rest on its last build in their cell.

    Another recording may have chosen another strategy, whose rows are no newer build of the same.
    """
    chosen = rows.loc[rows["strategy"].str.startswith("("), "kernel"].astype(str).str.extract(_CHOICE).dropna()
    cells = rows.loc[chosen.index, CELL].assign(strategy=chosen[0])
    last = rows.groupby([*CELL, "strategy"], sort=False)["kernel"].last()
    found = last.reindex(pd.MultiIndex.from_frame(cells)).to_numpy() == chosen[1].to_numpy()
    mask = pd.Series(False, index=rows.index)
    mask[chosen.index[found]] = True
    return mask


class Recording:
    """A study's file on this machine.

    Parameters
    ----------
    path : path
        The CSV file; it and its folder are made when the first row is written.
    writable : bool
        Whether rows will be appended: a torn last line is then dropped from the file, with a notice.
    """

    def __init__(self, path, writable=True):
        self.path = Path(path)
        self._seen, self._number = 0, 1  # bytes read so far, and the number of the next line
        self._lines, self._cells, self._keys = [], {}, set()
        if writable:
            self._repair()

    def _repair(self):
        if not self.path.is_file():
            return
        with self.path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self._drop_torn(file.fileno())

    def _drop_torn(self, file):
        """Cut off a last line that a killed writer, or one on a full disk, did not end; the file is locked."""
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            whole = os.pread(file, size, 0).rfind(b"\n") + 1
            os.ftruncate(file, whole)
            print(f"{self.path.name}: dropped a torn last line of {size - whole} bytes", file=sys.stderr)

    def append(self, rows):
        """Append rows (mappings with `COLUMNS` as keys), each written out at once.

        Raises
        ------
        ValueError
            If `verified` is none of the words for it or a value is not finite: nothing of `rows` is written
            then.
        """
        rows = list(rows)
        for row in rows:
            if row["verified"] not in (*VERIFIED, WITHDRAWN):
                words = ", ".join(VERIFIED)
                raise ValueError(f"verified is {row['verified']!r}; it must be one of {words}")
            if not math.isfinite(row["value"]):
                name = f"{row['strategy']}, {row['metric']}"
                raise ValueError(f"{name}: the value {row['value']} is not finite")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+", newline="") as file:
            # Parts of one study may run at the same time: the lock keeps their rows apart.
            fcntl.flock(file, fcntl.LOCK_EX)
            self._drop_torn(file.fileno())
            writer = csv.writer(file, lineterminator="\n")
            if os.fstat(file.fileno()).st_size == 0:
                writer.writerow(COLUMNS)
            for row in rows:
                writer.writerow([_text(row[column]) for column in COLUMNS])
                file.flush()

    def _read(self):
        """Parse the lines added since the last call, so that frequent queries stay cheap."""
        if not self.path.is_file():
            return
        with self.path.open(newline="") as file:
            file.seek(self._seen)
            text = file.read()
        text = text[: text.rfind("\n") + 1]
        fresh = parse(text, str(self.path), self._number)
        self._seen += len(text.encode())
        self._number += text.count("\n")
        self._lines += fresh
        for line in fresh:
            row = dict(zip(COLUMNS, line, strict=True))
            self._cells.setdefault(tuple(row[column] for column in CELL), []).append(line)
            key = (*(int(row[column]) if column == "round" else row[column] for column in SAMPLE), row["metric"])
            (self._keys.discard if row["verified"] == WITHDRAWN else self._keys.add)(key)

    def rows(self):
        """Every row written so far."""
        self._read()
        return frame(self._lines)

    def cell(self, *labels):
        """The rows of one cell, labelled as `CELL` says."""
        self._read()
        return frame(self._cells.get(labels, []))

    def keys(self):
        """A set of what is there: `SAMPLE` and the metric, as tuples."""
        self._read()
        return self._keys


def _text(value):
    # repr keeps every bit of a float; a whole number is written as one, for reading.
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return value


def runs(folder):
    """The runs that a folder's machine.json lists; [] without the file."""
    return (described(Path(folder) / "machine.json") or {}).get("runs", [])


def described(path):
    """The content of a machine.json; None without the file.

    Raises
    ------
    RecordingError
        It is not the JSON object that `log_run` writes; the message names file and line.
    """
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
        fault = f"line 1: a {type(found).__name__}, not an object"
    except ValueError as error:
        fault = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
    raise RecordingError(f"{path}, {fault}; restore it, or remove the folder and measure again") from None


def log_run(folder, machine, run, anew=False):
    """Add a run to `folder`/machine.json, which describes the machine and each run.

    A run with the same date, study and part as an earlier entry replaces it; with `anew`, which is for a study without
    rows, the run replaces all of the study's.
    """
    path = Path(folder) / "machine.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / ".machine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = described(path) or {**machine, "runs": []}
        same = [run.get(key) for key in ("date", "study", "part")]
        others = [one for one in known.get("runs", []) if [one.get(key) for key in ("date", "study", "part")] != same]
        if anew:
            others = [one for one in others if one.get("study") != run.get("study")]
        known["runs"] = [*others, run]
        fresh = path.with_suffix(".json.new")
        fresh.write_text(json.dumps(known, indent=1) + "\n")
        os.replace(fresh, path)  # a kill leaves the old file or the new one, never half of one


def renew_command(machine):
    """The command that remeasures stale rows of a machine's recording, to be run on that machine.

    Samples of the present build are kept; the others are measured again where config/paper.yaml still has their cell.
    `make publish` then copies this machine's rows into data/recordings.
    """
    return f"snakemake --cores 1 && make publish   (on {machine}; cells no longer planned stay stale)"
