"""What was set out to be reached, on rows made up so that the answer is known."""

import pandas as pd
import pytest

from lockstep.toposort.results import goals, views


def row(experiment, dataset, strategy, value, metric="wall", parameters="{}", turn=0):
    return {
        "experiment": experiment, "dataset": dataset, "strategy": strategy, "metric": metric, "value": value,
        "parameters": parameters, "round": turn,
    }  # fmt: skip


def test_a_goal_is_judged_by_the_fastest_strategy_of_the_gpu():
    few = '{"edges":1000,"nodes":1000000}'
    times = {"serial": 2.0, "naive": 1.0, "narrow": 0.1}
    rows = [row("table-4.1", "g", name, ms, parameters=few) for name, ms in times.items()]
    rows += [row("table-4.1", "g", "(graph)", value, metric, few) for metric, value in (("depth", 3), ("nodes", 10**6))]
    deep = "window-dag-1e6-8e6-1000-random"
    rows += [row("ladder", deep, name, ms) for name, ms in (("serial", 90.0), ("persistent", 50.0), ("auto", 20.0))]
    found = goals.reached(pd.DataFrame(rows)).set_index("by")
    assert found.loc["narrow", "measured"] == pytest.approx(20) and not found.loc["narrow", "reached"]
    assert found.loc["persistent", "measured"] == pytest.approx(50) and found.loc["persistent", "reached"]
    assert len(found) == 2, "what is not measured has no line"


def test_what_the_choice_costs_where_each_side_wins():
    table = pd.DataFrame({"graph": list("abc"), "best": ["serial", "narrow", "serial"], "auto/best": [2.0, 1.0, 1.125]})
    found = goals.auto(table)
    assert (found["graphs"], found["worst"], found["on"]) == (3, 2.0, "a")
    assert found["cpu"] == (2, pytest.approx(1.5)) and found["gpu"] == (1, pytest.approx(1.0))
    assert goals.auto(table[table["best"] == "serial"])["gpu"] is None


def test_times_of_the_choice_are_of_the_clock_alone():
    """Counts and events of the winner stand beside its times in the rows; none of them is a time by the clock."""
    rows = [row("auto", "g", "(graph)", value, metric) for metric, value in (("nodes", 9), ("edges", 9), ("depth", 3))]
    for turn in range(8):
        for name, ms in (("serial", 4.0), ("narrow", 2.0), ("auto", 3.0)):
            rows += [row("auto", "g", name, ms, turn=turn), row("auto", "g", name, 1000.0, "launches", turn=turn)]
    line = views.choices(pd.DataFrame(rows).assign(study="3-toposort-depth"), ["auto"]).iloc[0]
    assert (line["best"], line["best (ms)"], line["auto (ms)"]) == ("narrow", pytest.approx(2), pytest.approx(3))
    assert line["auto/best"] == pytest.approx(1.5)


def test_a_layer_of_the_deep_graph_is_what_it_holds_and_takes():
    figures = (("depth", 1000), ("nodes", 50_000), ("edges", 400_000))
    rows = [row("ladder", goals.DEEP, "(graph)", value, metric) for metric, value in figures]
    rows += [row("ladder", goals.DEEP, name, ms) for name, ms in (("persistent", 2.5), ("narrow", 0.5), ("auto", 0.1))]
    found = goals.layer(pd.DataFrame(rows))
    assert found == {name: pytest.approx(v) for name, v in
                     {"vertices": 50, "arcs": 400, "persistent": 2.5, "narrow": 0.5}.items()}  # fmt: skip
    reached = goals.reached(pd.DataFrame(rows)).set_index(["goal", "by"])["reached"]
    assert not reached["the deep graph", "persistent"] and reached["the deep graph", "narrow"]
    rows = [{**one, "experiment": "fitting", "dataset": goals.FITTING} for one in rows]
    reached = goals.reached(pd.DataFrame(rows)).set_index(["goal", "by"])["reached"]
    assert reached["layers like its own, where all counters fit", "narrow"] and len(reached) == 3  # and the dearest
    assert goals.layer(pd.DataFrame(rows[:0] + [row("control", "g", "persistent", 1.0)])) == {}


def test_the_dearest_layer_of_all_graphs_is_judged():
    rows = []
    for graph, depth, ms in (("shallow", 10, 1.0), ("cheap", 1000, 1.0), ("dear", 200, 0.5)):
        figures = (("depth", depth), ("nodes", 1000), ("edges", 2000))
        rows += [row("table-4.3", graph, "(graph)", value, metric) for metric, value in figures]
        rows.append(row("table-4.3", graph, "persistent", ms))
    found = goals.dearest_layer(pd.DataFrame(rows))
    assert found["graph"] == "dear" and found["us"] == pytest.approx(2.5)
    assert goals.dearest_layer(pd.DataFrame(rows[:4])) == {}, "a launch is no small part of ten layers"
