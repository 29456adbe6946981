"""What kernels may rely on: every test runs on the emulator, and on the GPU where one answers."""

import gc
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.machine import CudaExecutor, Executor, LaunchError, get_executor
from lockstep.machine.executor import Kernel

SCHEDULES = [("none", 0), ("sync", 1), ("sync", 2), ("memory", 3)]


@pytest.fixture(
    params=[*(f"host-{fuzz}-{seed}" for fuzz, seed in SCHEDULES), pytest.param("cuda", marks=pytest.mark.gpu)]
)
def executor(request):
    if request.param == "cuda":
        return request.getfixturevalue("cuda")
    _, fuzz, seed = request.param.split("-")
    return get_executor("host", fuzz=fuzz, seed=int(seed))


@pytest.fixture
def module(executor, kernels_cu):
    return executor.load(kernels_cu, {"ROUNDS": 3})


def test_threads_of_a_grid_that_does_not_divide(executor, module):
    n = 10_007
    a, b = executor.array(np.arange(n, dtype=np.int32)), executor.full(n, 1, np.int32)
    module["add"](-(-n // 256), 256, a=a, b=b, n=np.int32(n))
    assert (executor.get(b) == np.arange(n) + 1).all()


def test_two_dimensional_positions(executor, module):
    arrays = {name: executor.zeros(3 * 2 * 8 * 5, np.uint32) for name in ("where", "lane", "warp")}
    module["positions"]((3, 2), (8, 5), **arrays)
    where, lane, warp = (executor.get(a).reshape(6, 40) for a in arrays.values())
    block, thread = np.divmod(np.arange(240).reshape(6, 40), 40)
    assert (where == block % 3 + 100 * (block // 3) + 10000 * (thread % 8) + 1000000 * (thread // 8)).all()
    assert (lane == thread % 32).all() and (warp == thread // 32).all()


def test_histogram_with_atomics_loses_nothing(executor, module):
    values = np.random.default_rng(0).integers(0, 8, 5000).astype(np.int32)
    counts = executor.zeros(8, np.uint32)
    module["histogram"](20, 256, values=executor.array(values), counts=counts, n=np.int32(values.size))
    assert (executor.get(counts) == np.bincount(values, minlength=8)).all()


def test_scan_in_dynamic_shared_memory(executor, module):
    values = np.random.default_rng(1).integers(-9, 9, 4 * 256).astype(np.int32)
    out = executor.empty(values.size, np.int32)
    module["scan"](4, 256, **{"in": executor.array(values)}, out=out, shared=1024)
    assert (executor.get(out).reshape(4, 256) == values.reshape(4, 256).cumsum(axis=1)).all()


def test_barriers_that_vote(executor, module):
    out = executor.zeros(3, np.int32)
    module["votes_of_block"](1, 100, out=out)
    assert executor.get(out).tolist() == [34, 1, 0]


@pytest.mark.parametrize("size", [100, 48 * 1024, 100 * 1024])
def test_shared_memory_beyond_48_kb(executor, module, size):
    out = executor.zeros(3, np.uint32)
    module["fill_shared"](3, 64, out=out, bytes=np.int32(size), shared=size)
    expected = [int(((np.arange(size) + b) % 256).sum()) for b in range(3)]
    assert executor.get(out).tolist() == expected


def test_warp_shuffles_and_votes(executor, module):
    values = np.arange(64, dtype=np.int32)
    sums, votes, moved = (executor.zeros(shape, dtype) for shape, dtype in
                          ((64, np.int32), ((64, 4), np.uint32), ((64, 4), np.int32)))  # fmt: skip
    module["warps"](2, 32, **{"in": executor.array(values)}, sums=sums, votes=votes, moved=moved)
    lane = values % 32
    assert (executor.get(sums) == values.reshape(2, 32).sum(axis=1).repeat(32)).all()
    votes, moved = executor.get(votes), executor.get(moved)
    assert (votes[:, 0] == 0xAAAAAAAA).all()
    assert (votes[:, 1] == 0x11111111 << (values % 4).astype(np.int64)).all()
    assert (votes[:, 2] == (values < 32)).all() and (votes[:, 3] == 1).all()
    assert (moved[:, 0] == values - lane + 3).all()
    assert (moved[:, 1] == np.where(lane == 0, values, values - 1)).all()
    assert (moved[:, 2] == np.where(lane % 8 >= 6, values, values + 2)).all()
    assert (moved[:, 3] == values // 4 * 4 + 1).all()


def test_halves_of_a_warp_work_apart(executor, module):
    out = executor.zeros(32, np.int32)
    module["half_warps"](1, 32, out=out)
    assert executor.get(out).tolist() == [120] * 16 + [31] * 16


@pytest.mark.parametrize("blocks, threads", [(1, 32), (4, 64), (8, 33)])
def test_grid_barrier_with_several_blocks(executor, module, blocks, threads):
    state, cells, wrong = (
        executor.zeros(2, np.uint32),
        executor.zeros(blocks, np.int32),
        executor.zeros(1, np.int32),
    )
    module["rounds"](blocks, threads, state=state, cells=cells, wrong=wrong, cooperative=True)
    assert executor.read(wrong) == 0
    assert executor.get(cells).tolist() == [3] * blocks
    module["rounds"](blocks, threads, state=state, cells=cells, wrong=wrong, cooperative=True)  # again
    assert executor.read(wrong) == 0


def test_blocks_that_wait_for_each_other(executor, module):
    flags = executor.zeros(6, np.int32)
    module["chain"](6, 32, flags=flags, cooperative=True)
    assert executor.get(flags).tolist() == [1] * 6
    flags = executor.zeros(6, np.int32)
    module["wait_for_later"](6, 32, flags=flags, cooperative=True)
    assert executor.get(flags).tolist() == [1] * 6


def test_spin_lock_ends_and_excludes(executor, module):
    lock, value = executor.zeros(1, np.uint32), executor.zeros(1, np.int32)
    module["locked"](3, 64, lock=lock, value=value)
    assert executor.read(value) == 3 * 64


def test_every_kind_of_atomic(executor, module):
    i, u = executor.zeros(5, np.int32), executor.zeros(5, np.uint32)
    executor.copy(u, np.array([0xFFFFFFFF, 0, 0, 0, 0], np.uint32))
    wide, f, d = executor.zeros(2, np.uint64), executor.zeros(1, np.float32), executor.zeros(1, np.float64)
    module["all_atomics"](3, 50, i=i, u=u, l=wide, f=f, d=d, shared=16)
    assert executor.get(i).tolist() == [150, -300, -149, 149, 7]
    assert executor.get(u).tolist() == [0, 0xFFFFFFFF, int(np.bitwise_xor.reduce(np.arange(150))), 0, 5]
    assert executor.get(wide).tolist() == [150 << 33, 149]
    assert executor.read(f) == 75 and executor.read(d) == 37.5


def test_bit_functions(executor, module):
    values = np.array([0, 1, 2, 0x80000000, 0xFFFFFFFF, 0x3F800000], np.uint32)
    out = executor.zeros((6, 8), np.int32)
    module["bits"](1, 6, **{"in": executor.array(values)}, out=out)
    out = executor.get(out)
    words = [int(v) for v in values]
    assert out[:, 0].tolist() == [w.bit_count() for w in words]
    assert out[:, 1].tolist() == [32 - w.bit_length() for w in words]
    assert out[:, 2].tolist() == [(w & -w).bit_length() for w in words]
    assert out[:, 3].view(np.uint32).tolist() == [int(f"{w:032b}"[::-1], 2) for w in words]
    assert out[:, 4].view(np.uint32).tolist() == words
    assert out[:, 5].view(np.uint32).tolist() == [w * 0x80000001 >> 32 for w in words]
    assert out[:, 6].tolist() == [min(int(v), 5) for v in values.view(np.int32)]
    assert out[:, 7].view(np.uint32).tolist() == [max(w, 5) for w in words]


def test_vector_types(executor, module):
    values = np.arange(32, dtype=np.int32).reshape(8, 4)
    out, pairs = executor.zeros((8, 4), np.int32), executor.zeros((8, 2), np.float32)
    module["vectors"](1, 8, **{"in": executor.array(values)}, out=out, pairs=pairs)
    assert (executor.get(out) == values[:, ::-1]).all()
    assert (executor.get(pairs)[:, 0] == values[:, 0]).all()


def test_a_clock_runs(executor, module):
    ticks = executor.zeros(2, np.int64)
    module["stop_watch"](1, 1, ticks=ticks)
    assert executor.get(ticks)[0] > 0


def test_capture_and_replay(executor, module):
    n = 1000
    a, b, keep = executor.full(n, 2, np.int32), executor.zeros(n, np.int32), executor.zeros(n, np.int32)
    executor.reset_counts()
    with executor.capture() as graph:
        for _ in range(3):
            module["add"](4, 256, a=a, b=b, n=np.int32(n))
        executor.copy(keep, b)
    assert (executor.get(b) == 0).all(), "capturing launches nothing"
    for _ in range(2):
        graph.launch()
    assert (executor.get(b) == 12).all() and (executor.get(keep) == 12).all()
    assert executor.counts["launches"] == 0 and executor.counts["graph_launches"] == 2


def test_cooperative_launch_in_a_graph(executor, module):
    state, cells, wrong = (
        executor.zeros(2, np.uint32),
        executor.zeros(4, np.int32),
        executor.zeros(1, np.int32),
    )
    with executor.capture() as graph:
        module["rounds"](4, 64, state=state, cells=cells, wrong=wrong, cooperative=True)
    graph.launch()
    assert executor.read(wrong) == 0 and executor.get(cells).tolist() == [3] * 4


@pytest.mark.gpu
def test_a_captured_graph_keeps_its_arrays(cuda, kernels_cu):
    """Its nodes hold addresses: that memory stays allocated while the graph may still be launched."""
    n, module = 1 << 20, cuda.load(kernels_cu, {"ROUNDS": 3})
    out = cuda.zeros(n, np.int32)

    def captured(turns):
        a, b = cuda.full(n, 5, np.int32), cuda.zeros(n, np.int32)
        add = module["add"].bind(n // 256, 256, a=a, b=b, n=np.int32(n))
        for _ in range(turns):  # the first launch of a binding goes another way than the later ones
            add()
        cuda.copy(b, cuda.zeros(n, np.int32))
        with cuda.capture() as graph:
            add()
            cuda.copy(out, b)
        return graph, {a.data.ptr, b.data.ptr}

    for turns in (0, 2):
        graph, kept = captured(turns)
        gc.collect()
        others = [cuda.full(n, 77, np.int32) for _ in range(8)]  # would be given the memory, were it free
        assert kept.isdisjoint(other.data.ptr for other in others)
        graph.launch()
        assert (cuda.get(out) == 5).all()
        assert all((cuda.get(other) == 77).all() for other in others)


def test_a_binding_launched_often(executor, module):
    """The first launch of a binding lays nothing out, the second does, all others use that."""
    n = 1000
    a, b = executor.full(n, 3, np.int32), executor.zeros(n, np.int32)
    add = module["add"].bind(4, 256, a=a, b=b, n=np.int32(n))
    executor.reset_counts()
    for turn in range(1, 5):
        add()
        assert (executor.get(b) == 3 * turn).all()
    assert executor.counts["launches"] == 4


def test_a_binding_launched_by_another_thread(executor, module):
    n = 1000
    a, b = executor.full(n, 3, np.int32), executor.zeros(n, np.int32)
    add = module["add"].bind(4, 256, a=a, b=b, n=np.int32(n))
    add(), add()
    executor.synchronize()
    other = threading.Thread(target=add)
    other.start()
    other.join()
    assert (executor.get(b) == 9).all()


def test_a_cooperative_grid_too_large_is_an_error_and_is_not_shrunk(executor, module):
    kernel = module["rounds"]
    most = kernel.max_blocks(256)
    state, cells, wrong = (executor.zeros(max(2, most + 1), t) for t in (np.uint32, np.int32, np.int32))
    with pytest.raises(LaunchError, match=f"{most + 1} blocks .* not co-resident here; at most {most} are"):
        kernel(most + 1, 256, state=state, cells=cells, wrong=wrong, cooperative=True)
    if executor.name == "cuda" or executor.fuzz == "none":
        kernel(most, 256, state=state, cells=cells, wrong=wrong, cooperative=True)
        assert executor.read(wrong) == 0 and (executor.get(cells)[:most] == 3).all()


def test_launches_and_readbacks_are_counted(executor, module):
    a, b = executor.zeros(4, np.int32), executor.zeros(4, np.int32)
    executor.reset_counts()
    for _ in range(3):
        module["add"](1, 32, a=a, b=b, n=np.int32(4))
    executor.read(b, 2)
    executor.get(b)
    assert executor.counts["launches"] == 3 and executor.counts["readbacks"] == 2


def test_timer(executor, module):
    a, b = executor.zeros(4, np.int32), executor.zeros(4, np.int32)
    with executor.timer() as t:
        module["add"](1, 32, a=a, b=b, n=np.int32(4))
    assert t.wall_ms > 0
    assert (t.device_ms is None) == (executor.name == "host")
    with executor.timer(events=False) as t:
        module["add"](1, 32, a=a, b=b, n=np.int32(4))
    assert t.wall_ms > 0 and t.device_ms is None, "by the clock alone"


@pytest.mark.parametrize(
    "kernel, args, message",
    [
        ("add", lambda e: (e.zeros(4, np.int32), e.zeros(4, np.int32), 4), r"np.int32\(...\), not int"),
        ("add", lambda e: (e.zeros(4, np.int32), e.zeros(4, np.int32), np.int64(4)), "not int64 scalar"),
        ("add", lambda e: (e.zeros(4, np.int64), e.zeros(4, np.int32), np.int32(4)), "int32, not int64"),
        ("add", lambda e: ([1], e.zeros(4, np.int32), np.int32(4)), "needs a device array of int32"),
        ("add", lambda e: (e.zeros(4, np.int32),), r"add takes \(a, b, n\); missing: b, n$"),
        ("add", lambda e: (e.zeros(8, np.int32)[::2], e.zeros(4, np.int32), np.int32(4)), "not contiguous"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(executor, module, kernel, args, message):
    with pytest.raises(LaunchError, match=message):
        module[kernel](1, 32, **dict(zip("abn", args(executor), strict=False)))


def test_wrong_launches_are_named(executor, module):
    args = dict(a=executor.zeros(4, np.int32), b=executor.zeros(4, np.int32), n=np.int32(4))
    with pytest.raises(LaunchError, match="at most 1024 threads, not 2048"):
        module["add"](1, 2048, **args)
    with pytest.raises(LaunchError, match="bytes of shared memory asked for"):
        module["add"](1, 32, **args, shared=1 << 20)
    with pytest.raises(LaunchError, match="grid 0"):
        module["add"](0, 32, **args)
    with pytest.raises(LaunchError, match="add takes .*; missing: n; unknown: m$"):
        module["add"].bind(1, 32, a=args["a"], b=args["b"], m=args["n"])
    with pytest.raises(KeyError, match="no kernel 'nope'"):
        module["nope"]


def test_null_pointers(executor, module):
    module["add"](1, 32, a=None, b=None, n=np.int32(0))


def test_pinned_memory_round_trip(executor):
    pinned = executor.pinned(100, np.float32)
    pinned[...] = np.arange(100)
    array = executor.zeros(100, np.float32)
    executor.copy(array, pinned)
    executor.synchronize()
    pinned[...] = 0
    executor.fetch(pinned, array)
    executor.synchronize()
    assert (pinned == np.arange(100)).all()


def test_threads_that_raise_a_limit_at_once_leave_the_largest():
    """A kernel's limit on shared memory is raised by a launch that needs more, and never lowered by a later one."""

    class Slow:
        limit = 48 * 1024

        def __setattr__(self, name, value):
            time.sleep(0.02 if value < 150_000 else 0)  # who asks for less is later
            object.__setattr__(self, name, value)

    executor = object.__new__(CudaExecutor)  # no GPU is needed for its bookkeeping
    Executor.__init__(executor)
    kernel = SimpleNamespace(function=Slow(), raised_shared=48 * 1024)
    asked = [100_000, 200_000, 120_000]
    threads = [threading.Thread(target=executor._raise_shared, args=(kernel, shared)) for shared in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kernel.function.max_dynamic_shared_size_bytes == kernel.raised_shared == 200_000


def test_threads_share_a_module_and_its_kernels(kernels_cu):
    executor, found = get_executor("host"), []
    together = threading.Barrier(4)

    def load():
        together.wait()
        found.append(executor.load(kernels_cu, {"ROUNDS": 3})["add"])

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(kernel) for kernel in found}) == 1


@pytest.mark.gpu
def test_threads_plan_and_launch_at_once(cuda, kernels_cu):
    module, failed = cuda.load(kernels_cu, {"ROUNDS": 4}), []
    together = threading.Barrier(16)

    def work(i):
        try:
            cuda.xp.cuda.Device(cuda.device).use()
            out = cuda.zeros(64, np.int32)
            together.wait()
            for shared in (50_000 + 10_000 * i, 60_000):
                module["add"](1, 64, a=out, b=out, n=np.int32(64), shared=shared)
            cuda.synchronize()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


class Array:
    """What a launch looks at in an array on a device."""

    def __init__(self, place, dtype=np.int32):
        self.data, self.dtype = SimpleNamespace(ptr=place), np.dtype(dtype)
        self.flags = SimpleNamespace(c_contiguous=True)


@pytest.fixture
def told(monkeypatch):
    """A cuda executor without a GPU whose launches are written down: (grid, what lies in the arguments' places)."""
    executor, launches, laid_out = object.__new__(CudaExecutor), [], []
    Executor.__init__(executor)
    executor.laid_out, executor._max_blocks = laid_out, lambda kernel, threads, shared: 4
    executor.array_type, executor._counting, executor._captured = Array, 1, None
    executor.max_shared, executor._home, executor._launched_once = 48 * 1024, threading.local(), set()
    executor.device, executor.used = 0, []  # threads that were given the device
    stream = SimpleNamespace(ptr=0)
    device = SimpleNamespace(use=lambda: executor.used.append(threading.current_thread()))
    cuda = SimpleNamespace(get_current_stream=lambda: stream, Device=lambda number: device)
    executor.xp = SimpleNamespace(cuda=cuda)

    class LaidOut:
        def __init__(self, function, grid, block, shared, values, cooperative):
            self.begin, self.slots = (function, *grid, *block, shared), np.zeros(len(values) + 1, np.uint64)
            laid_out.append(cooperative)
            for slot, value in enumerate(values):
                self.slots[slot] = value if isinstance(value, np.generic) else value.data.ptr

        def launch(self, stream):
            launches.append((self.begin[1:4], self.slots[:-1].tolist()))

    def first(grid, block, values, **_):
        launches.append((grid, [int(v) if isinstance(v, np.generic) else v.data.ptr for v in values]))

    monkeypatch.setattr("lockstep.machine.launches.LaidOut", LaidOut)
    dtype = np.dtype(np.int32)
    parameters = [SimpleNamespace(name=name, type="int", pointer=name != "n", dtype=dtype) for name in "abn"]
    kernel = Kernel(SimpleNamespace(executor=executor), "add", parameters)
    first.ptr = 1
    kernel.function, kernel.most_threads, kernel.raised_shared = SimpleNamespace(kernel=first), 1024, 48 * 1024
    kernel.again = {}
    return kernel, launches


def test_a_launch_that_is_repeated_has_the_arguments_of_its_call(told):
    kernel, launches = told
    a, b = Array(100), Array(200)
    calls = [(1, a, b, 5), (2, a, b, 6), (2, b, a, 6), (3, None, a, 7), (3, None, a, 7), (1, a, a, 8)]
    calls.append((np.int64(4), a, b, 5))
    for grid, one, other, n in calls:
        kernel(grid, 64, a=one, b=other, n=np.int32(n))
    place = {id(None): 0, id(a): 100, id(b): 200}
    assert launches == [((int(g), 1, 1), [place[id(x)], place[id(y)], n]) for g, x, y, n in calls]
    assert kernel.executor.counts["launches"] == len(calls)


def test_a_cooperative_launch_is_repeated_as_one_and_never_too_large(told):
    kernel, launches = told
    a, b = Array(100), Array(200)
    for cooperative in (True, False, True):
        for grid in (2, 3, 4):
            kernel(grid, 64, a=a, b=b, n=np.int32(grid), cooperative=cooperative)
    assert launches == [((grid, 1, 1), [100, 200, grid]) for _ in range(3) for grid in (2, 3, 4)]
    assert kernel.executor.laid_out == [True, False]
    with pytest.raises(LaunchError, match="cooperative launch of 5 blocks .* at most 4 are"):
        kernel(5, 64, a=a, b=b, n=np.int32(5), cooperative=True)
    assert len(launches) == 9


def test_an_array_that_is_gone_is_not_taken_for_a_new_one(told):
    kernel, launches = told
    for place in range(100, 200):
        kernel(1, 64, a=Array(place), b=Array(place + 1000), n=np.int32(1))
        gc.collect(0)  # of what this test made
    assert launches == [((1, 1, 1), [place, place + 1000, 1]) for place in range(100, 200)]


@pytest.mark.parametrize(
    "grid, args, said",
    [
        (1, (Array(1, np.int64), Array(2), np.int32(1)), "array of int32"),
        (1, (Array(1), Array(2), 1), "NumPy scalar"),
        (1, (Array(1), Array(2), np.int64(1)), "np.int32"),
        (1, (Array(1), Array(2)), "missing: n"),
        (0, (Array(1), Array(2), np.int32(1)), "positive whole numbers"),
    ],
)
def test_a_repeated_launch_is_checked_like_the_first(told, grid, args, said):
    kernel, launches = told
    for _ in range(2):
        kernel(1, 64, a=Array(1), b=Array(2), n=np.int32(1))
    with pytest.raises(LaunchError, match=said):
        kernel(grid, 64, **dict(zip("abn", args, strict=False)))
    assert len(launches) == 2


def test_every_new_thread_is_given_the_device(told):
    """Also one with the number of a thread that has ended, for which there is a launch laid out already."""
    kernel, launches = told
    arguments = dict(a=Array(1), b=Array(2), n=np.int32(1))
    threads = []
    for _ in range(4):
        threads.append(threading.Thread(target=lambda: [kernel(1, 64, **arguments) for _ in range(3)]))
        threads[-1].start()
        threads[-1].join()
    assert kernel.executor.used == threads and len(launches) == 3 * len(threads)


def test_a_loop_is_given_what_changes(executor, module):
    """In the order of the signature, whatever the order in which the others were named."""
    a, b = executor.full(100, 3, np.int32), executor.zeros(100, np.int32)
    other = executor.zeros(100, np.int32)
    add = module["add"].loop(64, a=a)
    for _ in range(3):
        add(2, b, np.int32(100))
        add(1, other, np.int32(10))
    assert (executor.get(b) == 9).all()
    assert executor.get(other).tolist() == [9] * 10 + [0] * 90
    with pytest.raises(LaunchError, match=r"add: each launch takes \(b, n\), not 1"):
        add(2, b)
    with pytest.raises(LaunchError, match="unknown: c"):
        module["add"].loop(64, a=a, c=b)
    with pytest.raises(LaunchError, match="not int64 scalar"):
        add(1, b, np.int64(1))


@pytest.mark.gpu
def test_repeated_launches_on_a_gpu(cuda, kernels_cu):
    add = cuda.load(kernels_cu, {"ROUNDS": 5})["add"]
    for n in (1, 1000, 17, 70_000, 64):  # other arrays, another grid, another scalar each time
        a, b = cuda.array(np.arange(n, dtype=np.int32)), cuda.zeros(n, np.int32)
        for k in range(3):
            add(-(-n // 64), 64, a=a, b=b, n=np.int32(n - k % 2))
        wanted = 3 * np.arange(n)
        wanted[-1] -= n - 1
        assert (cuda.get(b) == wanted).all()


@pytest.mark.gpu
def test_repeated_cooperative_launches_on_a_gpu(cuda, kernels_cu):
    add = cuda.load(kernels_cu, {"ROUNDS": 5})["add"]
    most = add.max_blocks(64)
    for n in (1, 1000, 17, 5000, 64):
        a, b = cuda.array(np.arange(n, dtype=np.int32)), cuda.zeros(n, np.int32)
        for _ in range(3):
            add(-(-n // 64), 64, a=a, b=b, n=np.int32(n), cooperative=True)
        assert (cuda.get(b) == 3 * np.arange(n)).all()
    with pytest.raises(LaunchError, match="not co-resident"):
        add(most + 1, 64, a=a, b=b, n=np.int32(64), cooperative=True)
