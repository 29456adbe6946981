"""The control of the study notebooks: what is picked narrows what is offered, and the picture follows."""

import html
import sys

import pandas as pd
import pytest

from lockstep import explore
from lockstep.evidence import Study
from lockstep.explore.records import ALL, Recorded, timed, times

NAMES = ["1-sgd-schedules", "2-sssp-sync", "3-toposort-depth", "4-coloring-phase-switch", "5-swarm-batch"]


@pytest.fixture(scope="module", params=NAMES)
def control(request):
    return Recorded(Study(request.param))


def test_every_claim_of_every_machine_shows_what_it_rests_on(control):
    with_times = 0
    for machine in control.machine.options:
        control.machine.value = machine
        for part in control.parts:
            control.claim.value = part
            assert control.words.value.startswith(f"<p>{part}")
            assert (control.picture.layout.display is None) == bool(control.graph.options)
            with_times += bool(control.graph.options)
    assert with_times > 10


@pytest.mark.parametrize("control", ["5-swarm-batch"], indirect=True)
def test_words_say_what_a_claim_rests_on_and_figures_read_as_in_the_report(control):
    control.machine.value = next(name for name in control.machine.options if "h200" in name)
    for part, words in {
        "E7b": "holds; published: 2 launches, here 2 launches",
        "E8a": " min (",  # a unit once, an interval
        "E11a": "No row of it is recorded here",  # of the paper's own code
        "E16d": "It rests on no strategy's own times",  # a sum over three measures
    }.items():
        control.claim.value = part
        assert words in html.unescape(control.words.value), part


def test_the_picture_follows_graph_machine_and_claim(control):
    control.claim.value = ALL
    control.machine.value = control.machine.options[0]
    seen = set()
    for _, cell in control.graph.options[:4]:
        control.graph.value = cell
        seen.add(bytes(control.picture.value))
    control.machine.value = control.machine.options[1]
    seen.add(bytes(control.picture.value))
    assert len(seen) == 5 and all(one.startswith(b"\x89PNG") for one in seen)
    assert control.words.value == "<p></p>"


def test_a_graph_that_the_next_machine_has_stays_picked(control):
    control.claim.value = ALL
    control.machine.value = control.machine.options[0]
    there = [set(timed(rows)["dataset"]) for rows in list(control.rows.values())[:2]]
    cells = [cell for _, cell in control.graph.options if cell[2] in there[0] & there[1]]
    control.graph.value = cells[-1]
    control.machine.value = control.machine.options[1]
    assert control.graph.value == cells[-1] or cells[-1] not in dict(control.graph.options).values()


def test_times_are_medians_with_the_range_of_the_rounds():
    walls = [("slow", 4.0), ("slow", 8.0), ("slow", 6.0), ("fast", 1.0), ("fast", 3.0), ("fast", 2.0), ("(best)", 1.0)]
    rows = pd.DataFrame(walls, columns=["strategy", "value"]).assign(metric="wall")
    table = times(timed(rows))
    assert table.to_dict("list") == {
        "strategy": ["fast", "slow"], "median": [2, 6], "least": [1, 4], "largest": [3, 8], "rounds": [3, 3],
    }  # fmt: skip


def test_nothing_recorded_is_said(tmp_path):
    control = Recorded(Study("2-sssp-sync", recordings=tmp_path, results=tmp_path))
    assert "Nothing is recorded" in control.words.value and control.picture.layout.display == "none"


def test_without_widgets_the_cell_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "lockstep.explore.records", None)
    with pytest.raises(ModuleNotFoundError):
        explore.recorded(None)  # another module is lacking: that is no reason to go on
    monkeypatch.delitem(sys.modules, "lockstep.explore.records")
    monkeypatch.delitem(sys.modules, "lockstep.explore.widgets", raising=False)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert "the extra `lab`" in explore.recorded(None)
