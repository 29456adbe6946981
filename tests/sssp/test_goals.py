"""What study 2 set out to reach, on rows made up so that the answer is known."""

import pandas as pd
import pytest

from lockstep.sssp.results import goals

CELL = '{"arcs":"both","weights":"random"}'


def test_the_fastest_exact_strategy_by_the_clock_is_judged():
    times = {"atomic": (3.0, 2.9), "near-far": (2.0, 1.5), "semaphores-1": (0.5, 0.4), "auto": (1.0, 0.9)}
    rows = [
        {"experiment": "time", "dataset": "rmat-20", "strategy": name, "parameters": CELL, "metric": metric, "round": 0,
         "value": value}
        for name, pair in times.items()
        for metric, value in zip(("wall", "device"), pair, strict=True)
    ]  # fmt: skip
    (line,) = goals.reached(pd.DataFrame(rows)).to_dict("records")
    assert (line["goal"], line["by"], line["reached"]) == ("rmat-20", "near-far", True)
    assert line["measured"] == pytest.approx(2.0)
    slow = [{**row, "value": 10 * row["value"]} for row in rows]
    assert not goals.reached(pd.DataFrame(slow))["reached"].any()
    assert goals.reached(pd.DataFrame(rows).iloc[:0]).empty


def test_a_peer_without_an_aim_sets_no_goal(monkeypatch):
    monkeypatch.setattr(goals, "MS", {})
    rows = [{"experiment": "time", "dataset": "rmat-20", "strategy": "near-far", "parameters": CELL, "metric": metric,
             "round": 0, "value": 1.0} for metric in ("wall", "device")]  # fmt: skip
    assert goals.reached(pd.DataFrame(rows)).empty
