"""The cases of study 0: what is repeated, how its cost is taken, and what its result must be.

A sample is the difference between a launch with many and one with few repeats of an operation, so that
launch, ramp and drain fall out. Every sample checks the result that the repeats left behind, which has
exactly one right value.
"""

import functools
import itertools
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import MachineError

SOURCE = Path(__file__).with_name("costs.cu")
PARTS = ("launches", "barriers", "accesses", "atomics", "copies")
LINE = 32  # words of 4 bytes in a cache line: a ring has one cell a line
KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
LOADS = (("walk_l1", 16 * KB, "L1"), ("walk_l2", KB, "L2"), ("walk_l2", MB, "L2"), ("walk_l2", 16 * MB, "L2"),
         ("walk_l2", 256 * MB, "HBM"), ("walk_l2", 2 * GB, "HBM"),
         ("walk_shared", 16 * KB, "shared"))  # fmt: skip
ATOMICS = (("walk_atomic", KB, "L2"), ("walk_atomic", 4 * MB, "L2"), ("walk_atomic", 16 * MB, "L2"),
           ("walk_atomic", 256 * MB, "HBM"), ("walk_atomic_shared", KB, "shared"))  # fmt: skip
COUNTERS = (1, 32, 1 * KB, 1 * MB, 16 * MB, 64 * MB)  # one, few, 4 KB, 4 MB, 64 MB, 256 MB
PLACES = 64  # that a barrier's state or a small ring takes in turn
PAGE = 4 * KB // 4  # words of 4 KB: neighbouring lines lie in the same half of L2, pages do not
SECONDS = {"s": 1.0, "us": 1e6, "ns": 1e9}


class VerificationFailed(MachineError):
    """The measured operation left a wrong result; the figure would be worth nothing."""


class Sample(typing.NamedTuple):
    """One figure: its value (None on the emulator), and how many operations stand behind it."""

    value: float | None
    operations: int
    verified: str


@dataclass(frozen=True)
class Case:
    """One thing that is measured.

    `experiment` says which operation (grid-barrier), `metric` what of it (time, throughput, bandwidth,
    clock), `strategy` the kernel that does it, `parameters` for which case; `sample()` measures once.
    """

    experiment: str
    metric: str
    unit: str
    strategy: str
    parameters: dict
    sample: Callable[[], Sample]


def expect(found, wanted, what):
    """Raise VerificationFailed unless the two are equal."""
    if found != wanted:
        raise VerificationFailed(f"{what}: the run left {found}, right is {wanted}")


