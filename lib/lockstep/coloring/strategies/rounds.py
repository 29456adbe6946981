"""Strategies in rounds: the slides', their controls, the ladder while it has rounds; see rounds.cu."""

import copy
from dataclasses import dataclass

import numpy as np

from lockstep.plan import Skip

from . import switching
from .shared import DevicePlan, OnDevice

SLOTS, SLOT = 4096, 2  # slots for round reports in rounds.cu, and the words of each
RANDOM, DEGREE, LARGEST = range(3)
MANY = 30  # rounds.cu: with BINS, one warp per vertex of at least this degree

_int = np.int32


@dataclass(frozen=True)
class RoundsOptions(OnDevice):
    """Options of strategies in rounds.

    Attributes
    ----------
    count : bool
        Count what lanes, warps and workgroups read, round by round, in `samples` (see `experiments.balance`).
    """

    count: bool = False


@dataclass(frozen=True)
class HybridOptions(RoundsOptions):
    """Options of `hybrid`.

    Attributes
    ----------
    switch : int, str or Switch
        When random numbers replace degrees; see `switching.of`.
    """

    switch: object = "auto"

    def __post_init__(self):
        super().__post_init__()
        switching.of(self.switch)


class Rounds(DevicePlan):
    """A launch a round; the host reads how many were colored."""

    Options = RoundsOptions
    file, defines = "rounds.cu", {"SMALLEST": 0, "WORK": 0}
    rule, first_phase = RANDOM, False

    def build(self):
        if self.options.count:
            self.defines = {**self.defines, "WORK": 1}
            self.samples = []
        super().build()

    def load(self):
        self.stamp = self.words(self.graph.n)
        self.progress = self.words(SLOT * SLOTS, 0, np.uint32)
        self.none, self.zero = self.words(self.graph.n, -1), self.words(SLOT * SLOTS, 0, np.uint32)
        self.blocks = -(-self.graph.n // self.threads)
        self.bind("one_round")
        # A rule's degree statistics are computed before timing starts, as in the slides.
        self.started = self.switch().start(self.graph, self.executor) if self.first_phase else None

    def switch(self):
        """The rule that ends the phase by degree."""
        return switching.of(self.options.switch)

    def reset(self):
        for array in (self.colors, self.stamp):
            self.executor.copy(array, self.none)
        self.executor.copy(self.progress, self.zero)

    def bind(self, kernel, **more):
        """Bind a round as a step; its arguments are rule, number, color and whether it reports degrees."""
        self.work = self.words(4 * self.blocks * self.threads // 32, 0) if self.options.count else self.words(1)
        loop = self.kernels[kernel].loop(
            self.threads, shared=16, offsets=self.offsets, targets=self.targets, n=_int(self.graph.n),
            seed=np.uint32(self.seed), colors=self.colors, stamp=self.stamp, progress=self.progress, work=self.work,
            **more,
        )  # fmt: skip
        self.step = self.executor.step_by_part(loop, self.progress, SLOT)

    def round(self, rule, iteration, color, watch):
        """Launch one iteration. Returns the number of vertices colored and, with `watch`, the highest degree left
        and whether a vertex of that degree is tied.
        """
        colored, highest = self.step(
            self.blocks, _int(rule), _int(iteration), _int(color), _int(watch), part=iteration % SLOTS
        ).tolist()
        if self.options.count:
            self.samples.append(self.executor.get(self.work).reshape(-1, 4))
            self.work.fill(0)
        return colored, highest >> 1, bool(highest & 1)

    def run(self):
        left, iteration, color, active = self.graph.n, 0, 0, []
        switch = copy.copy(self.started)
        stats = {}
        while left:
            if iteration and iteration % SLOTS == 0:
                self.executor.copy(self.progress, self.zero)
            rule = self.rule
            if switch:
                rule = DEGREE
                if switch.now(iteration):
                    stats["switched"], switch, rule = iteration, None, self.rule
            watch = switch is not None and switch.watches
            active.append(left)
            colored, highest, tied = self.round(rule, iteration, color, watch)
            if switch and (colored == 0 or switch.after(left, colored, highest, tied)):
                stats.update({"switched": iteration + 1, "left": left - colored})
                switch = None
            left, iteration, color = left - colored, iteration + 1, color + (colored > 0)
        if self.first_phase:
            stats.setdefault("switched", iteration)
            stats.setdefault("left", 0 if stats["switched"] >= iteration else active[stats["switched"]])
        return self.colored(active, rounds=iteration, **stats)


class Randomized(Rounds):
    """Local maxima of random numbers get the round's color."""


class Hybrid(Rounds):
    """Rounds by degree at first, then by random numbers."""

    Options = HybridOptions
    first_phase = True


class Degree(Hybrid):
    """Rounds by degree until one colors nothing, then by random numbers."""

    Options = RoundsOptions
    per_block = 128  # by part tuning on an H100

    def switch(self):
        return switching.Never()


class Stealing(Rounds):
    """Persistent workgroups, a queue each; one that is idle steals."""

    def load(self):
        super().load()
        chunks = self.blocks
        self.blocks = self.resident_blocks(self.kernels["stealing"], 16, chunks)
        first = np.arange(self.blocks + 1) * chunks // self.blocks
        if chunks / self.blocks >= 2**15:
            raise Skip(
                f"{self.problem.name} has {self.graph.n:,} vertices; the queues of this "
                f"machine's {self.blocks} workgroups hold {(2**15 - 1) * self.threads * self.blocks:,}"
            )
        # For even and odd rounds: a queue for each workgroup, then how many have been taken from all.
        full = np.zeros((2, self.blocks + 1), np.uint32)
        full[0, :-1] = np.diff(first).astype(np.uint32) << 16
        self.full = self.executor.array(full.ravel())
        self.queues, self.traffic = self.words(full.size, 0, np.uint32), self.words(4, 0, np.uint32)
        self.bind("stealing", queues=self.queues, traffic=self.traffic)

    def reset(self):
        super().reset()
        self.executor.copy(self.queues, self.full)
        self.executor.copy(self.traffic, self.zero[:4])

    def queue_traffic(self):
        """Queue statistics of the last run: chunks popped, stolen, lost to another workgroup, reads of a
        queue.
        """
        return dict(zip(("pops", "steals", "lost", "looks"), self.executor.get(self.traffic).tolist(), strict=True))


class Queues(Stealing):
    """`stealing` without thefts."""

    defines = {"SMALLEST": 0, "WORK": 0, "STEAL": 0}


class Staying(Stealing):
    """`stealing` without queues."""

    defines = {"SMALLEST": 0, "WORK": 0, "QUEUE": 0}


class Smallest(Rounds):
    """`randomized`, but each takes the smallest free color."""

    defines = {"SMALLEST": 1, "WORK": 0}


class Largest(Smallest):
    """`smallest`, the largest degree first."""

    rule = LARGEST


class Resident(DevicePlan):
    """`largest` in one cooperative kernel."""

    file, defines = "rounds.cu", {"SMALLEST": 1, "WORK": 0}
    per_block = 1024  # by part tuning on an H100
    slots, bins = 8, False

    def load(self):
        self.stamp, self.none = self.words(self.graph.n), self.words(self.graph.n, -1)
        self.progress, self.barrier = self.words(SLOT * self.slots, 0, np.uint32), self.words(4, 0, np.uint32)
        self.zero = self.words(SLOT * self.slots, 0, np.uint32)
        self.big = self.words((self.graph.out_degrees() >= MANY).sum() if self.bins else 0)
        self.rounds = self.words(1)
        self.kernel, self.shared = self.kernels["resident"], self.threads * 4
        self.blocks = self.resident_blocks(self.kernel, self.shared, -(-self.graph.n // self.threads))
        self.launch = self.kernel.bind(
            self.blocks, self.threads, shared=self.shared, cooperative=True, offsets=self.offsets,
            targets=self.targets, n=_int(self.graph.n), seed=np.uint32(self.seed), rule=_int(LARGEST),
            colors=self.colors, stamp=self.stamp, progress=self.progress, slots=_int(self.slots),
            barrier=self.barrier, big=self.big, rounds=self.rounds,
        )  # fmt: skip

    def reset(self):
        for array in (self.colors, self.stamp):
            self.executor.copy(array, self.none)
        self.executor.copy(self.progress, self.zero)
        self.executor.copy(self.barrier, self.zero[:4])

    def run(self):
        self.launch()
        return self.colored([self.graph.n])


class Binned(Resident):
    """`resident`, with a warp for each vertex of high degree."""

    per_block = 256
    defines, bins = {"SMALLEST": 1, "WORK": 0, "BINS": 1}, True
