"""Lower bounds (floors) on the times of layers and whole runs, from study 0's costs.

Tables, goals and sentences all take a run's floor from `run_ms`; a layer's floor is its share of that.
"""

import numpy as np
import pandas as pd

from lockstep.machine import MachineError

from ..strategies.narrow import Narrow
from . import views

SUBSET = 128  # vertices: most that resident.cuh assigns to a few blocks
EVEN = ("layered", "disjoint-paths")  # families whose layers hold about as many vertices and arcs each


def one_vertex(costs):
    """Predicted cost of a layer of one vertex (us): the synchronization, and the chain of dependent accesses.

    Two of `naive`'s launches overlap with kernels that run: each adds at least the start of a dependent kernel, as
    a node of a CUDA graph does. Each strategy's chain is documented in its kernel file. `narrow` then runs one warp: a
    row's load concurrent with an atomic, both in L2, and a one-warp barrier.
    """
    load, atomic = costs.load_ns("L2") / 1e3, costs.atomic_ns("L2") / 1e3
    chain = 2 * load + 2 * atomic  # row and target; in-degree, place in the queue
    return {
        "naive": costs.step_us + 2 * costs.graph_node_us,
        "frontier": costs.step_us,
        "graph": costs.graph_node_us + load + chain,
        # A target, an in-degree, a warp's arrival, a poll; rows are loaded concurrently with the arrival.
        # In wider layers queue entries are loaded concurrently with the polls: as many dependent accesses.
        "persistent": 2 * load + 2 * atomic,
        "narrow": max(load, atomic) + costs.block_barrier_ns(32) / 1e3,
        "asynchronous": load + 2 * atomic,
    }


def one_block(costs, arcs=1):
    """Lower bound on a layer of `arcs` arcs for one block with counters in shared memory (us).

    The chain for one arc: a record's address, the record (at best in L1), the counter's decrement, a place in
    the next list, the barrier, and the new list's length. The other arcs' decrements, at scattered addresses, are
    bounded by one multiprocessor's rate of shared-memory atomics.
    """
    chain = 2 * costs.load_ns("shared") + costs.load_ns("L1") + 2 * costs.atomic_ns("shared")
    barrier = costs.block_barrier_ns(Narrow.most_threads)
    try:
        rate = costs.block_atomics_per_second("shared", Narrow.most_threads)
    except MachineError:  # recorded before study 0 asked a block alone
        return np.nan
    others = max(arcs - 1, 0) * 1e9 / rate
    return (chain + barrier + others) / 1e3


def one_block_takes(line):
    """Whether one block of `narrow` takes all layers of a graph, and counts in its shared memory.

    Certain only where all layers hold about equally many arcs, as when arcs span at most a window. In a random
    graph or a commit history some layers are wide and many have one vertex.
    """
    degree, arcs = line["edges"] / line["nodes"], line["edges"] / line["depth"]
    return line.get("window", 0) > 0 and degree >= Narrow.worth_degree and arcs <= Narrow.arcs_counted


def all_blocks(costs, arcs=1):
    """Lower bound on a layer of `arcs` arcs for all blocks of `persistent` (us).

    A dependent chain of a vertex's queue entry, its target and an in-degree's decrement; then the other
    arcs' atomics, at the rate of as many threads on scattered words; then the grid barrier.
    """
    chain = 2 * costs.load_ns("L2") + costs.atomic_ns("L2")
    others = max(arcs - 1, 0) * 1e9 / costs.atomics_per_second(10**6, arcs)
    return costs.grid_barrier_us(threads=512) + (chain + others) / 1e3


def all_blocks_take(line):
    """Whether all blocks of `persistent` share each layer of a graph. Sure only where all layers hold about as much."""
    return line.get("family") in EVEN and line["nodes"] / line["depth"] > SUBSET


def run_ms(line, strategy, costs):
    """The floor of a run on a graph (ms): a launch, its bytes or its atomics, and all its layers.

    Parameters
    ----------
    line : mapping
        `nodes`, `edges`, `depth`, and `window` where the graph has one; a line of `views.cells`.
    strategy : {'persistent', 'narrow'}
    costs : lockstep.machine.costs.Costs

    Returns
    -------
    float
        NaN where it takes a figure of study 0 that the machine has not recorded.

    Notes
    -----
    Bytes: every arc's target once, every vertex's bounds and place in the order. Atomics: one in-degree update per arc
    in L2, by all multiprocessors. Layers: their number times the cheapest layer's cost; if one block processes all
    layers, the cost with the mean number of arcs, without L2 atomics; if all blocks share each layer, with its atomics
    and the barrier after them.
    """
    if strategy == "persistent" and all_blocks_take(line):
        return (costs.launch_us + line["depth"] * all_blocks(costs, line["edges"] / line["depth"])) / 1e3
    bytes_us = (4 * line["edges"] + 20 * line["nodes"]) / costs.bytes_per_second() * 1e6
    if strategy == "narrow" and one_block_takes(line):
        each = one_block(costs, line["edges"] / line["depth"])
        return (costs.launch_us + bytes_us + line["depth"] * each) / 1e3
    atomics_us = line["edges"] / costs.atomics_per_second(10**6, 10**5) * 1e6
    return (costs.launch_us + max(bytes_us, atomics_us) + line["depth"] * one_vertex(costs)[strategy]) / 1e3


def layer_us(line, strategy, costs):
    """A layer's share of a run's floor (us)."""
    return run_ms(line, strategy, costs) * 1e3 / line["depth"]


def table(rows, costs):
    """Measured times beside their floors."""
    lines = []
    for experiment in ("ladder", "real-dags", "table-4.1"):
        for cell in views.cells(rows, experiment).to_dict("records"):
            if experiment == "table-4.1" and cell.get("instance") != 0:
                continue
            for name in ("persistent", "narrow"):
                if cell.get(name, np.nan) > 0:
                    floor = run_ms(cell, name, costs)
                    lines.append({
                        "graph": cell["dataset"],
                        "layers": int(cell["depth"]),
                        "strategy": name,
                        "measured (ms)": cell[name],
                        "floor (ms)": floor,
                        "times the floor": cell[name] / floor,
                        "us a layer": cell[name] * 1e3 / cell["depth"],
                    })  # fmt: skip
    return pd.DataFrame(lines)


def crossover(serial_ms, fixed_ms, level_us):
    """The depth at which fixed + depth x level reaches the serial time."""
    return max(serial_ms - fixed_ms, 0) * 1e3 / level_us
