"""Graphs for the tests of shortest paths."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from lockstep.graphs import Graph

settings.register_profile("sssp", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("sssp")


@st.composite
def weighted_graphs(draw):
    """Small graphs: loops, parallel arcs, zero weights, unreachable vertices; whole or real weights."""
    n = draw(st.integers(1, 40))
    m = draw(st.integers(0, 120))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = {
        "none": None,
        "small": random.integers(0, 8, m),
        "heavy": random.integers(0, 2**31 - 2, m),
        "halves": random.integers(0, 99, m) / 2,
        "real": random.random(m) * 10.0 ** random.integers(-3, 4, m),
    }[draw(st.sampled_from(["none", "small", "heavy", "halves", "real"]))]
    ends = random.integers(0, n, (2, m))
    return Graph.from_edges(ends[0], ends[1], n=n, weights=weights, name="drawn")


@pytest.fixture
def parallel():
    """Parallel arcs 0 -> 1 of lengths 5, 2 and 9, a loop, an arc of length 0, and an unreachable vertex."""
    return Graph.from_edges([0, 0, 0, 1, 1, 4], [1, 1, 1, 1, 2, 3], n=5, weights=[5, 2, 9, 1, 0, 1])
