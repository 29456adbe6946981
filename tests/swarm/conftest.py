import numpy as np
import pytest

from lockstep.graphs import Graph
from lockstep.machine import get_executor, why_no_gpu


@pytest.fixture
def cuda():
    """The cuda executor; the test is skipped, saying why, where no GPU answers."""
    if reason := why_no_gpu():
        pytest.skip(f"no GPU: {reason}")
    return get_executor("cuda")


def _some(directed=False, weighted=False, count=7):
    draw = np.random.default_rng(3)
    graphs = []
    for i in range(count):
        n = int(draw.integers(1, 9))
        m = int(draw.integers(0, 12))
        u, v = draw.integers(0, n, (2, m))
        weights = draw.integers(1, 5, m) if weighted else None
        graphs.append(Graph.from_edges(u, v, n=n, weights=weights, directed=directed, name=f"g{i}"))
    return graphs


def _same(a, b):
    return (
        np.array_equal(a.offsets, b.offsets)
        and np.array_equal(a.targets, b.targets)
        and (a.weights is None) == (b.weights is None)
        and (a.weights is None or np.array_equal(a.weights, b.weights))
        and (a.directed, a.name) == (b.directed, b.name)
    )


@pytest.fixture
def some():
    """A function that gives small random graphs."""
    return _some


@pytest.fixture
def same():
    """A function that compares two graphs in everything."""
    return _same
