"""Notebooks that nbval runs must not overwrite what the workflow drew; they draw into a scratch folder."""

import os
import tempfile

# Read before the setting below, which is for the notebooks' kernels and not for the tests of this process.
import lockstep.paths  # noqa: F401

_scratch = tempfile.TemporaryDirectory()


def pytest_configure():
    os.environ["LOCKSTEP_DRAWN"] = _scratch.name


def pytest_unconfigure():
    os.environ.pop("LOCKSTEP_DRAWN", None)
    _scratch.cleanup()
