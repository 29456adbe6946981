"""What `auto` takes, and why."""

SMALL = 2000  # vertices and arcs that a core colors in the time of a launch and of the steps that must follow it


def choose(graph, machine):
    """Name of the strategy, and the reason in a sentence.

    Parameters
    ----------
    graph : Graph
    machine : Executor or None
        None: no GPU answers and none was asked for.
    """
    if machine is None:
        return "greedy", "no GPU answers: a greedy loop on the CPU, largest degree first"
    if machine.name == "cuda" and graph.n + graph.m < SMALL:
        return "greedy", f"{graph.n + graph.m:,} vertices and arcs: one core is done before a GPU has started"
    return "early", (
        "no rounds and no host in the loop: each vertex waits for its neighbors of higher degree alone, "
        "and takes a color as soon as it is certain"
    )
