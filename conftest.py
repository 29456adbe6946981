"""Let notebooks run by nbval draw into a scratch folder, so that they do not overwrite the workflow's figures."""

import os
import tempfile

# Imported before LOCKSTEP_DRAWN is set, which shall affect the notebooks' kernels but not this process.
import lockstep.paths  # noqa: F401

_scratch = tempfile.TemporaryDirectory()


def pytest_configure():
    os.environ["LOCKSTEP_DRAWN"] = _scratch.name


# Longest-running test files, each run in one process: started first, to balance the load of the processes.
LONGEST = (
    "test_rerun.py", "test_any_graph.py", "test_resume.py", "test_library.py", "test_experiments.py",
    "test_interleavings.py",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


def pytest_unconfigure():
    os.environ.pop("LOCKSTEP_DRAWN", None)
    _scratch.cleanup()
