"""Recordings: tidy raw samples, one row each, appended as they are measured.

A recording is a CSV file, `<machine>/<study>.csv`, with `machine.json` beside it. Rows are appended and
flushed one sample at a time, so that a killed run loses at most the row it was writing; the next start drops
a torn last line and says so. Nothing is ever rewritten in place but that line. """

import csv
import fcntl
import io
import json
import math
import os
import sys
from pathlib import Path

import pandas as pd

COLUMNS = ["study", "experiment", "dataset", "strategy", "parameters", "metric", "unit", "round", "value", "verified",
           "kernel"]  # fmt: skip
VERIFIED = ("exact", "invariant", "measured-wrong", "not-applicable")
SAMPLE = ["experiment", "dataset", "strategy", "parameters", "round", "kernel"]  # what one run is known by


class RecordingError(ValueError):
    """A recording cannot be read; the message names file and line."""


def canonical(parameters):
    """Parameters as canonical JSON: keys sorted, no spaces, so that equal parameters are equal text."""
    plain = json.loads(json.dumps(dict(parameters or {}), default=_plain))
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def _plain(value):
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"parameters hold {value!r} of type {type(value).__name__}: use numbers, text, booleans or None")


def empty():
    """A recording with no rows and the right columns."""
    return _typed(pd.DataFrame(columns=COLUMNS))


def _typed(rows):
    return rows.astype({"round": "int64", "value": "float64"})


def parse(text, name="recording"):
    """Rows out of a recording's text; a last line without its line end is torn and left out.

    Raises
    ------
    RecordingError
        For a wrong header, a line with too few or too many fields, a value or a round that is no number.
    """
    whole = text[: text.rfind("\n") + 1]
    if not whole:
        return empty()
    lines = list(csv.reader(io.StringIO(whole)))
    if lines[0] != COLUMNS:
        raise RecordingError(f"{name}, line 1: the header is {lines[0]}, expected {COLUMNS}")
    for number, line in enumerate(lines[1:], start=2):
        try:
            if len(line) != len(COLUMNS):
                raise ValueError(f"{len(line)} fields instead of {len(COLUMNS)}")
            int(line[7]), float(line[8])
        except ValueError as error:
            raise RecordingError(f"{name}, line {number}: {error}") from None
    return _typed(pd.DataFrame(lines[1:], columns=COLUMNS))


def read(path):
    """Rows of the recording at `path`, every one of them, in the order of writing; no rows where there is no
    file.
    """
    path = Path(path)
    return parse(path.read_text(), str(path)) if path.is_file() else empty()


def current(rows):
    """The rows that count: for each sample the last one written, and of each cell only its last written
    digest.

    After a change of a kernel the older samples stay in the file as history; comparing across digests would
    mix two programs. """
    rows = rows.drop_duplicates([*SAMPLE, "metric"], keep="last")
    cell = ["experiment", "dataset", "strategy", "parameters"]
    newest = rows.groupby(cell, sort=False)["kernel"].transform("last")
    return rows[rows["kernel"] == newest].reset_index(drop=True)


class Recording:
    """A study's file on this machine, open for appending.

    Parameters
    ----------
    path : path
        The CSV file; its folder is made when the first row is written.
    """

    def __init__(self, path):
        self.path = Path(path)
        self._repair()

    def _repair(self):
        """Drop a torn last line, which only a kill in the middle of a write leaves behind."""
        if not self.path.is_file():
            return
        with self.path.open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            text = file.read()
            whole = text.rfind(b"\n") + 1
            if whole < len(text):
                file.truncate(whole)
                print(f"{self.path.name}: dropped a torn last line of {len(text) - whole} bytes", file=sys.stderr)

    def append(self, rows):
        """Append rows (mappings with `COLUMNS` as keys), each written out at once.

        Raises
        ------
        ValueError
            If `verified` is none of the four words or a value is not finite: nothing of `rows` is written
            then.
        """
        for row in rows:
            if row["verified"] not in VERIFIED:
                raise ValueError(f"verified is {row['verified']!r}; it must be one of {', '.join(VERIFIED)}")
            if not math.isfinite(row["value"]):
                raise ValueError(f"{row['strategy']}, {row['metric']}: the value {row['value']} is not finite")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", newline="") as file:
            # Parts of one study may run at the same time: the lock keeps their rows apart.
            fcntl.flock(file, fcntl.LOCK_EX)
            writer = csv.writer(file, lineterminator="\n")
            if os.fstat(file.fileno()).st_size == 0:
                writer.writerow(COLUMNS)
            for row in rows:
                writer.writerow([_text(row[column]) for column in COLUMNS])
                file.flush()

    def rows(self):
        """Every row written so far."""
        return read(self.path)


def _text(value):
    # repr keeps every bit of a float; a whole number is written as one, for reading.
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return value.item() if hasattr(value, "item") else value


def log_run(folder, machine, run):
    """Append a run to `folder`/machine.json, which says what the machine is and how each run was made."""
    path = Path(folder) / "machine.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / ".machine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(path.read_text()) if path.is_file() else {**machine, "runs": []}
        known["runs"] = [*known.get("runs", []), run]
        fresh = path.with_suffix(".json.new")
        fresh.write_text(json.dumps(known, indent=1) + "\n")
        os.replace(fresh, path)  # a kill leaves the old file or the new one, never half of one
