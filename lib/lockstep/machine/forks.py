"""Whether this process is a fork of one that has computed on all cores.

Numba's parallel functions use GNU OpenMP, whose threads a fork does not have: the next parallel region ends the process
with a line on standard error, and whoever waits for its result waits forever.
"""

import os
import sys

TOLD = (
    "this process is a fork of one that has computed on all cores, and GNU OpenMP's threads do not survive a fork; "
    "start processes by multiprocessing.get_context('spawn'), or compute in them alone"
)


class ForkError(Exception):
    """A forked process cannot compute on all cores."""

    def __init__(self, told: str = TOLD):  # what pickle gives it
        super().__init__(told)


forked = False


def _look():
    global forked
    try:
        forked = "numba" in sys.modules and sys.modules["numba"].threading_layer() == "omp"
    except ValueError:  # no parallel function has run
        forked = False


os.register_at_fork(after_in_child=_look)
