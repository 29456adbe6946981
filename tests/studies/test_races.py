"""Every strategy of every study with data races looked for, on small inputs; and that a missing order is missed."""

import re

import pytest

from lockstep.machine import DataRaceError

from . import orders

ALL = [(study, name) for study in orders.STUDIES for name in orders.strategies(study)]


@pytest.mark.parametrize(("study", "name"), ALL)
def test_no_strategy_races_but_those_that_are_known_to(study, name):
    _, why, where = orders.KNOWN.get(f"{study}/{name}", ("all", "", None))
    if where is None:
        orders.run(study, name)
    else:
        with pytest.raises(DataRaceError) as told:
            orders.run(study, name)
        assert re.search(where, str(told.value)), f"{why}; but now: {told.value}"


def test_what_is_known_is_there():
    assert {f"{study}/{name}" for study, name in ALL} >= set(orders.KNOWN)


# A word that orders something, in the fastest strategies and those that everything rests on.
