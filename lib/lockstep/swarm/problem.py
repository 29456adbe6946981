"""A batch as it is computed and measured: packed once for all strategies, with its oracle."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep import plan
from lockstep.batch.pack import Pack
from lockstep.evidence import VerificationError

from . import oracle
from .measures import MEASURES
from .strategies.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstep.typing import GraphLike

LOOKED_AT = 20  # most graphs of a batch that are compared in full with NetworkX and SciPy
WORK = 10**6  # most vertices times arcs of these in sum, except the first: about a second of NetworkX
FIRST = 2 * 10**7  # the same for the first: above, NetworkX takes minutes and only the checksum is compared


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
        """Arcs traversed by all breadth-first searches: vertices times arcs, summed over graphs."""
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
        """Compare all graphs with the CPU's checksums, and a seeded sample in full with the slow reference
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
            if found.checksums.shape != checksums.shape:
                count = len(found.checksums)
                raise VerificationError(f"{measure}: {count} results of the {len(self.pack)} graphs of {self.name}")
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


class Problem(plan.Problem):
    """A measure of every graph of a batch.

    Parameters
    ----------
    pack : Pack
    measure : str
        A name in MEASURES.
    """

    name = "the batch"

    def __init__(self, pack: Pack, measure: str) -> None:
        self.given = self.pack = pack
        self.settings = {"measure": measure}
        self.case = Case(self.name, pack)

    @property
    def measure(self) -> str:
        return self.settings["measure"]

    @property
    def lacks(self) -> str:
        return "" if len(self.pack) else "graphs"

    @classmethod
    def of(cls, given: "Pack | Sequence[GraphLike]", measure: str = "betweenness") -> "Problem":
        if measure not in MEASURES:
            raise ValueError(f"no measure {measure!r}; choose one of {', '.join(MEASURES)}")
        return cls(Pack.of(given), measure)

    def check(self, result: Any, strategy: plan.Strategy) -> str:
        try:
            return self.case.check(self.measure, MEASURES[self.measure].filled({}), result)
        except VerificationError as error:
            raise plan.WrongResult(f"{strategy.name}: {error}") from None
