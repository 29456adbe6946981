"""The published study's sample graph on the emulator with two threads (claim A18)."""

import numpy as np

from lockstep.sgd.experiments import paper_example
from lockstep.sgd.strategies import matchings


def edges(row):
    return row[0] + row[1]


def test_matchings_take_eight_steps():
    assert len(paper_example.steps("agm-edge")) == 8
    times, count = matchings.first_fit(paper_example.sample())
    assert paper_example.names(np.flatnonzero(times == 0)) == "agi" and count == 5


def test_second_block_of_nodes_takes_four_steps_and_two_as_a_graph_of_its_own():
    by_all = [edges(row) for row in paper_example.steps("agm-node")]
    assert by_all[-4:] == ["i", "j", "k", "l"]
    assert [edges(row) for row in paper_example.steps("sgm")][-2:] == ["ik", "jl"]


def test_edge_locked_defers_five_edges_and_begins_again_at_step_six():
    rows = paper_example.steps("edge-locked")
    assert "".join(row[2] for row in rows[:6]) == "bdhjl"
    assert all(not row[2] or edges(row) for row in rows), "of two edges that conflict one goes on"
    assert edges(rows[6]) + rows[6][2] == "bd"


def test_shuffled_edges_meet_fewer_conflicts():
    plain, shuffled = (
        paper_example.steps("edge-locked"),
        paper_example.steps("edge-locked", order=paper_example.SHUFFLE),
    )
    assert len(shuffled) < len(plain)
    assert sorted("".join(map(edges, shuffled))) == list(paper_example.LABELS)


def test_node_locked_defers_f_and_g_only():
    rows = paper_example.steps("node-locked")
    assert "".join(row[2] for row in rows) == "fg"
    assert [edges(row) for row in rows] == ["a", "b", "ch", "d", "e", "f", "g", "ik", "jl"]


def test_diagonals():
    assert [edges(row) for row in paper_example.steps("diagonal")][3] == "ag"
    ratings = paper_example.sample()
    schedule = matchings.diagonals(ratings.users, ratings.items, ratings.n_items)
    assert schedule.supersteps == 9
    blocks = matchings.block_diagonals(ratings.users, ratings.items, ratings.n_items, 2, 2)
    assert blocks.supersteps == 4 and np.diff(blocks.units).max() <= 4
