"""The emulator: interleavings are seeded, races show, and what would hang is reported instead."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lockstep.machine import (
    CompileError,
    DeadlockError,
    DivergentBarrierError,
    KernelError,
    LivelockError,
    MemoryFaultError,
    get_executor,
)


def host(**options):
    return get_executor("host", **options)


def histogram(executor, path, kernel):
    values = np.random.default_rng(0).integers(0, 8, 4000).astype(np.int32)
    counts = executor.zeros(8, np.uint32)
    executor.load(path)[kernel](16, 256, values=executor.array(values), counts=counts, n=np.int32(values.size))
    return int(executor.get(counts).sum())


def tickets(executor, path):
    ticket = executor.zeros((64, 4), np.uint32)
    executor.load(path)["tickets"](2, 32, counter=executor.zeros(1, np.uint32), ticket=ticket)
    return executor.get(ticket)


# ---- races and seeds


def test_a_racing_histogram_loses_counts_under_fuzz_and_none_with_atomics(kernels_cu):
    assert histogram(host(), kernels_cu, "histogram_racy") == 4000, "without fuzz no thread comes between"
    for seed in range(5):
        fuzzed = host(fuzz="memory", seed=seed)
        assert histogram(fuzzed, kernels_cu, "histogram_racy") < 3000
        assert histogram(fuzzed, kernels_cu, "histogram") == 4000


@pytest.mark.parametrize("fuzz", ["sync", "memory"])
def test_the_seed_decides_the_interleaving(kernels_cu, fuzz):
    first, again, other = (tickets(host(fuzz=fuzz, seed=s), kernels_cu) for s in (7, 7, 8))
    assert (first == again).all()
    assert (first != other).any()
    assert sorted(first.ravel()) == list(range(256))


def test_without_fuzz_every_seed_gives_the_same_bits(kernels_cu):
    assert (tickets(host(seed=1), kernels_cu) == tickets(host(seed=2), kernels_cu)).all()


def test_launches_of_one_executor_differ_but_repeat_as_a_sequence(kernels_cu):
    def three(seed):
        executor = host(fuzz="sync", seed=seed)
        return [tickets(executor, kernels_cu) for _ in range(3)]

    a, b = three(5), three(5)
    assert all((x == y).all() for x, y in zip(a, b, strict=True))
    assert (a[0] != a[1]).any()


def test_shared_memory_does_not_begin_as_zeros(kernels_cu):
    executor = host()
    out = executor.zeros(32, np.int32)
    executor.load(kernels_cu)["uninitialized_shared"](1, 32, out=out, shared=128)
    assert (executor.get(out) != 0).all()


# ---- what would hang


@pytest.mark.parametrize("fuzz", ["none", "sync", "memory"])
def test_a_divergent_barrier_is_reported(kernels_cu, fuzz):
    executor = host(fuzz=fuzz)
    module = executor.load(kernels_cu)
    out = executor.zeros(8, np.int32)
    with pytest.raises(DivergentBarrierError, match=r"kernel divergent: divergent barrier: block 0: .*kernels\.cu:\d+"):
        module["divergent"](1, 8, out=out)
    # and the machine works on
    assert histogram(executor, kernels_cu, "histogram") == 4000


def test_the_report_names_kernel_block_and_threads(kernels_cu):
    executor = host()
    with pytest.raises(DivergentBarrierError) as caught:
        executor.load(kernels_cu)["divergent"](1, 8, out=executor.zeros(8, np.int32))
    assert "threads 0-2 at the block barrier kernels.cu:" in str(caught.value)
    assert "thread 3 finished" in str(caught.value)


def test_barriers_at_two_places_are_divergent(kernels_cu):
    executor = host()
    with pytest.raises(DivergentBarrierError, match="threads 0, 2, 4, 6 at .*; threads 1, 3, 5, 7 at "):
        executor.load(kernels_cu)["divergent_places"](1, 8, out=executor.zeros(8, np.int32))


def test_a_barrier_against_a_warp_operation(kernels_cu):
    executor = host()
    with pytest.raises(
        DivergentBarrierError, match="thread 0 at the block barrier .*; threads 1-31 at the warp operation"
    ):
        executor.load(kernels_cu)["barrier_and_warp"](1, 32, out=executor.zeros(32, np.int32))


def test_a_deadlock_is_reported(kernels_cu):
    executor = host()
    with pytest.raises(DeadlockError, match="no thread can run: block 0: threads 0-31 at the warp operation"):
        executor.load(kernels_cu)["deadlock"](1, 32, out=executor.zeros(32, np.int32))


def test_a_livelock_ends_with_the_budget(kernels_cu):
    executor = host(budget=10_000)
    with pytest.raises(LivelockError, match="10000 turns without"):
        executor.load(kernels_cu)["livelock"](1, 32, flag=executor.zeros(1, np.uint32))


def test_values_that_change_are_progress(kernels_cu):
    """A chain of 1,500 releases takes several budgets in which no thread finishes; it is no livelock."""
    executor = host(budget=10_000)
    n = executor.zeros(1, np.uint32)
    executor.load(kernels_cu)["counting"](1, 32, n=n, last=np.uint32(1500))
    assert n[0] == 1500


def test_values_that_change_for_ever_are_a_livelock(kernels_cu):
    executor = host(budget=10_000)
    words = {name: executor.zeros(1, np.uint32) for name in ("flag", "lock")}
    text = r"200000 turns without a thread finishing or a barrier opening \(the executor's budget is 10000\)"
    with pytest.raises(LivelockError, match=text):
        executor.load(kernels_cu)["back_and_forth"](1, 32, **words)


def test_independent_blocks_that_wait_for_later_ones_are_told_to_be_cooperative(kernels_cu):
    executor = host(budget=10_000)
    with pytest.raises(LivelockError, match="launch with cooperative=True"):
        executor.load(kernels_cu)["wait_for_later"](4, 32, flags=executor.zeros(4, np.int32))


def test_a_failed_launch_of_many_blocks_leaves_none_to_the_next(kernels_cu):
    executor = host()
    kernel = executor.load(kernels_cu)["all_but"]
    for blocks in (8, 2, 2):
        state, out = executor.zeros(1, np.uint32), executor.zeros(blocks, np.int32)
        if blocks == 8:
            with pytest.raises(DivergentBarrierError, match="at the grid barrier"):
                kernel(blocks, 2, state=state, out=out, missing=np.int32(7), cooperative=True)
        else:
            kernel(blocks, 2, state=state, out=out, missing=np.int32(-1), cooperative=True)
            assert executor.get(out).tolist() == [1] * blocks


def test_a_grid_barrier_needs_a_cooperative_launch(kernels_cu):
    executor = host()
    state, cells, wrong = executor.zeros(2, np.uint32), executor.zeros(4, np.int32), executor.zeros(1, np.int32)
    with pytest.raises(KernelError, match="not cooperative"):
        executor.load(kernels_cu)["rounds"](4, 32, state=state, cells=cells, wrong=wrong)


def test_a_wild_pointer_is_an_exception(kernels_cu):
    executor = host()
    with pytest.raises(MemoryFaultError, match="kernel out_of_bounds: block 0, thread 0 touched an address outside"):
        executor.load(kernels_cu)["out_of_bounds"](1, 32, out=executor.zeros(4, np.int32))


def test_more_shared_memory_than_asked_for_is_an_exception(kernels_cu):
    executor = host()
    with pytest.raises(MemoryFaultError, match="beyond the block's shared memory"):
        executor.load(kernels_cu)["fill_shared"](
            1, 32, out=executor.zeros(1, np.uint32), bytes=np.int32(5000), shared=1000
        )


def test_a_stack_overflow_is_an_exception(kernels_cu):
    executor = host()
    with pytest.raises(MemoryFaultError, match="beyond its stack"):
        executor.load(kernels_cu)["deep"](1, 1, out=executor.zeros(1, np.int32), depth=np.int32(2))


# ---- traces


def test_a_trace_tells_a_lost_update_step_by_step(kernels_cu):
    for seed in range(50):
        executor = host(fuzz="memory", seed=seed, permille=500, trace=True)
        value = executor.zeros(1, np.int32)
        executor.load(kernels_cu)["increment_twice"](1, 2, value=value)
        events = executor.trace()
        if executor.read(value) < 4:
            break
    writes = [e for e in events if e.event == "write" and e.where == "value[0]"]
    assert len(writes) == 4
    assert writes[-1].after == executor.read(value)
    assert {e.thread for e in writes} == {0, 1}
    assert len({e.after for e in writes}) < 4, "two threads wrote the same number"
    reads = [e for e in events if e.event == "read" and e.where == "value[0]"]
    assert reads and all(r.before == r.after for r in reads)
    marks = [e for e in events if e.event == "mark"]
    assert sorted(e.where for e in marks) == ["mark 0", "mark 0", "mark 1", "mark 1"]
    assert [e.step for e in events] == sorted(e.step for e in events)
    assert executor.trace() == []


def test_a_trace_of_atomics(kernels_cu):
    executor = host(trace=True)
    ticket = executor.zeros((64, 4), np.uint32)
    executor.load(kernels_cu)["tickets"](2, 32, counter=executor.zeros(1, np.uint32), ticket=ticket)
    atomics = [e for e in executor.trace() if e.event == "atomic"]
    assert [(e.where, e.before, e.after) for e in atomics] == [("counter[0]", i, i + 1) for i in range(256)]
    assert {e.block for e in atomics} == {0, 1}


# ---- cost and compiling


def test_counts(kernels_cu):
    executor = host()
    state, cells, wrong = (
        executor.zeros(2, np.uint32),
        executor.zeros(4, np.int32),
        executor.zeros(1, np.int32),
    )
    executor.load(kernels_cu)["rounds"](4, 32, state=state, cells=cells, wrong=wrong, cooperative=True)
    assert executor.counts["grid_barriers"] == 6
    assert executor.counts["barriers"] == 4 * 6 * 2
    assert executor.counts["launches"] == 1


def test_a_hundred_thousand_threads_are_cheap(kernels_cu):
    executor = host()
    n = 100_000
    add = executor.load(kernels_cu)["add"]
    a, b = executor.zeros(n, np.int32), executor.zeros(n, np.int32)
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        add(-(-n // 256), 256, a=a, b=b, n=np.int32(n))
        seconds.append(time.perf_counter() - begin)
    assert min(seconds) < 0.1  # about 4 ms on a free core


def test_a_compile_error_names_file_and_line(tmp_path):
    (tmp_path / "broken.cu").write_text(
        '// broken\n#include "device.cuh"\nextern "C" __global__ void f(int* a) {\n    a[0] = b;\n}\n'
    )
    with pytest.raises(CompileError, match=r"(?s)broken\.cu does not compile for the host.*broken\.cu:4"):
        host().load(tmp_path / "broken.cu")


def test_options_are_checked():
    with pytest.raises(ValueError, match="fuzz 'hard': choose one of none, sync, memory"):
        host(fuzz="hard")
    with pytest.raises(ValueError, match="processors"):
        host(processors=2)


def test_no_compiler_is_one_clear_error(tmp_path):
    code = (
        "import importlib.util, lockstep.machine as m\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, *a: None if n == 'ziglang' else find(n, *a)\n"
        "from lockstep.machine.host_build import compiler\n"
        "try: compiler()\n"
        "except m.CompileError as e: print(e)\n"
    )
    settings = {"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True)
    assert "no C++ compiler for the emulator: install g++" in done.stdout, done.stderr


def test_importing_touches_no_device():
    code = "import sys, lockstep.machine; print('cupy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_many_kernels_do_not_use_up_the_process_mappings(tmp_path):
    """Each kernel's library has guarded stacks of its own; a long session meets hundreds of them."""
    (tmp_path / "fill.cu").write_text(
        '#include "device.cuh"\n'
        'extern "C" __global__ void fill(int* a) { __syncthreads(); a[global_thread()] = VALUE; }\n'
    )
    executor = get_executor("host")
    mappings = []
    for value in range(4):
        a = executor.zeros(2048, np.int32)
        executor.load(tmp_path / "fill.cu", {"VALUE": value + 1})["fill"](2, 1024, a=a)
        assert (executor.get(a) == value + 1).all()
        mappings.append(len(Path("/proc/self/maps").read_text().splitlines()))
    assert mappings[-1] - mappings[0] < 3 * 200, "the stacks of a launch are given back"
