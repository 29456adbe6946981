"""What one operation costs on this machine: launches, barriers, dependent accesses, atomics, copies.

Every figure is a difference between a run with few and one with many repeats of the operation, and every run leaves a
result with one right value, which is checked: a figure whose result is wrong raises VerificationFailed.
Study 0 records these figures; the other studies take their floors and predictions from them (`of`).
"""

import time
import typing
from pathlib import Path

import numpy as np

from .errors import MachineError

SOURCE = Path(__file__).with_name("costs.cu")
STUDY = "0-machine"
PARTS = ("launches", "barriers", "accesses", "atomics", "copies")
ADDRESSES = (1, 32, 1024, 1 << 20, 1 << 24)  # counters: one, few (a line), 4 KB, 4 MB, 64 MB
ATOMICS = ("add_returned", "add_unused", "cas")


class VerificationFailed(MachineError):
    """The measured operation left a wrong result; the figure would be worth nothing."""


class Cost(typing.NamedTuple):
    """One measured figure.

    `parameters` says for which case (blocks, threads, bytes...), `verified` is "exact" if the result of the run had
    one right value and it was found, "not-applicable" if there was nothing to check.
    """

    metric: str
    value: float
    unit: str
    parameters: dict
    verified: str


def _expect(found, wanted, what):
    if found != wanted:
        raise VerificationFailed(f"{what}: the run left {found}, right is {wanted}")


def _device_ms(executor, run, rounds):
    with executor.timer() as t:
        run(rounds)
    return t.device_ms


def _each(executor, run, few, many, repeats=5):
    """Seconds of one round: median over `repeats` of the difference between many and few rounds in one launch.

    None on the host executor, where the runs still happen (and get checked) but times mean nothing.
    """
    run(few)  # the first launch of a kernel loads it
    if executor.name == "host":
        run(many)
        return None
    differences = []
    for _ in range(repeats):
        short = _device_ms(executor, run, few)
        differences.append(_device_ms(executor, run, many) - short)
    return float(np.median(differences)) / (many - few) / 1e3


def _warm(executor, seconds=0.3):
    """Keep the device busy until its clock has risen; a no-op on the host."""
    if executor.name == "host":
        return
    x = executor.zeros(1 << 24, np.float32)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(20):
            x += 1
        executor.synchronize()


# ---- launches


def launches(executor, quick=False):
    """Launch back to back, launch and read back, a graph's node."""
    module = executor.load(SOURCE)
    host = executor.name == "host"
    counter = executor.zeros(1, np.uint32)
    expected = 0
    for blocks in (1, executor.multiprocessors):
        count = module["count_launch"].bind(blocks, 32, (counter,))
        n = 10 if host else 500 if quick else 2000
        seconds = []
        for _ in range(1 if host else 7):
            with executor.timer() as t:
                for _ in range(n):
                    count()
            seconds.append(t.wall_ms / n / 1e3)
            expected += n
        _expect(executor.read(counter), expected, "launches")
        yield Cost("launch", _us(executor, seconds), "us", {"blocks": blocks}, "exact")
    count = module["count_launch"].bind(1, 32, (counter,))
    n = 5 if host else 200
    seconds = []
    for _ in range(1 if host else 7):
        begin = time.perf_counter()
        for _ in range(n):
            count()
            expected += 1
            _expect(executor.read(counter), expected, "launch and read back")
        seconds.append((time.perf_counter() - begin) / n)
    yield Cost("launch-readback", _us(executor, seconds), "us", {}, "exact")
    few, many = (2, 5) if host else (200, 1200)
    for kernel, args in (("nothing", ()), ("count_launch", (counter,))):
        graphs = {}
        for nodes in (few, many):
            with executor.capture() as graphs[nodes]:
                node = module[kernel].bind(executor.multiprocessors, 32, args)
                for _ in range(nodes):
                    node()
        executor.copy(counter, np.zeros(1, np.uint32))
        total = 0

        def run(nodes, graphs=graphs):
            graphs[nodes].launch()

        seconds = []
        for _ in range(1 if host else 9):
            short, long = _device_ms(executor, run, few), _device_ms(executor, run, many)
            total += few + many
            seconds.append(0 if host else (long - short) / (many - few) / 1e3)
        checked = kernel == "count_launch"
        if checked:
            _expect(executor.read(counter), total, "nodes of a graph")
        yield Cost("graph-node", _us(executor, seconds), "us",
                   {"kernel": kernel, "blocks": executor.multiprocessors},
                   "exact" if checked else "not-applicable")  # fmt: skip


