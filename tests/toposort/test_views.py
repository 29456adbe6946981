"""What the notebook says of rows that are not there."""

import pandas as pd
import pytest

from lockstep.machine import costs
from lockstep.toposort import views


def rows_of(tables):
    lines = [(experiment, "graph", name, "wall", 1.0) for experiment, names in tables.items() for name in names]
    return pd.DataFrame(lines, columns=["experiment", "dataset", "strategy", "metric", "value"])


def test_strategies_without_rows_are_named_with_their_tables():
    whole = {experiment: strategies for experiment, (_, strategies) in views.SHOWN.items()}
    assert views.unmeasured(rows_of(whole)) == []
    without = {name: [s for s in strategies if s != "auto"] for name, strategies in whole.items()}
    without["table-4.1"] = whole["table-4.1"]
    [told] = views.unmeasured(rows_of(without))
    assert "auto in table 4.2, table 4.3, table 4.4" in told and "4.1" not in told and "naive" not in told
    [told] = views.unmeasured(rows_of({name: s for name, s in whole.items() if name != "ladder"}))
    assert told.endswith("every strategy in the table of the ladder.")


def test_graphs_that_only_the_thesis_strategies_were_measured_on_are_counted():
    rows = rows_of({experiment: strategies for experiment, (_, strategies) in views.SHOWN.items()})
    more = rows[(rows["experiment"] == "table-4.3") & rows["strategy"].isin(["serial", "naive"])]
    [told] = views.unmeasured(pd.concat([rows, more.assign(dataset="another graph")]))
    assert "1 of 2 graphs of table 4.3 are" in told


def test_a_block_counts_one_arc_after_another():
    """Beyond the chain that one arc takes, what one block of study 0 takes for the atomics of the others."""
    charge = costs.of("nvidia-h200")
    one, many = views.predicted_shared_levels(charge), views.predicted_shared_levels(charge, 1001)
    rate = charge.one("atomic-throughput", operation="add_returned", addresses=2**20, threads=256)
    assert many["narrow"] - one["narrow"] == pytest.approx(1000 / rate / 1e3)
    assert many["persistent"] == one["persistent"]
