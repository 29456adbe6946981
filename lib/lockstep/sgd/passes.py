"""Edge-locked schedules whose passes stay on the GPU, inside one launch: host side of `passes.cu`.

The published form asks the host after each pass how many edges were deferred, and launches the next one. On graphs
with hubs there are thousands of passes, and a launch and a look each are most of a sweep. Here the host stays out, and
what remains is what the locks themselves cost.
"""

import hashlib

import numpy as np

from lockstep.machine import source_digest

from .online import EdgeLocked, NodeThenEdge
from .plans import KERNELS

PASSES, WORDS = 1, 5  # of what blocks share, as in `passes.cu`


class InOneLaunch:
    """The passes of a locking schedule, in one cooperative launch.

    `each` is how many edges of a short list a group takes in a pass before further groups are employed.
    """

    file = "passes.cu"

    def lists(self):
        executor, m = self.executor, max(self.problem.ratings.m, 1)
        self.work = [executor.empty(m, np.int32) for _ in range(2)]
        self.length = executor.zeros(1, np.int32)
        self.shared_words = executor.zeros(WORDS, np.int32)
        self.each = int(self.given["each"])
        if self.each < 1:
            raise ValueError(f"each={self.given['each']!r}: a group takes 1 edge of a pass, or more")
        self.all_passes = self.kernel("edge_passes")
        self.most_blocks = self.grid(self.all_passes, work=-(-m // self.each))

    def all_at_once(self, first, count):
        """All passes over the edges that `first` lists, or over all if it is None; `count` lies on the device."""
        self.shared_words.fill(0)
        self.all_passes(
            self.most_blocks,
            self.threads,
            (
                first,
                count,
                self.work[1],
                self.work[0],
                np.int32(self.each),
                self.shared_words,
                self.users,
                self.items,
                self.values,
                self.user_locks,
                self.item_locks,
                *self.state,
                *self.history,
                self.applied,
            ),
            cooperative=True,
        )

    def check_sweep(self):
        super().check_sweep()
        self.stats["passes"] = self.executor.read(self.shared_words, PASSES)  # not timed


class EdgeLockedResident(InOneLaunch, EdgeLocked):
    """EL with all passes in one launch: lists and their lengths stay on the device, a barrier between two passes."""

    name = "edge-locked-resident"
    options = {"shuffle": True, "each": 16}

    def build(self):
        super().build()
        self.length.fill(self.problem.ratings.m)

    def sweep(self):
        self.begin()
        self.all_at_once(None, self.length)


class NodeThenEdgeResident(InOneLaunch, NodeThenEdge):
    """The hybrid with its edge-locked passes in one launch; the host looks once, after the node-locked pass."""

    name = "node-then-edge-resident"
    options = {"each": 16}

    @classmethod
    def digest(cls):
        """As every plan's, and of the kernels of its first pass."""
        return hashlib.sha256(f"{super().digest()} {source_digest(KERNELS / 'online.cu')}".encode()).hexdigest()[:16]

    def sweep(self):
        self.begin()
        self.done.fill(0)
        self.stats.update(node_passes=0)
        m = self.problem.ratings.m
        self.shared_words.fill(0)  # it may be that no pass follows
        if m and self.one_pass(0, self.problem.ratings.n_items):
            self.length.fill(0)
            blocks = self.grid(self.collect, work=-(-m // self.lanes))
            self.collect(blocks, self.threads, (np.int32(m), self.done, self.work[0], self.length))
            self.all_at_once(self.work[0], self.length)
