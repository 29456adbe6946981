"""A run's floor is one figure, wherever it is shown."""

import json
import re

import pandas as pd
import pytest

from lockstep.machine.costs import Costs, of
from lockstep.toposort.results import floors, goals
from lockstep.toposort.strategies.narrow import Narrow
from lockstep.toposort.strategies.persistent import Persistent
from lockstep.toposort.strategies.shared import KERNELS

FIGURES = {
    ("launch", '{"blocks":1}'): 4.0,
    ("dependent-load", '{"memory":"L1"}'): 20.0,
    ("dependent-load", '{"memory":"L2"}'): 150.0,
    ("dependent-load", '{"memory":"shared"}'): 15.0,
    ("dependent-atomic", '{"memory":"L2"}'): 200.0,
    ("dependent-atomic", '{"memory":"shared"}'): 20.0,
    ("block-barrier", '{"threads":32}'): 8.0,
    ("block-barrier", '{"threads":1024}'): 40.0,
    ("launch-readback", "{}"): 15.0,
    ("graph-node", '{"blocks":132,"kernel":"count_launch"}'): 1.0,
    ("copy", '{"direction":"device"}'): 4000.0,
    ("atomic-throughput", '{"addresses":1048576,"operation":"add_returned","threads":100000}'): 100.0,
    ("block-atomics", '{"addresses":16384,"memory":"shared","threads":768}'): 5.0,
}
DEEP = {"nodes": 10**6, "edges": 8 * 10**6, "depth": 16_000, "window": 1000}


@pytest.fixture
def costs():
    return Costs("made-up", FIGURES)


def test_each_arc_beyond_the_first_takes_its_share_of_one_multiprocessor(costs):
    one, many = floors.one_block(costs), floors.one_block(costs, 501)
    assert many - one == pytest.approx(500 / 5.0 / 1e3), "500 atomics at 5 a nanosecond"


def test_one_block_takes_layers_that_are_alike_and_narrow():
    assert floors.one_block_takes(DEEP)
    assert not floors.one_block_takes({**DEEP, "window": float("nan")}), "layers of a random graph are not alike"
    assert not floors.one_block_takes({**DEEP, "depth": 8 * 10**6 // (Narrow.arcs_counted + 1)})
    assert not floors.one_block_takes({**DEEP, "edges": 10**6}), "a warp takes these"


def test_without_a_figure_for_one_block_there_is_no_floor(costs):
    del (known := dict(FIGURES))["block-atomics", '{"addresses":16384,"memory":"shared","threads":768}']
    assert pd.isna(floors.run_ms(DEEP, "narrow", Costs("older", known)))
    assert floors.run_ms(DEEP, "persistent", Costs("older", known)) == floors.run_ms(DEEP, "persistent", costs) > 0


def test_goals_and_table_have_one_floor_for_a_run(costs):
    parameters = json.dumps({"window": 1000})
    figures = {"(graph)": {"nodes": 10**6, "edges": 8 * 10**6, "depth": 16_000}, "narrow": {"wall": 20.0},
               "serial": {"wall": 90.0}, "persistent": {"wall": 30.0}}  # fmt: skip
    rows = pd.DataFrame(
        {"experiment": "ladder", "dataset": goals.DEEP, "strategy": name, "metric": metric, "value": value,
         "parameters": parameters, "round": 0}
        for name, own in figures.items() for metric, value in own.items()
    )  # fmt: skip
    told = floors.table(rows, costs).set_index("strategy")["floor (ms)"]
    found = goals.reached(rows, costs).set_index(["goal", "by"])["floor"]
    assert found["a million vertices, eight million arcs, deep", "narrow"] == pytest.approx(told["narrow"])
    for name in ("narrow", "persistent"):
        assert found["the deep graph", name] * 16 == pytest.approx(told[name])
    assert told["narrow"] == pytest.approx(0.004 + 0.013 + 16 * floors.one_block(costs, 500))


@pytest.fixture(scope="module")
def h200():
    return of("nvidia-h200")


def test_the_subset_is_the_kernels():
    text = (KERNELS / "resident.cuh").read_text()
    assert int(re.search(r"max_subset_width = (\d+)", text).group(1)) == floors.SUBSET


@pytest.mark.parametrize("plan", [Persistent, Narrow])
def test_a_gate_counts_all_warps_of_the_subset(plan):
    text = (KERNELS / "resident.cuh").read_text()
    unit = 1 << int(re.search(r"queue_unit = 1u << (\d+)", text).group(1))  # the count of arrivals ends below it
    assert plan.subset * 1024 // 32 < unit


def test_which_graphs():
    layered = {"family": "layered", "nodes": 10**6, "edges": 5 * 10**6, "depth": 100}
    assert floors.all_blocks_take(layered)
    assert not floors.all_blocks_take(layered | {"depth": 10**5})
    assert not floors.all_blocks_take({"nodes": 10**6, "edges": 5 * 10**6, "depth": 100})


def test_more_arcs_cost_more_and_a_barrier_is_the_least(h200):
    one, many = floors.all_blocks(h200), floors.all_blocks(h200, 50_000)
    assert h200.grid_barrier_us(threads=512) < one < many
    assert many - one == pytest.approx(49_999e6 / h200.atomics_per_second(10**6, 50_000))


def test_two_microseconds_are_out_of_reach_with_50000_arcs(h200):
    """What the study set out to reach in any layer, by a grid barrier."""
    line = {"family": "layered", "nodes": 10**6, "edges": 4_951_047, "depth": 100}
    assert floors.layer_us(line, "persistent", h200) > 2
    assert floors.all_blocks(h200, 5000) < 2
