"""The strategy `cpu`: the oracle's Numba functions on all cores, a graph a core."""

import numpy as np

from .. import oracle, oracle_structure
from ..result import Values
from .batched import FORMS
from .shared import Method, Task


class _Numba(Task):
    def __init__(self, method, pack):
        self.method, self.measure, self.options = method, method.measure, method.options
        self.pack = pack.to(np)
        p = self.pack
        self.graphs, self.starts = len(p), np.asarray(p.vertex_start, np.int64)
        self.arrays = (p.offsets, p.targets, p.vertex_start, p.arc_start)
        self.total = int(self.starts[-1])
        self.checks = np.zeros(self.graphs, np.uint64)


class Betweenness(_Numba):
    function = staticmethod(oracle.betweenness)

    def run(self):
        fixed = np.empty(self.total, np.uint64)
        unit = np.ones(1, np.float64 if self.options["precision"] == "double" else np.float32)
        self.function(*self.arrays, self.pack.directed, self.options["endpoints"], unit, fixed, self.checks)
        factor = 1.0 if self.pack.directed else 0.5
        n = np.asarray(self.pack.n, np.int64)
        length = np.where(n > 0, np.floor(np.log2(np.maximum(n, 1))).astype(np.int64) + 1, 0)
        scale = factor / 2.0 ** np.minimum(61 - 2 * length, 40)
        values = np.where(fixed >= oracle.OVERFLOWED, np.nan, fixed * np.repeat(scale, n))
        return Values(self.measure.name, values, self.starts, self.checks)


class Closeness(_Numba):
    function = staticmethod(oracle.closeness)

    def run(self):
        total, parts = np.empty(self.total, np.uint64), np.empty(self.total, np.uint64)
        reach = np.empty(self.total, np.uint32)
        self.function(*self.arrays, self.pack.directed, total, parts, reach, self.checks)
        n = np.asarray(self.pack.n, np.int64)
        found = closeness_values(total, parts, reach, np.repeat(n, n), self.options)
        return Values(self.measure.name, found, self.starts, self.checks)


def closeness_values(total, parts, reach, n, options):
    """finish.cu's `finish_closeness` on NumPy's arrays; `n` of the graph of each vertex."""
    if FORMS.index(options["form"]) == 2:
        return parts / 2.0**oracle.RECIPROCAL
    above = np.ones(total.size) if options["form"] == "plain" else reach.astype(np.float64)
    found = np.divide(above, total.astype(np.float64), out=np.zeros(total.size), where=total > 0)
    if options["form"] == "networkx" and options["wf_improved"]:
        found *= np.divide(reach, n - 1.0, out=np.zeros(total.size), where=n > 1)
    return found


class Apsp(_Numba):
    function = staticmethod(oracle.matrices)

    def run(self):
        n = np.asarray(self.pack.n, np.int64)
        ends = np.zeros(self.graphs + 1, np.int64)
        np.cumsum(n * n, out=ends[1:])
        square = self.options["reduce"] == "matrix"
        matrix = np.empty(int(ends[-1]) if square else 0, np.int16 if n.max(initial=0) <= 2**15 else np.int32)
        total, largest = np.empty(self.total), np.empty(self.total)
        reach = np.empty(self.total, np.uint32)
        self.function(*self.arrays, ends, matrix, total, largest, reach, self.checks)
        if square:
            return Values(self.measure.name, matrix, ends, self.checks, True)
        extra = {"total": total, "eccentricity": largest, "reached": reach}
        reduce = self.options["reduce"]
        found = total / np.maximum(reach, 1) if reduce == "average" else extra[reduce]
        return Values(self.measure.name, found, self.starts, self.checks, extra=extra)


class _Lengths(_Numba):
    reduce, transpose = None, False

    def run(self):
        n = np.asarray(self.pack.n, np.int64)
        ends = np.zeros(self.graphs + 1, np.int64)
        np.cumsum(n * n, out=ends[1:])
        reduce = self.reduce or self.options["reduce"]
        matrix = np.empty(int(ends[-1]) if reduce == "matrix" else 0)
        total, largest, parts = (np.empty(self.total) for _ in range(3))
        reach = np.empty(self.total, np.uint32)
        offsets, targets, *starts = self.arrays
        transpose = self.transpose and self.pack.directed
        oracle.lengths(offsets, targets, self.pack.weights, *starts, transpose, ends, matrix, total, largest, reach,
                       parts, self.checks)  # fmt: skip
        extra = {"total": total, "eccentricity": largest, "reached": reach}
        if reduce == "matrix":
            return Values(self.measure.name, matrix, ends, self.checks, True)
        if reduce == "closeness":
            found = parts
            if self.options["form"] != "harmonic":
                found = closeness_values(total, parts, reach, np.repeat(n, n), self.options)
        else:
            found = total / np.maximum(reach, 1) if reduce == "average" else extra[reduce]
        return Values(self.measure.name, found, self.starts, self.checks, extra=extra)


class _ClosenessByLengths(_Lengths):
    reduce, transpose = "closeness", True


class _Labels(_Numba):
    function = None

    def run(self):
        out = np.empty(self.total, np.int32)
        self.function(*self.arrays, out, self.checks)
        return Values(self.measure.name, out, self.starts, self.checks)


