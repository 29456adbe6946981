"""Breadth-first search, on one core."""

from numba import njit


@njit(cache=True)
def visit(offsets, targets, source, level, queue):
    """Visit all that can be reached from a vertex, the nearest first.

    Numba keeps what it has made of a function until that function's own file changes: after a change here, remove the
    compiled files of the callers (`find lib -name "*.nbi" -delete`).

    Parameters
    ----------
    offsets, targets : array of int
        The graph in CSR.
    source : int
    level : array of int (n,)
        -1 wherever the search may go; holds the number of arcs from the source afterwards where it went.
    queue : array of int (n,)
        Holds what was visited, in this order.

    Returns
    -------
    int
        How many vertices were visited, the source among them.
    """
    level[source] = 0
    queue[0] = source
    done, count = 0, 1
    while done < count:
        v = queue[done]
        done += 1
        for a in range(offsets[v], offsets[v + 1]):
            w = targets[a]
            if level[w] < 0:
                level[w] = level[v] + 1
                queue[count] = w
                count += 1
    return count
