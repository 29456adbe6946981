"""What study 5 measures on, by name, and how every result is checked.

DD, PROTEINS, NCI1, ...     registered batches, whole
DD-small                    of these the graphs with fewer than 1,024 vertices
DD-G1 ... DD-G4             the paper's groups by size (Table 2), below 128, 256, 384 and 512 vertices
benchmark-1000              the first thousand graphs of Benchmark II
benchmark-512-1000          its first thousand graphs of 512 vertices
rmat-14, rmat-14-2          one R-MAT graph of 2^14 vertices and eight or two edges a vertex, undirected and simple
"""

import functools
import re

import numpy as np

from lockstep import paths
from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack, join
from lockstep.graphs import generators

from ..problem import Case
from . import synthetic

GROUPS = {"G1": (0, 128), "G2": (128, 256), "G3": (256, 384), "G4": (384, 512)}  # vertices, as in Table 2
TABLE_2 = {  # graphs, vertices and edges on average, as published
    "G1": (208, 80, 292),
    "G2": (452, 179, 711),
    "G3": (258, 316, 1270),
    "G4": (130, 438, 1764),
}


@functools.lru_cache(16)
def case(name, count=None):
    """The case of that name.

    Parameters
    ----------
    name : str
    count : int, optional
        Only so many of its graphs, a seeded sample; at most all.

    Raises
    ------
    DatasetMissing
        A data set is not available.
    ValueError
        No such case.
    """
    found = _pack(name)
    if count is not None and count < len(found):
        drawn = np.random.default_rng(count).permutation(len(found))[:count]
        found = found.take(np.sort(drawn))
    return Case(name, found, name.startswith(("benchmark-", "rmat-")))


def _pack(name):
    if match := re.fullmatch(r"benchmark-(?:(\d+)-)?(\d+)", name):
        size, count = match.groups()
        return join(list(benchmark(int(count), None if size is None else int(size))))
    if match := re.fullmatch(r"rmat-(\d+)(?:-(\d+))?", name):
        scale, degree = int(match[1]), int(match[2] or 8)
        return Pack.of([generators.rmat(scale, degree * 2**scale, directed=False, simple=True)])
    stem, _, part = name.rpartition("-")
    if part in GROUPS:
        low, high = GROUPS[part]
        whole = _pack(stem)
        return whole.take(np.flatnonzero((whole.n >= low) & (whole.n < high)))
    if part == "small":
        whole = _pack(stem)
        return whole.take(np.flatnonzero(whole.n < 1024))
    return join(list(GraphBatch(name)))


def benchmark(count, size=None, shard=4096):
    """The first graphs of Benchmark II (of one size) as shards, which are made if they are not there yet."""
    name = f"{count}" if size is None else f"{size}-{count}"
    folder = paths.CACHE / "swarm" / (f"benchmark-{name}" if shard == 4096 else f"benchmark-{name}-by-{shard}")
    return synthetic.million(folder, count, graphs=shard, sizes=None if size is None else [size])
