"""Chaotic relaxation, the fastest where a graph's arcs fit into the GPU's threads: the host side of chaotic.cu."""

import numpy as np

from .ladder import NotFitting
from .plans import DevicePlan, road_delta

MOST = 32  # arcs of a thread: a bit of a word for each
_int = np.int32


class Chaotic(DevicePlan):
    """Options: ``blocks``, ``threads``, ``held``, ``looks``, ``filter``, ``count``; see the kernel's macros."""

    name = "chaotic"
    files = ("chaotic.cu",)
    threads = 1024

    def load(self):
        ex, graph, options = self.executor, self.problem.graph, self.options
        self.resident_blocks, keep = self.shares(self.problem, ex, self.threads, options.get("blocks"))
        self.counting, self.horizon = bool(options.get("count")), np.isfinite(self.delta)
        defines = {
            "KEEP": keep,
            "THREADS": self.threads,
            "RESIDENT": max(1, self.resident_blocks // ex.multiprocessors) if ex.name == "cuda" else 1,
            "HELD": int(options.get("held", keep <= 4)),
            "HORIZON": int(self.horizon),
            "LOOKS": options.get("looks", 1),
            "FILTER": options.get("filter", 1),
            "COUNT": int(self.counting),
        }
        self.kernel = self.kernels(**defines)["chaotic"]
        self.shared = 8 * self.problem.dtype.itemsize + 8
        tails = np.repeat(np.arange(graph.n, dtype=_int), np.diff(graph.offsets))
        self.tails = ex.array(tails if graph.m else np.zeros(1, _int))
        self.lows = ex.empty(self.resident_blocks, self.problem.dtype)
        self.vote = ex.zeros(2, np.uint32)
        self.words, words = shared_words(ex, 4)
        self.counts = ex.zeros(1, np.int64)
        # Bound once: what a run changes, the source, stands in the shared words.
        self.launch = self.kernel.bind(
            self.resident_blocks,
            self.threads,
            (self.tails, self.arcs, _int(graph.m), self.n, self.width, self.limit, self.dist, self.lows, self.vote,
             words, self.counts.view(_int), self.barrier),
            shared=self.shared,
            cooperative=True,
        )  # fmt: skip

    @staticmethod
    def shares(problem, executor, threads=None, blocks=None):
        """(blocks, arcs of a thread); NotFitting if the GPU's threads cannot hold the arcs."""
        m, threads = max(problem.graph.m, 1), threads or Chaotic.threads
        # As many threads as are alive together: the host executor has 2,048 a multiprocessor too.
        most = executor.multiprocessors * (1 if executor.name == "cuda" else 2048 // threads)
        blocks = blocks or min(most, -(-m // 32))
        keep = -(-m // (blocks * threads))
        if keep > MOST:
            raise NotFitting(
                f"{m:,} arcs are more than {MOST} for each of the {blocks * threads:,} threads that are alive "
                "together here; choose another strategy"
            )
        return blocks, keep if keep <= 4 else -(-keep // 2) * 2

    def default_delta(self):
        graph = self.problem.graph
        return road_delta(self.problem) if graph.m < 8 * graph.n else np.inf

    def run(self, source):
        if self.counting:
            self.executor.copy(self.counts, np.zeros(1, np.int64))
        self.words[:] = source, 0, 0, 0
        self.launch()
        self.executor.synchronize()
        self.executor.counts["readbacks"] += 1
        _, overflow, steps, _ = self.words.tolist()
        self.overflowed(overflow)
        counted = {"relaxations": int(self.executor.get(self.counts)[0])} if self.counting else {}
        return self.result(source, self.raw(), steps=steps, blocks=self.resident_blocks, **counted)


def shared_words(executor, count):
    """(words for the host, the same for kernels): memory that both reach, so that no copy has to be waited for."""
    words = executor.pinned(count, _int)
    if executor.name != "cuda":
        return words, words
    memory = executor.xp.cuda.UnownedMemory(words.ctypes.data, words.nbytes, words)
    return words, executor.xp.ndarray(count, _int, executor.xp.cuda.MemoryPointer(memory, 0))
