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
from dataclasses import dataclass, field

import numpy as np

from lockstep import paths
from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack, join
from lockstep.evidence import VerificationError
from lockstep.graphs import generators

from . import oracle, synthetic
from .run import Engine

GROUPS = {"G1": (0, 128), "G2": (128, 256), "G3": (256, 384), "G4": (384, 512)}  # vertices, as in Table 2
TABLE_2 = {  # graphs, vertices and edges on average, as published
    "G1": (208, 80, 292),
    "G2": (452, 179, 711),
    "G3": (258, 316, 1270),
    "G4": (130, 438, 1764),
}
LOOKED_AT = 20  # graphs of a batch that are held in full against NetworkX and SciPy, at most
WORK = 10**6  # vertices times arcs of these in all, at most, but for the first: about a second of NetworkX
FIRST = 2 * 10**7  # and of the first: a graph that NetworkX takes minutes for has the checksum alone


@dataclass(eq=False)
class Case:
    """A batch as it is measured.

    Attributes
    ----------
    name : str
    pack : Pack
    made : bool
        Whether it is generated.
    """

    name: str
    pack: Pack
    made: bool = False
    known: dict = field(default_factory=dict, repr=False)

    @property
    def visits(self):
        """Arcs that all breadth-first searches together look at: vertices times arcs, summed up."""
        return int((self.pack.n.astype(np.int64) * self.pack.m).sum())

    def figures(self):
        """Graphs, vertices and arcs, and how much work there is."""
        pack = self.pack
        values = {
            "graphs": len(pack),
            "vertices": int(pack.vertex_start[-1]),
            "arcs": int(pack.arc_start[-1]),
            "largest": int(pack.n.max(initial=0)),
            "visits": self.visits,
        }
        return {name: (value, "1") for name, value in values.items()}

    def check(self, measure, options, found):
        """Hold values against the CPU's checksums, all graphs, and a seeded sample in full against the slow reference
        (unless it would take minutes).

        Returns
        -------
        str
            `exact`.

        Raises
        ------
        VerificationError
            Names the first graph that is wrong.
        """
        found = found.get()
        key = (measure, tuple(sorted(options.items())))
        if key not in self.known:
            self.known[key] = self._references(measure, options)
        checksums, sample = self.known[key]
        if checksums is not None and found.checksums is not None:
            wrong = np.flatnonzero(checksums != found.checksums)
            if wrong.size:
                name = self.pack.name(int(wrong[0]))
                raise VerificationError(
                    f"{measure}: {wrong.size} of {len(self.pack)} graphs of {self.name} have other checksums than the "
                    f"CPU's, {name} first"
                )
        for i, expected in sample.items():
            values = np.asarray(found[i], np.float64)
            if measure == "apsp" and values.ndim == 2:
                values = np.where(values < 0, np.inf, values)  # -1: no path
            if values.shape != expected.shape or not np.allclose(values, expected, rtol=1e-6, atol=1e-9):
                name = self.pack.name(i)
                raise VerificationError(f"{measure}: {name} of {self.name} has other values than the reference")
        return "exact"

    def _references(self, measure, options):
        checksums = Engine(measure, None, "cpu", **options).run(self.pack.host).checksums
        if measure not in oracle.REFERENCES:
            return checksums, {}
        drawn = np.random.default_rng(len(self.pack)).permutation(len(self.pack))[:LOOKED_AT]
        work = np.cumsum(self.pack.n[drawn].astype(np.int64) * self.pack.m[drawn])
        drawn = drawn[: max(int((work[:1] <= FIRST).sum()), int(np.searchsorted(work, WORK)))]
        slow = {k: v for k, v in options.items() if k not in ("precision", "tolerance", "limit")}
        return checksums, {int(i): oracle.reference(self.pack[int(i)], measure, **slow) for i in drawn}


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
        A data set cannot be had here.
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
