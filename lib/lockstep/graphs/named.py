"""Lines of text whose ids are names, and the header lines of CSV files.

A first line of words such as ``source,target,weight`` is a header. Ids are names if each of the next two lines has an
end that is not a number: a single such line is an error in a file of numbers. If there is only one line, neither of its
ends may be a number.
"""

import csv
import math
import re

import numpy as np
import pandas

from .graph import GraphError
from .text import error, shown

ENDS = {tuple(two.split()) for two in ("source target", "from to", "src dst", "src dest", "fromnodeid tonodeid",
                                       "node1 node2", "node_1 node_2", "id1 id2", "id_1 id_2", "u v", "i j")}
WEIGHTS = ("weight", "w", "value", "cost", "distance", "length")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")


_BLANKS = re.compile(r"[ \t]+")
_ENDS = re.compile(rb"^[ \t]*(\d+)[ \t]*[, \t][ \t]*(\d+)", re.M)
_PADDED = re.compile(rb"^[ \t]*(?:[^\s,]+[ \t]*[, \t][ \t]*)?0\d", re.M)
_PADDED_FIELD = re.compile(rb"0(?<=[\n, \t]0)\d")  # in any column; 20 times as fast


def numeric(field):
    return bool(_NUMBER.match(field))


def padded(data, start):
    """Whether an id, one of the first two fields of a line, begins with a zero before a digit, as an ISBN may."""
    return bool(_PADDED.match(data, start) or (_PADDED_FIELD.search(data, start) and _PADDED.search(data, start)))


def refuse_commented(data, name, start, row, what):
    """Raise GraphError for a line that would match ``row``, but that its first character, # or %, makes a comment."""
    found = row.search(data, start) if b"#" in data or b"%" in data else None
    if found:
        told = f"found {shown(found[0])}, {what} in a line that its first character makes a comment; "
        raise error(data, name, found.start(), told + "put an id that begins with it into quotes, or a blank behind it")


def spelled_twice(data, start):
    """Which two ids of an edge list are one number, such as 007 and 7, as a message; "" if none are."""
    spelled = {}
    for line in _ENDS.finditer(data, start) if padded(data, start) else ():
        for one in line.groups():
            if spelled.setdefault(int(one), one) != one:
                two = f"{spelled[int(one)].decode()} and {one.decode()}"
                return f"ids {two} are one number; if they are names, names=True (--names) keeps them apart"
    return ""


def fields(line):
    """The fields of a line: at commas, else at tabs, else at blanks; quotes are left on."""
    separator = b"," if b"," in line else b"\t" if b"\t" in line else None
    return [field.strip() for field in line.split(separator)]


def is_header(line):
    """Whether a line names columns of an edge list."""
    words = [field.strip(b'"').decode("utf-8", "replace").lower() for field in fields(line)]
    return tuple(words[:2]) in ENDS and (len(words) == 2 or (len(words) == 3 and words[2] in WEIGHTS))


def is_named(some):
    """Whether the ends of edges are names, by the first lines of an edge list's body."""
    ends = [fields(line)[:2] for line in some[:2]]
    if len(ends) == 1 and any(map(numeric, ends[0])):
        return False
    return bool(ends) and not some[0].startswith((b"<", b"{", b"[")) and not any(all(map(numeric, two)) for two in ends)


def rows(data, name, start, expected, counts):
    """The body as rows of text: (line numbers, rows), comments and blank lines left out.

    Parameters
    ----------
    data : bytes
    name, expected : str
        For errors.
    start : int
        Byte at which the body begins.
    counts : tuple of int
        How many fields a row may have.

    Raises
    ------
    GraphError
        The text is not UTF-8, or a row has another number of fields; names the line.
    """
    line = data.count(b"\n", 0, start) + 1
    try:
        text = data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = line + data.count(b"\n", start, start + error.start)
        raise GraphError(f"{name}, line {wrong}: found a byte that is not UTF-8; expected {expected}") from None
    numbers, found = [], []
    body = [(n, one) for n, one in enumerate(text.split("\n"), line) if one.strip() and one.lstrip()[0] not in "#%"]
    separator = next((mark for mark in (",", "\t") if body and mark in body[0][1]), None)
    if separator is None:
        split = (_BLANKS.split(one.strip(" \t\r")) for _, one in body)
    else:
        split = _split([one for _, one in body], separator)
    for (n, _), row in zip(body, split, strict=True):
        if isinstance(row, str) or len(row) not in counts or (found and len(row) != len(found[0])):
            told = row if isinstance(row, str) else f"{len(row)} field{'s' * (len(row) != 1)}"
            told += f" where the rows before have {len(found[0])}" if found and not isinstance(row, str) else ""
            raise GraphError(f"{name}, line {n}: found {told}; expected {expected}")
        row = [field.strip() for field in row]
        if not (row[0] and row[1]):
            raise GraphError(f"{name}, line {n}: found an empty field; expected {expected}")
        numbers.append(n)
        found.append(row)
    return numbers, found


def _split(lines, separator):
    """Each line's fields by the rules of CSV; for a line that is not one complete row, a description as str."""
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    for count in range(1, len(lines) + 1):
        try:
            row = next(reader)
            yield row if reader.line_num == count else "a quoted field that goes on in the next line"
        except csv.Error as error:
            yield f"a row that is no CSV ({error})"


def reals(column, numbers, name, expected):
    """A column of text as finite float64."""
    values = np.array([float(text) if numeric(text.encode()) else math.nan for text in column], np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        at = int(bad[0])
        raise GraphError(f"{name}, line {numbers[at]}: found {column[at][:40]!r}; expected {expected}")
    return values


def numbered(*columns):
    """Number names in order of first occurrence, row by row: (arrays, names)."""
    together = np.empty((len(columns[0]), len(columns)), object)
    for place, column in enumerate(columns):
        together[:, place] = column
    codes, names = pandas.factorize(together.ravel())
    return codes.reshape(together.shape).T.astype(np.int64), names
