"""The cases of study 0: the operation repeated, the estimate of its cost, and the check of its result.

A sample, except of a copy, is the time of many minus that of few repeats of an operation, so that launch
overhead, ramp and drain cancel. Samples check the result of the repeats, where the kernel has one, against
its expected value.
"""

import functools
import itertools
from pathlib import Path

import numpy as np

from .cases import Case, Sample, VerificationFailed, expect  # noqa: F401 (a case and its errors under one name)
from .throughput import GB, KB, MB, Throughput

SOURCE = Path(__file__).with_name("costs.cu")
PARTS = ("launches", "barriers", "accesses", "atomics", "copies")
LINE = 32  # 4-byte words of a 128-byte cache line: rings have one cell per line
LOADS = (("walk_l1", 16 * KB, "L1"), ("walk_l2", KB, "L2"), ("walk_l2", MB, "L2"), ("walk_l2", 16 * MB, "L2"),
         ("walk_l2", 256 * MB, "HBM"), ("walk_l2", 2 * GB, "HBM"),
         ("walk_shared", 16 * KB, "shared"))  # fmt: skip
ATOMICS = (("walk_atomic", KB, "L2"), ("walk_atomic", 4 * MB, "L2"), ("walk_atomic", 16 * MB, "L2"),
           ("walk_atomic", 256 * MB, "HBM"), ("walk_atomic_shared", KB, "shared"))  # fmt: skip
PLACES = 64  # addresses that a barrier's state or a small ring takes in turn
PAGE = 4 * KB // 4  # words of 4 KB: adjacent lines share a half of L2, pages may not
SECONDS = {"s": 1.0, "us": 1e6, "ns": 1e9}


class Bench(Throughput):
    """The cases of one executor. The emulator runs them with few repeats, checked and untimed."""

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
        """Seconds per round of `run(rounds)`; None on the emulator.

        Device time, or wall time if the host's share is measured (`host_bound`).
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
        """Device time (ms) of what `run` launches, excluding launch latency, which a lead kernel hides."""
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

        `setup()` returns `run(rounds)` and `check(done)`, which raises if the result of `done` rounds in all is
        wrong. `rounds` is (few, many); `warm` rounds (default: few) precede them, because cases run since the last
        sample have evicted the caches.
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
        """Offsets in a random cycle, each used three times: L2 latency depends on the address's L2 half."""
        order = np.random.default_rng(3).permutation(PLACES) * pitch
        return itertools.cycle(int(at) for at in order for _ in range(3))  # warm, few, many

    def _grids(self, most):
        wide = self.executor.multiprocessors
        sizes = {1, 8, wide} if self.quick else {1, 2, 4, 8, 16, 32, 64, wide, 2 * wide, 4 * wide, most}
        return sorted(s for s in sizes if s <= (min(most, 8) if self.host else most))

    # ---- dependent loads and atomics

    def accesses(self):
        """Latency of dependent loads and atomics against the size of the working set."""
        for strategy, size, memory in LOADS:
            if self._fits(size):
                yield self._walk("dependent-load", strategy, size, memory)
        for strategy, size, memory in ATOMICS:
            if self._fits(size):
                yield self._walk("dependent-atomic", strategy, size, memory)

    def _fits(self, size):
        return size <= (64 * KB if self.host else 256 * MB if self.quick else 2 * GB)

    def _walk(self, experiment, strategy, size, memory):
        """Pointer chasing on a random ring, resumed where the last walk ended: rings larger than L2 miss in it."""
        executor, words = self.executor, size // 4
        atomic = experiment == "dependent-atomic"

        def setup():
            order = np.random.default_rng(1).permutation(words // LINE).astype(np.uint32) * np.uint32(LINE)
            # A small ring lies in one half of the L2 cache, near to or far from the thread's SM: samples use
            # different ones of 64 rings.
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
                if atomic:  # each visit adds `words` to a cell whose index part is below `words`
                    visits = int((cells[::LINE] // np.uint32(words)).sum())
                    expect(visits, at[0], f"visits of a walk in {memory}")

            return run, check

        rounds = self.repeats((3, 40), (1000, 11000))
        # Rings that fit a cache are walked twice before the timed rounds.
        warm = None if memory in ("HBM", "shared") else max(rounds[0], 2 * words // LINE)
        parameters = {"memory": memory, "bytes": size}
        return self.latency(experiment, strategy, parameters, "ns", rounds, setup, warm=warm)
