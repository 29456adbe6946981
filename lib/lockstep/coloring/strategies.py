"""The strategies: what each is, and the host side of those that run kernels.

A plan is a strategy made ready for one graph on one machine: `prepare` puts work arrays back, `run` colors. Timing covers
`run` alone, for CPU and GPU alike; the graph and the memory are there before, and the colors stay on the device.
"""

import hashlib
import inspect
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lockstep.graphs import GraphError
from lockstep.machine import source_digest

from . import oracle, switching
from .result import Coloring

KERNELS = Path(__file__).parent / "kernels"
SLOTS, SLOT = 4096, 4  # rounds that rounds.cu reports side by side, and the words of each
COLORED, HIGHEST, YIELD = 0, 1, 2
RANDOM, DEGREE, LARGEST = range(3)
FEW = 30  # waiting.cu: a vertex of lower degree is a lane's
CLASSES = 256

_int = np.int32


class Plan:
    """A strategy made ready for one graph.

    Parameters
    ----------
    graph : Graph
        Undirected, each neighbor once (`neighbors`).
    executor : Executor or None
        None for strategies of the CPU.
    seed : int
        Of the random numbers.
    switch : Switch
        When `hybrid` leaves its first phase.
    """

    name = ""
    file = ""
    defines: dict = {}

    def __init__(self, graph, executor=None, seed=0, switch=None):
        self.graph, self.executor, self.seed = graph, executor, seed
        self.switch = switch or switching.Auto()

    def prepare(self):
        """Put the work arrays back as they were; not timed."""

    def run(self):
        """Color; returns a Coloring."""
        raise NotImplementedError

    @classmethod
    def digest(cls):
        """Digest of the device text and of the host code that decide this strategy's result and time."""
        host = "".join(inspect.getsource(c) for c in cls.__mro__ if c is not object)
        if not cls.file:
            return hashlib.sha256(" ".join(host.split()).encode()).hexdigest()[:16]
        return source_digest(KERNELS / cls.file, cls.defines, extra=(host, *cls.extra()))

    @classmethod
    def extra(cls):
        """Further text that decides."""
        return ()


# -- CPU -------------------------------------------------------------------------------------------------------------------


class Greedy(Plan):
    name = "greedy"

    def __init__(self, graph, executor=None, seed=0, switch=None):
        super().__init__(graph, None, seed)
        self.degrees = graph.out_degrees()
        self.mark = np.empty(int(self.degrees.max(initial=0)) + 2, np.int64)

    def run(self):
        order = np.argsort(-self.degrees, kind="stable")
        colors = np.empty(self.graph.n, _int)
        self.mark[:] = -1
        oracle._greedy(self.graph.offsets, self.graph.targets, order, colors, self.mark)
        return Coloring(colors, self.name, [self.graph.n])


class NetworkX(Plan):
    name = "networkx"

    def __init__(self, graph, executor=None, seed=0, switch=None):
        super().__init__(graph, None, seed)
        self.converted = graph.to_networkx()

    def run(self):
        import networkx as nx

        colors = nx.greedy_color(self.converted, strategy="largest_first")
        return Coloring(np.array([colors[v] for v in range(self.graph.n)], _int), self.name, [self.graph.n])


class Igraph(Plan):
    name = "igraph"

    def __init__(self, graph, executor=None, seed=0, switch=None):
        import igraph

        super().__init__(graph, None, seed)
        self.converted = igraph.Graph(n=graph.n, edges=np.column_stack(graph.edges(once=True)))

    def run(self):
        colors = self.converted.vertex_coloring_greedy() if self.graph.n else []
        return Coloring(np.array(colors, _int), self.name, [self.graph.n])


# -- GPU: rounds -----------------------------------------------------------------------------------------------------------


