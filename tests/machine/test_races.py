"""Data races on the emulator: litmus tests of what orders two accesses, and what does not."""

import numpy as np
import pytest

from lockstep.machine import DataRaceError, KernelError, get_executor

START = 'extern "C" __global__ void litmus(int* data, int* flag, unsigned* state, int* out) {\n'
PASSING = """
    if (blockIdx.x == 0) {
        if (threadIdx.x == %(writer)s) { data[0] = 42; %(publish)s }
    } else if (threadIdx.x == %(reader)s) { %(wait)s out[0] = data[0]; }
"""
SPIN = "while (load_relaxed(flag) == 0) pause(10);"
SAFE = {
    "release and acquire": ("store_release(flag, 1);", "while (load_acquire(flag) == 0) {}"),
    "fences around relaxed": ("__threadfence(); store_relaxed(flag, 1);", SPIN + " __threadfence();"),
    "a fence, and an acquire": ("__threadfence(); store_relaxed(flag, 1);", "while (load_acquire(flag) == 0) {}"),
    "a release, and a fence": ("store_release(flag, 1);", SPIN + " __threadfence();"),
    "fences around atomics": (
        "__threadfence(); atomicExch(flag, 1);", "while (atomicAdd(flag, 0) == 0) pause(10); __threadfence();"),
    "a release that an atomic carries on": (
        "store_release(flag, 1); atomicAdd(flag, 1);", "while (load_acquire(flag) < 2) {}"),
}  # fmt: skip
RACY = {
    "relaxed and acquire": ("store_relaxed(flag, 1);", "while (load_acquire(flag) == 0) {}"),
    "release and relaxed": ("store_release(flag, 1);", SPIN),
    "no fence after": ("__threadfence(); store_relaxed(flag, 1);", SPIN),
    "no fence before": ("store_relaxed(flag, 1);", SPIN + " __threadfence();"),
    "atomics alone": ("atomicExch(flag, 1);", "while (atomicAdd(flag, 0) == 0) pause(10);"),
    "a release overwritten": (
        "store_release(flag, 1); store_relaxed(flag, 2);", "while (load_acquire(flag) < 2) {}"),
    "a fence of the block before": (
        "__threadfence_block(); store_relaxed(flag, 1);", "while (load_acquire(flag) == 0) {}"),
    "a fence of the block after": ("store_release(flag, 1);", SPIN + " __threadfence_block();"),
    "written after the release": ("store_release(flag, 1); data[0] = 43;", "while (load_acquire(flag) == 0) {}"),
}  # fmt: skip


@pytest.fixture
def launch(tmp_path):
    def run(body, grid=2, block=32, seeds=(1, 2, 3), cooperative=True):
        (tmp_path / "litmus.cu").write_text(START + body + "\n}\n")
        for seed in seeds:
            executor = get_executor("host", seed=seed, fuzz="memory", races="all")
            kernel = executor.load(tmp_path / "litmus.cu")["litmus"]
            sizes = {"data": (64, np.int32), "flag": (4, np.int32), "state": (2, np.uint32), "out": (4, np.int32)}
            given = {name: executor.zeros(*size) for name, size in sizes.items()}
            kernel(grid, block, shared=512, cooperative=cooperative, **given)
        return given["out"]

    return run


def passing(publish, wait, writer=0, reader=0):
    return PASSING % {"publish": publish, "wait": wait, "writer": writer, "reader": reader}


@pytest.mark.parametrize("how", SAFE)
def test_a_message_that_is_passed_in_order_is_no_race(launch, how):
    assert launch(passing(*SAFE[how]))[0] == 42


@pytest.mark.parametrize("how", RACY)
def test_a_message_without_its_order_is_a_race_although_it_arrives(launch, how):
    told = r"block [01], thread 0 (reads|writes) data\[0\], which block [01], thread 0"
    with pytest.raises(DataRaceError, match=told):
        launch(passing(*RACY[how]))


