"""Notebooks that nbval runs must not overwrite what the workflow drew; they draw into a scratch folder."""

import os
import tempfile

# Read before the setting below, which is for the notebooks' kernels and not for the tests of this process.
import lockstep.paths  # noqa: F401

_scratch = tempfile.TemporaryDirectory()


def pytest_configure():
    os.environ["LOCKSTEP_DRAWN"] = _scratch.name


# Files whose tests take longest, each in one process: begun last, one of them would leave the other processes idle.
LONGEST = (
    "test_rerun.py", "test_any_graph.py", "test_resume.py", "test_library.py", "test_experiments.py",
    "test_interleavings.py",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


def pytest_unconfigure():
    os.environ.pop("LOCKSTEP_DRAWN", None)
    _scratch.cleanup()
