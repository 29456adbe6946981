"""Which studies there are, for those above them: the workflow and the command line."""

import functools
from importlib import import_module
from pathlib import Path

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


def all_digests():
    """{study: see `digests`} of the studies that tell stale rows."""
    present = {study: digests(study) for study in PACKAGES}
    return {study: digest for study, digest in present.items() if digest}


def digests(study):
    """What tells a study's stale rows from fresh ones.

    Parameters
    ----------
    study : str
        A key of `PACKAGES`.

    Returns
    -------
    callable or None
        ``f(strategy, dataset)`` returns the present digest, or None for rows that cannot go stale. None,
        not a callable: the study is not in this release.
    """
    if study == "0-machine":
        digest = functools.cache(import_module("lockstep.machine.costs").digest)
        return lambda strategy, dataset: digest(strategy)
    package = PACKAGES[study]
    if not Path(__file__).with_name(package).joinpath("experiments.py").is_file():
        return None
    return getattr(import_module(f"lockstep.{package}.experiments"), "digests", None)
