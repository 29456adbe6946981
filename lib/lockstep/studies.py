"""Which studies there are, for those above them: the workflow and the command line."""

from importlib import import_module

# A study is a notebook of this name and the package beside this file that it explores.
# Study 0 gives the machine's own costs: the others wait for it and predict from it.
PACKAGES = {
    "0-machine": "machine",
    "1-sgd-schedules": "sgd",
    "2-sssp-sync": "sssp",
    "3-toposort-depth": "toposort",
    "4-coloring-phase-switch": "coloring",
    "5-swarm-batch": "swarm",
}


def table(package):
    """The strategies of a study: a `lockstep.plan.Table`."""
    return import_module(f"lockstep.{package}").STRATEGIES


def problem(package):
    """The class of a study's problems: a subclass of `lockstep.plan.Problem`."""
    return import_module(f"lockstep.{package}").Problem
