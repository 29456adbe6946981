"""What a strategy is made ready as: a plan for one problem on one machine.

Building a plan is the preprocessing: it orders the edges, cuts them into matchings or tiles, and brings
everything to the device. `reset` puts the first vectors back; `sweep` applies every edge once. Timing covers
`sweep` alone, the time of the preprocessing is `preparation` (seconds by part).
"""

import functools
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .. import oracle
from ..problem import LANE_FEATURES
from ..ratings import RatingsError

KERNELS = Path(__file__).parent
LIMIT = 2**31 - 2**20  # nodes, and ratings: kernels add the number of their threads to an int that counts either


class WrongSweep(AssertionError):
    """A sweep did not apply every edge exactly once; the text gives both counts."""


class Plan:
    """A strategy made ready.

    Parameters
    ----------
    problem : Problem
    executor : Executor or None
        None for strategies of the CPU.
    log : bool
        Record the histories of the nodes during sweeps (`order_of_last_sweep`); slower.
    **options
        Of the strategy; `lanes` (threads that share an edge), `threads` (of a block) and `blocks` are known
        to all.
    """

    name = ""
    file = ""
    edge_bytes = 48  # of device memory an edge, for the check beforehand
    options: dict = {}
    storages = ("float32",)  # how vectors may lie in memory

    def __init__(self, problem, executor=None, log=False, **options):
        if problem.storage not in self.storages:
            raise ValueError(
                f"strategy {self.name} stores vectors as {' or '.join(self.storages)}, not {problem.storage}"
            )
        unknown = set(options) - {*self.options, "lanes", "threads", "blocks", "lock_delay", "barrier_delay"}
        if unknown:
            known = ", ".join(self.options) or "none of its own"
            raise ValueError(f"strategy {self.name} has no option {', '.join(sorted(unknown))}; it has {known}")
        self.problem, self.executor, self.log = problem, executor, log
        self.given = {**self.options, **options}
        self.preparation = {}
        self.stats = {}
        problem.check_memory(self.edge_bytes, executor)
        with self.phase("vectors"):
            self.first = problem.first_vectors()
        self.build()

    @contextmanager
    def phase(self, name):
        """Adds the time of the block to `preparation`."""
        begin = time.perf_counter()
        yield
        if self.executor is not None:
            self.executor.synchronize()
        self.preparation[name] = self.preparation.get(name, 0.0) + time.perf_counter() - begin

    def build(self):
        """The preprocessing."""

    def reset(self):
        """Put the first vectors back; not timed."""
        raise NotImplementedError

    def sweep(self):
        """Apply every edge once."""
        raise NotImplementedError

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


class DevicePlan(Plan):
    """A plan whose sweeps run in kernels. Subclasses set `edges` in `build` and launch in `sweep`."""

    def __init__(self, problem, executor, log=False, **options):
        ratings = problem.ratings
        if max(ratings.n_users + ratings.n_items, ratings.m) >= LIMIT:
            raise RatingsError(
                f"{ratings!r}: the GPU strategies take fewer than {LIMIT:,} users and items together, and fewer "
                "ratings than that: use strategy='serial'"
            )
        lanes = options.get("lanes")
        # The host's threads are fibers: the fewer the faster, and the bits are the same for any number.
        self.lanes = int(lanes or (1 if executor.name == "host" else problem.width // LANE_FEATURES))
        self.threads = int(options.get("threads") or (32 if executor.name == "host" else 256))
        self.xp = executor.xp
        super().__init__(problem, executor, log, **options)

    # -- kernels --

    def kernel(self, name, file=None, **defines):
        """A kernel of this plan's file, compiled for its rank, lanes and delays."""
        delays = {
            macro: int(self.given[option])
            for macro, option in (("LOCK_DELAY", "lock_delay"), ("BARRIER_DELAY", "barrier_delay"))
            if self.given.get(option)
        }
        defines = {
            "K": self.problem.width,
            "LANES": self.lanes,
            **({"LOG": 1} if self.log else {}),
            **({"NONNEGATIVE": 1} if self.problem.nonnegative else {}),
            **({"HALF": 1} if self.problem.storage == "float16" else {}),
            **delays,
            **defines,
        }
        return self.executor.load(KERNELS / (file or self.file), defines)[name]

    def grid(self, kernel, shared=0, work=None):
        """Blocks of a launch: as many as stay resident, and no more than there is work (in groups) for."""
        most = self._most(kernel, self.threads, shared)
        if self.given.get("blocks"):
            return min(int(self.given["blocks"]), most)
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
            self.set_step(self.problem.rate, self.problem.keep)

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

    def set_step(self, rate, keep):
        """What updates take from here on for the learning rate, and leave of a vector."""
        self.rate, self.keep = np.float32(rate), np.float32(keep)

    def begin(self):
        """What a sweep starts with: an empty tally, empty histories."""
        self.applied.fill(0)
        if self.log:
            for array in self.history:
                array.fill(0)

    @property
    def state(self):
        """The arguments that every kernel takes for the vectors and the step."""
        return self.user_vectors, self.item_vectors, self.rate, self.keep

    def vectors(self):
        both = (self.executor.get(v) for v in (self.user_vectors, self.item_vectors))
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
        _, _, user_turn, item_turn = (self.executor.get(a) for a in self.history)
        return oracle.serial_order(users, items, user_turn, item_turn)

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
            blocks,
            self.threads,
            (np.int32(values.size), users, items, values, self.user_vectors, self.item_vectors, total),
        )
        return float(np.sqrt(self.executor.read(total) / values.size))
