"""What plans of this study are made of, and what those on the GPU share.

Building a plan is the preprocessing: it orders the edges, cuts them into matchings or tiles, and brings
everything to the device. `reset` puts the first vectors back; `run` applies every edge once. Timing covers
`run` alone, the time of the preprocessing is `preparation` (seconds by part).
"""

import functools
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lockstep import plan
from lockstep.options import Options

from .. import oracle
from ..problem import LANE_FEATURES

KERNELS = Path(__file__).parent


class WrongSweep(plan.WrongResult):
    """A sweep did not apply every edge exactly once; the text gives both counts."""


def whole(options, zero=""):
    """Raise ValueError unless the numbers of these options are whole and positive; that of one name may be 0."""
    for name, value in vars(options).items():
        least = 0 if name == zero else 1
        if value is None or isinstance(value, (bool, str)):
            continue
        if not isinstance(value, (int, np.integer)) or value < least:
            raise ValueError(f"{name}={value!r}; expected a whole number, {least} or more")


@dataclass(frozen=True)
class DeviceOptions(Options):
    """Options of every schedule on a GPU.

    Attributes
    ----------
    lanes : int, optional
        Threads that share an edge.
    threads, blocks : int, optional
        Of a block, and of a launch.
    lock_delay, barrier_delay : int, optional
        Cycles that every attempt at a lock, and every arrival at a barrier, takes longer.
    log : bool
        Record the histories of the nodes during sweeps (`order_of_last_sweep`); slower.
    """

    lanes: int | None = None
    threads: int | None = None
    blocks: int | None = None
    lock_delay: int | None = None
    barrier_delay: int | None = None
    log: bool = False

    def __post_init__(self):
        whole(self)


class SweepPlan(plan.Plan):
    """A schedule made ready; `run` applies every edge once and returns the plan, where the vectors are.

    Attributes
    ----------
    preparation : dict
        Seconds of building by part.
    """

    edge_bytes = 48  # of device memory an edge, for the check beforehand
    storages = ("float32",)  # how vectors may lie in memory

    def __init__(self, strategy, problem, executor=None, options=None):
        super().__init__(strategy, problem, executor, options)
        self.name, self.preparation = strategy.name, {}

    @classmethod
    def skip(cls, problem, executor, options):
        if problem.storage not in cls.storages:
            return f"this schedule stores vectors as {' or '.join(cls.storages)}, not {problem.storage}"
        return None

    def build(self):
        """Everything but what `load` adds, which is the preprocessing.

        Raises
        ------
        OutOfMemory
            Before anything is allocated.
        """
        self.problem.check_memory(self.edge_bytes, self.executor)
        with self.phase("vectors"):
            self.first = self.problem.first_vectors()
        self.load()

    @contextmanager
    def phase(self, name):
        """Adds the time of the block to `preparation`."""
        begin = time.perf_counter()
        yield
        if self.executor is not None:
            self.executor.synchronize()
        self.preparation[name] = self.preparation.get(name, 0.0) + time.perf_counter() - begin

    def load(self):
        """Order the edges, find the schedule, bring everything to its place."""

    def figures(self, result):
        """What the plan tells of itself in numbers."""
        return {key: (value, "1") for key, value in self.stats.items() if isinstance(value, (int, float))}

    def vectors(self):
        """(users, items) as NumPy arrays of shape (nodes, width)."""
        raise NotImplementedError

    def check_sweep(self):
        """Raise WrongSweep unless the last sweep applied every edge exactly once."""

    def scorer(self, ratings):
        """A function without arguments: the root mean square error of the present vectors on these
        ratings."""
        return lambda: oracle.rmse(ratings, *self.vectors())

    def rmse(self):
        """The root mean square error of the present vectors on the ratings trained on."""
        return oracle.rmse(self.problem.ratings, *self.vectors())

    @property
    def preprocessing(self):
        """Seconds that this strategy's schedule took: everything but the first vectors and the transfers."""
        return sum(value for key, value in self.preparation.items() if key not in ("vectors", "transfer"))


