"""Packs without parallel arcs, for strategies that traverse a pack's own rows."""

import numpy as np
from numba import njit

from lockstep.batch.pack import Pack

from ..oracle import once


@njit(cache=True)
def _repeats(offsets, targets, vertex_start, arc_start):
    """Whether some row names a vertex twice."""
    for g in range(vertex_start.size - 1):
        v0, v1 = vertex_start[g], vertex_start[g + 1]
        rows, heads = offsets[v0 + g : v1 + g + 1], targets[arc_start[g] : arc_start[g + 1]]
        if once(rows, heads)[1].size < heads.size:
            return True
    return False


def without_repeats(pack, executor):
    """The pack if no arc is repeated, else one with the first of each; on the executor's device."""
    here = pack.host
    if not _repeats(here.offsets, here.targets, here.vertex_start, here.arc_start):
        return pack
    offsets, targets, sizes = [], [], [0]
    for g in range(len(here)):
        v0, v1 = here.vertex_start[g], here.vertex_start[g + 1]
        rows, heads = once(here.offsets[v0 + g : v1 + g + 1], here.targets[here.arc_start[g] : here.arc_start[g + 1]])
        offsets.append(rows)
        targets.append(heads)
        sizes.append(heads.size)
    found = Pack(np.concatenate(offsets).astype(np.int32), np.concatenate(targets), here.vertex_start,
                 np.cumsum(sizes, dtype=np.int64), directed=pack.directed, names=pack.names)  # fmt: skip
    return found.to(executor.xp)
