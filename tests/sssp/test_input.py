"""What cannot be used is refused in one clear line; sums beyond the narrow type go to the wide one."""

import pickle
import re

import numpy as np
import pytest

from lockstep.graphs import Graph, GraphError, generators
from lockstep.machine import HostExecutor, NoGpuError, get_executor, gpu_available
from lockstep.plan import Skip
from lockstep.sssp import STRATEGIES, NotSupported, shortest_paths
from lockstep.sssp.experiments import cases
from lockstep.sssp.problem import Problem, whole_numbers
from lockstep.sssp.strategies import auto, near_far

EXACT = [name for name, strategy in STRATEGIES.items() if strategy.exact]


def path(weights):
    n = len(weights)
    return Graph.from_edges(np.arange(n), np.arange(1, n + 1), weights=weights, name="path")


@pytest.mark.parametrize("weight, found", [(-1.0, "-1.0"), (np.inf, "inf"), (-3, "-3")])
def test_weights(weight, found):
    with pytest.raises(GraphError, match=rf"arc 1 \(1 -> 2\) has weight {found}"):
        shortest_paths(path([1, weight, 2]), 0)


def test_nan_is_refused_already_by_the_graph():
    with pytest.raises(GraphError, match="NaN"):
        path([1.0, np.nan])


@pytest.mark.parametrize("source", [-1, 4, 10**12, 1.5, "a", None, True])
def test_source(source):
    with pytest.raises(GraphError, match="no vertex .*0 to"):
        shortest_paths(path([1, 1, 1]), source)


def test_no_vertices():
    with pytest.raises(GraphError, match="no vertices"):
        shortest_paths(Graph.from_edges([], []), 0)


@pytest.mark.parametrize("delta", [0, -1, np.nan])
def test_delta(delta):
    with pytest.raises(ValueError, match="delta is"):
        shortest_paths(path([1]), 0, delta=delta)


def test_options_that_a_strategy_has_not():
    with pytest.raises(ValueError, match="strategy 'dijkstra' has no option 'delta'; it has none"):
        shortest_paths(path([1]), 0, "dijkstra", delta=3)
    with pytest.raises(ValueError, match="strategy 'atomic' has no option 'foo'; it has delta, threads"):
        shortest_paths(path([1]), 0, "atomic", foo=3)


@pytest.mark.parametrize("layers", [0, -2, 1.5])
def test_layers(layers):
    with pytest.raises(ValueError, match="layers.*expected a whole number"):
        shortest_paths(path([1]), 0, "semaphores", layers=layers)


def test_strategy():
    with pytest.raises(ValueError, match="no strategy 'fastest'; choose one of dijkstra"):
        shortest_paths(path([1]), 0, "fastest")


@pytest.mark.skipif(gpu_available(), reason="a GPU answers")
def test_no_gpu():
    with pytest.raises(NoGpuError):
        shortest_paths(path([1]), 0, executor="cuda")


@pytest.mark.parametrize("strategy", EXACT)
def test_no_edges(strategy):
    result = shortest_paths(Graph.from_edges([], [], n=3), 1, strategy, executor="host")
    assert result.distances.tolist() == [np.inf, 0, np.inf]


@pytest.mark.parametrize("strategy", EXACT)
def test_sums_beyond_the_narrow_type(strategy):
    heavy = 2**31 - 3
    result = shortest_paths(path([heavy] * 5), 0, strategy, executor="host")
    assert result.distances.tolist() == [i * heavy for i in range(6)]


@pytest.mark.parametrize("strategy", ["near-far", "atomic", "delta-cpu", "asynchronous", "chaotic"])
def test_distance_beyond_float64(strategy):
    with pytest.raises(GraphError, match="may exceed float64"):
        shortest_paths(path([1.7e308, 1.7e308]), 0, strategy, executor="host")


def test_which_type():
    assert not Problem(path([1, 2, 3])).wide
    assert not Problem(path([0.5, 1.25, 3])).wide  # multiples of a quarter: whole numbers after scaling
    assert Problem(path([0.1, 0.2])).wide
    assert Problem(path([2**31, 1])).wide
    assert Problem(path([2.0**-60, 1.0])).wide
    scale, whole = whole_numbers(np.array([0.5, 0.75, 0.0]))
    assert scale == 0.25 and whole.tolist() == [2, 3, 0]


def test_negative_zero():
    assert shortest_paths(path([-0.0, 0.1]), 0, "atomic", executor="host").distances.tolist() == [0, 0, 0.1]


