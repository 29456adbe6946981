"""Matrix factorization by stochastic gradient descent under many schedules: which way of keeping updates
apart is best?

>>> import scipy.sparse as sparse
>>> from lockstep.sgd import factorize
>>> ratings = sparse.coo_array(([5.0, 1.0, 4.0, 2.0], ([0, 0, 1, 1], [0, 1, 0, 1])))
>>> result = factorize(ratings, strategy="serial", rank=2, sweeps=30, learning_rate=0.1)
>>> result.rmse[-1] < 0.1
True
"""

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lockstep.machine import forks
from lockstep.machine.forks import ForkError
from lockstep.plan import Strategy
from lockstep.solving import executor_for

from .oracle import NotSerializable
from .problem import LANE_FEATURES, OutOfMemory, Problem
from .ratings import Ratings, RatingsError, planted
from .result import Factorization
from .strategies.shared import WrongSweep
from .strategies.table import STRATEGIES

if TYPE_CHECKING:
    from lockstep.typing import Array, ExecutorLike, RatingsLike


class DivergenceError(ArithmeticError):
    """The error exceeded 100 times its initial value in sweep `sweep` (from 1)."""

    def __init__(self, text: str, sweep: int) -> None:
        super().__init__(text)
        self.sweep = sweep


def _check_vectors(problem, lanes):
    """Raise where the vectors do not fit their storage, or the lanes do not fit the vectors."""
    most = problem.width // LANE_FEATURES
    if isinstance(lanes, (int, np.integer)) and lanes > most:
        raise ValueError(f"lanes={lanes!r}; expected {most} at most at rank {problem.rank}, or a higher rank")
    if problem.storage == "float32":
        return
    largest = max(float(np.abs(vectors).max(initial=0)) for vectors in problem.first_vectors())
    if largest >= 65520:  # rounds to infinity in float16
        raise RatingsError(f"the first vectors reach {largest:.3g}, beyond float16: scale ratings or `initial`")


