"""Schedules: what the layout of a trace must keep, on traces made by hand and on kernels."""

import matplotlib
import networkx as nx
import pytest

matplotlib.use("Agg")

from lockstep.explore import GRAPHS, STUDIES, draw, graph_of, schedule, strategies_of, suits, told
from lockstep.explore.schedule import lay_out
from lockstep.explore.widgets import Explorer
from lockstep.graphs import Graph
from lockstep.machine.host import TraceEvent


def traced(*events):
    """Events (thread, event, where, before, after) in the order in which they happened."""
    return [TraceEvent(k, 0, *event) for k, event in enumerate(events, 1)]


def steps(events, kind):
    return {(e.thread, e.step) for e in events if e.kind == kind}


def test_threads_that_need_not_wait_act_in_the_same_step():
    done = traced((0, "read", "a[0]", 1, 1), (1, "read", "a[1]", 1, 1), (0, "write", "b[0]", 0, 1))
    events, launches, _ = lay_out(done)
    assert steps(events, "read") == {(0, 1), (1, 1)} and steps(events, "write") == {(0, 2)}
    assert launches == [1]


def test_atomics_on_one_word_stand_in_a_row_and_on_two_words_do_not():
    one = traced(*((thread, "atomic", "sum[0]", thread, thread + 1) for thread in range(4)))
    assert steps(lay_out(one)[0], "atomic") == {(0, 1), (1, 2), (2, 3), (3, 4)}
    two = traced(*((thread, "atomic", f"sum[{thread}]", 0, 1) for thread in range(4)))
    assert steps(lay_out(two)[0], "atomic") == {(thread, 1) for thread in range(4)}


def test_a_read_comes_after_the_write_that_it_sees():
    events = lay_out(traced((0, "read", "b[0]", 0, 0), (0, "write", "a[0]", 0, 7), (1, "read", "a[0]", 7, 7)))[0]
    assert steps(events, "write") == {(0, 2)} and (1, 3) in steps(events, "read")


def test_a_barrier_lets_all_go_on_when_the_last_one_has_come():
    late = [(1, "read", f"a[{k}]", 0, 0) for k in range(3)]
    events = lay_out(traced((0, "barrier", "", 0, 0), *late, (1, "barrier", "", 0, 0), (0, "read", "b[0]", 0, 0),
                            (1, "read", "b[1]", 0, 0)))[0]  # fmt: skip
    waits = {e.thread: (e.step, e.until) for e in events if e.kind == "wait"}
    assert waits == {0: (1, 5), 1: (4, 5)}
    assert {(0, 6), (1, 6)} <= steps(events, "read")


def test_spinning_is_one_look_until_something_changes():
    spin = [(0, "load", "flag[0]", 0, 0)] * 50
    events = lay_out(traced(*spin, (1, "store", "flag[0]", 0, 1), (0, "load", "flag[0]", 1, 1)))[0]
    assert steps(events, "read") == {(0, 1), (0, 2)} and steps(events, "write") == {(1, 1)}


def test_a_launch_begins_when_the_one_before_has_ended():
    first, second = traced((0, "write", "a[0]", 0, 1), (0, "write", "a[1]", 0, 1)), traced((1, "read", "a[2]", 0, 0))
    events, launches, _ = lay_out(first + second)
    assert launches == [1, 3] and (1, 3) in steps(events, "read")


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_has_something_to_watch(study):
    names = strategies_of(study)
    assert len(names) >= 5 and "auto" not in names
    suited = [name for name in GRAPHS if suits(study, name)]
    assert len(suited) >= 5
    found = schedule(study, suited[-1], names[0])
    assert found.steps == max(max(e.step, e.until) for e in found.events) and not found.cut
    assert found.kinds["read"] and found.kinds["write"]
    assert sum(found.kinds.values()) == len(found.events)


def test_the_same_seed_gives_the_same_schedule_and_another_one_another():
    runs = [schedule("sssp", "two ways", "atomic", seed) for seed in (3, 3, 4)]
    told_ = [[(e.step, e.thread, e.kind) for e in run.events] for run in runs]
    assert told_[0] == told_[1] != told_[2]


