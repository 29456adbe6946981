"""The strategy `alone`: one graph after the other, each by all multiprocessors, in one launch (alone.cu)."""


import numpy as np

from ..result import Values
from . import binning
from .betweenness import Betweenness
from .shared import DeviceTask
from .swarm import Swarm

_int, _long = np.int32, np.int64
MOST_VERTICES = 2047  # and sources of a block: a pair of both in 16 bits
MOST_SOURCES = 32
THREADS = 1024


def need(n, m, sources, real):
    """Bytes of shared memory of a block that takes so many sources (alone.cu)."""
    words = 4 * binning.up(4 * (n + 1)) + binning.up(4 * n) + binning.up(2 * n)
    pairs = binning.up(sources * (n + 1) * real) + binning.up(2 * sources * n) + binning.up(sources * (n + 1))
    return int(binning.SLOT + binning.rows_bytes(n, m) + binning.up(8 * n) + words + pairs)


def sources(n, m, real, machine, wanted=0):
    """Sources of a block.

    Parameters
    ----------
    n, m : int
        Vertices and arcs of the graph.
    real : int
        Bytes of a path count.
    machine : Executor
    wanted : int
        Sources; 0: one block for each multiprocessor.

    Returns
    -------
    int
        Those, or as many as fit; 0 if the kernel does not support the graph.
    """
    if n > MOST_VERTICES or m + 3 * n >= 4 * binning.NARROW:
        return 0
    most = min(wanted or -(-n // machine.multiprocessors), MOST_SOURCES)
    return next((k for k in range(max(most, 1), 0, -1) if need(n, m, k, real) <= machine.max_shared), 0)


def by_degree(host):
    """Each graph's vertices in order of falling degree, those of all graphs one after the other; uint16."""
    graph = np.repeat(np.arange(len(host)), host.n)
    rows = np.arange(graph.size) + graph  # a graph has an offset more than vertices
    degrees = host.offsets[rows + 1] - host.offsets[rows]
    order = np.lexsort((-degrees, graph))
    return (order - np.asarray(host.vertex_start, np.int64)[graph]).astype(np.uint16)


class AloneBetweenness(DeviceTask):
    def __init__(self, method, pack, each, real):
        super().__init__(method, pack)
        host, executor = pack.host, self.executor
        threads = 64 if executor.name == "host" else method.strategy_options["threads"] or THREADS
        # Every launch restores both to zero.
        sums = executor.zeros((max(int(host.n.max(initial=0)), 1),), np.uint64)
        arrived = executor.zeros((1,), np.uint32)
        self.out = self.words(self.total, np.float64)
        self.checks = executor.zeros((max(self.graphs, 1),), np.uint64)
        kernel = self.module("alone.cu", REAL="double" if real == 8 else "float")["alone"]
        endpoints, order = _int(self.options["endpoints"]), self.send(by_degree(host))
        starts = zip(host.vertex_start.tolist(), host.arc_start.tolist(), strict=True)
        sizes = zip(host.n.tolist(), host.m.tolist(), each, strict=True)
        for graph, ((vertex, arc), (n, m, k)) in enumerate(zip(starts, sizes, strict=False)):
            if n:
                self.launch(
                    kernel, -(-n // k), threads, need(n, m, k, real), graph=_int(graph), vertex=_long(vertex),
                    arc=_long(arc), n=_int(n), m=_int(m), block_sources=_int(k), offsets=pack.offsets,
                    targets=self.arcs(), order=order, endpoints=endpoints, fixed=sums, arrived=arrived, values=self.out,
                    checksums=self.checks,
                )  # fmt: skip

    def values(self):
        return Values(self.measure.name, self.out[: self.total], self.starts, self.checks[: self.graphs],
                      keep=self)  # fmt: skip


def shares(method, pack):
    """Sources of a block for each graph of a pack; None if a graph is not supported."""
    real = 8 if method.options["precision"] == "double" else 4
    sizes = zip(pack.host.n.tolist(), pack.host.m.tolist(), strict=True)
    each = [sources(n, m, real, method.executor, method.strategy_options["sources"]) for n, m in sizes]
    return None if pack.directed or not all(each) else each


def betweenness(method, pack):
    """A launch for each graph; as `swarm` if a graph is not supported."""
    each = shares(method, pack)
    if each is None:
        return Betweenness(method, pack)
    return AloneBetweenness(method, pack, each, 8 if method.options["precision"] == "double" else 4)


class Alone(Swarm):
    """One graph after the other, undirected and of at most 2,047 vertices; any other batch as `swarm` does it.

    Every level costs two barriers of a full block. With hundreds of levels (a path, a large grid), `swarm`,
    whose warps process sparse graphs without block barriers, is faster on a single graph too.

    Options of its own
    ------------------
    sources : int
        Of a block, to 32; 0: so many that each multiprocessor gets a block.
    threads : int
        Of a block, a power of two from 32 to 1,024; 0: 1,024.

    `swarm`'s options apply to batches computed by it.
    """

    name = "alone"
    defaults = {**Swarm.defaults, "sources": 0}
    tasks = {"betweenness": betweenness}
    weighted = {}
