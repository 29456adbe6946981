"""What study 1 set out to reach, on rows made up so that the answer is known."""

import numpy as np
import pandas as pd
import pytest

from lockstep.machine.costs import Costs
from lockstep.sgd.results import goals

COSTS = Costs("made up", {("copy", '{"direction":"device"}'): 1000.0})


def row(experiment, dataset, strategy, metric, value, parameters='{"rank":16}', turn=0):
    return {"experiment": experiment, "dataset": dataset, "strategy": strategy, "metric": metric, "value": value,
            "parameters": parameters, "round": turn}  # fmt: skip


def graph(experiment, dataset, parameters='{"rank":16}', **figures):
    figures = {"users": 1000, "items": 1000, "ratings": 10**9, "largest_degree": 9, **figures}
    cell = experiment, dataset, "(graph)"
    return [row(*cell, name.replace("_", " "), value, parameters) for name, value in figures.items()]


def judged(rows, costs=None):
    return goals.reached(pd.DataFrame(rows), costs).set_index("goal")


def test_updates_are_those_of_the_fastest_serializable_schedule():
    times = {"tiles": 200.0, "edge-locked": 400.0, "hogwild": 100.0}
    rows = graph("fast", "twin-NFLIX", '{"rank":32}')
    rows += [row("fast", "twin-NFLIX", name, "wall", ms, '{"rank":32}') for name, ms in times.items()]
    (line,) = judged(rows).to_dict("records")
    assert (line["by"], line["reached"], line["measured"]) == ("tiles", True, pytest.approx(5.0))


def test_the_slowest_schedule_made_beforehand_counts():
    rows = graph("road", "twin-CAL") + graph("scale-free", "twin-LIVEJ")
    roads = {"edge-hubs": 2e3, "agm-edge": 1.5e3, "tiles": 10, "multicore": 9e3}
    others = {"sgm": 3e3, "tiles": 9e3}
    times = {("road", "twin-CAL"): roads, ("scale-free", "twin-LIVEJ"): others}
    rows += [row(*cell, name, "preparation", ms) for cell, each in times.items() for name, ms in each.items()]
    found = judged(rows)
    road, matchings = found.loc["each schedule of twin-CAL made beforehand"], found.loc["matchings of twin-LIVEJ"]
    assert (road["by"], road["reached"], road["measured"]) == ("edge-hubs", False, pytest.approx(2.0))
    assert (matchings["by"], matchings["reached"], matchings["measured"]) == ("sgm", True, pytest.approx(3.0))


def test_roads_against_the_bytes_that_they_must_move():
    rows = [*graph("road", "twin-E"), row("road", "twin-E", "patches", "wall", 16.0)]
    line = judged(rows, COSTS).loc["twin-E, a sweep"]
    moved = (2000 * 16 * 4 * 2 + 12 * 10**9) / 1e12 * 1e3  # ms at 1,000 GB/s
    assert line["measured"] == pytest.approx(moved / 16) and line["reached"]
    assert judged(rows).empty, "no costs, no floor, no share of it"


def test_test_error_after_twenty_sweeps():
    errors = {"serial": 1.0, "tiles": 1.02, "hogwild": 2.0}
    rows = [row("sweeps", "twin-NFLIX-by-8", name, "test rmse", value, turn=turn)
            for name, value in errors.items() for turn in range(20)]  # fmt: skip
    (line,) = judged(rows).to_dict("records")
    assert line["by"] == "tiles" and line["measured"] == pytest.approx(1.02) and not line["reached"]
    assert judged([one for one in rows if one["round"] < 10]).empty, "too few sweeps say nothing"
    assert np.isnan(line["floor"])