class Bench:
    """The cases of one executor. On the emulator they run small and checked, and have no times."""

    def __init__(self, executor, quick=False):
        self.executor, self.quick, self.host = executor, quick, executor.name == "host"
        self.module = executor.load(SOURCE)
        self._lead = None

    def cases(self, part) -> list:
        """All cases of one of PARTS."""
        return list(getattr(self, part)())

    def repeats(self, host, gpu):
        return host if self.host else gpu

    def slope(self, run, few, many, host_bound=False):
        """Seconds of one round of `run(rounds)`; None on the emulator.

        Device time, unless the host's own part is what is measured (`host_bound`): then wall time.
        """
        times = []
        for rounds in (few, many):
            if host_bound:
                with self.executor.timer() as t:
                    run(rounds)
                times.append(t.wall_ms)
            else:
                times.append(self.device_ms(lambda rounds=rounds: run(rounds)))
        return None if self.host else (times[1] - times[0]) / (many - few) / 1e3

    def device_ms(self, run):
        """Device time of what `run` launches, without the gap in which the device waits for the launch."""
        if self._lead is None:
            ticks = self.executor.zeros(1, np.int64)
            cycles = np.int64(self.repeats(1, 200_000))  # 0.1 ms: longer than Python takes for one launch
            self._lead = self.module["count_cycles"].bind(1, 32, passed=ticks, cycles=cycles)
        return self.executor.device_ms(run, self._lead)

    def latency(
        self, experiment, strategy, parameters, unit, rounds, setup, *, share=1, warm=None, checked=True,
        host_bound=False,
    ):
        """A case whose value is the time of one operation; one round is `share` operations.

        `setup()` gives `run(rounds)` and `check(done)`, which raises if the result of `done` rounds in all is
        wrong. `rounds` are the few and the many, `warm` is how many go before them: the cases between two
        samples have evicted what was in the caches.
        """
        few, many = rounds
        state = functools.cache(setup)
        done = [0]

        def counted(rounds):
            state()[0](rounds)
            done[0] += rounds

        def sample():
            if not self.host:
                counted(warm or few)
            before = done[0]
            seconds = self.slope(counted, few, many, host_bound)
            state()[1](done[0])
            value = None if seconds is None else seconds * SECONDS[unit] / share
            return Sample(value, (done[0] - before) * share, "exact" if checked else "not-applicable")

        return Case(experiment, "time", unit, strategy, parameters, sample)

    # ---- launches

    def launches(self):
        """Launch back to back, launch and read back, a graph's node."""
        executor, module = self.executor, self.module
        wide = executor.multiprocessors
        for blocks in (1, wide):

            def setup(blocks=blocks):
                counter = executor.zeros(1, np.uint32)
                launch = module["count_launch"].bind(blocks, 32, counter=counter)

                def run(rounds):
                    for _ in range(rounds):
                        launch()

                return run, lambda done: expect(executor.read(counter), done, "launches")

            few_many, parameters = self.repeats((2, 5), (200, 2200)), {"blocks": blocks}
            yield self.latency("launch", "count_launch", parameters, "us", few_many, setup, host_bound=True)

        def setup_readback():
            counter = executor.zeros(1, np.uint32)
            launch = module["count_launch"].bind(1, 32, counter=counter)
            seen = [0]

            def run(rounds):
                for _ in range(rounds):
                    launch()
                    seen[0] = executor.read(counter)

            return run, lambda done: expect(seen[0], done, "launch and read back")

        rounds = self.repeats((2, 5), (50, 350))
        yield self.latency("launch-readback", "count_launch", {}, "us", rounds, setup_readback,
                           host_bound=True)  # fmt: skip
        rounds = self.repeats((2, 5), (200, 1200))
        for kernel in ("nothing", "count_launch"):

            def setup_graph(kernel=kernel, rounds=rounds):
                counter = executor.zeros(1, np.uint32)
                values = dict(counter=counter) if kernel == "count_launch" else {}
                node = module[kernel].bind(wide, 32, **values)
                graphs = {}
                for nodes in rounds:
                    with executor.capture() as graphs[nodes]:
                        for _ in range(nodes):
                            node()

                def check(done, counted=kernel == "count_launch"):
                    if counted:
                        expect(executor.read(counter), done, "nodes of a graph")

                return lambda rounds: graphs[rounds].launch(), check

            parameters = {"kernel": kernel, "blocks": wide}
            yield self.latency("graph-node", kernel, parameters, "us", rounds, setup_graph,
                               checked=kernel == "count_launch")  # fmt: skip

    # ---- barriers

    def barriers(self):
        """Grid barrier against blocks and threads, block barrier against threads, hops of two blocks."""
        executor, module = self.executor, self.module
        rounds = self.repeats((2, 6), (100, 2100))
        for threads in (32, 256, 1024):
            for blocks in self._grids(module["grid_barriers"].max_blocks(threads)):

                def setup(threads=threads, blocks=blocks):
                    states, places = executor.zeros(PLACES * LINE, np.uint32), self._places()
                    passed = executor.zeros(blocks, np.uint32)

                    def run(rounds):
                        at = next(places)
                        state, kernel = states[at : at + 2], module["grid_barriers"]
                        kernel(blocks, threads, state=state, passed=passed, rounds=np.int32(rounds), cooperative=True)

                    def check(done):
                        expect(set(executor.get(passed).tolist()), {done}, "blocks through the grid barrier")
                        left = set((executor.get(states) & np.uint32(0x7FFFFFFF)).tolist())
                        expect(left, {0}, "states of the grid barrier")

                    return run, check

                parameters = {"blocks": blocks, "threads": threads}
                yield self.latency("grid-barrier", "grid_barriers", parameters, "us", rounds, setup)
        rounds = self.repeats((2, 6), (1000, 21000))
        for threads in (32, 64, 128, 256, 512, 1024):

            def setup_block(threads=threads):
                passed = executor.zeros(threads, np.uint32)

                def run(rounds):
                    module["block_barriers"](1, threads, passed=passed, rounds=np.int32(rounds))

                return run, lambda done: expect(set(executor.get(passed).tolist()), {done}, "threads through")

            parameters = {"threads": threads}
            yield self.latency("block-barrier", "block_barriers", parameters, "ns", rounds, setup_block)
        rounds = self.repeats((2, 6), (100, 2100))

        def setup_hops():
            balls, places = executor.zeros(PLACES * LINE, np.uint32), self._places()

            def run(rounds):
                at = next(places)
                module["hops"](2, 32, ball=balls[at : at + 1], rounds=np.int32(rounds), cooperative=True)

            def check(done):
                expect(int(executor.get(balls).sum()), 2 * done, "hops between two blocks")

            return run, check

        yield self.latency("hop", "hops", {}, "ns", rounds, setup_hops, share=2)

    def _places(self, pitch=LINE):
        """Where to put what is met in L2, in turn: its distance decides half of what it costs."""
        order = np.random.default_rng(3).permutation(PLACES) * pitch
        return itertools.cycle(int(at) for at in order for _ in range(3))  # warm, few, many

    def _grids(self, most):
        wide = self.executor.multiprocessors
        sizes = {1, 8, wide} if self.quick else {1, 2, 4, 8, 16, 32, 64, wide, 2 * wide, 4 * wide, most}
        return sorted(s for s in sizes if s <= (min(most, 8) if self.host else most))

    # ---- dependent loads and atomics

    def accesses(self):
        """One load, or one atomic, that waits for the one before it, against the size of the working set."""
        for strategy, size, memory in LOADS:
            if self._fits(size):
                yield self._walk("dependent-load", strategy, size, memory)
        for strategy, size, memory in ATOMICS:
            if self._fits(size):
                yield self._walk("dependent-atomic", strategy, size, memory)

    def _fits(self, size):
        return size <= (64 * KB if self.host else 256 * MB if self.quick else 2 * GB)

    def _walk(self, experiment, strategy, size, memory):
        """A walk along a random ring, going on where the last one ended: beyond L2 it meets cold lines."""
        executor, words = self.executor, size // 4
        atomic = experiment == "dependent-atomic"

        def setup():
            order = np.random.default_rng(1).permutation(words // LINE).astype(np.uint32) * np.uint32(LINE)
            # A small ring lies in one half of the L2 cache, near the walking thread or far from it: there are
            # many of them, one for each sample.
            rings, pitch = (PLACES, PAGE) if words < PAGE else (1, words)
            cells = executor.zeros(rings * pitch, np.uint32)
            for k in range(rings):
                cells[k * pitch + executor.array(order.astype(np.int64))] = executor.array(np.roll(order, -1))
            end, at, places = executor.zeros(1, np.uint32), [0], self._places(pitch)

            def run(rounds):
                start = order[at[0] % len(order)]
                kind = np.uint32 if atomic else np.int32 if memory == "shared" else None
                extra = dict(words=kind(words)) if kind else {}
                place = next(places) % len(cells)
                values = dict(next=cells[place : place + words], end=end, start=start, rounds=np.int32(rounds), **extra)
                self.module[strategy](1, 1, shared=size if memory == "shared" else 0, **values)
                at[0] += rounds

            def check(done):
                expect(executor.read(end), int(order[at[0] % len(order)]), f"end of a walk in {memory}")
                if atomic:  # each visit added `words` to a cell, above the index that it holds
                    visits = int((cells[::LINE] // np.uint32(words)).sum())
                    expect(visits, at[0], f"visits of a walk in {memory}")

            return run, check

        rounds = self.repeats((3, 40), (1000, 11000))
        # Every line of a working set that should be in a cache is met before the clock runs.
        warm = None if memory in ("HBM", "shared") else max(rounds[0], 2 * words // LINE)
        parameters = {"memory": memory, "bytes": size}
        return self.latency(experiment, strategy, parameters, "ns", rounds, setup, warm=warm)

    # ---- throughput of atomics

    def atomics(self):
        """Atomics a second against threads and addresses (the first paper's Figure 9), and the clock."""
        yield self._clock()
        places = (1, 32, 1024) if self.host else (1, 1024, MB) if self.quick else COUNTERS
        for strategy in ("add_returned", "add_unused", "cas"):
            for addresses in places:
                for threads in self._threads(fine=addresses == 1):
                    yield self._throughput(strategy, addresses, threads)
        for threads in self._threads(fine=False):
            yield self._throughput("add_aggregated", 1, threads)

    def _threads(self, fine):
        if self.host:
            return [32, 256]
        most = self.executor.multiprocessors * 2048
        step = 3 if self.quick else 1 if fine else 2
        return [*(1 << k for k in range(0, 19, step) if 1 << k < most), most]

    def _throughput(self, strategy, addresses, threads):
        block = min(threads, 256)
        state = {}

        def run(rounds):
            counters, sums = self._counters(addresses)
            counters[...] = 0
            sums[...] = 0
            mask, rounds = np.uint32(addresses - 1), np.int32(rounds)
            values = dict(counters=counters, mask=mask, sums=sums, rounds=rounds)
            return self.device_ms(self.module[strategy].bind(threads // block, block, **values))

        def sample():
            if not state:
                run(4)
                # As many rounds as take about a millisecond; and twice as many.
                state["rounds"] = 4 if self.host else int(np.clip(64 / max(run(64), 1e-3), 16, 1 << 16))
            rounds = state["rounds"]
            short, long = run(rounds), run(2 * rounds)
            self._check_counters(strategy, 2 * threads * rounds, addresses)
            value = None if self.host else threads * rounds / ((long - short) * 1e6)
            return Sample(value, 2 * threads * rounds, "exact")

        parameters = {"operation": strategy, "addresses": addresses, "threads": threads}
        return Case("atomic-throughput", "throughput", "G/s", strategy, parameters, sample)

    @functools.cache  # noqa: B019 - one bench lives as long as the process needs its arrays
    def _counters(self, addresses):
        return self.executor.zeros(addresses, np.uint32), self.executor.zeros(1, np.uint64)

    def _check_counters(self, strategy, total, addresses):
        counters, sums = self._counters(addresses)
        left = counters.astype(np.uint64)
        what = f"{strategy} on {addresses} addresses"
        if strategy == "cas":
            expect(int(left.sum()), self.executor.read(sums), f"successes of {what}")
            expect(int(left.max()) > 0, True, f"any success of {what}")
            return
        expect(int(left.sum()), total, what)
        if strategy == "add_returned":  # every counter handed out 0, 1, 2, ... once each
            handed = (left * (left - np.uint64(1)) // np.uint64(2))[left > 0].sum()
            expect(self.executor.read(sums), int(handed), f"values returned by {what}")

    def _clock(self):
        executor = self.executor
        ticks = executor.zeros(1, np.int64)

        def run(cycles):
            self.module["count_cycles"](1, 32, passed=ticks, cycles=np.int64(cycles))

        def sample():
            few, many = self.repeats((10, 20), (200_000, 2_200_000))
            seconds = self.slope(run, few, many)
            expect(many <= executor.read(ticks) < many + self.repeats(10_000, 10_000), True, "cycles counted")
            return Sample(None if self.host else 1e-6 / seconds, many - few, "exact")

        return Case("clocks", "clock", "MHz", "count_cycles", {}, sample)

    # ---- copies

    def copies(self):
        """Bandwidth of a copy on the device (bytes read plus written), from and to pinned host memory."""
        for direction in ("device", "to-device", "to-host"):
            size = 64 * KB if self.host else 256 * MB if self.quick or direction != "device" else GB
            yield self._copy(direction, size)

    def _copy(self, direction, size):
        executor, words = self.executor, size // 8

        @functools.cache
        def setup():
            near, far = executor.array(np.arange(words, dtype=np.uint64)), executor.zeros(words, np.uint64)
            pinned = executor.pinned(words, np.uint64)
            pinned[...] = np.arange(words, dtype=np.uint64)
            return near, far, pinned

        def run():
            near, far, pinned = setup()
            if direction == "device":
                executor.copy(far, near)
            elif direction == "to-device":
                executor.copy(far, pinned)
            else:
                executor.fetch(pinned, near)

        def sample():
            near, far, pinned = setup()
            run()
            if direction == "to-host":
                executor.synchronize()
                pinned[...] = 0
            else:
                far[...] = 0
            with executor.timer() as t:
                run()
            right = (pinned == np.arange(words, dtype=np.uint64)) if direction == "to-host" else (far == near)
            expect(bool(right.all()), True, f"copy {direction}")
            moved = size * (2 if direction == "device" else 1)
            return Sample(None if self.host else moved / t.device_ms / 1e6, 1, "exact")

        return Case("copy", "bandwidth", "GB/s", "copy", {"direction": direction, "bytes": size}, sample)
