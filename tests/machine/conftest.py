from pathlib import Path

import pytest

from lockstep.machine import get_executor, why_no_gpu


@pytest.fixture
def kernels_cu():
    return Path(__file__).with_name("kernels.cu")


@pytest.fixture
def cuda():
    """The cuda executor; the test is skipped, saying why, where no GPU answers."""
    if reason := why_no_gpu():
        pytest.skip(f"no GPU: {reason}")
    return get_executor("cuda")