def test_contention_shows_as_a_longer_chain():
    """All leaves of a star are counted on one word by the same number of atomics as on a path, one by one."""
    star = schedule("toposort", Graph.from_edges(range(1, 20), [0] * 19), "naive")
    chains = sorted(e.step for e in star.events if e.kind == "atomic" and e.what.startswith("in_degrees[0]"))
    assert len(chains) == 19 and len(set(chains)) == 19


def test_barriers_of_a_matching_keep_supersteps_apart():
    found = schedule("sgd", "sample ratings", "agm-edge")
    assert found.kinds["wait"] > 0 and found.kinds["mark"] >= 12, "each of the twelve edges is marked as it is applied"


def test_picture_and_words():
    found = schedule("coloring", "karate", "early")
    ax = draw(found, until=10)
    title = ax.get_title() or ax.get_title(loc="left")  # where the house style puts it
    assert title.startswith("early on karate") and ax.get_xlim()[1] > 10
    assert len(ax.get_yticks()) <= 24
    text = told(found, 10)
    assert "step 10:" in text and "further threads" in text
    assert "nothing" in told(found, found.steps + 1)
    with pytest.raises(ValueError, match="lines=-1; expected 0 or more"):
        told(found, 10, lines=-1)


def test_errors_name_what_there_is():
    with pytest.raises(ValueError, match="no study 'sort'"):
        schedule("sort", "karate", "naive")
    with pytest.raises(ValueError, match="no kernels of 'greedy'"):
        schedule("coloring", "karate", "greedy")
    with pytest.raises(ValueError, match="no study 'machine'"):
        suits("machine", "karate")
    with pytest.raises(ValueError, match="no data set 'no-such-graph'"):
        suits("sssp", "no-such-graph")
    assert not suits("toposort", "karate") and not suits("coloring", "sample ratings")
    assert graph_of("karate").n == 34


def test_widgets_change_what_is_shown():
    made = Explorer()
    before = bytes(made.picture.value)
    assert before.startswith(b"\x89PNG")
    made.step.value = 5
    assert bytes(made.picture.value) != before and "step 5:" in made.words.value
    made.study.value = "toposort"
    assert "karate" not in made.graph.options and made.strategy.value in strategies_of("toposort")
    made.rivals.value = ("serial", "naive")
    made.rank.click()
    assert "naive" in made.table.value and bytes(made.ranking.value).startswith(b"\x89PNG")
    made.rivals.value = ()
    made.graph.value = "path of 6"
    assert "path of 6" in made.schedule.graph


def test_an_error_stands_where_the_picture_would_be(monkeypatch):
    from lockstep.explore import widgets

    made = Explorer()

    def fails(*_):
        raise ValueError("no such <thing>")

    monkeypatch.setattr(widgets, "schedule", fails)
    made.seed.value = 9
    assert "no such &lt;thing&gt;" in made.words.value and made.picture.layout.display == "none"


def test_a_file_of_ones_own_is_shown_or_refused_where_the_picture_is(tmp_path):
    mine, cyclic, large, ratings = (tmp_path / name for name in ("mine.txt", "cyclic.txt", "large.txt", "ratings.csv"))
    mine.write_text("0 1\n1 2\n0 2\n")
    cyclic.write_text("0 1\n1 0\n")
    large.write_text("".join(f"{k} {k + 1}\n" for k in range(3000)))
    ratings.write_text("1,1,5\n1,2,3\n2,1,4\n")
    made = Explorer("toposort", "path of 6", "naive")
    before = bytes(made.picture.value)
    made.file.value = f" {mine} "  # as pasted
    assert made.graph.value == str(mine) and bytes(made.picture.value) != before
    for file, why in ((cyclic, "cycle"), (large, "at most 2,000"), (tmp_path / "none.txt", "no such file")):
        made.file.value = str(file)
        assert why in made.words.value and made.picture.layout.display == "none" and made.graph.value == str(mine)
    made.file.value = ""  # what was wrong with the file goes, the picture is back
    assert made.picture.layout.display is None and "no such file" not in made.words.value
    made.file.value = str(mine)
    made.study.value = "sgd"
    made.file.value = str(ratings)
    assert made.graph.value == str(ratings) and made.picture.layout.display is None


def test_graphs_of_other_libraries_are_watched():
    assert schedule("sssp", nx.path_graph(3), "atomic").steps > 0
    with pytest.raises(ValueError, match="sssp takes graphs, not Ratings"):
        schedule("sssp", GRAPHS["sample ratings"](), "atomic")
