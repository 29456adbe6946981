"""What the tables say: which strategy stands beside the peer, and the colors over seeds."""

import pandas as pd
import pytest

from lockstep.coloring import goals, views


def rows(*found):
    lines = []
    for strategy, metric, value, experiment in found:
        lines.append(
            {"experiment": experiment, "dataset": "rmat-20", "strategy": strategy, "metric": metric, "value": value}
        )
    return pd.DataFrame(lines)


def recorded(peer_colors=None, **strategies):
    found = [("(graph)", metric, value, "ladder") for metric, value in (("nodes", 10), ("arcs", 20), ("chain", 3))]
    if peer_colors is not None:
        found.append(("(graph)", "peer_colors", peer_colors, "ladder"))
    for name, (ms, colors) in strategies.items():
        found += [
            (name, metric, value, "ladder") for metric, value in (("device", ms), ("wall", ms), ("colors", colors))
        ]
    return rows(*found)


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
    assert line["strategy"] == shown and line["as few"] is reached
    assert line["here"] == here or here is None and pd.isna(line["here"])
    (goal,) = goals.reached(rows).to_dict("records")
    assert goal["by"] == shown and goal["reached"] is reached


def test_a_time_above_the_aim_does_not_reach_it():
    assert not goals.reached(recorded(110, emptying=(2.6, 106)))["reached"].any()


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
