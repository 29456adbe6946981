"""The strategy `cpu-sources`: one graph after the other, the sources of a graph on all cores of the CPU.

The counterpart of `cpu` for single graphs. Core k of c processes the sources k, k + c, k + 2 c, ...; sums
are in fixed point, so that results are bitwise those of `cpu`.
"""

import numpy as np
from numba import get_num_threads, njit, prange

from .. import oracle
from .baselines import Apsp, Betweenness, Closeness
from .shared import Method


def _graphs(offsets, targets, vertex_start, arc_start):
    """(vertices, rows, targets) of each graph of a pack."""
    for g, (first, last) in enumerate(zip(vertex_start, vertex_start[1:], strict=False)):
        yield slice(first, last), offsets[first + g : last + g + 1], targets[arc_start[g] : arc_start[g + 1]]


@njit(parallel=True, cache=True)
def _dependencies(rows, heads, in_rows, in_heads, endpoints, unit, found):
    cores, n = found.shape
    for core in prange(cores):
        of = np.arange(core, n, cores)
        oracle.dependencies(rows, heads, in_rows, in_heads, endpoints, unit, found[core], of)


def betweenness(offsets, targets, vertex_start, arc_start, directed, endpoints, unit, fixed, checksums):
    """`oracle.betweenness` with the same arguments and results."""
    for g, (own, rows, heads) in enumerate(_graphs(offsets, targets, vertex_start, arc_start)):
        rows, heads = oracle.once(rows, heads)
        transposed = oracle.transposed(rows, heads) if directed else (rows, heads)
        found = np.zeros((get_num_threads(), own.stop - own.start), np.uint64)
        _dependencies(rows, heads, *transposed, endpoints, unit, found)
        flags = found & oracle.OVERFLOWED
        fixed[own] = (found ^ flags).sum(axis=0, dtype=np.uint64) | np.bitwise_or.reduce(flags, axis=0)
        checksums[g] = oracle.check_of(fixed[own])


@njit(parallel=True, cache=True)
def _nearness(rows, heads, checks, total, reciprocal, reach):
    for core in prange(checks.size):
        of = np.arange(core, total.size, checks.size)
        checks[core] = oracle.nearness(rows, heads, of, total, reciprocal, reach)


def closeness(offsets, targets, vertex_start, arc_start, directed, total, reciprocal, reach, checksums):
    """`oracle.closeness` with the same arguments and results."""
    for g, (own, rows, heads) in enumerate(_graphs(offsets, targets, vertex_start, arc_start)):
        rows, heads = oracle.transposed(rows, heads) if directed else (rows, heads)
        checks = np.zeros(get_num_threads(), np.uint64)
        _nearness(rows, heads, checks, total[own], reciprocal[own], reach[own])
        checksums[g] = checks.sum(dtype=np.uint64)


@njit(parallel=True, cache=True)
def _distances(rows, heads, checks, start, matrix, total, largest, reach):
    for core in prange(checks.size):
        of = np.arange(core, total.size, checks.size)
        checks[core] = oracle.distances(rows, heads, of, start, matrix, total, largest, reach)


def matrices(offsets, targets, vertex_start, arc_start, matrix_start, matrix, total, largest, reach, checksums):
    """`oracle.matrices` with the same arguments and results."""
    for g, (own, rows, heads) in enumerate(_graphs(offsets, targets, vertex_start, arc_start)):
        checks = np.zeros(get_num_threads(), np.uint64)
        _distances(rows, heads, checks, matrix_start[g], matrix, total[own], largest[own], reach[own])
        checksums[g] = checks.sum(dtype=np.uint64)


class _Betweenness(Betweenness):
    function = staticmethod(betweenness)


class _Closeness(Closeness):
    function = staticmethod(closeness)


class _Apsp(Apsp):
    function = staticmethod(matrices)


class CpuSources(Method):
    """One graph after the other; Numba, a share of the graph's sources on each core."""

    name, gpu = "cpu-sources", False
    tasks = {"betweenness": _Betweenness, "closeness": _Closeness, "apsp": _Apsp}