class DevicePlan(Plan):
    """What the strategies on the GPU share: the graph there, and how the colors come back."""

    per_block = 256  # threads; on the hypothetical GPU two warps, for threads there are no faster than one

    def __init__(self, graph, executor, seed=0, switch=None):
        super().__init__(graph, executor, seed, switch)
        if max(graph.n, graph.m) >= 2**31 - 2**20:
            raise GraphError(f"{graph.name or 'the graph'} has {graph.n:,} vertices and {graph.m:,} arcs; the GPU strategies "
                             "take fewer than 2^31 of each: use strategy='greedy'")  # fmt: skip
        self.threads = self.per_block if executor.name == "cuda" else 64
        self.offsets = executor.array(graph.offsets.astype(_int))
        self.targets = self.words(graph.m) if graph.m == 0 else executor.array(graph.targets.astype(_int, copy=False))
        self.colors = self.words(graph.n)
        self.kernels = executor.load(KERNELS / self.file, self.defines)
        self.load()

    def words(self, size, value=None, dtype=_int):
        """A device array of at least one word."""
        size = max(int(size), 1)
        return self.executor.empty(size, dtype) if value is None else self.executor.full(size, value, dtype)

    def load(self):
        """Take kernels, allocate work arrays."""

    def resident_blocks(self, kernel, shared, useful):
        """Blocks of a cooperative launch: no more than are useful or alive together; a few on the hypothetical GPU."""
        most = kernel.max_blocks(self.threads, shared)
        if self.executor.name == "host":
            most = min(most, 2 * self.executor.multiprocessors)
        return max(1, min(most, useful))

    def result(self, active, **stats):
        """The outcome; the colors stay on the device until somebody asks for them."""
        colors, get, n = self.colors, self.executor.get, self.graph.n
        return Coloring(lambda: get(colors)[:n], self.name, active, stats)


