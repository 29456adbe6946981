"""When do the strategies without rounds end? Graphs and schedules on which ending too early leaves wrong distances.

The emulator performs what a block sends to another late, unless a fence orders it (`LOCKSTEP_REDUCTION`).
"""

import re
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from lockstep.graphs import Graph
from lockstep.machine import get_executor
from lockstep.plan import WrongResult
from lockstep.sssp import STRATEGIES, Problem, strategies

FOLDER = Path(strategies.__file__).parent
SEEDS = range(30)


def path(n, seed):
    """A path whose every arc leads into another block."""
    order = np.arange(n).reshape(4, -1).T.ravel()
    return Graph.from_edges(order[:-1], order[1:], n=n, weights=np.random.default_rng(seed).integers(1, 9, n - 1))


def halves(n, seed):
    """Two random halves, and one arc from the farthest vertex of the first to the second."""
    random = np.random.default_rng(seed)
    tails, heads = random.integers(0, n // 2, (2, 2 * n))
    tails[n:] += n // 2
    heads[n:] += n // 2
    tails, heads = np.r_[0 : n // 2 - 1, tails, n // 2 - 1], np.r_[1 : n // 2, heads, n // 2]
    return Graph.from_edges(tails, heads, n=n, weights=random.integers(1, 99, tails.size))


def ends_right(name, seeds=SEEDS):
    """Whether all distances are right under each of the schedules."""
    options = {"blocks": 4} if name == "asynchronous" else {}
    for seed in seeds:
        executor = get_executor("host", seed=seed, fuzz="sync", multiprocessors=4, permille=300)
        for graph in (path(64, seed), halves(96, seed)):
            plan = STRATEGIES[name].plan_for(Problem(graph, 0), executor, **options)
            plan.reset()
            try:
                plan.verify(plan.run())
            except WrongResult:
                return False
    return True


@pytest.mark.parametrize("name", ["asynchronous", "chaotic"])
def test_no_schedule_ends_too_early(name):
    assert ends_right(name)


FENCE = r"__threadfence\(\);"
MUTANTS = {
    "asynchronous: votes as soon as a vote opens": ("step >= vote_opened \\+ 2", "true"),
    # One step early is right here: the second step is for the loads of memory that is weaker than the emulator's.
    "asynchronous: votes two steps early": ("step >= vote_opened \\+ 2", "step >= vote_opened"),
    "asynchronous: the last voter alone decides": (r"&& \(old >> 16\) == 0", ""),
    "asynchronous: work since the last vote is not told": (r"active \? 0x10000u : 0u", "0u"),
    "asynchronous: no fence before the vote": (FENCE + r"(?=\s*(__syncthreads|// cumul|//[^\n]*cumul))", ";"),
    "chaotic: votes as soon as a vote opens": (r"sweep >= first_sweep", "true"),
    "chaotic: votes a sweep early": (r"first_sweep = sweep \+ 1", "first_sweep = sweep"),
    "chaotic: the last voter alone decides": (r"&& \(old >> 16\) == 0", ""),
    "chaotic: work since the last vote is not told": (r"active \? 0x10000u : 0u", "0u"),
    "chaotic: no fence before the vote": (FENCE + r"(?=\s*// cumul)", ";"),
}  # fmt: skip


@pytest.mark.parametrize("what", MUTANTS)
def test_a_vote_that_is_wrong_is_seen(what):
    name, (pattern, text) = what.split(":")[0], MUTANTS[what]
    file, read = FOLDER / f"{name}.cu", Path.read_text
    mutated, count = re.subn(pattern, text, file.read_text())
    assert count

    def replaced(self, *args, **kwargs):
        return mutated if self == file else read(self, *args, **kwargs)

    with mock.patch.object(Path, "read_text", replaced):
        assert not ends_right(name), what
