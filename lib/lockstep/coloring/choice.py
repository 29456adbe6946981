"""What `auto` takes, and why."""


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
    return "early", (
        "no rounds and no host in the loop: each vertex waits for its neighbors of higher degree alone, "
        "and takes a color as soon as it is certain"
    )
