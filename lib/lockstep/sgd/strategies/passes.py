"""Edge-locked schedules whose passes stay on the GPU, inside one launch: host side of `passes.cu`.

The published form reads the number of deferred edges back to the host after each pass, then launches the next one. On
graphs with hubs there are thousands of passes, whose launches and read-backs dominate a sweep. Without them, the
remaining time is the cost of the locks themselves.
"""

import numpy as np

from .online import EdgeLocked, NodeThenEdge
from .shared import DeviceOptions


class InOneLaunch:
    """The passes of a locking schedule, in one cooperative launch."""

    file = "passes.cu"

    def lists(self):
        executor, m = self.executor, max(self.problem.ratings.m, 1)
        self.work = [executor.empty(m, np.int32) for _ in range(2)]
        self.length = executor.zeros(1, np.int32)
        self.lengths = executor.zeros(3, np.int32)
        self.passes_done = executor.zeros(1, np.int32)
        self.barrier = executor.zeros(2, np.uint32)
        self.all_passes = self.kernel("edge_passes")
        self.most_blocks = self.grid(self.all_passes, work=m)

    def all_at_once(self, first, count):
        """All passes over the edges that `first` lists, or over all if it is None; `count` lies on the device."""
        self.lengths.fill(0)
        self.all_passes(
            self.most_blocks, self.threads, cooperative=True, first=first, first_count=count, odd=self.work[1],
            even=self.work[0], lengths=self.lengths, passes=self.passes_done, barrier=self.barrier, users=self.users,
            items=self.items, values=self.values, user_locks=self.user_locks, item_locks=self.item_locks,
            **self.state, **self.record,
        )  # fmt: skip

    def check_sweep(self):
        super().check_sweep()
        self.stats["passes"] = self.executor.read(self.passes_done)  # not timed


class EdgeLockedResident(InOneLaunch, EdgeLocked):
    """EL with all passes in one launch: lists and their lengths stay on the device, a barrier between two passes."""

    def load(self):
        super().load()
        self.length.fill(self.problem.ratings.m)

    def run(self):
        self.begin()
        self.all_at_once(None, self.length)
        return self


class NodeThenEdgeResident(InOneLaunch, NodeThenEdge):
    """The hybrid with its edge-locked passes in one launch; one read-back, after the node-locked pass."""

    Options = DeviceOptions

    def run(self):
        self.begin()
        self.done.fill(0)
        self.stats.update(node_passes=0)
        m = self.problem.ratings.m
        self.passes_done.fill(0)  # if no pass follows
        if m and self.one_pass(0, self.problem.ratings.n_items):
            self.length.fill(0)
            blocks = self.grid(self.collect, work=-(-m // self.lanes))
            self.collect(blocks, self.threads, count=np.int32(m), done=self.done, list=self.work[0], length=self.length)
            self.all_at_once(self.work[0], self.length)
        return self