class _Components(_Labels):
    function = staticmethod(oracle_structure.components)


class _Strong(_Labels):
    function = staticmethod(oracle_structure.strong)


class _Triangles(_Labels):
    function = staticmethod(oracle_structure.triangles)


class _PageRank(_Numba):
    def run(self):
        out, rounds = np.empty(self.total), np.empty(self.graphs, np.int32)
        given = [self.options[name] for name in ("damping", "tolerance", "limit")]
        oracle_structure.pagerank(*self.arrays, self.pack.directed, *given, out, rounds, self.checks)
        return Values(self.measure.name, out, self.starts, self.checks)


class _Walks(_Numba):
    def run(self):
        each, length, seed = (self.options[k] for k in ("walks", "length", "seed"))
        out = np.empty((self.total, each, length + 1), np.int32)
        oracle_structure.walks(*self.arrays, each, length, np.uint64(seed), out, self.checks)
        inner = (each, length + 1)
        return Values(self.measure.name, out.reshape(-1), self.starts * (each * (length + 1)), self.checks, inner=inner)


class Cpu(Method):
    """A graph a core, Numba on all cores."""

    name, gpu = "cpu", False
    tasks = {"betweenness": Betweenness, "closeness": Closeness, "apsp": Apsp, "components": _Components,
             "strong": _Strong, "triangles": _Triangles, "pagerank": _PageRank, "walks": _Walks}  # fmt: skip
    weighted = {"closeness": _ClosenessByLengths, "apsp": _Lengths}


class _Library(_Numba):
    """A library's functions, graph by graph; without checksums, which need bitwise reproducible results."""

    def __init__(self, method, pack):
        super().__init__(method, pack)
        graphs = [self.pack[i] for i in range(self.graphs)]
        self.converted = [method.convert(graph) for graph in graphs]  # not timed

    def run(self):
        found = [self.compute(graph) for graph in self.converted]
        values = np.concatenate([np.zeros(0), *found])
        return Values(self.measure.name, values, self.starts, None)


class _IgraphBetweenness(_Library):
    def compute(self, graph):
        if self.options["endpoints"]:
            raise ValueError("igraph knows no endpoints=True")
        return np.array(graph.betweenness(directed=self.pack.directed))


class _IgraphCloseness(_Library):
    def compute(self, graph):
        n = graph.vcount()
        if self.options["form"] == "harmonic":
            return np.nan_to_num(np.array(graph.harmonic_centrality(mode="in", normalized=False)))
        own = np.nan_to_num(np.array(graph.closeness(mode="in", normalized=False)))  # 1 / total
        if self.options["form"] == "plain":
            return own
        reached = np.array(graph.neighborhood_size(order=n, mode="in")) - 1.0
        return own * reached * (reached / max(n - 1, 1) if self.options["wf_improved"] else 1.0)


class _IgraphApsp(_Library):
    def run(self):
        found = [np.asarray(graph.distances(), np.float64).reshape(graph.vcount(), -1) for graph in self.converted]
        for matrix in found:
            np.fill_diagonal(matrix, 0)
        reduce = self.options["reduce"]
        if reduce == "matrix":
            ends = np.concatenate([[0], np.cumsum([matrix.size for matrix in found])]).astype(np.int64)
            flat = [np.where(np.isfinite(matrix), matrix, -1).reshape(-1) for matrix in found]
            return Values(self.measure.name, np.concatenate([np.zeros(0), *flat]), ends, None, True)
        parts = []
        for matrix in found:
            finite = np.isfinite(matrix)
            far = np.where(finite, matrix, 0)
            total, reached = far.sum(axis=1), finite.sum(axis=1) - 1
            by = {"total": total, "eccentricity": far.max(axis=1, initial=0), "average": total / np.maximum(reached, 1)}
            parts.append(by[reduce])
        return Values(self.measure.name, np.concatenate([np.zeros(0), *parts]), self.starts, None)


class Igraph(Method):
    """igraph, graph by graph, on one core."""

    name, gpu = "igraph", False
    tasks = {"betweenness": _IgraphBetweenness, "closeness": _IgraphCloseness, "apsp": _IgraphApsp}

    @staticmethod
    def convert(graph):
        import igraph

        sources, targets = graph.edges(once=True)
        found = igraph.Graph(n=graph.n, edges=np.column_stack([sources, targets]), directed=graph.directed)
        return found.simplify()


class _Reference(_Numba):
    def run(self):
        options = {name: value for name, value in self.options.items() if name != "precision"}
        found = [oracle.reference(self.pack[i], self.measure.name, **options) for i in range(self.graphs)]
        square = self.options.get("reduce") == "matrix"
        starts = np.concatenate([[0], np.cumsum([len(x) * (len(x) if square else 1) for x in found])]).astype(np.int64)
        flat = [np.where(np.isfinite(x), x, -1).reshape(-1) if square else x for x in found]
        return Values(self.measure.name, np.concatenate([np.zeros(0), *flat]), starts, None, square)


class NetworkX(Method):
    """NetworkX (SciPy for distances), graph by graph, on one core: the oracle itself."""

    name, gpu = "networkx", False
    tasks = {name: _Reference for name in oracle.REFERENCES}
    weighted = {name: _Reference for name in ("closeness", "apsp")}