@pytest.mark.parametrize(("body", "racy"), [
    ("data[threadIdx.x] = 1; __syncthreads(); out[0] = data[31];", "out[0]"),  # all write out[0]
    ("data[threadIdx.x] = 1; __syncthreads(); if (threadIdx.x == 0) out[0] = data[31];", None),
    ("data[threadIdx.x] = 1; if (threadIdx.x == 0) out[0] = data[31];", "data[31]"),
    ("data[threadIdx.x] = 1; __syncwarp(); if (threadIdx.x == 0) out[0] = data[31];", None),
    ("data[threadIdx.x] = 1; __any_sync(full_mask, 1); if (threadIdx.x == 0) out[0] = data[31];", "data[31]"),
    ("atomicAdd(&data[0], 1); __syncthreads(); if (threadIdx.x == 0) out[0] = data[0];", None),
    ("atomicAdd(&data[0], 1); if (threadIdx.x == 0) out[0] = data[0];", "data[0]"),
    ("DYNAMIC_SHARED(int, s); s[threadIdx.x] = 1; __syncthreads(); if (threadIdx.x == 0) out[0] = s[7];", None),
    ("DYNAMIC_SHARED(int, s); s[threadIdx.x] = 1; if (threadIdx.x == 0) out[0] = s[7];", "shared"),
    ("((unsigned char*)data)[threadIdx.x] = 1;", None),  # bytes of one word, each a thread's own
    ("((unsigned char*)data)[threadIdx.x & 15] = 1;", "data["),
])  # fmt: skip
def test_what_orders_the_threads_of_a_block(launch, body, racy):
    if racy is None:
        launch(body, grid=1)
    else:
        with pytest.raises(DataRaceError) as told:
            launch(body, grid=1)
        assert racy in str(told.value) and "no barrier, fence, release or acquire orders them" in str(told.value)


def test_blocks_are_ordered_by_the_grid_barrier_and_not_by_their_own(launch):
    write = "if (threadIdx.x == 0) data[blockIdx.x] = 1;"
    read = "if (threadIdx.x == 0) out[blockIdx.x] = data[1 - blockIdx.x];"
    launch(write + " grid_barrier(state); " + read)
    with pytest.raises(DataRaceError, match=r"data\[[01]\]"):
        launch(write + " __syncthreads(); " + read)


def test_a_block_publishes_by_one_thread_what_the_barrier_gave_it(launch):
    """Writes of all, a barrier, and one thread's release: its clock holds theirs."""
    body = """
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7;
        %s
        if (threadIdx.x == 0) store_release(flag, 1);
    } else {
        if (threadIdx.x == 0) while (load_acquire(flag) == 0) {}
        %s
        if (threadIdx.x == 5) out[0] = data[31];
    }"""
    assert launch(body % ("__syncthreads();", "__syncthreads();"))[0] == 7
    for pair in (("", "__syncthreads();"), ("__syncthreads();", "")):
        with pytest.raises(DataRaceError):
            launch(body % pair)


def test_a_fence_of_the_block_orders_its_own_threads(launch):
    body = """
    if (threadIdx.x == 0) { data[0] = 42; __threadfence_block(); store_relaxed(flag, 1); }
    if (threadIdx.x == 32) { while (load_relaxed(flag) == 0) pause(10); %s out[0] = data[0]; }"""
    assert launch(body % "__threadfence_block();", grid=1, block=64)[0] == 42
    with pytest.raises(DataRaceError):
        launch(body % "", grid=1, block=64)


@pytest.mark.parametrize(("give_back", "fence", "racy"), [
    ("store_release(lock, 0);", "", True),  # ends the release sequence of the block that held it before
    ("atomicExch(lock, 0);", "", False),  # carries it on
    ("store_release(lock, 0);", "fence_gpu();", False),  # passes on what the fence acquired
])  # fmt: skip
def test_a_lock_given_back_unused_passes_on_who_held_it_before(launch, give_back, fence, racy):
    body = """
    int* lock = flag + 1;
    if (threadIdx.x == 0 && blockIdx.x == 0) { data[0] = 42; store_release(lock, 0); store_relaxed(flag, 1); }
    if (threadIdx.x == 0 && blockIdx.x == 1) {
        while (load_relaxed(flag) != 1 || atomicCAS(lock, 0, 1)) pause(10);
        %s %s
        store_relaxed(flag, 2);
    }
    if (threadIdx.x == 0 && blockIdx.x == 2) {
        while (load_relaxed(flag) != 2 || atomicCAS(lock, 0, 1)) pause(10);
        lockstep_fence(true, false);
        out[0] = data[0];
    }"""
    if racy:
        with pytest.raises(DataRaceError, match=r"data\[0\]"):
            launch(body % (fence, give_back), grid=3)
    else:
        assert launch(body % (fence, give_back), grid=3)[0] == 42


