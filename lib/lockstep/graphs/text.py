"""Lines of a file held as bytes."""

import re

from .graph import GraphError

_LONE = re.compile(rb"\r(?=[^\r\n])")  # a carriage return that no line feed follows


def lone_return(data):
    """Where the first carriage return is that ends no line (as of files of old Macs); None if there is none."""
    if data.count(b"\r") == data.count(b"\r\n"):
        return None
    found = _LONE.search(data)
    return found and found.start()


def lines(data, count=10_000):
    """The first lines of a text with their byte offsets."""
    start = 0
    for _ in range(count):
        if start >= len(data):
            return
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, data[start:end].strip()
        start = end + 1


def after(data, start):
    """Where the next line begins."""
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end + 1


def line_number(data, place):
    return data.count(b"\n", 0, place) + 1


def error(data, name, place, told):
    return GraphError(f"{name}, line {line_number(data, place)}: {told}")


def shown(line):
    return repr(line[:60].decode("utf-8", "replace"))
