"""What study 0's costs say that layers, and whole runs, cannot take less than.

One place for all: tables, goals and sentences take a run's floor from `run_ms`, and a layer's is its share of that.
"""

import numpy as np
import pandas as pd

from lockstep.machine import MachineError

from ..strategies.narrow import Narrow
from . import views

SUBSET = 128  # vertices: resident.cuh gives no more to a few blocks
EVEN = ("layered", "disjoint-paths")  # families whose layers hold about as many vertices and arcs each


def one_vertex(costs):
    """What a layer of one vertex must cost (us): the synchronization, and the chain of dependent accesses.

    Each strategy's chain is said in its kernel file. `narrow` is then a warp: a row's load beside an atomic, both on
    L2, no barrier worth the name.
    """
    load, atomic = costs.load_ns("L2") / 1e3, costs.atomic_ns("L2") / 1e3
    chain = 2 * load + 2 * atomic  # row and target; in-degree, place in the queue
    return {
        "naive": costs.step_us + 2 * costs.launch_us,
        "frontier": costs.step_us,
        "graph": costs.graph_node_us + load + chain,
        # A target, an in-degree, a warp's arrival, a look at the gate: its vertices' rows come beside the arrival.
        # Where a layer holds many, a vertex's entry in the queue comes beside the looks: as many accesses.
        "persistent": 2 * load + 2 * atomic,
        "narrow": max(load, atomic) + costs.block_barrier_ns(32) / 1e3,
        "asynchronous": load + 2 * atomic,
    }


def one_block(costs, arcs=1):
    """What a layer of so many arcs must cost one block that counts in its shared memory (us).

    The chain, for one arc: where a record lies, the record, which at best waits in L1, the count taken down, a place in
    the next list, the barrier, and how many there are now. All other arcs are counted down too, on counters that lie
    anywhere, and one multiprocessor gets so many answers a second.
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

    That is sure only where all layers hold about as many arcs, as with arcs that lead at most a window on. In a random
    graph, or a commit history, some layers are wide and many have one vertex.
    """
    degree, arcs = line["edges"] / line["nodes"], line["edges"] / line["depth"]
    return line.get("window", 0) > 0 and degree >= Narrow.worth_degree and arcs <= Narrow.arcs_counted


def all_blocks(costs, arcs=1):
    """What a layer of so many arcs must cost all blocks of `persistent` (us).

    A vertex's entry in the queue, its target, an in-degree counted down, each waiting for the one before; the other
    arcs' atomics behind the first, at the rate of as many threads on words that lie anywhere; then the barrier, without
    which no block may go on.
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
    Bytes: every arc's target once, every vertex's bounds and place in the order. Atomics: an in-degree read, changed
    and written for each arc, in L2, where all multiprocessors help. Layers: what the cheapest one costs, times their
    number; where one block takes them all, with the arcs that each holds, none of which then goes to L2; where all
    blocks share each, with its atomics and the barrier after them.
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
