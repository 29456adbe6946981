"""The paper's semaphores lose updates; the checked ones never end with a wrong distance."""

import os

import numpy as np
import pytest

from lockstep.graphs import generators
from lockstep.machine import get_executor
from lockstep.sssp import STRATEGIES, oracle, shortest_paths, verify
from lockstep.sssp.experiments import race

SEEDS = int(os.environ.get("LOCKSTEP_SEEDS", 200))


def test_one_layer_loses_an_update_and_the_interleaving_shows_how():
    lost = race.find_lost_update(race.race_graph(), range(2000))
    assert lost is not None
    assert (lost.vertex, lost.found, lost.exact) == (3, 10, 3)
    stores = [e for e in lost.events if e.event == "store"]
    assert [e.after for e in stores] == [3, 10]  # the better candidate first, then the worse one over it
    reads = [e for e in lost.events if e.event == "load" and e.step < stores[0].step and e.block in (1, 2)]
    assert {e.block for e in reads} == {1, 2}  # both had read before either wrote
    assert "writes 10 over 3" in str(lost)


def test_layers_heal():
    graph = race.race_graph()
    one, first = race.count_wrong(graph, range(SEEDS), layers=1)
    three, _ = race.count_wrong(graph, range(SEEDS), layers=3)
    assert one > 0 and first is not None
    assert three < one


def test_checked_survives():
    graph = race.race_graph()
    assert race.count_wrong(graph, range(SEEDS), "checked", layers=1) == (0, None)


def test_checked_goes_on_where_one_layer_fails():
    graph = race.race_graph()
    _, seed = race.count_wrong(graph, range(SEEDS), layers=1)
    result, _ = race.run(graph, seed, "checked", layers=1)
    assert result.stats["repairs"] > 0
    assert result.stats["failing"][-1] == 0


def test_a_wrong_result_leaves_an_arc_to_relax():
    graph = race.race_graph()
    _, seed = race.count_wrong(graph, range(SEEDS), layers=1)
    assert oracle.open_vertices(graph, race.run(graph, seed, layers=1)[0].distances) > 0
    assert oracle.open_vertices(graph, oracle.distances(graph, 0)) == 0


def test_racy_results_are_measured_not_refused():
    graph = generators.road_like(600, seed=3)
    source = int(np.argmax(graph.out_degrees()))
    words = set()
    for seed in range(6):
        executor = get_executor("host", seed=seed, fuzz="memory")
        result = shortest_paths(graph, source, "semaphores", layers=1, executor=executor, threads=32)
        words.add(verify(result, graph, exact=STRATEGIES["semaphores"].exact))
        errors = oracle.Errors(result.distances, oracle.distances(graph, source))
        assert (result.distances >= oracle.distances(graph, source)).all()  # always the length of a real path
        assert (errors.wrong == 0) == (errors.largest == 0)
    assert words <= {"exact", "measured-wrong"}


@pytest.mark.parametrize("reading", ["all", "pending"])
@pytest.mark.parametrize("layers", [1, 2, 6])
def test_readings_and_layers_end(reading, layers):
    graph = generators.road_like(600, seed=3)
    source = int(np.argmax(graph.out_degrees()))
    for delta in (np.inf, 2000):
        result = shortest_paths(
            graph, source, "semaphores", layers=layers, delta=delta, executor="host", reading=reading
        )
        assert result.stats["layers"] == layers
        assert (result.distances >= oracle.distances(graph, source)).all()