class Rounds(DevicePlan):
    """A launch a round; the host reads how many were colored."""

    file, defines = "rounds.cu", {"SMALLEST": 0, "WORK": 0}
    rule, first_phase = RANDOM, False

    def load(self):
        self.stamp = self.words(self.graph.n)
        self.progress = self.words(SLOT * SLOTS, 0, np.uint32)
        self.none, self.zero = self.words(self.graph.n, -1), self.words(SLOT * SLOTS, 0, np.uint32)
        self.blocks = -(-self.graph.n // self.threads)
        self.work = self.words(1)
        self.kernel = self.kernels["one_round"]

    def prepare(self):
        for array in (self.colors, self.stamp):
            self.executor.copy(array, self.none)
        self.executor.copy(self.progress, self.zero)

    def launch(self, rule, turn, color, watch):
        self.kernel(self.blocks, self.threads, (
            self.offsets, self.targets, _int(self.graph.n), np.uint32(self.seed), _int(rule), _int(turn), _int(color),
            _int(watch), self.colors, self.stamp, self.progress, self.work))  # fmt: skip

    def report(self, turn, watch):
        """What round `turn` reports: vertices colored; if watched also the highest degree left and a random round's yield."""
        at = SLOT * (turn % SLOTS)
        if not watch:
            return self.executor.read(self.progress, at), 0, 0.0
        words = self.executor.get(self.progress[at : at + SLOT])
        return int(words[COLORED]), int(words[HIGHEST]), int(words[YIELD:].view(np.uint64)[0]) / 65536

    def run(self):
        left, turn, color, active = self.graph.n, 0, 0, []
        switch = self.switch.start(self.graph, self.executor) if self.first_phase else None
        stats = {}
        while left:
            if turn and turn % SLOTS == 0:
                self.executor.copy(self.progress, self.zero)
            rule = self.rule
            if switch:
                rule = DEGREE
                if switch.now(turn):
                    stats["switched"], switch, rule = turn, None, self.rule
            watch = switch is not None and switch.watches
            self.launch(rule, turn, color, watch)
            active.append(left)
            colored, highest, likely = self.report(turn, watch)
            if switch and (colored == 0 or switch.after(left, colored, highest, likely)):
                stats.update({"switched": turn + 1, "left": left - colored})
                switch = None
            left, turn, color = left - colored, turn + 1, color + (colored > 0)
        if self.first_phase:
            stats.setdefault("switched", turn)
            stats.setdefault("left", 0 if stats["switched"] >= turn else active[stats["switched"]])
        return self.result(active, rounds=turn, **stats)


class Randomized(Rounds):
    name = "randomized"


class Hybrid(Rounds):
    name, first_phase = "hybrid", True

    @classmethod
    def extra(cls):
        return (inspect.getsource(switching),)


class Degree(Hybrid):
    name = "degree"

    def __init__(self, graph, executor, seed=0, switch=None):
        super().__init__(graph, executor, seed, switching.Never())


class Stealing(Rounds):
    name = "stealing"

    def load(self):
        super().load()
        self.kernel = self.kernels["stealing"]
        chunks = self.blocks
        self.blocks = self.resident_blocks(self.kernel, 16, chunks)
        share = -(-chunks // self.blocks)
        if share >= 2**15:
            raise GraphError(f"{self.graph.name or 'the graph'} has {self.graph.n:,} vertices; the queues of this machine's "
                             f"{self.blocks} workgroups hold {(2**15 - 1) * self.threads * self.blocks:,}")  # fmt: skip
        full = np.zeros(2 * self.blocks, np.uint32)
        full[: self.blocks] = np.clip(chunks - share * np.arange(self.blocks), 0, share).astype(np.uint32) << 16
        self.full = self.executor.array(full)
        self.queues, self.traffic = self.words(full.size, 0, np.uint32), self.words(4, 0, np.uint32)

    def prepare(self):
        super().prepare()
        self.executor.copy(self.queues, self.full)
        self.executor.copy(self.traffic, self.zero[:4])

    def launch(self, rule, turn, color, watch):
        self.kernel(self.blocks, self.threads, (
            self.offsets, self.targets, _int(self.graph.n), np.uint32(self.seed), _int(rule), _int(turn), _int(color),
            _int(watch), self.colors, self.stamp, self.progress, self.work, self.queues, self.traffic),
            shared=16)  # fmt: skip

    def queue_traffic(self):
        """What the queues did in the last run: chunks popped, stolen, lost to somebody else, looks at a queue."""
        return dict(zip(("pops", "steals", "lost", "looks"), self.executor.get(self.traffic).tolist(), strict=True))


class Queues(Stealing):
    name, defines = "queues", {"SMALLEST": 0, "WORK": 0, "STEAL": 0}


class Staying(Stealing):
    name, defines = "staying", {"SMALLEST": 0, "WORK": 0, "QUEUE": 0}


class Smallest(Rounds):
    name, defines = "smallest", {"SMALLEST": 1, "WORK": 0}


class Largest(Smallest):
    name, rule = "largest", LARGEST


class Resident(DevicePlan):
    name, file, defines = "resident", "rounds.cu", {"SMALLEST": 1, "WORK": 0}
    slots, bins = 8, False

    def load(self):
        self.stamp, self.none = self.words(self.graph.n), self.words(self.graph.n, -1)
        self.progress, self.barrier = self.words(SLOT * self.slots, 0, np.uint32), self.words(4, 0, np.uint32)
        self.zero = self.words(SLOT * self.slots, 0, np.uint32)
        self.big = self.words((self.graph.out_degrees() >= FEW).sum() if self.bins else 0)
        self.rounds = self.words(1)
        self.kernel, self.shared = self.kernels["resident"], self.threads * 4
        self.blocks = self.resident_blocks(self.kernel, self.shared, -(-self.graph.n // self.threads))

    def prepare(self):
        for array in (self.colors, self.stamp):
            self.executor.copy(array, self.none)
        self.executor.copy(self.progress, self.zero)
        self.executor.copy(self.barrier, self.zero[:4])

    def run(self):
        self.kernel(self.blocks, self.threads, (
            self.offsets, self.targets, _int(self.graph.n), np.uint32(self.seed), _int(LARGEST), self.colors, self.stamp,
            self.progress, _int(self.slots), self.barrier, self.big, self.rounds),
            shared=self.shared, cooperative=True)  # fmt: skip
        return self.result([self.graph.n])


class Binned(Resident):
    name, defines, bins = "binned", {"SMALLEST": 1, "WORK": 0, "BINS": 1}, True


# -- GPU: waiting ----------------------------------------------------------------------------------------------------------


class Waiting(DevicePlan):
    name, file = "waiting", "waiting.cu"
    defines = {"EARLY": 0, "THREADS": 512}
    per_block = 512
    hub, segment = 1024, 1024

    def __init__(self, graph, executor, seed=0, switch=None):
        if executor.name == "host":  # small blocks, and little patience, so that few vertices show every path
            self.defines = {**self.defines, "THREADS": 64, "PATIENCE": 20, "HUB": 96, "SEGMENT": 64}
            self.hub, self.segment = 96, 64
        super().__init__(graph, executor, seed, switch)

    def load(self):
        n, m = self.graph.n, self.graph.m
        self.kernel = self.kernels["waiting"]
        self.shared = 4 * (self.threads + CLASSES)
        self.blocks = self.resident_blocks(self.kernel, self.shared, -(-n // self.threads))
        warps = self.blocks * self.threads // 32
        big = int((self.graph.out_degrees() >= FEW).sum())
        self.rank, self.state = self.words(n, dtype=np.uint8), self.words(n)
        self.up, self.count, self.next = self.words(m if big else 0), self.words(n if big else 0), self.words(n if big else 0)
        self.small = self.words(4 * 32 * warps * -(-n // (32 * warps)))
        self.big, self.sorted = self.words(big), self.words(big)
        self.hubs = self.words(2 * (m // self.segment + m // self.hub + 1))
        self.control = self.words(8 + 2 * CLASSES, 0, np.uint32)

    def run(self):
        self.kernel(self.blocks, self.threads, (
            self.offsets, self.targets, _int(self.graph.n), np.uint32(self.seed), self.rank, self.up, self.count, self.next,
            self.small, self.big, self.sorted, self.hubs, self.control, self.state, self.colors),
            shared=self.shared, cooperative=True)  # fmt: skip
        return self.result([self.graph.n])


class Early(Waiting):
    name, defines = "early", {"EARLY": 1, "THREADS": 512}


# -- the table -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strategy:
    """What a strategy is.

    Attributes
    ----------
    name, what : str
        Its name and, in a sentence, what it does.
    family : {'cpu', 'published', 'control', 'ladder'}
    published : str
        Where it comes from.
    plan : type
    smallest : bool
        Takes the smallest free color: never more colors than the largest degree plus one.
    by_priority : bool
        Its colors are those of a greedy loop in the ladder's order of priority, bit for bit.
    exact : bool
        Always right. True for all of this study.
    deterministic : bool
        The same colors in every run with one seed, on every machine. True for all of this study.
    """

    name: str
    what: str
    family: str
    published: str
    plan: type
    smallest: bool = False
    by_priority: bool = False
    exact: bool = True
    deterministic: bool = True

    @property
    def gpu(self):
        return issubclass(self.plan, DevicePlan)


STRATEGIES = {
    s.name: s
    for s in (
        Strategy("greedy", "greedy loop on one core, largest degree first", "cpu", "Welsh and Powell 1967", Greedy, True),
        Strategy("networkx", "networkx.greedy_color, largest_first", "cpu", "NetworkX", NetworkX, True),
        Strategy("igraph", "igraph.Graph.vertex_coloring_greedy, most colored neighbors first", "cpu", "igraph", Igraph, True),
        Strategy("randomized", "rounds: local maxima of random numbers take the round's color", "published",
                 "the slides' baseline", Randomized),
        Strategy("stealing", "the same with persistent workgroups, each with a queue; who has nothing left steals",
                 "published", "the slides, after Cederman and Tsigas", Stealing),
        Strategy("hybrid", "rounds by degree at first, then by random numbers", "published", "the slides", Hybrid),
        Strategy("degree", "rounds by degree until one colors nothing, then by random numbers", "published",
                 "the slides' first phase alone", Degree),
        Strategy("staying", "stealing's persistent workgroups without queues", "control", "this study", Staying),
        Strategy("queues", "stealing's queues, but nobody steals", "control", "this study", Queues),
        Strategy("smallest", "randomized, but each takes the smallest free color", "ladder", "Jones and Plassmann 1993",
                 Smallest, True),
        Strategy("largest", "smallest, with the largest degree first", "ladder", "Hasenplaugh et al. 2014", Largest, True,
                 True),
        Strategy("resident", "largest in one cooperative kernel, no host between the rounds", "ladder", "this study",
                 Resident, True, True),
        Strategy("binned", "resident, with a warp for each vertex of degree 30 and more", "ladder", "this study", Binned,
                 True, True),
        Strategy("waiting", "no rounds: a vertex waits for its neighbors of higher priority alone", "ladder", "this study",
                 Waiting, True, True),
        Strategy("early", "waiting, and a color is taken as soon as it is certain", "ladder",
                 "shortcuts of Alabandi, Powers and Burtscher 2020", Early, True, True),
    )
}  # fmt: skip
