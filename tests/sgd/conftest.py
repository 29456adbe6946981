import numpy as np
import pytest

from lockstep.machine import get_executor, why_no_gpu
from lockstep.sgd import Ratings


def skewed(users=60, items=25, m=260, seed=1):
    """Distinct pairs, a busy user and a busy item among them."""
    rng = np.random.default_rng(seed)
    keys = set((rng.zipf(1.5, 40 * m) % items * users + rng.zipf(1.7, 40 * m) % users).tolist())
    keys = rng.permutation(sorted(keys))[:m]
    return Ratings(keys % users, keys // users, 1 + 4 * rng.random(keys.size), (users, items))


@pytest.fixture(scope="session")
def ratings():
    return skewed()


@pytest.fixture
def cuda():
    """The cuda executor; the test is skipped, saying why, where no GPU answers."""
    if reason := why_no_gpu():
        pytest.skip(f"no GPU: {reason}")
    return get_executor("cuda")
