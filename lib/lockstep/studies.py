"""The studies by name, for the workflow and the command line."""

from importlib import import_module

# Name of a study's notebook -> its package in this folder.
# Study 0 measures the machine's costs; the others run after it and use them in predictions.
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
