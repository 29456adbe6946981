"""Parse tables of numbers in one pass over the bytes; errors name the line.

General CSV readers require one separator and a fixed number of columns and do not report the line of an error;
graph files mix blanks and commas, have rows of any length (METIS) and mark rows by a letter (DIMACS).
"""

import re
import warnings

import numpy as np
from numba import njit

from .graph import GraphError, GraphWarning

EXACT = 2**53  # integers below are exact in float64; 2^53 itself may be 2^53 + 1, rounded
_POWERS = 10.0 ** np.arange(23)  # exact in float64, so one multiplication or division by them rounds correctly


@njit(cache=True)
def _scan(text, start, skip, lead, blank_rows, powers, values, ends, slow):
    """Return (numbers, rows, numbers left to `_leave_to_numpy`, byte offset of the first non-number or -1)."""
    i, size = start, text.size
    count, rows, hard = 0, 0, 0
    while i < size:
        while i < size and (text[i] == 32 or text[i] == 9 or text[i] == 13):
            i += 1
        if i >= size:
            break
        if text[i] == 10:
            if blank_rows:
                ends[rows] = count
                rows += 1
            i += 1
            continue
        if skip[text[i]]:
            while i < size and text[i] != 10:
                i += 1
            i += 1
            continue
        if lead:
            if text[i] != lead or i + 1 >= size or (text[i + 1] != 32 and text[i + 1] != 9):
                return count, rows, hard, i
            i += 1
        comma = False
        while True:
            while i < size and (text[i] == 32 or text[i] == 9 or text[i] == 13):
                i += 1
            if i < size and text[i] == 44 and not comma:
                comma = True
                i += 1
                continue
            if i >= size or text[i] == 10:
                if comma:
                    return count, rows, hard, i - 1
                break
            comma = False
            begin = i
            negative = text[i] == 45
            if text[i] == 45 or text[i] == 43:
                i += 1
            mantissa, digits, scale = np.int64(0), 0, 0
            while i < size and 48 <= text[i] <= 57:
                if digits < 17:
                    mantissa = mantissa * 10 + (text[i] - 48)
                    digits += mantissa > 0
                else:
                    digits = 99
                i += 1
            got = i > begin + (text[begin] == 45 or text[begin] == 43)
            if i < size and text[i] == 46:
                i += 1
                dot = i
                while i < size and 48 <= text[i] <= 57:
                    if digits < 17:
                        mantissa = mantissa * 10 + (text[i] - 48)
                        digits += mantissa > 0
                        scale -= 1
                    else:
                        digits = 99
                    i += 1
                got = got or i > dot
            if not got:
                return count, rows, hard, begin
            if i < size and (text[i] == 101 or text[i] == 69):
                i += 1
                down = i < size and text[i] == 45
                if i < size and (text[i] == 45 or text[i] == 43):
                    i += 1
                exponent, dot = 0, i
                while i < size and 48 <= text[i] <= 57:
                    exponent = min(exponent * 10 + (text[i] - 48), 9999)
                    i += 1
                if i == dot:
                    return count, rows, hard, begin
                scale += -exponent if down else exponent
            if i < size and text[i] != 32 and text[i] != 9 and text[i] != 10 and text[i] != 13 and text[i] != 44:
                return count, rows, hard, begin
            if digits == 99 or mantissa > 9007199254740992 or scale > 22 or scale < -22:
                slow[hard, 0], slow[hard, 1], slow[hard, 2] = count, begin, i
                hard += 1
                value = 0.0
            elif scale >= 0:
                value = float(mantissa) * powers[scale]
            else:
                value = float(mantissa) / powers[-scale]
            values[count] = -value if negative else value
            count += 1
        ends[rows] = count
        rows += 1
        i += 1
    return count, rows, hard, -1


@njit(cache=True)
def _gather(text, places, out):
    for k in range(places.shape[0]):
        for i in range(places[k, 1], places[k, 2]):
            out[k, i - places[k, 1]] = text[i]


def _leave_to_numpy(text, places, values, at_once=1 << 18):
    """Parse numbers whose digits or exponent exceed the fast path; rows of ``places``: (index, begin, end)."""
    for first in range(0, len(places), at_once):
        part = places[first : first + at_once]
        width = int((part[:, 2] - part[:, 1]).max())
        if width > 64:  # one long number must not set the width of the whole buffer
            for index, begin, end in part.tolist():
                values[index] = float(text[begin:end].tobytes())
            continue
        out = np.zeros((len(part), width), np.uint8)
        _gather(text, part, out)
        values[part[:, 0]] = out.view(f"S{width}")[:, 0].astype(np.float64)


