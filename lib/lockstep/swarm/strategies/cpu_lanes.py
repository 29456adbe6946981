"""The strategy `cpu-lanes`: a graph a core, and many sources of a graph in the lanes of one vector.

A search from 512 sources holds a bit for each: the sources that reach a vertex within d arcs are those that reach one
of its in-neighbors within d - 1 (multi-source BFS, Then et al. 2014); Brandes' sweeps follow 32 of them in float64. The
arcs of a row are read once for all of them, where `cpu` reads them once a source. Results are bitwise those of `cpu`;
graphs of many levels are left to its functions.
"""

import numba

from .. import checksums, oracle
from .baselines import Apsp, Betweenness, Closeness, Cpu
from .shared import Method


def _on_cores(pack, function, *arguments):
    """Call a parallel function with at most a core a graph: to wake the others takes longer than a small graph."""
    every = numba.get_num_threads()
    cores = max(min(every, len(pack)), 1)
    numba.set_num_threads(cores)
    try:
        function(cores, *arguments)
    finally:
        numba.set_num_threads(every)


class _Betweenness(Betweenness):
    def function(self, *arguments):
        *arrays, directed, endpoints, unit, fixed, checks = arguments
        if endpoints or unit.itemsize == 4:  # the lanes compute neither
            return oracle.betweenness(*arguments)
        _on_cores(self.pack, checksums.dependencies, *arrays, directed, fixed, checks)


class _Closeness(Closeness):
    def function(self, *arguments):
        _on_cores(self.pack, checksums.closeness, *arguments)


class _Apsp(Apsp):
    def function(self, *arguments):
        arrays, results = arguments[:4], arguments[4:]
        _on_cores(self.pack, checksums.matrices, *arrays, self.pack.directed, *results)


class CpuLanes(Method):
    """A graph a core, 512 sources of a search at once."""

    name, gpu = "cpu-lanes", False
    tasks = {"betweenness": _Betweenness, "closeness": _Closeness, "apsp": _Apsp}
    weighted = Cpu.weighted
