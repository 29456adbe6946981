"""Delta-stepping on the CPU's cores: the parallel baseline.

The near-far scheme of the GPU's work lists: relax the near list until it is empty, move the threshold,
split the far list. A list entry (distance, vertex) is valid only while the vertex has that distance. One
thread relaxes a short list: a parallel region costs more than the work, and roads have thousands of
short lists.
"""

import os

import numpy as np
from numba import get_num_threads, njit, prange, set_num_threads

from lockstep.machine import forks
from lockstep.machine.forks import ForkError
from lockstep.plan import Outgrown

from .atomics import atomic_add, atomic_min
from .shared import PathPlan, road_delta

SERIAL = 2048  # entries: shorter lists are relaxed by one thread
BUFFER = 256  # entries that a thread collects before it takes places in a shared list


def use_all_cores():
    """Set Numba's threads to the process's cores, at most NUMBA_NUM_THREADS; returns their number."""
    from numba import config

    if forks.forked:
        raise ForkError
    threads = min(len(os.sched_getaffinity(0)), config.NUMBA_NUM_THREADS)
    set_num_threads(threads)
    return threads


@njit(cache=True)
def _flush(vertices, keys, count, out_vertices, out_keys, counts, which):
    place = atomic_add(counts, which, np.int64(count))
    for i in range(count):
        out_vertices[place + i] = vertices[i]
        out_keys[place + i] = keys[i]
    return 0


@njit(cache=True)
def _relax(offsets, targets, weights, dist, threshold, lists, keys, now, first, last, far, counts):
    """Relax entries first..last-1 of list `now`; near ones go to list 1 - now, the others to list `far`."""
    near_v, near_k = np.empty(BUFFER, lists.dtype), np.empty(BUFFER, keys.dtype)
    far_v, far_k = np.empty(BUFFER, lists.dtype), np.empty(BUFFER, keys.dtype)
    nears = fars = 0
    for i in range(first, last):
        u, d = lists[now, i], keys[now, i]
        if dist[u] != d:
            continue
        for arc in range(offsets[u], offsets[u + 1]):
            v = targets[arc]
            candidate = d + weights[arc]
            if candidate < dist[v] and candidate < atomic_min(dist, v, candidate):
                if candidate < threshold:
                    if nears == BUFFER:
                        nears = _flush(near_v, near_k, nears, lists[1 - now], keys[1 - now], counts, 1 - now)
                    near_v[nears], near_k[nears] = v, candidate
                    nears += 1
                else:
                    if fars == BUFFER:
                        fars = _flush(far_v, far_k, fars, lists[far], keys[far], counts, far)
                    far_v[fars], far_k[fars] = v, candidate
                    fars += 1
    _flush(near_v, near_k, nears, lists[1 - now], keys[1 - now], counts, 1 - now)
    _flush(far_v, far_k, fars, lists[far], keys[far], counts, far)


@njit(parallel=True)
def _relax_parallel(offsets, targets, weights, dist, threshold, lists, keys, now, count, far, counts, parts):
    for part in prange(parts):
        _relax(
            offsets,
            targets,
            weights,
            dist,
            threshold,
            lists,
            keys,
            now,
            part * count // parts,
            (part + 1) * count // parts,
            far,
            counts,
        )


_relax_parallel.enable_caching()  # Numba refuses it to functions that call get_num_threads


@njit(cache=True)
def _split(dist, threshold, lists, keys, far, now, counts):
    """Move far entries below the threshold to list `now`, pack the other valid ones: (any left, least)."""
    kept, found, least = 0, False, dist[0]
    for i in range(counts[far]):
        v, d = lists[far, i], keys[far, i]
        if dist[v] != d:
            continue
        if d < threshold:
            lists[now, counts[now]], keys[now, counts[now]] = v, d
            counts[now] += 1
        else:
            if not found or d < least:
                least, found = d, True
            lists[far, kept], keys[far, kept] = v, d
            kept += 1
    counts[far] = kept
    return found, least


def delta_stepping(offsets, targets, weights, source, delta, infinity):
    """Distances from `source`, and {rounds, buckets}.

    Parameters
    ----------
    offsets : int64 array, shape (n + 1,)
    targets : int array, shape (m,)
    weights : int64 or float64 array, shape (m,)
        >= 0; distances have the same type.
    source : int
    delta : number
        Width of a bucket, > 0.
    infinity : number of that type
        Distance of unreached vertices; larger than any sum.
    """
    n, kind = offsets.size - 1, weights.dtype
    dist = np.full(n, infinity, kind)
    dist[source] = 0
    room = n + targets.size + BUFFER
    lists, keys = np.empty((3, room), np.int32 if n < 2**31 else np.int64), np.empty((3, room), kind)
    lists[0, 0], keys[0, 0] = source, 0
    counts = np.array([1, 0, 0], np.int64)
    far, now, rounds, buckets = 2, 0, 0, 1
    threshold = kind.type(min(delta, infinity))
    while True:
        while counts[now]:
            count = int(counts[now])
            rounds += 1
            counts[1 - now] = 0
            if counts[far] > n:  # each of the m arcs adds at most one entry: with n valid ones there is room
                _split(dist, kind.type(0), lists, keys, far, now, counts)
            arguments = (offsets, targets, weights, dist, threshold, lists, keys, now)
            if count < SERIAL or get_num_threads() == 1:
                _relax(*arguments, 0, count, far, counts)
            else:
                _relax_parallel(*arguments, count, far, counts, 8 * get_num_threads())
            now = 1 - now
        found, least = _split(dist, threshold, lists, keys, far, now, counts)
        if not found:
            return dist, {"rounds": rounds, "buckets": buckets}
        threshold = kind.type(min(float(least) + float(delta), float(infinity)))
        if threshold <= least:  # delta is less than one step of the type there
            threshold = np.nextafter(least, np.inf) if kind.kind == "f" else least + 1
        _split(dist, threshold, lists, keys, far, now, counts)
        buckets += 1


class DeltaCpu(PathPlan):
    """Delta-stepping on all cores."""

    gpu = False

    def build(self):
        super().build()
        problem, graph = self.problem, self.problem.graph
        self.threads = use_all_cores()
        kind = np.float64 if problem.wide else np.int64
        self.arrays = graph.offsets, graph.targets, problem.weights.astype(kind)

    def default_delta(self):
        return road_delta(self.problem)

    def run(self):
        problem = self.problem
        # Whole numbers below 2^31 have room for any sum in int64.
        infinity = np.inf if problem.wide else np.iinfo(np.int64).max // 2
        raw, counts = delta_stepping(*self.arrays, problem.source, float(self.delta) / problem.scale, infinity)
        far = raw[raw < infinity].max(initial=0)
        if problem.wide and far > problem.limit:
            raise Outgrown
        exact = raw.astype(np.float64)
        exact[raw == infinity] = np.inf
        stats = {"type": raw.dtype.name, "threads": self.threads, **counts}
        return self.result(exact * problem.scale, **stats)
