"""Microseconds of a pass, from times and counts of passes, recording by recording."""

import pandas as pd

from lockstep.evidence import passes
from lockstep.evidence.recording import COLUMNS, REPEAT


def rows_of(strategy, dataset, metric, count, wall, recording=0, study="2-sssp-sync"):
    labels = [study, "time", dataset, strategy, "{}"]
    return [[*labels, metric, "1", REPEAT * recording, count, "exact", f"k{recording}"],
            [*labels, "wall", "ms", REPEAT * recording, wall, "exact", f"k{recording}"]]  # fmt: skip


def table(*lists):
    return passes.table(pd.DataFrame(sum(lists, []), columns=COLUMNS))


def test_the_cheapest_graph_of_those_that_most_recordings_have():
    found = table(
        rows_of("atomic", "a", "rounds", 100, 4.0), rows_of("atomic", "a", "rounds", 100, 3.0, recording=1),
        rows_of("atomic", "b", "rounds", 10, 0.5), rows_of("atomic", "b", "rounds", 10, 0.6, recording=1),
        rows_of("atomic", "c", "rounds", 1000, 10.0, recording=1), rows_of("atomic", "few", "rounds", 2, 0.01),
        rows_of("barrier", "a", "wrong_share", 1, 4.0),
    )  # fmt: skip
    assert found.to_dict("records") == [
        {"study": "2-sssp-sync", "strategy": "atomic", "graph": "a", "passes": 100, "1": 40.0, "2": 30.0}
    ]


def test_a_layer_of_the_thesis_takes_three_launches_and_a_run_one_more():
    (line,) = table(rows_of("naive", "a", "launches", 31, 0.3, study="3-toposort-depth")).to_dict("records")
    assert line["passes"] == 10 and line["1"] == 30.0


def test_rows_without_such_loops_give_an_empty_table():
    assert passes.table(pd.DataFrame(columns=COLUMNS)).empty


def test_recordings_stand_in_their_order():
    found = table(*(rows_of("atomic", "a", "rounds", 100, 4.0 + one, recording=one) for one in range(11)))
    assert list(found.columns[4:]) == [str(one) for one in range(1, 12)]