def test_shared_memory_of_a_finished_block_is_another_block_s(launch):
    body = "DYNAMIC_SHARED(int, s); s[threadIdx.x] = 1; __syncthreads(); if (threadIdx.x == 9) atomicAdd(out, s[3]);"
    assert launch(body, grid=40, cooperative=False)[0] == 40


def test_what_is_asked_for_is_checked(launch):
    with pytest.raises(ValueError, match='give fuzz="memory"'):
        get_executor("host", races="plain")
    with pytest.raises(KernelError, match="at most 4,096 threads"):
        launch("out[0] = 0;", grid=200, cooperative=False)


COPIED = """
    struct Big { int words[16]; };
    Big* all = (Big*)data;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        %(body)s
    } else if (blockIdx.x == 1 && threadIdx.x == 0) out[0] = %(other)s;
"""


@pytest.mark.parametrize("body, other", [
    ("all[1] = all[0];", "data[13] = 5"),  # a word of what is copied is written
    ("all[1] = all[0];", "data[16 + 13]"),  # a word of the copy is read
    ("Big none = {}; all[0] = none;", "data[13]"),
])  # fmt: skip
def test_a_struct_is_copied_word_by_word(launch, body, other):
    with pytest.raises(DataRaceError):
        launch(COPIED % {"body": body, "other": other})
    launch(COPIED % {"body": body, "other": "data[48] = 1"})


REDUCTION = """
__device__ __forceinline__ int lowest(int* p, int v) { return atomicMin(p, v); }
extern "C" __global__ void litmus(int* data, int* flag, unsigned* state, int* out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 1) LOCKSTEP_REDUCTION(lowest, data, -1);
        %(between)s
        if (threadIdx.x == %(writer)s) { %(fence)s atomicExch(flag, 1); }
        while (load_relaxed(flag + 1) == 0) pause(10);
    } else if (threadIdx.x == 0) {
        while (load_relaxed(flag) == 0) pause(10);
        __threadfence();
        out[0] = load_relaxed(data);
        store_relaxed(flag + 1, 1);
    }
}
"""


@pytest.mark.parametrize(
    ("between", "writer", "fence", "late"),
    [
        ("", 1, "__threadfence();", False),
        ("", 1, "", True),
        ("__syncthreads();", 0, "__threadfence();", False),  # a fence orders what came before a barrier of its block
        ("__syncthreads();", 0, "", True),
        ("", 0, "__threadfence();", True),  # without the barrier it orders the thread's own alone
        ("", 1, "out[1] = load_relaxed(data);", False),  # a thread sees its own at once, and then all do
    ],
)
def test_a_reduction_is_seen_late_unless_a_fence_orders_it(tmp_path, between, writer, fence, late):
    (tmp_path / "litmus.cu").write_text(REDUCTION % {"between": between, "writer": writer, "fence": fence})
    seen = set()
    for seed in range(20):
        executor = get_executor("host", seed=seed, fuzz="sync")
        given = {name: executor.zeros(4, np.int32) for name in ("data", "flag", "out")}
        kernel = executor.load(tmp_path / "litmus.cu")["litmus"]
        kernel(2, 32, cooperative=True, state=executor.zeros(2, np.uint32), **given)
        seen.add(int(given["out"][0]))
        assert given["data"][0] == -1 and given["out"][1] == -("out" in fence)  # performed in the end
    assert (0 in seen) == late


ABANDONED = """
__device__ __forceinline__ int lowest(int* p, int v) { return atomicMin(p, v); }
extern "C" __global__ void abandoned(int* data, int* flag) {
    LOCKSTEP_REDUCTION(lowest, data, -1);
    while (*(volatile int*)flag == 0) pause(10);
}
"""


def test_an_abandoned_launch_leaves_no_reduction_to_the_next(tmp_path):
    (tmp_path / "abandoned.cu").write_text(ABANDONED)
    executor = get_executor("host", seed=1, fuzz="sync", budget=100)
    kernel = executor.load(tmp_path / "abandoned.cu")["abandoned"]
    first, second, go = executor.zeros(1, np.int32), executor.zeros(1, np.int32), executor.array(np.ones(1, np.int32))
    with pytest.raises(KernelError):
        kernel(1, 32, data=first, flag=executor.zeros(1, np.int32))
    assert first[0] == 0
    kernel(1, 32, data=second, flag=go)
    assert second[0] == -1 and first[0] == 0
