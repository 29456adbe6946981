"""Work lists instead of scans (near-far), and the same on one cluster of blocks; see near_far.cu."""

from dataclasses import dataclass

import numpy as np

from lockstep.plan import Skip

from .shared import DevicePlan, OnDevice, road_delta

CLUSTERS_SINCE = 90  # compute capability, times ten, of the first GPUs with clusters of blocks

_int = np.int32


@dataclass(frozen=True)
class NearFarOptions(OnDevice):
    """Options of `near-far` and `cluster`.

    Attributes
    ----------
    group : int, optional
        Lanes an entry: 1, 2, 4, ..., 32.
    blocks : int, optional
    count : bool
        Count relaxations.
    """

    group: int | None = None
    blocks: int | None = None
    count: bool = False


class NearFar(DevicePlan):
    """Work lists instead of scans, arcs spread over lanes, one launch."""

    Options = NearFarOptions
    file = "near_far.cu"
    threads = 256  # by part tuning on an H100
    cluster = 0

    def load(self):
        ex, graph = self.executor, self.problem.graph
        self.counting = self.options.count
        self.words = 24 if self.problem.wide else 16
        buffer = 4096 if ex.name == "cuda" else 64
        self.shared = buffer * self.words + 16
        defines = {
            "GROUP": self.group(),
            "CLUSTER": self.cluster,
            "BUFFER": buffer,
            "COUNT": int(self.counting),
        }
        self.kernel = self.kernels(**defines)["near_far"]
        blocks = self.options.blocks or self.cluster or ex.multiprocessors
        self.blocks = (
            self.resident(self.kernel, blocks, self.shared) if not self.cluster or ex.name == "host" else self.cluster
        )
        self.reserve(graph.n + graph.m + graph.m // 32 + 1024)

    def group(self):
        """Lanes an entry by mean degree: 4 below 8, 8 below 24, else 32; few idle."""
        if self.options.group:
            return self.options.group
        degree = self.problem.graph.m / max(self.problem.graph.n, 1)
        return 4 if degree < 8 else 8 if degree < 24 else 32

    def reserve(self, capacity):
        if capacity > 2**31 - 2**20:  # kernels add the number of their threads to an int
            raise Skip(
                f"{self.problem.name} has {self.problem.graph.n:,} vertices and {self.problem.graph.m:,} arcs; "
                f"{self.strategy.name} needs lists of {capacity:,} entries, and takes at most "
                f"{2**31 - 2**20:,}: use strategy='dijkstra'"
            )
        self.capacity = min(capacity, 2**31 - 1)
        self.queue = self.executor.empty(4 * self.capacity * self.words, np.uint8)

    def default_delta(self):
        graph = self.problem.graph
        return road_delta(self.problem) if graph.m < 8 * graph.n else np.inf

    def run(self):
        while True:
            self.kernel(
                self.blocks, self.threads, shared=self.shared,
                cooperative=not self.cluster or self.executor.name == "host", offsets=self.offsets, arcs=self.arcs,
                n=self.n, source=_int(self.problem.source), delta=self.width, limit=self.limit, dist=self.dist,
                queue=self.queue, capacity=_int(self.capacity), control=self.control, lowest=self.lowest,
                barrier=self.barrier,
            )  # fmt: skip
            control = self.executor.get(self.control)
            if not control[6]:
                break
            self.reserve(2 * self.capacity)  # more stale entries than reserved
        self.overflowed(control[7])
        counted = {"relaxations": int(control[10:12].view(np.int64)[0])} if self.counting else {}
        return self.result(self.raw(), rounds=int(control[8]), buckets=int(control[9]), **counted)


class Cluster(NearFar):
    """`near-far` on one cluster of eight blocks, whose barrier is in hardware."""

    cluster, threads = 8, 1024

    @classmethod
    def skip(cls, problem, executor, options):
        here = architecture(executor)
        if here is not None and here < CLUSTERS_SINCE:
            return (
                f"strategy 'cluster' needs a GPU of compute capability {CLUSTERS_SINCE / 10:.1f} or later; this one "
                f"has {here / 10:.1f}. Choose another strategy, or 'auto'"
            )
        return None


def architecture(executor):
    """The GPU's compute capability times ten (90 for 9.0); None where kernels run on the emulator."""
    if executor is None or executor.name != "cuda":
        return None
    return int(executor.xp.cuda.Device(executor.device).compute_capability)
