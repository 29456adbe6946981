"""A fork of a process that has computed on all cores is refused by name, where GNU OpenMP would end it in silence."""

import multiprocessing
import warnings

import networkx as nx
import numba
import pytest

from lockstep.machine.forks import ForkError
from lockstep.swarm import analyze


def closeness(strategy):
    return analyze([nx.path_graph(5)] * 3, "closeness", strategy=strategy)[0].tolist()


@pytest.mark.parametrize("strategy", ["cpu", "cpu-lanes"])
def test_a_fork_is_refused_and_a_spawned_process_computes(strategy):
    expected = closeness(strategy)
    if numba.threading_layer() != "omp":
        pytest.skip("another threading layer, whose threads are started again")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
        with multiprocessing.get_context("fork").Pool(1) as pool, pytest.raises(ForkError, match="'spawn'"):
            pool.apply_async(closeness, [strategy]).get(timeout=60)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(closeness, [strategy]).get(timeout=120) == expected
