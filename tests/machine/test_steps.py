"""A step of a loop with the host in it: clear, launch, read back; on a GPU without Python between."""

import numpy as np
import pytest

from lockstep.machine import LaunchError, get_executor, gpu_available

SOURCE = """
extern "C" __global__ void count_up(int* total, const int* values, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, values[i] * by);
}
extern "C" __global__ void twice(int* total) { *total *= 2; }
"""


@pytest.fixture(params=["host", "cuda"])
def executor(request):
    if request.param == "cuda" and not gpu_available():
        pytest.skip("no GPU")
    return get_executor(request.param)


@pytest.fixture
def module(executor, tmp_path):
    (tmp_path / "steps.cu").write_text(SOURCE)
    return executor.load(tmp_path / "steps.cu")


def test_a_step_clears_launches_and_reads_back(executor, module):
    total, values = executor.zeros(1, np.int32), executor.array(np.arange(10, dtype=np.int32))
    loop = module["count_up"].loop(32, total=total, values=values)
    step = executor.step(loop, total, total)
    executor.reset_counts()
    assert int(step(1, np.int32(10), np.int32(1))[0]) == 45
    assert int(step(1, np.int32(3), np.int32(5))[0]) == 15, "cleared before"
    assert executor.counts["launches"] == executor.counts["readbacks"] == 2


def test_without_clearing_and_with_a_launch_behind(executor, module):
    total, values = executor.zeros(2, np.int32), executor.array(np.arange(10, dtype=np.int32))
    loop = module["count_up"].loop(32, total=total, values=values, by=np.int32(1))
    step = executor.step(loop, total, then=(module["twice"].bind(1, 1, total=total),))
    executor.reset_counts()
    assert step(1, np.int32(10)).tolist() == [90, 0]
    assert step(1, np.int32(10)).tolist() == [270, 0] and executor.counts["launches"] == 4


def test_arrays_that_change(executor, module):
    total, loop = executor.zeros(1, np.int32), None
    loop = module["count_up"].loop(32, total=total, n=np.int32(4), by=np.int32(1))
    step = executor.step(loop, total, total)
    for factor in (1, 2, 3):
        assert int(step(1, executor.array(np.full(4, factor, np.int32)))[0]) == 4 * factor


def test_a_step_reads_the_part_that_it_is_told(executor, module):
    totals, values = executor.zeros(6, np.int32), executor.array(np.arange(4, dtype=np.int32))
    loop = module["count_up"].loop(32, total=totals[2:], values=values, by=np.int32(1))
    step = executor.step_by_part(loop, totals, 2)
    assert [step(1, np.int32(4), part=k).tolist() for k in (0, 1, 2)] == [[0, 0], [12, 0], [0, 0]]


@pytest.mark.parametrize("changing, told", [
    ((np.int32(1),), r"takes \(n, by\), not 1"), ((np.int64(1), np.int32(1)), "needs a NumPy scalar"),
])  # fmt: skip
def test_what_a_step_is_told_is_checked(executor, module, changing, told):
    total = executor.zeros(1, np.int32)
    step = executor.step(module["count_up"].loop(32, total=total, values=total), total)
    with pytest.raises(LaunchError, match=told):
        step(1, *changing)