def factorize(
    ratings: "RatingsLike", strategy: str = "auto", rank: int = 16, sweeps: int = 10, seed: int = 0,
    learning_rate: float = 0.01, regularization: float = 0.02, test: "RatingsLike | None" = None,
    executor: "ExecutorLike" = None, *, nonnegative: bool = False,
    duplicates: Literal["keep", "sum", "refuse"] = "keep", initial: "tuple[Array, Array] | None" = None,
    storage: Literal["float32", "float16"] = "float32", **options: Any,
) -> Factorization:
    """Factorize a sparse matrix of ratings into vectors of users and of items.

    Minimizes, summed over the ratings, the squared error of ``users @ items.T`` plus ``regularization`` times the
    squared norms of both vectors: a stochastic gradient sweep applies every rating once, in strategy-specific order.

    Parameters
    ----------
    ratings : SciPy sparse matrix, (rows, columns, values), NetworkX graph or Graph
        Rows are users, columns are items. A graph's arcs are ratings (see `Ratings.of`).
    strategy : str
        A name in STRATEGIES, or ``auto``, which chooses by graph and machine (reason in
        ``.stats["reason"]``).
    rank : int
        Length of a vector, 1 to 128.
    sweeps : int
    seed : int
        Seed of initial vectors and of shuffles.
    learning_rate, regularization : float
    test : as `ratings`, optional
        Ratings to test on after each sweep, of the same shape.
    executor : "cuda", "host", Executor or None
        Where GPU strategies run. None: the GPU if available; else ``auto`` uses the CPU, and GPU strategies
        run on the emulator.
    nonnegative : bool
        Keep all features at zero or above.
    duplicates : "keep", "sum" or "refuse"
        Several ratings of one item by one user: trained on one after the other, added up, or an error.
    initial : (array, array), optional
        First vectors of users and items; by default seeded, uniform, with the mean rating as their first
        prediction.
    storage : "float32" or "float16"
        Storage type of the vectors in GPU memory: float16 halves their traffic; every store rounds to nearest,
        arithmetic stays float32. For tiles, patches, hogwild and the locked schedules (not `edge-hubs`). Sweeps
        of exact schedules remain serializable, but not bitwise equal to serial float32 sweeps.
    **options
        Strategy options, for instance ``shuffle=False`` of ``edge-locked``.

    Returns
    -------
    Factorization
        ``.users``, ``.items``, ``.rmse`` (one a sweep), ``.test_rmse``, ``.strategy``, ``.stats``.

    Raises
    ------
    RatingsError
        The ratings cannot be used (NaN, an id out of range, duplicates that are refused), or memory does not
        suffice.
    DivergenceError
        The learning rate is too large; stopped after the sweep that shows it.
    Skip
        The strategy is not applicable: too many ratings or nodes for its kernels, a hub, or an unsupported storage.
    ValueError
        No such strategy or option, or a setting out of range.
    NoGpuError
        ``executor="cuda"`` without a usable GPU.
    ForkError
        In a fork of a process that has computed on all cores.
    """
    if forks.forked:
        raise ForkError
    for what, value, least in (("seed", seed, 0), ("sweeps", sweeps, 0), ("rank", rank, 1)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise ValueError(f"{what}={value!r}; expected a whole number, {least} or more")
    for what, value in (("learning_rate", learning_rate), ("regularization", regularization)):
        if not isinstance(value, Real) or isinstance(value, bool):
            raise ValueError(f"{what}={value!r}; expected a number")
    if not isinstance(nonnegative, (bool, np.bool_)):
        raise ValueError(f"nonnegative={nonnegative!r}; expected True or False")
    if initial is not None and not (isinstance(initial, (tuple, list)) and len(initial) == 2):
        raise ValueError("initial: expected two arrays, the first vectors of the users and of the items")
    with np.errstate(over="ignore"):
        ratings = Ratings.of(ratings, duplicates, seed)
    if not np.isfinite(ratings.values).all():  # each was finite, so this is a sum of duplicates
        k = int(np.argmin(np.isfinite(ratings.values)))
        raise RatingsError(
            f"the ratings of row {ratings.users[k]}, column {ratings.items[k]} add up to a number beyond float32: "
            "scale them"
        )
    chosen = STRATEGIES.find(strategy)
    if test is not None:
        test = Ratings.of(test, "keep", seed)
        if any(a > b for a, b in zip(test.shape, ratings.shape, strict=True)):
            raise RatingsError(
                f"the test ratings are {test.shape[0]} x {test.shape[1]}, those trained on "
                f"{ratings.shape[0]} x {ratings.shape[1]}: a node without training has no vector"
            )
    machine = executor_for(chosen, executor)
    problem = Problem(ratings, rank, learning_rate, regularization, seed, nonnegative, initial, storage)
    _check_vectors(problem, options.get("lanes"))
    plan = chosen.plan_for(problem, machine, **options)
    if machine is not None:
        machine.reset_counts()
    plan.reset()
    errors, test_errors = [], []
    start = plan.rmse()
    most = 100 * max(start, 1e-3 * float(np.abs(ratings.values).max(initial=0)))  # first vectors may fit already
    on_test = plan.scorer(test) if test is not None else None
    for sweep in range(1, sweeps + 1):
        plan.run()
        plan.check_sweep()
        errors.append(plan.rmse())
        if ratings.m and not errors[-1] <= most:
            other = "a larger" if problem.decay > 0 else "a smaller"
            raise DivergenceError(
                f"diverged in sweep {sweep}: the error went from {start:.3g} to {errors[-1]:.3g}. Take a "
                f"smaller learning_rate than {learning_rate:g} (a tenth of it to begin with), or {other} "
                "regularization",
                sweep,
            )
        if test is not None:
            test_errors.append(on_test())
    users, items = plan.vectors()
    stats = {**plan.stats, "preparation": dict(plan.preparation)}
    if plan.executor is not None:
        stats.update({key: machine.counts[key] for key in ("launches", "readbacks")})
    return Factorization(
        np.ascontiguousarray(users[:, : problem.rank]), np.ascontiguousarray(items[:, : problem.rank]), errors,
        plan.strategy.name, test_errors, stats,
    )


__all__ = [
    "STRATEGIES", "DivergenceError", "Factorization", "NotSerializable", "OutOfMemory", "Problem", "Ratings",
    "RatingsError", "Strategy", "WrongSweep", "factorize", "planted",
]
