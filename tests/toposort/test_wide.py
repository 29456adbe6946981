"""The floor of layers that all blocks share."""

import re

import pytest

from lockstep.machine import costs
from lockstep.toposort import wide
from lockstep.toposort.plan import KERNELS


@pytest.fixture(scope="module")
def h200():
    return costs.of("nvidia-h200")


def test_the_crew_is_the_kernels():
    text = (KERNELS / "persistent.cu").read_text()
    assert int(re.search(r"crew_at_most = (\d+)", text).group(1)) == wide.CREW


def test_which_graphs():
    layered = {"family": "layered", "nodes": 10**6, "edges": 5 * 10**6, "depth": 100}
    assert wide.all_blocks_take(layered)
    assert not wide.all_blocks_take(layered | {"depth": 10**5})
    assert not wide.all_blocks_take({"nodes": 10**6, "edges": 5 * 10**6, "depth": 100})


def test_more_arcs_cost_more_and_a_barrier_is_the_least(h200):
    one, many = wide.all_blocks(h200), wide.all_blocks(h200, 50_000)
    assert h200.grid_barrier_us(threads=512) < one < many
    assert many - one == pytest.approx(49_999e6 / h200.atomics_per_second(10**6, 50_000))


def test_two_microseconds_are_out_of_reach_with_50000_arcs(h200):
    """What the study set out to reach in any layer, by a grid barrier."""
    line = {"family": "layered", "nodes": 10**6, "edges": 4_951_047, "depth": 100}
    assert wide.run_ms(line, h200) * 1e3 / line["depth"] > 2
    assert wide.all_blocks(h200, 5000) < 2