class Table:
    """The numbers of a text and where its rows end.

    Attributes
    ----------
    values : float64 array
        All numbers in order; correctly rounded, as Python's ``float`` would.
    ends : int64 array
        ``values[ends[r - 1]:ends[r]]`` is row ``r``.
    """

    def __init__(self, data, name, expected, *, start=0, comments=b"#%", lead=b"", blank_rows=False):
        text = np.frombuffer(data, np.uint8)
        skip = np.zeros(256, np.bool_)
        skip[list(comments)] = True
        # Arrays have the largest size that the text can need; the OS does not back untouched pages.
        values = np.empty((text.size - start) // 2 + 2)
        ends = np.empty(data.count(b"\n", start) + 2, np.int64)
        slow = np.empty(((text.size - start) // 4 + 2, 3), np.int64)
        count, rows, hard, wrong = _scan(
            text, start, skip, lead[0] if lead else 0, blank_rows, _POWERS, values, ends, slow
        )
        _leave_to_numpy(text, slow[:hard], values)
        beyond = slow[:hard][~np.isfinite(values[slow[:hard, 0]])]  # 1e400: no float64 holds it
        if beyond.size and not 0 <= wrong < beyond[0, 1]:
            wrong = int(beyond[0, 1])
        self._warn_of_rounded(data, name, slow[:hard], values)
        self.values, self.ends = values[:count], ends[:rows]
        self._data, self._name, self._expected = data, name, expected
        self._rule = (start, bytes(comments), blank_rows)
        if wrong >= 0:
            raise self.error_at(wrong)

    @staticmethod
    def _warn_of_rounded(data, name, slow, values):
        """Warn of the first whole number that float64 may not hold."""
        for _, begin, end in slow[np.abs(values[slow[:, 0]]) >= EXACT].tolist():
            if data[begin:end].lstrip(b"+-").isdigit():
                told = f"{name}, line {data.count(10, 0, begin) + 1}: {data[begin:end].decode()} is 2^53 or more"
                warnings.warn(f"{told}; such whole numbers are rounded to float64", GraphWarning, stacklevel=4)
                return

    def __len__(self):
        return self.ends.size

    def columns(self, allowed):
        """All rows, float64, shape (rows, columns), if all have the same one of the ``allowed`` lengths."""
        lengths = np.diff(self.ends, prepend=0)
        if not lengths.size:
            return self.values.reshape(0, allowed[0])
        width = int(lengths[0])
        bad = np.flatnonzero(lengths != width) if width in allowed else np.zeros(1, int)
        if bad.size:
            like = f" where the rows before have {width}" if width in allowed and bad[0] else ""
            many = int(lengths[bad[0]])
            raise self.error(int(bad[0]), f"{many} number{'s' if many != 1 else ''}{like}")
        return self.values.reshape(-1, width)

    def error(self, row, found):
        """A GraphError that names the line of a row; slow, so only called once something is wrong."""
        start, comments, blank_rows = self._rule
        line = self._data.count(b"\n", 0, start) + 1
        for text in self._data[start:].split(b"\n"):
            stripped = text.strip(b" \t\r")
            if (stripped and stripped[0] not in comments) or (not stripped and blank_rows):
                if row == 0:
                    break
                row -= 1
            line += 1
        return GraphError(f"{self._name}, line {line}: found {found}; expected {self._expected}")

    def error_at(self, place):
        """A GraphError for the text at byte ``place``."""
        line = self._data.count(b"\n", 0, place) + 1
        token = re.match(rb"[^\s,]+|,|", self._data[place : place + 200].lstrip(b" \t\r")).group()
        found = repr(token.decode("utf-8", "replace")[:40]) if token else "the end of the line"
        return GraphError(f"{self._name}, line {line}: found {found}; expected {self._expected}")


def ids(table, column, low, high=None):
    """A column of ids as int64; GraphError names the first that is not a whole number in low..high."""
    bad = (column != np.floor(column)) | (column < low) | (column > (EXACT - 1 if high is None else high))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        upper = f" to {high}" if high is not None else " to 2^53 - 1" if column[row] >= EXACT else ""
        raise table.error(row, f"id {column[row]:.15g} (ids here run from {low}{upper})")
    return column.astype(np.int64)


def whole_or_real(column, integer=None):
    """Weights as int64 where all are whole numbers (or the header says so), else float64."""
    column = np.ascontiguousarray(column)
    if integer is None:
        integer = bool(np.all((column == np.floor(column)) & (np.abs(column) < EXACT)))
    return column.astype(np.int64) if integer else column
