"""Rows as tables: a line a cell, a column a strategy."""

import json

import pandas as pd
import pytest

from lockstep import studies
from lockstep.evidence import tables
from lockstep.evidence.recording import COLUMNS


def rows(*lines):
    return pd.DataFrame([["s", "time", dataset, strategy, '{"n":1}', metric, "ms", number, value, "exact", "k"]
                         for dataset, strategy, metric, number, value in lines], columns=COLUMNS)  # fmt: skip


FOUND = rows(("b", "slow", "wall", 0, 1.0), ("b", "slow", "wall", 1, 4.0), ("b", "fast", "wall", 0, 0.0),
             ("a", "fast", "wall", 0, 3.0), ("a", "(graph)", "nodes", 0, 7.0))  # fmt: skip


def test_a_line_a_data_set_in_the_order_of_measuring_and_geometric_means_over_rounds():
    table = tables.means(FOUND, "time")
    assert list(table.index) == ["b", "a"] and list(table) == ["slow", "fast"]
    assert table.loc["b", "slow"] == pytest.approx(2.0) and pd.isna(table.loc["b", "fast"])
    assert tables.means(FOUND, "other").empty


def test_a_cell_with_its_parameters_and_the_graph_s_own_figures():
    (_, _, first), (dataset, parameters, cell) = tables.cells(FOUND, "time")
    assert (dataset, parameters) == ("a", {"n": 1})
    assert tables.times(first, take="max") == {"fast": 0.0, "slow": 4.0}
    assert tables.times(cell) == pytest.approx({"fast": 3.0}) and tables.of_graph(cell) == {"nodes": 7.0}


def tuned(*lines):
    return pd.DataFrame([["2-sssp-sync", experiment, dataset, label, "{}", "wall", "ms", turn, ms, "exact", "k"]
                         for experiment, dataset, label, turn, ms in lines], columns=COLUMNS)  # fmt: skip


def test_an_option_is_shown_as_speedups_over_the_default():
    table = studies.table("sssp")
    made = tuned(
        *(("tuning", "a", "atomic", turn, 4.0) for turn in range(2)),
        *(("tuning", "a", "atomic@threads=64", turn, 2.0) for turn in range(2)),
        *(("tuning", "b", "atomic", turn, 1.0) for turn in range(2)),
        *(("tuning", "b", "atomic@threads=64", turn, 2.0) for turn in range(2)),
        ("tuning", "b", "atomic@threads=512", 0, 0.5),
        ("tuning", "b", "semaphores-2", 0, 3.0),
        ("tuning", "b", "semaphores@layers=2,threads=512", 0, 1.0),
        ("tuning", "b", "semaphores@layers=3,threads=512", 0, 1.0),  # no default of three layers beside it
        ("time", "b", "atomic@threads=1024", 0, 0.1),  # of another experiment
    )
    shown = tables.by_option(made, table, "threads").set_index("strategy")
    assert list(shown.index) == ["atomic", "semaphores-2"] and list(shown.columns) == ["threads=64", "threads=512"]
    assert shown.loc["atomic", "threads=64"] == pytest.approx(1)  # twice as fast on one graph, half on the other
    assert shown.loc["atomic", "threads=512"] == pytest.approx(2)
    assert shown.loc["semaphores-2", "threads=512"] == pytest.approx(3)
    assert tables.by_option(made, table, "delta").empty and tables.by_option(tuned(), table, "threads").empty


def test_options_tuned_together_are_shown_by_their_combinations():
    table = studies.table("sgd")
    rows = tuned(*(("tuning-hybrid", "a", label, turn, ms) for turn in range(4)
                   for label, ms in (("node-then-edge", 4.0), ("node-then-edge@blocks=4,edge_blocks=16", 2.0),
                                     ("node-then-edge@blocks=32,edge_blocks=4", 8.0))))  # fmt: skip
    passes = ("blocks", "edge_blocks"), "tuning-hybrid"
    shown = tables.by_option(rows, table, *passes).set_index("strategy").loc["node-then-edge"]
    assert shown.to_dict() == pytest.approx({"blocks=4, edge_blocks=16": 2.0, "blocks=32, edge_blocks=4": 0.5})
    said = tables.better(rows, table, passes)
    assert "Of `blocks` and `edge_blocks`: `node-then-edge` to `blocks=4, edge_blocks=16` (2.00 times as fast)." in said
    assert tables.better(rows, table, "blocks", passes) == said  # of `blocks` alone nothing is recorded
    assert tables.by_option(rows, table, "blocks", "tuning-hybrid").empty  # no label without `blocks` beside it


def test_a_default_is_to_change_where_a_value_is_faster_over_all_cells_beyond_the_noise():
    table = studies.table("sssp")

    def times(noise, speedups):
        """Two cells, four rounds: the default's time is 1 ms, up to `noise`."""
        return tuned(*(
            ("tuning", cell, label, turn, (1 + noise * (-1) ** turn) ** (label == "atomic") / speedup)
            for cell, by in speedups.items() for turn in range(4)
            for label, speedup in (("atomic", 1.0), ("atomic@threads=64", 0.5), ("atomic@threads=512", by))
        ))  # fmt: skip

    said = tables.better(times(0.001, {"a": 1.5, "b": 1.0}), table, "threads")
    assert "`atomic` to `threads=512` (1.22 times as fast)" in said and "=64" not in said  # over both
    for noise, speedups in ((0.001, {"a": 1.1, "b": 0.95}), (0.3, {"a": 1.1, "b": 1.1})):  # below 3 %; in the noise
        assert tables.better(times(noise, speedups), table, "threads").endswith("Of `threads`: none.")
    assert tables.better(tuned(), table, "threads") == ""


def test_each_measure_has_a_default_of_its_own():
    rows = tuned(*(("tuning", "a", label, turn, time) for turn in range(4)
                   for label, time in (("paper", 2.0), ("paper@threads=1024", 1.0))))  # fmt: skip
    rows = pd.concat([rows.assign(parameters=json.dumps({"measure": "closeness"})),
                      rows.assign(parameters=json.dumps({"measure": "apsp"}), value=1.0)])  # fmt: skip
    said = tables.better(rows, studies.table("swarm"), "threads", names={"closeness": "closeness centrality"})
    assert said.count("times as fast") == 1
    assert "`paper` for closeness centrality to `threads=1024` (2.00 times as fast)" in said


def test_a_default_by_the_size_of_a_graph_stays_whatever_one_size_says():
    rows = tuned(*(("tuning", "a", label, turn, time) for turn in range(4)
                   for label, time in (("swarm", 2.0), ("swarm@threads=1024", 1.0), ("paper", 2.0),
                                       ("paper@threads=512", 1.0))))  # fmt: skip
    rule, _, exempt = tables.better(rows, studies.table("swarm"), "threads", by_size=["swarm"]).partition(" Exempt")
    assert "`paper` to `threads=512`" in rule and "swarm" not in rule
    assert exempt.endswith("`swarm` to `threads=1024` (2.00 times as fast).")
