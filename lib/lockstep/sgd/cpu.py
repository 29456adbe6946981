"""CPU baselines: one thread, and several threads on tiles that share no node (as LIBMF does)."""

import os

import numba
import numpy as np

from . import oracle
from .plans import Plan
from .tiles import cut


def cores():
    """Threads that this process may use: its processor affinity."""
    return max(1, min(len(os.sched_getaffinity(0)), numba.config.NUMBA_NUM_THREADS))


class HostPlan(Plan):
    """A plan whose sweeps run in Numba."""

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
            problem.keep,
            problem.nonnegative,
        )


class Serial(HostPlan):
    """One thread, edges in a random order: what every parallel schedule must be as good as."""

    name = "serial"
    options = {"shuffle": True}

    def build(self):
        m = self.problem.ratings.m
        with self.phase("shuffle"):
            shuffled = np.random.default_rng(self.problem.seed).permutation(m)
            self.order = shuffled if self.given["shuffle"] else np.arange(m)

    def sweep(self):
        ratings = self.problem.ratings
        oracle.sweep(ratings.users, ratings.items, ratings.values, self.order, *self.state)


class Multicore(HostPlan):
    """All cores: a grid of tiles, and in each round every thread has one that shares no row or column with
    the others."""

    name = "multicore"
    options = {"threads": None}

    def build(self):
        ratings = self.problem.ratings
        self.workers = int(self.given["threads"] or cores())
        with self.phase("schedule"):
            rng = np.random.default_rng(self.problem.seed)
            shares = []
            for degrees in ratings.degrees():  # nodes dealt out at random, with equal numbers of edges
                order = rng.permutation(degrees.size)
                share = np.empty(degrees.size, np.int64)
                share[order] = cut(degrees[order], self.workers)
                shares.append(share)
            shuffle = rng.permutation(ratings.m)
            tile = (shares[1][ratings.items] * self.workers + shares[0][ratings.users])[shuffle]
            order = shuffle[np.argsort(tile, kind="stable")]
            sizes = np.bincount(tile, minlength=self.workers**2)
            self.starts = np.concatenate([[0], np.cumsum(sizes)])
            self.arrays = [a[order] for a in (ratings.users, ratings.items, ratings.values)]
        self.stats["threads"] = self.workers

    def sweep(self):
        numba.set_num_threads(min(self.workers, cores()))
        oracle.tiled_sweep(self.starts, self.workers, *self.arrays, *self.state)