def _us(executor, seconds):
    return float("nan") if executor.name == "host" else float(np.median(seconds)) * 1e6


# ---- barriers


def _grid_sizes(most, multiprocessors):
    sizes = {1, 2, 4, 8, 16, 32, 64, multiprocessors, 2 * multiprocessors, 4 * multiprocessors, most}
    return sorted(s for s in sizes if s <= most)


def barriers(executor, quick=False):
    """Grid barrier against blocks and threads, block barrier against threads, one hop between two blocks."""
    module = executor.load(SOURCE)
    host = executor.name == "host"
    few, many = (2, 6) if host else (100, 600 if quick else 2100)
    for threads in (32, 256, 1024):
        kernel = module["grid_barriers"]
        for blocks in _grid_sizes(kernel.max_blocks(threads), executor.multiprocessors):
            if quick and blocks not in (1, 8, executor.multiprocessors) or host and blocks > 8:
                continue
            state, passed = executor.zeros(2, np.uint32), executor.zeros(blocks, np.uint32)
            done = [0]

            def run(rounds, kernel=kernel, blocks=blocks, threads=threads, state=state, passed=passed, done=done):
                kernel(blocks, threads, (state, passed, np.int32(rounds)), cooperative=True)
                done[0] += rounds

            each = _each(executor, run, few, many)
            _expect(set(executor.get(passed).tolist()), {done[0]}, "grid barrier")
            _expect(executor.read(state), done[0] % 2 << 31, "state of the grid barrier")
            yield _cost("grid-barrier", each, "us", {"blocks": blocks, "threads": threads})
    few, many = (2, 6) if host else (1000, 21000)
    for threads in (32, 64, 128, 256, 512, 1024):
        passed = executor.zeros(threads, np.uint32)
        last = [0]

        def run(rounds, threads=threads, passed=passed, last=last):
            module["block_barriers"](1, threads, (passed, np.int32(rounds)))
            last[0] = rounds

        each = _each(executor, run, few, many)
        _expect(set(executor.get(passed).tolist()), {last[0]}, "block barrier")
        yield _cost("block-barrier", each, "ns", {"threads": threads})
    few, many = (2, 6) if host else (100, 2100)
    ball = executor.zeros(1, np.uint32)
    last = [0]

    def run(rounds):
        executor.copy(ball, np.zeros(1, np.uint32))
        module["hops"](2, 32, (ball, np.int32(rounds)), cooperative=True)
        last[0] = 2 * rounds

    each = _each(executor, run, few, many)
    _expect(executor.read(ball), last[0], "hops between two blocks")
    yield _cost("hop", None if each is None else each / 2, "ns", {})


def _cost(metric, seconds, unit, parameters, verified="exact"):
    scale = {"us": 1e6, "ns": 1e9}[unit]
    return Cost(metric, float("nan") if seconds is None else seconds * scale, unit, parameters, verified)


# ---- dependent loads and atomics


