"""Tables of builds, confirmations, traces and protocols: CSV files to which lines are appended."""

import csv


def read(file):
    """The lines of a table as mappings, the oldest first; none where there is no file."""
    if not file.is_file():
        return []
    with file.open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def append(file, columns, lines):
    """Append lines to a table, which is made with its first line."""
    if not lines:
        return
    new = not file.is_file()
    with file.open("a", newline="", encoding="utf-8") as text:
        csv.writer(text, lineterminator="\n").writerows([columns, *lines] if new else lines)
