"""What the notebook says of rows that are not there."""

import pandas as pd

from lockstep.toposort.results import views


def rows_of(tables):
    lines = [(experiment, "graph", name, "wall", 1.0) for experiment, names in tables.items() for name in names]
    return pd.DataFrame(lines, columns=["experiment", "dataset", "strategy", "metric", "value"])


def test_strategies_without_rows_are_named_with_their_tables():
    whole = {experiment: strategies for experiment, (_, strategies) in views.SHOWN.items()}
    assert views.unmeasured(rows_of(whole)) == []
    without = {name: [s for s in strategies if s != "auto"] for name, strategies in whole.items()}
    [told] = views.unmeasured(rows_of(without))
    assert "auto in table 4.4, the table of the ladder" in told and "4.1" not in told and "naive" not in told
    [told] = views.unmeasured(rows_of({name: s for name, s in whole.items() if name != "ladder"}))
    assert told.endswith("every strategy in the table of the ladder.")


def test_graphs_that_only_the_thesis_strategies_were_measured_on_are_counted():
    rows = rows_of({experiment: strategies for experiment, (_, strategies) in views.SHOWN.items()})
    more = rows[(rows["experiment"] == "table-4.3") & rows["strategy"].isin(["serial", "naive"])]
    [told] = views.unmeasured(pd.concat([rows, more.assign(dataset="another graph")]))
    assert "1 of 2 graphs of table 4.3 are" in told


def test_a_quotient_is_of_the_rounds_that_timed_both():
    """The serial sort of another recording, on a slower day, does not enter it."""
    cell = {"study": "3-toposort-depth", "experiment": "table-4.1", "dataset": "g", "verified": "exact", "kernel": "k"}
    cell |= {"parameters": '{"nodes":1000,"edges":2000}', "unit": "ms"}
    samples = [("serial", "wall", 0, 6.0), ("naive", "wall", 0, 4.0), ("naive", "device", 0, 3.0),
               ("serial", "wall", 1000, 60.0), ("(graph)", "depth", 0, 5.0)]  # fmt: skip
    names = "strategy", "metric", "round", "value"
    rows = pd.DataFrame([cell | dict(zip(names, one, strict=True)) for one in samples])
    (line,) = views.table(rows, "4.1").to_dict("records")
    assert line["serial/naive"] == 2.0 and line["serial"] > 6.0
