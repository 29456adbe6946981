"""What a layer that all blocks share cannot take less than, out of study 0's costs."""

CREW = 128  # vertices: persistent.cu gives no more to a few blocks
EVEN = ("layered", "disjoint-paths")  # families whose layers hold about as many vertices and arcs each


def all_blocks_take(line):
    """Whether all blocks of `persistent` share each layer of a graph, a line of `views.cells`.

    That is sure only where all layers hold about as much.
    """
    return line.get("family") in EVEN and line["nodes"] / line["depth"] > CREW


def all_blocks(costs, arcs=1):
    """What a layer of so many arcs must cost all blocks (us).

    A vertex's entry in the queue, its target, an in-degree counted down, each waiting for the one before; the other
    arcs' atomics behind the first, at the rate of as many threads on words that lie anywhere; then the barrier, without
    which no block may go on.
    """
    chain = 2 * costs.load_ns("L2") + costs.atomic_ns("L2")
    others = max(arcs - 1, 0) * 1e9 / costs.atomics_per_second(10**6, arcs)
    return costs.grid_barrier_us(threads=512) + (chain + others) / 1e3


def run_ms(line, costs):
    """The floor of a run of `persistent` on such a graph (ms): a launch and all its layers."""
    return (costs.launch_us + line["depth"] * all_blocks(costs, line["edges"] / line["depth"])) / 1e3