def test_a_gpu_without_clusters_is_told(monkeypatch):
    monkeypatch.setattr(near_far, "architecture", lambda executor: 80)
    with pytest.raises(NotSupported, match="'cluster' needs a GPU of compute capability 9.0 or later.* has 8.0"):
        shortest_paths(path([1]), 0, "cluster", executor="host")
    prepared = cases.Prepared("karate", get_executor("host"))
    assert prepared.candidates(["cluster"], 0) == [] and "capability 9.0" in str(prepared.left_out["cluster"])
    assert shortest_paths(path([1]), 0, "near-far", executor="host").distances.tolist() == [0, 1]


def test_auto_takes_no_strategy_that_some_gpus_lack():
    assert near_far.Cluster not in auto.CHOICES.values()


def test_arcs_beyond_the_threads_of_a_gpu():
    small = get_executor("host", multiprocessors=1)
    graph = Graph.from_edges(np.zeros(70_000, int), np.ones(70_000, int))
    with pytest.raises(ValueError, match="70,000 arcs are more than 32 for each of the 2,048 threads"):
        shortest_paths(graph, 0, "chaotic", executor=small)


@pytest.mark.parametrize("name", ["near-far", "cluster"])
def test_lists_longer_than_an_int_counts_are_refused(name):
    plan = STRATEGIES[name].plan_for(Problem(path([1, 2])), get_executor("host"))
    known = plan.capacity
    with pytest.raises(Skip, match="path has 3 vertices .* takes at most 2,146,435,072: use strategy='dijkstra'"):
        plan.reserve(2**31 - 2**20 + 1)
    assert plan.capacity == known


@pytest.mark.parametrize(("strategy", "options", "told"), [
    ("near-far", {"group": 3}, "group=3; expected 1, 2, 4, 8, 16 or 32"),
    ("asynchronous", {"group": 64}, "group=64; expected"),
    ("atomic", {"threads": 2048}, "threads=2048; expected 1024 at most"),
    ("asynchronous", {"threads": 0}, "threads=0; expected a whole number, 1 or more"),
    ("asynchronous", {"blocks": -5}, "blocks=-5; expected a whole number"),
    ("asynchronous", {"list": -1}, "list=-1; expected a whole number"),
    ("chaotic", {"polls": 1.5}, "polls=1.5; expected a whole number"),
])  # fmt: skip
def test_options_that_no_kernel_can_take(strategy, options, told):
    """Kernels check nothing: half a warp, say, or a group that does not divide one would hang or read elsewhere."""
    with pytest.raises(ValueError, match=re.escape(told)):
        shortest_paths(Graph.from_edges([0], [1], weights=[1]), 0, strategy, executor="host", **options)


def test_arcs_that_do_not_fit_shared_memory_are_not_put_there():
    graph = generators.random_dag(4_000, 400_000, seed=1)
    with pytest.raises(ValueError, match="local=True: a range of up to .* arcs exceeds"):
        shortest_paths(graph, 0, "asynchronous", executor=HostExecutor(multiprocessors=4), local=True)


def test_relaxations_are_counted_run_by_run():
    problem = Problem.of(path([1] * 200), source=0)
    plan = STRATEGIES["asynchronous"].plan_for(problem, get_executor("host"), count=True, blocks=1)
    counts = []
    for _ in range(3):
        plan.reset()
        counts.append(plan.run().stats["relaxations"])
    assert counts == [200] * 3


@pytest.mark.parametrize("strategy", ["auto", "dijkstra", "igraph", "delta-cpu"])
def test_sums_beyond_float64_do_not_read_as_unreachable(strategy):
    with pytest.raises(GraphError, match="[Ss]um|exceed|beyond"):
        shortest_paths(path([1e308, 1e308]), 0, strategy)
    assert shortest_paths(path([1e307, 1e307]), 0, strategy).distances[2] == 2e307


@pytest.mark.parametrize("source", [-1, 4, 7])
def test_a_problem_takes_vertices_alone_as_sources(source):
    problem = Problem(path([1, 1, 1]))
    for make in (lambda: Problem(problem.graph, source), lambda: problem.at(source)):
        with pytest.raises(GraphError, match=f"no vertex {source}: .* has vertices 0 to 3"):
            make()
    assert problem.at(3).source == 3


def test_a_result_goes_to_another_process():
    graph = Graph.from_edges([0, 1], [1, 2], weights=[4, 1], labels=list("abc"))
    result = pickle.loads(pickle.dumps(shortest_paths(graph, "a", "near-far", executor="host")))
    assert result.distances.tolist() == [0, 4, 5] and result.path_to("c") == ["a", "b", "c"]


def test_a_wrong_weight_is_told_by_the_names_of_its_ends():
    with pytest.raises(GraphError, match=r"arc 1 \(b -> c\) has weight -2"):
        shortest_paths(Graph.from_edges([0, 1], [1, 2], weights=[1, -2], labels=list("abc")), "a")
