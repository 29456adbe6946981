"""Chaotic relaxation, fastest where the resident threads can hold a graph's arcs; see chaotic.cu."""

from dataclasses import dataclass

import numpy as np

from lockstep.plan import Skip

from .shared import DevicePlan, OnDevice

MOST = 32  # arcs of a thread: one bit each in a 32-bit word
LONG = 4  # arcs per vertex: sparser graphs are assumed to have long paths, as roads
_int = np.int32


@dataclass(frozen=True)
class ChaoticOptions(OnDevice):
    """Options of `chaotic`; see the kernel's macros. There is no bucket: `delta` has no effect.

    Attributes
    ----------
    resident : int, optional
        Blocks per multiprocessor.
    in_registers : bool, optional
        Arcs stay in registers.
    polls : int, optional
        Reads of its arcs' tails in a sweep.
    filter : bool, optional
    count : bool
        Count relaxations.
    """

    resident: int | None = None
    in_registers: bool | None = None
    polls: int | None = None
    filter: bool | None = None
    count: bool = False


class Chaotic(DevicePlan):
    """No rounds and no lists: every thread keeps a few arcs and polls their tails."""

    Options = ChaoticOptions
    file = "chaotic.cu"
    threads = 1024

    def load(self):
        ex, graph, options, long = self.executor, self.problem.graph, self.options, self.long(self.problem)
        self.delta, self.counting = np.inf, options.count
        self.resident_blocks, keep = self.shares(self.problem, ex, self.threads, options.resident)
        defines = {
            "ARCS_PER_THREAD": keep,
            "THREADS": self.threads,
            "RESIDENT": self.together(self.problem, ex, options.resident),
            "ARCS_IN_REGISTERS": int(keep <= 3 if options.in_registers is None else options.in_registers),
            "POLLS": options.polls or (2 if long else 1),
            "FILTER": int(not long if options.filter is None else options.filter),
            "COUNT": int(self.counting),
        }
        self.kernel = self.kernels(**defines)["chaotic"]
        tails = np.repeat(np.arange(graph.n, dtype=_int), np.diff(graph.offsets))
        self.tails = ex.array(tails if graph.m else np.zeros(1, _int))
        self.vote = ex.zeros(2, np.uint32)
        self.words, words = shared_words(ex, 3)
        self.counts = ex.zeros(1, np.int64)
        # Bound once: the source, which varies between runs, is in the shared words.
        self.launch = self.kernel.bind(
            self.resident_blocks, self.threads, shared=8, cooperative=True, tails=self.tails, arcs=self.arcs,
            m=_int(graph.m), n=self.n, limit=self.limit, dist=self.dist, vote=self.vote, shared_words=words,
            counts=self.counts.view(_int), barrier=self.barrier,
        )  # fmt: skip

    @staticmethod
    def long(problem):
        """Whether paths are assumed long: then more resident threads are faster, and few arcs share a head."""
        return problem.graph.m < LONG * problem.graph.n

    @staticmethod
    def together(problem, executor, resident=None):
        """Blocks of a multiprocessor."""
        if executor.name != "cuda":
            return 1
        return resident or (2 if Chaotic.long(problem) and not problem.wide else 1)

    @staticmethod
    def shares(problem, executor, threads=None, resident=None):
        """(blocks, arcs of a thread); Skip if the GPU's threads cannot hold the arcs."""
        m, threads = max(problem.graph.m, 1), threads or Chaotic.threads
        # Number of resident threads: 2,048 a multiprocessor on the emulator too.
        each = Chaotic.together(problem, executor, resident) if executor.name == "cuda" else 2048 // threads
        blocks = min(executor.multiprocessors * each, -(-m // 32))
        keep = -(-m // (blocks * threads))
        if keep > MOST:
            raise Skip(
                f"{m:,} arcs are more than {MOST} for each of the {blocks * threads:,} threads that are alive "
                "together here; choose another strategy"
            )
        return blocks, keep if keep <= 4 else -(-keep // 2) * 2

    def run(self):
        if self.counting:
            self.executor.copy(self.counts, np.zeros(1, np.int64))
        self.words[:] = self.problem.source, 0, 0
        self.launch()
        self.executor.synchronize()
        self.executor.counts["readbacks"] += 1
        _, overflow, steps = self.words.tolist()
        self.overflowed(overflow)
        counted = {"relaxations": int(self.executor.get(self.counts)[0])} if self.counting else {}
        return self.result(self.raw(), steps=steps, blocks=self.resident_blocks, **counted)


def shared_words(executor, count):
    """(host view, device view) of words in pinned memory, which avoids a synchronous copy."""
    words = executor.pinned(count, _int)
    if executor.name != "cuda":
        return words, words
    memory = executor.xp.cuda.UnownedMemory(words.ctypes.data, words.nbytes, words)
    return words, executor.xp.ndarray(count, _int, executor.xp.cuda.MemoryPointer(memory, 0))
