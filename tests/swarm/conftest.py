import pytest

from lockstep.machine import get_executor, why_no_gpu


@pytest.fixture
def cuda():
    """The cuda executor; the test is skipped, saying why, where no GPU answers."""
    if reason := why_no_gpu():
        pytest.skip(f"no GPU: {reason}")
    return get_executor("cuda")
