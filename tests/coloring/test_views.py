"""What the tables say: which strategy stands beside the peer, and the colors over seeds."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from lockstep.coloring.results import goals, views
from lockstep.evidence import claims, recording
from lockstep.machine import costs

PAPER = Path(__file__).parents[2] / "config" / "paper.yaml"


def rows(*found):
    lines = []
    for strategy, metric, value, experiment in found:
        lines.append(
            {"experiment": experiment, "dataset": "rmat-20", "strategy": strategy, "metric": metric, "value": value}
        )
    return pd.DataFrame(lines)


def recorded(peer_colors=None, **strategies):
    found = [
        ("(graph)", metric, value, "ladder")
        for metric, value in (("nodes", 10), ("arcs", 2**23), ("chain", 3), ("degree", 99))
    ]
    if peer_colors is not None:
        found.append(("(graph)", "peer_colors", peer_colors, "ladder"))
    for name, (ms, colors) in strategies.items():
        found += [
            (name, metric, value, "ladder") for metric, value in (("device", ms), ("wall", ms), ("colors", colors))
        ]
    return rows(*found)


def rows_of_steps(count):
    return rows(("(graph)", "steps", count, "ladder"))


@pytest.mark.parametrize(
    "here, shown, reached",
    [
        (110, "emptying", True),  # the faster one takes more colors than the peer would on this graph
        (112, "early", True),
        (None, "emptying", True),  # not counted: what the peer took on its own instance
        (90, "early", False),  # nobody takes so few: the fastest, and said not to reach it
    ],
)
def test_the_fastest_that_takes_no_more_colors_than_the_peer(here, shown, reached):
    rows = recorded(here, early=(0.8, 112), emptying=(1.9, 106))
    (line,) = views.beside_peers(rows).to_dict("records")
    assert line["strategy"] == shown and line["as few"] is reached and line["auto"] == "emptying"
    assert line["here"] == here or here is None and pd.isna(line["here"])
    (goal,) = goals.reached(rows).to_dict("records")
    assert goal["by"] == shown and goal["reached"] is reached


def test_a_time_above_the_aim_does_not_reach_it():
    assert not goals.reached(recorded(110, emptying=(2.6, 106)))["reached"].any()


def test_a_peer_without_an_aim_sets_no_goal(monkeypatch):
    rows = recorded(110, emptying=(1.9, 106))
    monkeypatch.setattr(goals, "MS", {})
    assert len(views.beside_peers(rows)) == 1 and goals.reached(rows).empty


def test_the_floor_has_the_barriers_of_this_machine_s_blocks():
    """Two blocks a multiprocessor, as many as the costs' machine has."""
    rows = pd.concat([recorded(110, emptying=(1.9, 106)), rows_of_steps(1000)])

    def floor(wide):
        known = {("graph-node", f'{{"blocks":{wide}}}'): 1.0, ("hop", "{}"): 100.0, ("launch", "{}"): 2.0,
                 ("dependent-load", '{"memory":"L2"}'): 200.0, ("copy", '{"direction":"device"}'): 1000.0}  # fmt: skip
        known |= {("grid-barrier", f'{{"blocks":{blocks},"threads":512}}'): blocks / 100 for blocks in (100, 400)}
        (line,) = views.beside_peers(rows, costs.Costs("made up", known)).to_dict("records")
        return line["chain floor ms"]

    # a step is two barriers and six loads; twice as many multiprocessors, twice as dear a barrier here
    assert floor(50) == pytest.approx(3e-4 + 1000 * (2 * 1.0e-3 + 1.2e-3))
    assert floor(200) - floor(50) == pytest.approx(1000 * 2 * 3.0e-3)


def test_colors_over_seeds_by_strategy():
    table = views.seeds(
        rows(*((name, "colors", value, "seeds") for name, value in (("early", 5), ("early", 6), ("emptying", 4))))
    )
    assert table.to_dict("records") == [
        {"graph": "rmat-20", "strategy": "early", "fewest": 5, "most": 6, "seeds": 2},
        {"graph": "rmat-20", "strategy": "emptying", "fewest": 4, "most": 4, "seeds": 1},
    ]


