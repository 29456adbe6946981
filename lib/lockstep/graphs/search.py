"""Breadth-first search, on one core."""

from numba import njit


@njit(cache=True)
def visit(offsets, targets, source, level, queue):
    """Visit all vertices reachable from a source, in breadth-first order.

    Numba's cache checks a function's own file only: after a change here delete the compiled files of the callers
    (`find lib -name "*.nbi" -delete`).

    Parameters
    ----------
    offsets, targets : array of int
        The graph in CSR.
    source : int
    level : array of int (n,)
        Input: -1 for vertices that may be visited. Output: the distance in arcs from the source for those visited.
    queue : array of int (n,)
        Output: the visited vertices, in order.

    Returns
    -------
    int
        Number of vertices visited, including the source.
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
