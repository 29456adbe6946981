"""The table of goals and its sentences, on goals made up so that the answer is known."""

import numpy as np

from lockstep.report import goals


def made(**further):
    found = goals.Goals()
    found.add("a graph", "ms", 2, 1.5, "fast", 0.5)
    found.add("a graph", "times as fast", 40, 30.0, "fast", **{"least": True, **further})
    return found


def test_an_aim_is_an_upper_bound_or_a_lower_one():
    table = made().table()
    assert tuple(table) == goals.COLUMNS and table["reached"].tolist() == [True, False]
    assert table["aim"].tolist() == [2, 40] and goals.shown(table)["aim"].tolist() == ["at most 2", "at least 40"]
    assert made(least=False).table()["reached"].all(), "30 is at most 40"
    assert not made(least=False, also=False).table()["reached"].iloc[1], "what else has to hold does not"


def test_what_was_not_measured_has_no_line():
    found = goals.Goals()
    for nothing in (np.nan, np.inf, None):
        found.add("a graph", "ms", 2, nothing)
    assert found.table().empty and tuple(found.table()) == goals.COLUMNS and goals.told(found.table()) == []


def test_sentences_count_and_name_what_is_missed():
    assert goals.told(made(least=False).table()) == ["All 2 goals that were measured are reached."]
    count, missed = goals.told(made(floor=100.0).table())
    assert count == "1 of 2 measured goals is reached."
    assert missed == "Not reached: a graph, 30.0 times as fast by `fast` (aim: at least 40; lower bound 100)."


def test_a_single_goal_is_not_counted():
    found = goals.Goals()
    found.add("a graph", "ms", 2, 1.5)
    assert goals.told(found.table()) == ["The one goal that was measured is reached."]
    assert [text.partition(":")[0] for text in goals.told(made().table().tail(1))] == ["Not reached"]


def test_columns_that_say_nothing_are_not_shown():
    found = goals.Goals()
    found.add("a graph", "ms", 2, 1.5)
    assert tuple(goals.shown(found.table())) == ("goal", "unit", "aim", "measured", "reached")
    assert tuple(goals.shown(made().table())) == tuple(name for name in goals.COLUMNS if name != "least")


def test_a_near_miss_is_told_with_the_digits_that_make_it_one():
    found = goals.Goals()
    for measured in (1.1004, 1.0996, 1.1, 1.2):
        found.add("a graph", "ms", 1.1, measured)
    assert goals.shown(found.table())["measured"].tolist() == ["1.1004", "1.0996", "1.10", "1.20"]
    assert goals.told(found.table())[1] == "Not reached: a graph, 1.1004 ms (aim: at most 1.1)."