def test_strategies_that_the_ladder_has_no_time_of_are_named():
    rows = pd.DataFrame({"experiment": "ladder", "metric": "wall", "strategy": ["greedy", "early"]})
    assert views.unmeasured(rows, ["greedy", "early"]) == []
    [told] = views.unmeasured(rows, ["greedy", "hybrid", "degree", "early"])
    assert told.endswith("hybrid and degree.")


def judged(graph, times):
    at = {
        "study": "4-coloring-phase-switch",
        "experiment": "judged",
        "dataset": graph,
        "parameters": '{"structured": false}',
    }
    lines = [
        {**at, "strategy": strategy, "metric": metric, "round": turn, "value": value * (1 + 0.01 * turn)}
        for strategy, value in times.items()
        for turn in range(4)
        for metric in ("wall", "switched")
    ]
    return pd.DataFrame(lines)


def test_what_a_rule_loses_by_deciding_and_by_deciding_wrongly():
    times = {"randomized": 3, "hybrid-best": 1, "hybrid-worst": 4, "hybrid-threshold": 2}
    frames = [
        judged("cit-HepPh", {**times, "hybrid-auto": 1.2, "hybrid-own": 1.2}),
        judged("gowalla", {**times, "hybrid-auto": 1.05, "hybrid-own": 1.0}),
        judged("rmat-14", {**times, "hybrid-auto": 1.0, "hybrid-own": 1.0}),
    ]
    table = views.lost(pd.concat(frames)).set_index("known").round(4)
    assert table["graphs"].to_dict() == {"fitted": 1, "seen": 1, "fresh": 1, "not fitted": 2}
    assert table.loc["seen", ["auto/best", "auto/own"]].tolist() == [1.2, 1.0]
    assert table.loc["fresh", ["auto/best", "auto/own"]].tolist() == [1.05, 1.05]
    assert table.loc["not fitted", "auto/best"] == round((1.2 * 1.05) ** 0.5, 4)
    assert table.loc["not fitted", "worst"] == "cit-HepPh"
    [goal] = goals.reached(pd.concat(frames)).to_dict("records")
    assert not goal["reached"] and goal["measured"] == pytest.approx((1.2 * 1.05) ** 0.5)


def test_the_ledger_judges_the_switch_on_no_graph_that_it_was_fitted_to():
    [part] = [one for one in claims.load() if one.id == "C8"]
    assert set(part.select["dataset"]) == {*views.KNOWN["seen"], *views.KNOWN["fresh"]}
    config = yaml.safe_load(PAPER.read_text())["studies"]["4-coloring-phase-switch"]["parts"]["switch"]["cells"][0]
    assert set(config["graphs"]) - {"dip20090126"} == {graph for known in views.KNOWN.values() for graph in known}
    assert not set(views.KNOWN["fitted"]) & set(part.select["dataset"])


def test_counts_of_two_recordings_are_one_curve_and_one_line():
    lines = [("imbalance", "stealing-counted", "steals", turn, value) for turn, value in ((0, 3.0), (1000, 5.0))]
    lines += [("iterations", "hybrid-counted", f"active@{step}", turn, value) for turn in (0, 1000)
              for step, value in ((10, 1.0), (2, 7.0))]  # fmt: skip
    lines += [("stealing", label, "wall", turn, 1.0) for label in ("randomized", "staying", "queues", "stealing")
              for turn in (0, 1, 1000)]  # fmt: skip
    found = recording.frame([("4-coloring-phase-switch", experiment, "g", label, "{}", metric, "1", turn, value,
                             "exact", "k") for experiment, label, metric, turn, value in lines])  # fmt: skip
    assert views.curves(found, "g", "active")["hybrid"].tolist() == [7, 1]
    (line,) = views.stealing(found).to_dict("records")
    assert line["steals"] == 4 and line["pops"] == 0
