"""A pytest plugin for NetworkX's own tests: counts what the backend answers, and what it accepts and then leaves to
NetworkX, which would fall back in silence. What `can_run` refuses, with a reason, is NetworkX's from the start.
"""

import collections

from lockstep.networkx_backend import SERVED, functions

CALLS, LEFT = collections.Counter(), collections.Counter()


def _counted(name, function):
    def call(*args, **kwargs):
        CALLS[name] += 1
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            LEFT[name] += 1
            raise

    return call


def pytest_configure():
    for name in SERVED:
        setattr(functions.backend, name, _counted(name, getattr(functions, name)))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("answered: " + " ".join(f"{name}={CALLS[name]}" for name in SERVED))
    terminalreporter.write_line("left: " + " ".join(f"{name}={count}" for name, count in LEFT.items()))
