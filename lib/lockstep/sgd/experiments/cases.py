"""What study 1 measures on: registered ratings and graphs by name, and families of twins, stars, random graphs."""

import numpy as np

from lockstep.graphs import load, load_ratings, registry

from ..problem import Problem
from ..ratings import Ratings, planted
from . import further, likeness, twins
from . import skewed as skewed_twins


def star(edges):
    """One item rated by `edges` users: all updates form one chain."""
    users = np.arange(edges)
    items = np.zeros(edges, np.int64)
    return Ratings(users, items, planted(users, items), (edges, 1), name=f"star of {edges}")


def random_ratings(users, items, edges, largest, executor=None, seed=5):
    """A scale-free graph of any size, for calibration."""
    size = twins.Size("scale-free", users, items, edges, largest, 0, 0)
    name = f"{users} x {items}, {edges} edges, degree {largest}"
    return twins.scale_free(size, seed, np if executor is None else executor.xp, name)


def _random(executor, size, skewed=False):
    if not skewed:
        return random_ratings(*size, executor)
    name = "{} x {}, {} edges, degree {}, skewed".format(*size)
    wanted = twins.Size("scale-free", *size, 0, 0)
    return skewed_twins.scale_free(wanted, 5, np if executor is None else executor.xp, name)


def make(cell, executor=None):
    """The ratings of a cell; of a graph its arcs, with planted values.

    Raises
    ------
    DatasetMissing
        The data set is not available.
    """
    if cell.sizes:
        return FAMILIES[cell.graph](executor, **cell.sizes)
    if registry.kind(cell.graph) == "ratings":
        return Ratings.of(load_ratings(cell.graph))
    graph = load(cell.graph)
    users, items = graph.edges()
    return Ratings(users, items, planted(users, items), (graph.n, graph.n), name=cell.graph)


def _twin(executor, dataset, factor=1, seed=0, shuffled=False, curved=False, skewed=False):
    if skewed:
        return skewed_twins.twin(dataset, seed, executor, factor)
    made = twins.twin(dataset, seed, executor, factor, shuffled)
    return likeness.curved(made, seed, np if executor is None else executor.xp) if curved else made


FAMILIES = {
    "star": lambda executor, edges: star(edges),
    "random": _random,
    "twin": _twin,
    "further": lambda executor, dataset: further.twin(dataset, executor),
}


def label(cell):
    """What a cell's data set is called in rows."""
    sizes = cell.sizes
    if cell.graph == "twin":
        factor = f"-by-{sizes['factor']}" if sizes.get("factor", 1) != 1 else ""
        seed = f"-seed-{sizes['seed']}" if sizes.get("seed") else ""
        ids = "".join(f"-{kind}" for kind in ("shuffled", "curved", "skewed") if sizes.get(kind))
        return f"twin-{sizes['dataset']}{factor}{seed}{ids}"
    if cell.graph == "further":
        return f"further-{sizes['dataset']}"
    if cell.graph == "star":
        return f"star-{sizes['edges']}"
    if cell.graph == "random":
        return "random-" + "-".join(map(str, sizes["size"])) + ("-skewed" if sizes.get("skewed") else "")
    return cell.graph


def problem_of(ratings, rank, storage="float32"):
    """The problem that is measured on some ratings."""
    return Problem(ratings, rank, storage=storage)


class Last:
    """The last ratings made, and the problem set on them: cells that follow one another often share them."""

    def __init__(self):
        self.key = self.made = self.problem = self.of = None

    def ratings(self, cell, executor):
        """As `make`."""
        key = label(cell)
        if self.key != key:
            self.key = self.made = self.problem = None  # freed before the next ratings are made
            if executor is not None:
                executor.xp.get_default_memory_pool().free_all_blocks()
            self.made, self.key = make(cell, executor), key
        return self.made

    def of_rank(self, rank, storage="float32"):
        """The problem on these ratings."""
        if self.problem is None or self.of != (rank, storage):
            self.problem = None
            self.problem, self.of = problem_of(self.made, rank, storage), (rank, storage)
        return self.problem
