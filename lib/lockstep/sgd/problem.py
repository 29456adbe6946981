"""What all strategies of a factorization share: ratings, settings, the first vectors, memory."""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep import plan

from .ratings import Ratings, RatingsError
from .result import Factorization

if TYPE_CHECKING:
    from lockstep.machine import Executor
    from lockstep.typing import RatingsLike

RATE, REGULARIZATION = 0.005, 0.02
LANE_FEATURES = 4  # a thread's smallest share of a vector: one 16-byte load


class OutOfMemory(RatingsError):
    """The factorization needs more memory than is free; raised before allocation, with both numbers."""


@dataclass
class Problem(plan.Problem):
    """One factorization: ratings of shape (users, items) as users_vectors @ item_vectors.T.

    Parameters
    ----------
    ratings : Ratings
    rank : int
        Features of a vector, 1 to 128. Internally, vectors are zero-padded to a power of two (`width`);
        updates preserve the padding.
    rate, regularization : float
        Learning rate, and weight of the vectors' squared length.
    seed : int
        Seed of the initial vectors, uniform in [0, 2 sqrt(mean / rank)): initial predictions average the mean
        rating.
    nonnegative : bool
        Clamp features at zero after each update (non-negative factorization).
    initial : (array, array), optional
        First vectors, shapes (users, rank) and (items, rank).
    storage : "float32" or "float16"
        Storage type of vectors in GPU memory between updates; arithmetic is always float32.
    """

    ratings: Ratings
    rank: int = 16
    rate: float = RATE
    regularization: float = REGULARIZATION
    seed: int = 0
    nonnegative: bool = False
    initial: tuple | None = None
    storage: str = "float32"
    width: int = field(init=False)
    _cache: dict = field(init=False, default_factory=dict, repr=False)  # what all plans of a problem share

    def __post_init__(self):
        if not isinstance(self.rank, (int, np.integer)) or not 1 <= self.rank <= 128:
            raise ValueError(f"rank={self.rank!r}; expected a whole number from 1 to 128")
        if not self.rate > 0 or not self.regularization >= 0 or not np.isfinite(self.rate + self.regularization):
            raise ValueError(
                f"learning_rate={self.rate}, regularization={self.regularization}; expected a positive "
                "number and one that is not negative"
            )
        if self.storage not in ("float32", "float16"):
            raise ValueError(f"storage={self.storage!r}; expected float32 or float16")
        self.rank = int(self.rank)
        self.width = max(LANE_FEATURES, 1 << (self.rank - 1).bit_length())

    @classmethod
    def of(cls, given: "RatingsLike", rank: int = 16) -> "Problem":
        """The factorization of ratings of any kind that `Ratings.of` takes."""
        return cls(Ratings.of(given), rank)

    @property
    def name(self) -> str:
        return self.ratings.name or "the ratings"

    @property
    def settings(self) -> dict[str, int]:
        return {"rank": self.rank}

    @property
    def lacks(self) -> str:
        return "" if self.ratings.m else "ratings"

    def trivial(self, strategy: plan.Strategy) -> Factorization:
        return Factorization(*(vectors[:, : self.rank] for vectors in self.first_vectors()), [], strategy.name)

    def check(self, swept: Any, strategy: plan.Strategy) -> str:
        """Whether the last sweep of a plan applied every edge once; `not-applicable` where updates may be lost."""
        swept.check_sweep()
        return "invariant" if strategy.exact else "not-applicable"

    @property
    def given(self) -> Ratings:
        return self.ratings

    @property
    def decay(self) -> np.float32:
        """Weight decay factor of an update: 1 - rate * regularization, as float32."""
        return np.float32(1 - self.rate * self.regularization)

    def first_vectors(self) -> list[np.ndarray]:
        """(users, width) and (items, width) float32 arrays, the same for every strategy; not to be
        changed."""
        if "first" not in self._cache:
            self._cache["first"] = self._draw()
        return self._cache["first"]

    def on(self, executor: "Executor") -> tuple[list, list]:
        """(first vectors, edges) on a device, brought there once; not to be changed."""
        if id(executor) not in self._cache:
            ratings = self.ratings
            self._cache[id(executor)] = (
                [executor.array(vectors) for vectors in self.first_vectors()],
                [executor.array(a) for a in (ratings.users, ratings.items, ratings.values)],
                executor,  # kept, so that its id stays its own
            )
        return self._cache[id(executor)][:2]

    def _draw(self):
        shapes = [(nodes, self.rank) for nodes in self.ratings.shape]
        if self.initial is not None:
            if any(np.iscomplexobj(vectors) for vectors in self.initial):
                raise ValueError("initial vectors are complex; expected real numbers")
            given = [np.asarray(vectors, np.float32) for vectors in self.initial]
            for vectors, shape, side in zip(given, shapes, ("users", "items"), strict=True):
                if vectors.shape != shape:
                    raise ValueError(f"initial vectors of the {side} have shape {vectors.shape}; expected {shape}")
                wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
                if wrong.size:
                    raise ValueError(f"initial vector {wrong[0]} of the {side} is not finite; expected numbers")
        else:
            rng = np.random.default_rng(self.seed)
            mean = float(self.ratings.values.mean(dtype=np.float64)) if self.ratings.m else 0.0
            spread = float(self.ratings.values.std(dtype=np.float64)) if self.ratings.m else 1.0
            scale = np.float32(2 * np.sqrt(max(abs(mean), 0.1 * spread, 1e-6) / self.rank))
            given = [rng.random(shape, dtype=np.float32) * scale for shape in shapes]
            if mean < 0 and not self.nonnegative:
                given[1] = -given[1]
        padded = []
        for vectors, shape in zip(given, shapes, strict=True):
            wide = np.zeros((shape[0], self.width), np.float32)
            wide[:, : self.rank] = np.maximum(vectors, 0) if self.nonnegative else vectors
            padded.append(wide)
        return padded

    def bytes_needed(self, an_edge: int) -> int:
        """Bytes of the vectors (twice: first and present ones) and of `an_edge` bytes a rating."""
        return 2 * sum(self.ratings.shape) * self.width * 4 + self.ratings.m * an_edge

    def check_memory(self, an_edge: int, executor: "Executor | None" = None) -> None:
        """Raise OutOfMemory before anything is allocated if it cannot fit."""
        need, free = self.bytes_needed(an_edge), _free_memory(executor)
        if need > free:
            where = "GPU" if executor is not None and executor.name == "cuda" else "machine"
            raise OutOfMemory(
                f"{self.ratings!r} at rank {self.rank} needs about {need / 2**30:.1f} GiB, the {where} has "
                f"{free / 2**30:.1f} GiB free: take a smaller rank, fewer ratings, or another machine"
            )


def _free_memory(executor):
    if executor is not None and executor.name == "cuda":
        free, _ = executor.xp.cuda.runtime.memGetInfo()
        return free + executor.xp.get_default_memory_pool().free_bytes()
    try:
        with open("/proc/meminfo", encoding="ascii") as info:
            kilobytes = next(int(line.split()[1]) for line in info if line.startswith("MemAvailable:"))
        return kilobytes * 1024
    except (OSError, StopIteration):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
