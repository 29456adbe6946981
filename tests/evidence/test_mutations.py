"""A sample of `mutate`: the test that is meant to notices that the code which judges is another one."""

import re

import pytest

from . import mutate

SAMPLE = [  # of the new texts; all: python -m tests.evidence.mutate
    'keep="first"',
    "(values == part.published).any()",
    "if place[targets[arc]] < place[v]:",
    "if counted[0] != expected[0]:",
]


@pytest.mark.parametrize("new", SAMPLE)
def test_another_text_fails_its_test(new):
    (chosen,) = [one for one in mutate.MUTATIONS if new in one[2]]
    assert not mutate.survives(*chosen)


def test_the_texts_and_the_tests_of_all_mutations_are_there():
    assert len({tuple(one[:3]) for one in mutate.MUTATIONS}) == len(mutate.MUTATIONS)
    for file, old, new, test in mutate.MUTATIONS:
        assert (mutate.ROOT / "lib" / "lockstep" / file).read_text(encoding="utf-8").count(old) == 1, f"{file}: {old}"
        assert old != new
        path, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", (mutate.ROOT / "tests" / path).read_text(encoding="utf-8"), re.M), test
