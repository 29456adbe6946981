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
        ``function(arrays, graphs, vertices)``: of a part the offsets, targets and where each graph's vertices and arcs
        begin; where its graphs and its vertices are in the pack.
    """
    cores = len(os.sched_getaffinity(0))
    each = max(-(-len(pack) // (SHARES * cores)), 1)

    def some(first):
        part = pack[first : first + each]
        last = first + len(part)
        vertices = slice(int(pack.vertex_start[first]), int(pack.vertex_start[last]))
        function((part.offsets, part.targets, part.vertex_start, part.arc_start), slice(first, last), vertices)

    with concurrent.futures.ThreadPoolExecutor(cores, thread_name_prefix="core") as threads:
        for _ in threads.map(some, range(0, len(pack), each)):
            pass


class _Betweenness(Betweenness):
    def function(self, *arguments):
        *_, directed, endpoints, unit, fixed, checks = arguments
        if endpoints or unit.itemsize == 4:  # the lanes compute neither
            return oracle.betweenness(*arguments)

        def part(arrays, g, v):
            checksums.dependencies(*arrays, directed, True, fixed[v], checks[g])

        spread(self.pack, part)


class _Closeness(Closeness):
    def function(self, *arguments):
        *_, directed, total, parts, reach, checks = arguments

        def part(arrays, g, v):
            checksums.closeness(*arrays, directed, total[v], parts[v], reach[v], checks[g])

        spread(self.pack, part)


class _Apsp(Apsp):
    def function(self, *arguments):
        *_, ends, matrix, total, largest, reach, checks = arguments

        def part(arrays, g, v):
            own = ends[g], matrix, total[v], largest[v], reach[v]
            checksums.matrices(*arrays, self.pack.directed, *own, checks[g])

        spread(self.pack, part)


class CpuLanes(Method):
    """A graph a core, 512 sources of a search at once."""

    name, gpu = "cpu-lanes", False
    tasks = {"betweenness": _Betweenness, "closeness": _Closeness, "apsp": _Apsp}
    weighted = Cpu.weighted
