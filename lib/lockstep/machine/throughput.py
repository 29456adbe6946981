"""Study 0's throughput cases: atomics by threads and addresses, the SM clock, copies."""

import functools

import numpy as np

from .cases import Case, Sample, expect

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
COUNTERS = (1, 32, 1 * KB, 1 * MB, 16 * MB, 64 * MB)  # one, few, 4 KB, 4 MB, 64 MB, 256 MB


class Throughput:
    """Mixin of `Bench`, which provides the executor, the module and timing."""

    def atomics(self):
        """Atomics per second against threads and addresses (the first paper's Figure 9), and the SM clock."""
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
                # Rounds for about 1 ms; the second launch has twice as many.
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
