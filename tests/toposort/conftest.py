"""Small graphs that together have what makes sorting hard, and machines to sort them on."""

import numpy as np
import pytest

from lockstep.graphs import Graph, generators
from lockstep.machine import get_executor, why_no_gpu


def star(n):
    return Graph.from_edges(np.zeros(n, int), np.arange(1, n + 1), name="star")


def gather(n):
    return Graph.from_edges(np.arange(1, n + 1), np.zeros(n, int), name="gather")


def binary_tree(n):
    v = np.arange(1, n)
    return Graph.from_edges((v - 1) // 2, v, name="binary-tree")


def bursts():
    """Narrow, then far wider than a block's ring, then narrow again, twice: every way of working has its turn."""
    sources, targets, last = [], [], 0
    n = 1
    for width in (400, 300):
        for _ in range(30):
            sources.append(last)
            targets.append(n)
            last, n = n, n + 1
        fan = np.arange(n, n + width)
        n += width
        sources += [last] * width
        targets += fan.tolist()
        sources += fan.tolist()
        targets += [n] * width
        last, n = n, n + 1
    return Graph.from_edges(sources, targets, n=n, name="bursts")


GRAPHS = {
    "none": lambda: Graph.from_edges([], [], n=0),
    "one": lambda: Graph.from_edges([], [], n=1),
    "isolated": lambda: Graph.from_edges([], [], n=70),
    "two": lambda: Graph.from_edges([1], [0]),
    "parallel-arcs": lambda: Graph.from_edges([0, 0, 0, 1, 1], [1, 1, 2, 2, 2]),
    "path-ordered": lambda: generators.disjoint_paths(300, 300, ids="ordered"),
    "path-random": lambda: generators.disjoint_paths(300, 300, ids="random"),
    "paths": lambda: generators.disjoint_paths(900, 30),
    "star": lambda: star(400),
    "gather": lambda: gather(400),
    "tree": lambda: binary_tree(511),
    "bursts": bursts,
    "layered": lambda: generators.layered(600, 20),
    "random": lambda: generators.random_dag(500, 2500),
    "window": lambda: generators.window_dag(600, 2400, 15),
    "dense": lambda: generators.random_dag(60, 1500),
}


@pytest.fixture(scope="session")
def host():
    """The emulator, without fuzz."""
    return get_executor("host")


@pytest.fixture(scope="session", params=GRAPHS)
def graph(request):
    made = GRAPHS[request.param]()
    made.name = request.param
    return made


@pytest.fixture(scope="session")
def wide_and_narrow():
    return bursts()


@pytest.fixture
def cuda():
    """The cuda executor; the test is skipped, saying why, where no GPU answers."""
    if reason := why_no_gpu():
        pytest.skip(f"no GPU: {reason}")
    return get_executor("cuda")
