"""The paper's strategies, and the two that follow from them: all vertices in every round; see paper.cu."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .shared import DevicePlan, OnDevice, road_delta

MOST_SWEEPS = 1 << 20  # of a block in one launch of the semaphores: bounds livelock of racing blocks
LOOKS = 3  # quiet counts in a row that close a layer
_int = np.int32


class Paper(DevicePlan):
    """The strategies of paper.cu, which scan every vertex in every round."""

    file = "paper.cu"

    def default_delta(self):
        return road_delta(self.problem)

    def load(self):
        ex, size = self.executor, max(self.problem.graph.n, 1)
        self.module = self.kernels()
        self.begin = self.module["begin"]
        next_bucket = self.module["next_bucket"].loop(self.threads, n=self.n, lowest=self.lowest)
        self.next_bucket = ex.step(next_bucket, self.lowest[:1])
        self.active, self.next = ex.empty(size, _int), ex.empty(size, _int)
        self.second = ex.empty(size, self.problem.dtype) if self.both_ways else None
        self.blocks = -(-size // self.threads)

    def start(self):
        self.begin(
            self.blocks, self.threads, n=self.n, source=_int(self.problem.source), dist=self.dist, second=self.second,
            active=self.active, next=self.next, control=self.control, lowest=self.lowest,
        )  # fmt: skip

    def lowest_pending(self, dist, active, least=0):
        """Smallest distance, from `least` on, of a pending vertex, read by the host; None without any."""
        least = self.problem.dtype.type(least)
        low = self.next_bucket(self.blocks, dist, active, least).item()
        return None if low >= self.problem.infinity else low


class Atomic(Paper):
    def load(self):
        super().load()
        relax = self.module["relax_atomic"].loop(
            self.threads, offsets=self.offsets, arcs=self.arcs, n=self.n, dist=self.dist, limit=self.limit,
            control=self.control, lowest=self.lowest,
        )  # fmt: skip
        self.relax = self.executor.step(relax, self.control[:4])

    def run(self):
        relax = self.relax
        self.start()
        active, following, end, rounds, buckets = self.active, self.next, self.sum(0), 0, 1
        while True:
            control = relax(self.blocks, active, following, end, _int(rounds))
            active, following, rounds = following, active, rounds + 1
            if control[(rounds - 1) % 3]:
                continue
            low = self.lowest_pending(self.dist, active)
            if low is None:
                break
            end, buckets = self.sum(low), buckets + 1
        self.overflowed(control[3])
        return self.result(self.raw(), rounds=rounds, buckets=buckets)


@dataclass(frozen=True)
class BarrierOptions(OnDevice):
    """Options of `barrier`.

    Attributes
    ----------
    copies : {"flag", "distances"}
        What is read back after each round; all distances: another reading of the paper.
    """

    copies: Literal["flag", "distances"] = "flag"


class Barrier(Paper):
    """One writer a vertex reduces its candidates."""

    Options = BarrierOptions
    threads = 512  # by part tuning on an H100
    both_ways = True

    def load(self):
        super().load()
        pull = self.module["pull"].loop(
            self.threads, offsets=self.in_offsets, arcs=self.in_arcs, n=self.n, limit=self.limit,
            control=self.control, lowest=self.lowest,
        )  # fmt: skip
        self.pull = self.executor.step(pull, self.control[:4])

    def run(self):
        pull = self.pull
        self.start()
        old, fresh, active, following = self.dist, self.second, self.active, self.next
        end, rounds, buckets = self.sum(0), 0, 1
        while True:
            control = pull(self.blocks, old, fresh, active, following, end, _int(rounds))
            old, fresh, active, following, rounds = fresh, old, following, active, rounds + 1
            if self.options.copies == "distances":
                self.executor.get(old)
            if control[(rounds - 1) % 3]:
                continue
            low = self.lowest_pending(old, active)
            if low is None:
                break
            end, buckets = self.sum(low), buckets + 1
        self.overflowed(control[3])
        return self.result(self.raw(old), rounds=rounds, buckets=buckets)


class Fence(Paper):
    both_ways = True

    def run(self):
        kernel = self.module["pull_rounds"]
        blocks = self.resident(kernel, min(self.blocks, 8 * self.executor.multiprocessors))
        self.start()
        kernel(
            blocks, self.threads, cooperative=True, offsets=self.in_offsets, arcs=self.in_arcs, n=self.n,
            old=self.dist, fresh=self.second, active=self.active, next=self.next, delta=self.width, limit=self.limit,
            control=self.control, lowest=self.lowest, barrier=self.barrier,
        )  # fmt: skip
        control = self.executor.get(self.control)
        self.overflowed(control[3])
        return self.result(self.raw(self.second if control[5] % 2 else self.dist), rounds=int(control[5]))


class Persistent(Paper):
    def run(self):
        kernel = self.module["persistent"]
        blocks = self.resident(kernel, min(self.blocks, 4 * self.executor.multiprocessors))
        self.start()
        kernel(
            blocks, self.threads, cooperative=True, offsets=self.offsets, arcs=self.arcs, n=self.n, dist=self.dist,
            active=self.active, next=self.next, delta=self.width, limit=self.limit, control=self.control,
            lowest=self.lowest, barrier=self.barrier,
        )  # fmt: skip
        control = self.executor.get(self.control)
        self.overflowed(control[3])
        return self.result(self.raw(), rounds=int(control[5]))


@dataclass(frozen=True)
class SemaphoresOptions(OnDevice):
    """Options of `semaphores` and `checked`.

    Attributes
    ----------
    layers : int
        Of semaphores, at least 1.
    reading : {"all", "pending", "relaunch"}
        Readings of the paper: a later layer first sweeps all vertices, or only pending ones; or a block exits when its
        semaphore is off, and the kernel is relaunched while more than p are on.
    looks : int
        Quiet counts in a row that close a layer.
    blocks : int, optional
    """

    layers: int = 2
    reading: Literal["all", "pending", "relaunch"] = "all"
    looks: int = LOOKS
    blocks: int | None = None

    def __post_init__(self):
        super().__post_init__()
        if self.layers < 1:
            raise ValueError(f"layers is {self.layers}; expected a whole number from 1")


class Semaphores(Paper):
    """No atomics and no barrier: a Boolean a block, in layers."""

    Options = SemaphoresOptions
    checked = False

    def load(self):
        super().load()
        kernel = self.module["semaphores"]
        self.layers = int(self.options.layers)
        wanted = self.options.blocks or min(self.blocks, 8 * self.executor.multiprocessors)
        self.resident_blocks = self.resident(kernel, min(max(self.problem.graph.n, 1), wanted))
        blocks, layers = self.resident_blocks, self.layers
        # p1 > p2 > ... >= 0: an eighth of the blocks, halved per layer; 0 for the last: all semaphores off.
        limits = [max(blocks >> (3 + layer), layers - 1 - layer) for layer in range(layers - 1)] + [0]
        self.limits, self.thresholds = limits, self.executor.array(np.array(limits, _int))
        self.modified = self.executor.empty(layers * (blocks + 1), _int)
        self.reading, self.looks = self.options.reading, self.options.looks
        self.semaphores = kernel.loop(
            self.threads, cooperative=True, offsets=self.offsets, arcs=self.arcs, n=self.n, dist=self.dist,
            pending=self.active, thresholds=self.thresholds, limit=self.limit, most_sweeps=_int(MOST_SWEEPS),
            control=self.control,
        )  # fmt: skip
        self.raise_all = self.module["raise_semaphores"].loop(
            self.threads, blocks=_int(blocks), layers=_int(layers), modified=self.modified
        )
        count_raised = self.module["count_semaphores"].loop(self.threads, blocks=_int(blocks), control=self.control)
        self.count_raised = self.executor.step(count_raised, self.control[6:7], self.control[6:7])

    def sweep(self, end, modified, layers, whole, looks):
        self.semaphores(self.resident_blocks, modified, _int(layers), _int(whole), end, _int(looks))

    def launch(self, end):
        """One bucket: all layers, in one launch, or (reading "relaunch") in as many as it takes."""
        blocks, words = self.resident_blocks, self.modified.size
        self.raise_all(-(-words // self.threads))
        if self.reading != "relaunch":
            self.sweep(end, self.modified, self.layers, self.reading == "all", self.looks)
            return
        for layer, limit in enumerate(self.limits):
            modified = self.modified[layer * (blocks + 1) : (layer + 1) * (blocks + 1)]
            self.sweep(end, modified, 1, 2 * (layer > 0), 0)
            while self.count_raised(1, modified)[0] > limit:
                self.sweep(end, modified, 1, 0, 0)

    def run(self):
        self.start()
        buckets, repairs, failing = 0, 0, []
        end = self.sum(0)
        while True:
            self.launch(end)
            buckets += 1
            if self.problem.infinity > end:
                # Vertices still pending below the bucket's end are abandoned, as in the paper.
                low = self.waiting(end)
                if low is not None:
                    end = self.sum(low)
                    continue
            control = self.examine() if self.checked else self.executor.get(self.control)
            self.overflowed(control[3])
            if control[4]:
                raise RuntimeError(f"{self.strategy.name}: a block swept {MOST_SWEEPS} times without an end")
            if not self.checked:
                break
            failing.append(int(control[6]))
            if failing[-1] == 0:
                break
            repairs, end = repairs + 1, self.problem.distance(np.inf)
        stats = {"repairs": repairs, "failing": failing} if self.checked else {}
        return self.result(
            self.raw(), buckets=buckets, layers=self.layers, sweeps=int(control[5]), blocks=self.resident_blocks,
            **stats,
        )  # fmt: skip

    def waiting(self, end):
        """Smallest distance of a pending vertex at or beyond the bucket's end; None without any."""
        self.lowest[:1].fill(self.problem.infinity)
        return self.lowest_pending(self.dist, self.active, end)

    def examine(self):
        """Count and mark as pending the vertices from which an arc can still be relaxed."""
        self.control[6:7].fill(0)
        self.module["check"](
            self.blocks, self.threads, offsets=self.offsets, arcs=self.arcs, n=self.n, dist=self.dist,
            pending=self.active, control=self.control,
        )  # fmt: skip
        return self.executor.get(self.control)


class Checked(Semaphores):
    """Semaphores, then a pass that finds arcs left to relax, until there are none."""

    checked = True
