"""What a measure of a batch returns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np


@dataclass(eq=False)
class Values:
    """The values of every graph of a pack; a sequence of one array for each graph.

    Attributes
    ----------
    measure : str
    values : array
        All graphs' values, one after the other; NumPy's or the device's. For a matrix its rows one after the other, -1
        where there is no path (inf in what indexing gives).
    starts : int64 array, shape (k + 1,), NumPy
        Where each graph's values begin.
    checksums : uint64 array, shape (k,)
        Hash of each graph's unscaled results (fixed-point betweenness, sums of distances, labels...), with a collision
        probability of about 2^-64; the same for all strategies on all machines, None for `igraph` and `networkx`.
    square : bool
        Each graph's array is n x n.
    inner : tuple of int
        Shape of the value of one vertex.
    extra : dict
        Further arrays of the same layout.
    """

    measure: str
    values: object
    starts: np.ndarray
    checksums: object
    square: bool = False
    inner: tuple = ()
    extra: dict = field(default_factory=dict)
    keep: object = None  # keeps inputs of running kernels alive

    def __len__(self) -> int:
        return self.starts.size - 1

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = int(index)
        if not -len(self) <= i < len(self):
            raise IndexError(f"graph {i} of {len(self)}")
        i %= len(self)
        found = self.values[int(self.starts[i]) : int(self.starts[i + 1])]
        if not self.square:
            return found.reshape(-1, *self.inner)
        n = round(found.size**0.5)
        return _distances(found.reshape(n, n))

    def __iter__(self) -> Iterator:
        return (self[i] for i in range(len(self)))

    def get(self) -> "Values":
        """The same with NumPy's arrays; waits for the device."""
        host = _host(self.values)
        extra = {name: _host(array) for name, array in self.extra.items()}
        return Values(self.measure, host, self.starts, _host(self.checksums), self.square, self.inner, extra)


def _distances(matrix):
    """A matrix in which entries below 0 stand for no path, as float64 with inf there."""
    found = matrix.astype(np.float64)
    found[matrix < 0] = np.inf
    return found


def _host(array):
    return array if array is None or isinstance(array, np.ndarray) else array.get()


class Results:
    """One array for each graph of a batch, in its order; those of graphs that could not be used are None.

    Attributes
    ----------
    measure, strategy : str
    labels : list
        Of each graph the names of its vertices, in the order of its values; None where vertices are numbers.
    problems : list
        Of graphs that could not be used (see `GraphBatch`).
    stats : dict
        "graphs" computed, "machine", "launches" by the executor, and "reason" if `auto` chose.
    """

    def __init__(
        self, parts: Sequence, numbers: Sequence, count: int, measure: str, strategy: str, problems: list, stats: dict,
        labels: Mapping = MappingProxyType({}),
    ) -> None:
        self.measure, self.strategy, self.problems, self.stats = measure, strategy, problems, stats
        self.labels = [labels.get(number) for number in range(count)]
        self._where = [None] * count
        for part, found in enumerate(numbers):
            for place, number in enumerate(found):
                self._where[int(number)] = (part, place)
        self._parts = parts

    def __len__(self) -> int:
        return len(self._where)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        where = self._where[index]
        return None if where is None else self._parts[where[0]][where[1]]

    def __iter__(self) -> Iterator:
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<{self.measure} of {len(self):,} graphs, by {self.strategy}>"