class DevicePlan(SweepPlan):
    """A plan whose sweeps run in kernels. Subclasses set the edges in `load` and launch in `run`."""

    Options = DeviceOptions
    file = ""

    def __init__(self, strategy, problem, executor, options):
        super().__init__(strategy, problem, executor, options)
        # The host's threads are fibers: the fewer the faster, and the bits are the same for any number.
        host = executor.name == "host"
        self.lanes = options.lanes or (1 if host else problem.width // LANE_FEATURES)
        self.threads = options.threads or (32 if host else 256)
        self.xp, self.log = executor.xp, options.log

    @classmethod
    def skip(cls, problem, executor, options):
        ratings = problem.ratings
        if max(ratings.n_users + ratings.n_items, ratings.m) >= plan.LIMIT:
            return (
                f"{ratings!r}: the GPU strategies take fewer than {plan.LIMIT:,} users and items together, and fewer "
                "ratings than that: use strategy='serial'"
            )
        return super().skip(problem, executor, options)

    # -- kernels --

    def kernel(self, name, file=None, **defines):
        """A kernel of this plan's file, compiled for its rank, lanes and delays."""
        delays = {"LOCK_DELAY": self.options.lock_delay, "BARRIER_DELAY": self.options.barrier_delay}
        defines = {
            "K": self.problem.width,
            "LANES": self.lanes,
            **({"LOG": 1} if self.log else {}),
            **({"NONNEGATIVE": 1} if self.problem.nonnegative else {}),
            **({"HALF": 1} if self.problem.storage == "float16" else {}),
            **{macro: cycles for macro, cycles in delays.items() if cycles},
            **defines,
        }
        return self.executor.load(KERNELS / (file or self.file), defines)[name]

    def grid(self, kernel, shared=0, work=None):
        """Blocks of a launch: as many as stay resident, and no more than there is work (in groups) for."""
        most = self._most(kernel, self.threads, shared)
        if self.options.blocks:
            return min(self.options.blocks, most)
        if work is not None:
            most = min(most, -(-work * self.lanes // self.threads))
        return max(most, 1)

    @functools.cached_property
    def _most(self):
        """`Kernel.max_blocks`, asked once: the driver takes microseconds to answer, and a sweep may have thousands of
        passes."""
        return functools.cache(lambda kernel, threads, shared: kernel.max_blocks(threads, shared))

    # -- arrays --

    def place(self, users, items, values):
        """Put the edges on the device, in the order in which the strategy numbers them, and everything they
        need."""
        with self.phase("transfer"):
            executor, ratings = self.executor, self.problem.ratings
            self.users, self.items, self.values = (
                a
                if isinstance(a, executor.array_type) and a.flags.c_contiguous
                else executor.array(np.ascontiguousarray(a))
                for a in (users, items, values)
            )
            stored = np.dtype(self.problem.storage)
            self.first_device = [v.astype(stored, copy=False) for v in self.problem.on(executor)[0]]
            self.user_vectors, self.item_vectors = (executor.empty(v.shape, stored) for v in self.first)
            self.applied = executor.zeros(2, np.uint64)
            clocks = [(ratings.n_users,), (ratings.n_items,), (ratings.m,), (ratings.m,)]
            self.history = [executor.zeros(shape, np.int32) for shape in clocks] if self.log else [None] * 4
            self.set_step(self.problem.rate, self.problem.decay)

    def bring(self):
        """The ratings' edges on the device, sorted by item."""
        with self.phase("transfer"):
            return self.problem.on(self.executor)[1]

    def reset(self):
        for target, first in zip((self.user_vectors, self.item_vectors), self.first_device, strict=True):
            self.executor.copy(target, first)

    def start_from(self, users, items):
        """Put these vectors in their places: arrays on the device, which may be one vector for all nodes of a side."""
        self.user_vectors[...], self.item_vectors[...] = users, items

    def set_step(self, rate, decay):
        """What updates take from here on for the learning rate, and leave of a vector."""
        self.rate, self.decay = np.float32(rate), np.float32(decay)

    def begin(self):
        """What a sweep starts with: an empty tally, empty histories."""
        self.applied.fill(0)
        if self.log:
            for array in self.history:
                array.fill(0)

    @property
    def state(self):
        """The arguments that every kernel takes for the vectors and the step."""
        return dict(user_vectors=self.user_vectors, item_vectors=self.item_vectors, rate=self.rate, decay=self.decay)

    @property
    def record(self):
        """The last arguments of a kernel: histories and tally."""
        user_clock, item_clock, user_rank, item_rank = self.history
        return dict(
            user_clock=user_clock, item_clock=item_clock, user_rank=user_rank, item_rank=item_rank,
            applied=self.applied,
        )  # fmt: skip

    def present(self):
        """(users, items): the present vectors, on the device."""
        return self.user_vectors, self.item_vectors

    def vectors(self):
        both = (self.executor.get(v) for v in self.present())
        return tuple(v.astype(np.float32, copy=False) for v in both)

    def edges(self):
        """(users, items, values) as NumPy arrays, in the order in which histories number the edges."""
        return tuple(self.executor.get(a) for a in (self.users, self.items, self.values))

    def swept(self):
        """First edge that a sweep applies, and the one after the last, as `edges` numbers them."""
        return 0, self.problem.ratings.m

    def expected(self):
        """What the tally of a sweep must be."""
        first, last = self.swept()
        return oracle.checksum(last, first)

    def check_sweep(self):
        counted = tuple(int(v) for v in self.executor.get(self.applied))
        expected = self.expected()
        if counted != expected:
            raise WrongSweep(
                f"{self.name}: {counted[0]} updates of {expected[0]} edges"
                + (", not each exactly once (the checksum differs)" if counted[0] == expected[0] else "")
            )

    def order_of_last_sweep(self):
        """A serial order of the edges that makes the same history as the last logged sweep (see `oracle`)."""
        users, items, _ = self.edges()
        _, _, user_rank, item_rank = (self.executor.get(a) for a in self.history)
        return oracle.serial_order(users, items, user_rank, item_rank)

    def scorer(self, ratings):
        edges = [self.executor.array(a) for a in (ratings.users, ratings.items, ratings.values)]
        return lambda: self._error(*edges)

    def rmse(self):
        return self._error(self.users, self.items, self.values)

    def _error(self, users, items, values):
        if not values.size:
            return float("nan")
        kernel = self.kernel("squared_error", "score.cu")
        total = self.executor.zeros(1, np.float64)
        blocks = self.grid(kernel, work=max(values.size, 1))
        kernel(
            blocks, self.threads, count=np.int32(values.size), users=users, items=items, values=values,
            user_vectors=self.user_vectors, item_vectors=self.item_vectors, total=total,
        )  # fmt: skip
        return float(np.sqrt(self.executor.read(total) / values.size))
