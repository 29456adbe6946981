"""A pytest plugin for NetworkX's own tests: counts what the backend answers, so that a test that fell back is seen."""

import collections

from lockstep.networkx_backend import SERVED, functions

CALLS = collections.Counter()


def _counted(name, function):
    def call(*args, **kwargs):
        CALLS[name] += 1
        return function(*args, **kwargs)

    return call


def pytest_configure():
    for name in SERVED:
        setattr(functions.backend, name, _counted(name, getattr(functions, name)))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("answered: " + " ".join(f"{name}={CALLS[name]}" for name in SERVED))