def _ring(executor, words, stride, seed):
    """A random cycle over every `stride`-th of `words` cells: (device array next, order of the visits)."""
    order = np.random.default_rng(seed).permutation(words // stride).astype(np.uint32) * np.uint32(stride)
    cells = executor.zeros(words, np.uint32)
    cells[executor.array(order.astype(np.int64))] = executor.array(np.roll(order, -1))
    return cells, order


def accesses(executor, quick=False):
    """One load, or one atomic, that waits for the one before it, against the size of the working set."""
    module = executor.load(SOURCE)
    host = executor.name == "host"
    few, many = (3, 40) if host else (1000, 11000)
    line = 32  # words of 128 bytes: one node a cache line
    loads = [("walk_l1", 16 << 10, "L1"), ("walk_l2", 1 << 10, "L2"), ("walk_l2", 1 << 20, "L2"),
             ("walk_l2", 16 << 20, "L2"), ("walk_l2", 256 << 20, "HBM"), ("walk_l2", 2 << 30, "HBM"),
             ("walk_shared", 16 << 10, "shared")]  # fmt: skip
    if host or quick:
        loads = [case for case in loads if case[1] <= ((64 << 10) if host else (256 << 20))]
    for name, size, memory in loads:
        cells, order = _ring(executor, size // 4, line, seed=1)
        end = executor.zeros(1, np.uint32)
        at = [0]
        extra, shared = ((np.int32(size // 4),), size) if name == "walk_shared" else ((), 0)

        def run(rounds, name=name, cells=cells, order=order, end=end, at=at, extra=extra, shared=shared):
            # Go on where the last run ended: a working set beyond L2 is then met cold.
            start = order[at[0] % len(order)]
            module[name](1, 1, (cells, end, start, np.int32(rounds), *extra), shared=shared)
            at[0] += rounds

        if memory in ("L1", "L2") and not host:
            for _ in range(3):
                run(2 * len(order) if len(order) < 200_000 else 200_000)
        each = _each(executor, run, few, many)
        _expect(executor.read(end), int(order[at[0] % len(order)]), f"dependent load, {memory}")
        yield _cost("dependent-load", each, "ns", {"memory": memory, "bytes": size})
        del cells
    atomics_at = [("walk_atomic", 1 << 10, "L2"), ("walk_atomic", 4 << 20, "L2"), ("walk_atomic", 32 << 20, "L2"),
                  ("walk_atomic", 256 << 20, "HBM"), ("walk_atomic_shared", 1 << 10, "shared")]  # fmt: skip
    if host or quick:
        atomics_at = [case for case in atomics_at if case[1] <= ((64 << 10) if host else (4 << 20))]
    for name, size, memory in atomics_at:
        words = size // 4
        cells, order = _ring(executor, words, line, seed=2)
        end = executor.zeros(1, np.uint32)
        at = [0]

        def run(rounds, name=name, cells=cells, order=order, end=end, at=at, words=words, size=size):
            start = order[at[0] % len(order)]
            shared = size if name == "walk_atomic_shared" else 0
            module[name](1, 1, (cells, end, start, np.int32(rounds), np.uint32(words)), shared=shared)
            at[0] += rounds

        each = _each(executor, run, few, many)
        _expect(executor.read(end), int(order[at[0] % len(order)]), f"dependent atomic, {memory}")
        visits = executor.get(cells)[::line] // np.uint32(words)
        _expect(int(visits.sum()), at[0], f"visits by dependent atomics, {memory}")
        yield _cost("dependent-atomic", each, "ns", {"memory": memory, "bytes": size})
        del cells


# ---- throughput of atomics


def _thread_counts(executor, quick):
    if executor.name == "host":
        return [32, 256]
    most = executor.multiprocessors * 2048
    counts = [1 << k for k in range(0, 19, 3 if quick else 1) if 1 << k < most]
    return [*counts, most]


def atomics(executor, quick=False):
    """Atomics a second against the number of threads and of addresses: the first paper's Figure 9."""
    module = executor.load(SOURCE)
    host = executor.name == "host"
    addresses = ADDRESSES[:3] if host else (1, 1024, 1 << 20) if quick else ADDRESSES
    cases = [(kernel, n) for kernel in ATOMICS for n in addresses] + [("add_aggregated", 1)]
    for kernel, places in cases:
        counters = executor.zeros(places, np.uint32)
        sums = executor.zeros(1, np.uint64)
        for threads in _thread_counts(executor, quick):
            block = min(threads, 256)
            grid = threads // block

            def run(
                rounds, kernel=kernel, grid=grid, block=block, counters=counters, sums=sums, places=places
            ):
                counters[...] = 0
                sums[...] = 0
                args = (counters, np.uint32(places - 1), sums, np.int32(rounds))
                if executor.name == "host":
                    module[kernel](grid, block, args)
                    return 0.0
                with executor.timer() as t:
                    module[kernel](grid, block, args)
                return t.device_ms

            run(4)
            if host:
                rounds, rate = 4, float("nan")
            else:
                # As many rounds as take about a millisecond, then twice as many; the difference is the rate.
                pilot = max(run(64), 1e-3)
                rounds = int(np.clip(64 / pilot, 16, 1 << 16))
                times = [(run(rounds), run(2 * rounds)) for _ in range(3 if quick else 5)]
                rate = threads * rounds / (float(np.median([b - a for a, b in times])) * 1e6)
                rounds *= 2
            _check_counters(executor, kernel, counters, sums, threads * rounds, places)
            yield Cost("atomic-throughput", rate, "G/s",
                       {"operation": kernel, "addresses": places, "threads": threads}, "exact")  # fmt: skip


def _check_counters(executor, kernel, counters, sums, total, places):
    left = executor.get(counters).astype(np.uint64)
    if kernel == "cas":
        _expect(int(left.sum()), executor.read(sums), "successful compare-and-swaps")
        return
    _expect(int(left.sum()), total, f"{kernel} on {places} addresses")
    if kernel == "add_returned":  # every counter handed out 0, 1, ... once each
        _expect(executor.read(sums), int((left * (left - np.uint64(1)) // np.uint64(2)).sum()) if total else 0,
                f"values returned by {kernel}")  # fmt: skip


# ---- copies


def copies(executor, quick=False):
    """Bandwidth of a copy on the device (bytes read plus written), and from and to pinned host memory."""
    host = executor.name == "host"
    size = (1 << 16) if host else (1 << 28 if quick else 1 << 30)
    values = np.arange(size // 8, dtype=np.uint64)
    source, target = executor.array(values), executor.zeros(size // 8, np.uint64)

    def rate(copy, moved):
        copy()
        seconds = []
        for _ in range(7):
            with executor.timer() as t:
                copy()
            seconds.append(t.device_ms / 1e3 if t.device_ms else float("nan"))
        return moved / float(np.median(seconds)) / 1e9

    value = rate(lambda: executor.copy(target, source), 2 * size)
    _expect(bool((target == source).all()), True, "copy on the device")
    yield Cost("copy", value, "GB/s", {"direction": "device", "bytes": size}, "exact")
    size = min(size, 1 << 28)
    pinned = executor.pinned(size // 8, np.uint64)
    pinned[...] = np.arange(size // 8, dtype=np.uint64)
    part = executor.zeros(size // 8, np.uint64)
    value = rate(lambda: executor.copy(part, pinned), size)
    _expect(bool((part == source[: size // 8]).all()), True, "copy to the device")
    yield Cost("copy", value, "GB/s", {"direction": "to-device", "bytes": size}, "exact")
    pinned[...] = 0
    value = rate(lambda: executor.fetch(pinned, part), size)
    executor.synchronize()
    _expect(int(pinned[-1]), size // 8 - 1, "copy to the host")
    yield Cost("copy", value, "GB/s", {"direction": "to-host", "bytes": size}, "exact")


def measure(executor, quick=False, parts=PARTS):
    """All figures of this machine, one Cost after the other.

    Parameters
    ----------
    executor : Executor
        On "host" the same kernels run small and are checked; values are NaN, since times mean nothing there.
    quick : bool
        Fewer cases and repeats: seconds instead of about a minute.
    parts : sequence of str
        Which of PARTS.

    Raises
    ------
    VerificationFailed
        An operation left a wrong result.
    """
    _warm(executor)
    for part in parts:
        yield from globals()[part](executor, quick)
