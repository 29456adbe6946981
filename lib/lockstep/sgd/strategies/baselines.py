"""CPU baselines: one thread, and several threads on tiles that share no node (as LIBMF does)."""

import os
from dataclasses import dataclass

import numba
import numpy as np
from numba import njit, prange

from lockstep.options import Options

from .. import oracle
from .shared import SweepPlan, whole
from .tiles import cut


def cores():
    """Usable threads: the processor affinity, at most NUMBA_NUM_THREADS."""
    return max(1, min(len(os.sched_getaffinity(0)), numba.config.NUMBA_NUM_THREADS))


@njit(cache=True)
def _spread(users, items, values, user_share, item_share, workers):
    """Edges by tile: copies of the three arrays, and where each tile begins."""
    offsets = np.zeros(workers * workers + 1, np.int64)
    for e in range(users.size):
        offsets[np.int64(item_share[items[e]]) * workers + user_share[users[e]] + 1] += 1
    offsets = np.cumsum(offsets)
    place = offsets[:-1].copy()
    sorted_users, sorted_items, sorted_values = np.empty_like(users), np.empty_like(items), np.empty_like(values)
    for e in range(users.size):
        tile = np.int64(item_share[items[e]]) * workers + user_share[users[e]]
        k = place[tile]
        place[tile] += 1
        sorted_users[k], sorted_items[k], sorted_values[k] = users[e], items[e], values[e]
    return offsets, sorted_users, sorted_items, sorted_values


@njit(cache=True, parallel=True)
def _shuffle(offsets, users, items, values, seed):
    """Shuffle the edges of each tile in place (Fisher-Yates with splitmix64)."""
    for tile in prange(offsets.size - 1):
        first, word = offsets[tile], np.uint64(seed) * np.uint64(0x632BE59BD9B4E019) + np.uint64(tile)
        for k in range(offsets[tile + 1] - 1, first, -1):
            word += np.uint64(0x9E3779B97F4A7C15)
            mixed = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            other = first + np.int64((mixed >> np.uint64(32)) % np.uint64(k + 1 - first))
            users[k], users[other] = users[other], users[k]
            items[k], items[other] = items[other], items[k]
            values[k], values[other] = values[other], values[k]


@dataclass(frozen=True)
class SerialOptions(Options):
    """Options of `serial`.

    Attributes
    ----------
    shuffle : bool
        Take the edges in a random order, by the problem's seed; else in that of the ratings.
    """

    shuffle: bool = True


@dataclass(frozen=True)
class MulticoreOptions(Options):
    """Options of `multicore`.

    Attributes
    ----------
    threads : int, optional
        1 to 32,767; by default those that this process may use.
    """

    threads: int | None = None

    def __post_init__(self):
        whole(self)
        if self.threads and self.threads >= 2**15:
            raise ValueError(f"threads={self.threads}: multicore numbers its shares in 16 bits, 1 to {2**15 - 1:,}")


class HostPlan(SweepPlan):
    """A plan whose sweeps run in Numba."""

    gpu = False
    edge_bytes = 40

    def reset(self):
        self.user_vectors, self.item_vectors = (vectors.copy() for vectors in self.first)

    def vectors(self):
        return self.user_vectors, self.item_vectors

    @property
    def state(self):
        problem = self.problem
        return (
            self.user_vectors,
            self.item_vectors,
            np.float32(problem.rate),
            problem.decay,
            problem.nonnegative,
        )


class Serial(HostPlan):
    """One thread, edges in a random order: the reference for every parallel schedule."""

    Options = SerialOptions

    def load(self):
        ratings = self.problem.ratings
        self.order = np.arange(ratings.m)
        self.arrays = [ratings.users, ratings.items, ratings.values]
        with self.phase("shuffle"):
            if self.options.shuffle:  # the edges themselves: a sweep then reads them one after the other
                shuffled = np.random.default_rng(self.problem.seed).permutation(ratings.m)
                self.arrays = [a[shuffled] for a in self.arrays]

    def run(self):
        oracle.sweep(*self.arrays, self.order, *self.state)
        return self


class Multicore(HostPlan):
    """All cores: a grid of tiles, and in each round every thread has one that shares no row or column with
    the others."""

    Options = MulticoreOptions

    def load(self):
        ratings = self.problem.ratings
        self.workers = self.options.threads or cores()
        self._sort(*(np.empty(0, t) for t in (np.int32, np.int32, np.float32, np.int16, np.int16)))  # compiles
        with self.phase("schedule"):
            rng = np.random.default_rng(self.problem.seed)
            shares = []
            for degrees in ratings.degrees():  # random partition of the nodes with equal numbers of edges
                order = rng.permutation(degrees.size)
                share = np.empty(degrees.size, np.int16)
                share[order] = cut(degrees[order], self.workers)
                shares.append(share)
            self.offsets, self.arrays = self._sort(ratings.users, ratings.items, ratings.values, *shares)
        self.stats["threads"] = self.workers

    def _sort(self, users, items, values, user_share, item_share):
        offsets, *arrays = _spread(users, items, values, user_share, item_share, self.workers)
        _shuffle(offsets, *arrays, self.problem.seed)
        return offsets, arrays

    def run(self):
        numba.set_num_threads(min(self.workers, cores()))
        oracle.tiled_sweep(self.offsets, self.workers, *self.arrays, *self.state)
        return self
