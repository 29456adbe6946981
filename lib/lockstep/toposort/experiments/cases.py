"""What study 3 measures on: registered graphs, read in one of three ways, and families of generated ones."""

from lockstep.graphs import Graph, acyclic, generators, load, task_graphs


def short(number):
    """A size in a data set's name: 1000000 is 1e6, 262144 is 262144."""
    digits = str(int(number))
    stem = digits.rstrip("0")
    return f"{stem}e{len(digits) - len(stem)}" if len(digits) - len(stem) > 2 else digits


# Families: (data set's name, maker, parameters of its rows) from the sizes that a cell gives.


def _erdos_renyi(nodes, edges, instance):
    def make():
        return acyclic(generators.erdos_renyi(nodes, edges, seed=instance))

    name = f"erdos-renyi-{short(nodes)}-{short(edges)}-{instance}"
    return name, make, {"nodes": nodes, "edges": edges, "instance": instance}


def _by_depth(family):
    generator = getattr(generators, family.replace("-", "_"))

    def of(nodes, depth, ids):
        name = f"{family}-{short(nodes)}-{short(depth)}-{ids}"
        parameters = {"nodes": nodes, "depth": depth, "family": family, "ids": ids}
        return name, lambda: generator(nodes, depth, ids=ids), parameters

    return of


def _random_dag(nodes, edges, ids):
    name = f"random-dag-{short(nodes)}-{short(edges)}-{ids}"
    parameters = {"nodes": nodes, "edges": edges, "ids": ids}
    return name, lambda: generators.random_dag(nodes, edges, ids=ids), parameters


def _window_dag(nodes, edges, window, ids):
    name = f"window-dag-{short(nodes)}-{short(edges)}-{window}-{ids}"
    parameters = {"nodes": nodes, "edges": edges, "window": window, "ids": ids}
    return name, lambda: generators.window_dag(nodes, edges, window, ids=ids), parameters


def _rmat(scale, edges):
    name = f"rmat-{scale}-{short(edges)}"
    parameters = {"scale": scale, "edges": edges}
    return name, lambda: acyclic(generators.rmat(scale, edges)), parameters


def _road(nodes):
    name = f"road-like-{short(nodes)}"
    return name, lambda: acyclic(generators.road_like(nodes)), {"nodes": nodes}


def _task_graph(family, *names):
    generator = getattr(task_graphs, family.replace("-", "_"))

    def of(ids, **given):
        sizes = {name: given.pop(name) for name in names}
        if given:
            raise TypeError(f"{family} has no size {next(iter(given))}; it has {', '.join(names)}")
        name = f"{family}-{'-'.join(map(short, sizes.values()))}-{ids}"
        return name, lambda: generator(*sizes.values(), ids=ids), {**sizes, "ids": ids}

    return of


def _real(dataset):
    return dataset, lambda: load(dataset), {}


def _made_acyclic(dataset):
    return dataset, lambda: acyclic(load(dataset)), {"acyclic": True}


def _as_listed(dataset):
    def make():
        graph = load(dataset)
        return acyclic(Graph.from_edges(*graph.edges(once=True), n=graph.n, name=graph.name))

    # Undirected, and its file lists each edge once, from the smaller id: read as directed, as by the thesis's tool.
    return dataset, make, {"acyclic": True, "arcs": "listed"}


FAMILIES = {
    "erdos-renyi": _erdos_renyi,
    "disjoint-paths": _by_depth("disjoint-paths"),
    "layered": _by_depth("layered"),
    "random-dag": _random_dag,
    "window-dag": _window_dag,
    "rmat": _rmat,
    "road-like": _road,
    **{family: _task_graph(family, *names.split()) for family, names in {
        "wavefront": "rows columns", "butterfly": "levels", "reduction": "nodes", "call-tree": "nodes",
        "cholesky": "tiles", "fork-join": "stages width", "lu": "tiles", "stencil": "steps cells",
    }.items()},
    "real": _real,
    "made-acyclic": _made_acyclic,
    "as-listed": _as_listed,
}  # fmt: skip


def case(cell):
    """The graph of a cell: the data set's name, a function that makes it, and the parameters of its rows.

    The function raises DatasetMissing if the graph is unavailable.
    """
    return FAMILIES[cell.graph](**cell.sizes) if cell.sizes else _real(cell.graph)
