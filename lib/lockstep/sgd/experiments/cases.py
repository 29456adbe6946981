"""What study 1 measures on, the ratings that cells of a parameter file name: twins, real sets, stars, random graphs."""

import numpy as np

from lockstep.graphs import load, load_ratings

from ..problem import Problem
from ..ratings import Ratings, planted
from . import twins


def star(edges):
    """One item rated by that many users: nothing but its critical path."""
    users = np.arange(edges)
    items = np.zeros(edges, np.int64)
    return Ratings(users, items, planted(users, items), (edges, 1), name=f"star of {edges}")


def random_ratings(users, items, edges, largest, executor=None, seed=5):
    """A scale-free graph of any size, for calibration."""
    size = twins.Size("scale-free", users, items, edges, largest, 0, 0)
    name = f"{users} x {items}, {edges} edges, degree {largest}"
    return twins.scale_free(size, seed, np if executor is None else executor.xp, name)


def make(kind, cell, executor):
    """The ratings of a cell."""
    if kind == "star":
        return star(cell["edges"])
    if kind == "twin":
        return twins.twin(cell["dataset"], executor=executor, factor=cell.get("factor", 1),
                          shuffled=cell.get("shuffled", False))  # fmt: skip
    if kind == "random":
        return random_ratings(*cell["size"], executor)
    if kind == "ratings":
        return Ratings.of(load_ratings(cell["dataset"]))
    if kind == "graph":
        graph = load(cell["dataset"])
        users, items = graph.edges()
        return Ratings(users, items, planted(users, items), (graph.n, graph.n), name=cell["dataset"])
    raise ValueError(f"kind {kind!r}; expected star, twin, random, ratings or graph")


def label(kind, cell):
    """What a cell's data set is called in rows."""
    if kind == "star":
        return f"star-{cell['edges']}"
    if kind == "random":
        return "random-" + "-".join(map(str, cell["size"]))
    name = cell["dataset"] + (f"-by-{cell['factor']}" if cell.get("factor", 1) != 1 else "")
    return f"twin-{name}{'-shuffled' if cell.get('shuffled') else ''}" if kind == "twin" else name


def problem_of(ratings, rank, storage="float32"):
    """The problem that is measured on some ratings."""
    return Problem(ratings, rank, storage=storage)


class Last:
    """The last ratings made, and the problem set on them: cells that follow one another often share them."""

    def __init__(self):
        self.key = self.made = self.problem = self.of = None

    def ratings(self, kind, cell, executor):
        """As `make`."""
        key = label(kind, cell)
        if self.key != key:
            self.key = self.made = self.problem = None  # what was there goes before the next comes
            if executor is not None:
                executor.xp.get_default_memory_pool().free_all_blocks()
            self.made, self.key = make(kind, cell, executor), key
        return self.made

    def of_rank(self, rank, storage="float32"):
        """The problem on these ratings."""
        if self.problem is None or self.of != (rank, storage):
            self.problem = None
            self.problem, self.of = problem_of(self.made, rank, storage), (rank, storage)
        return self.problem
