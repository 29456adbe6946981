"""The strategy `cpu-lanes`: a graph a core, and many sources of a graph in the lanes of one vector.

A search from 512 sources holds a bit for each: the sources that reach a vertex within d arcs are those that reach one
of its in-neighbors within d - 1 (multi-source BFS, Then et al. 2014); Brandes' sweeps follow 32 of them in float64. The
arcs of a row are read once for all of them, where `cpu` reads them once a source. Results are bitwise those of `cpu`;
graphs of many levels are left to its functions.
"""

import concurrent.futures
import os

from .. import checksums, oracle
from .baselines import Apsp, Betweenness, Closeness, Cpu
from .shared import Method

SHARES = 8  # of a batch, for each core: graphs differ in size


def spread(pack, function):
    """Call a function that holds no interpreter lock on parts of a pack, from all cores.

    Parameters
    ----------
    pack : Pack
    function : callable
        ``function(arrays, graphs)``: the offsets from a part's first graph on, the targets, where each of the part's
        graphs has its vertices and its arcs; which graphs of the pack these are.
    """
    cores = len(os.sched_getaffinity(0))
    each = max(-(-len(pack) // (SHARES * cores)), 1)
    offsets, targets = pack.offsets, pack.targets

    def some(first):
        starts = slice(first, first + each + 1)
        arrays = offsets[first:], targets, pack.vertex_start[starts], pack.arc_start[starts]
        function(arrays, slice(first, first + each))

    if len(pack) <= each:  # a thread would take longer than some graphs
        return some(0)
    with concurrent.futures.ThreadPoolExecutor(cores, thread_name_prefix="core") as threads:
        for _ in threads.map(some, range(0, len(pack), each)):
            pass


class _Betweenness(Betweenness):
    def function(self, *arguments):
        *_, directed, endpoints, unit, fixed, checks = arguments
        if endpoints or unit.itemsize == 4:  # the lanes compute neither
            return oracle.betweenness(*arguments)
        spread(self.pack, lambda arrays, g: checksums.dependencies(*arrays, directed, True, fixed, checks[g]))


class _Closeness(Closeness):
    def function(self, *arguments):
        *_, directed, total, parts, reach, checks = arguments
        spread(self.pack, lambda arrays, g: checksums.closeness(*arrays, directed, total, parts, reach, checks[g]))


class _Apsp(Apsp):
    def function(self, *arguments):
        *_, ends, matrix, total, largest, reach, checks = arguments
        directed, own = self.pack.directed, (matrix, total, largest, reach)
        spread(self.pack, lambda arrays, g: checksums.matrices(*arrays, directed, ends[g], *own, checks[g]))


class CpuLanes(Method):
    """A graph a core, 512 sources of a search at once."""

    name, gpu = "cpu-lanes", False
    tasks = {"betweenness": _Betweenness, "closeness": _Closeness, "apsp": _Apsp}
    weighted = Cpu.weighted
