"""The published study's sample graph on the hypothetical GPU with two threads (claim A18)."""

import numpy as np

from lockstep.sgd import matchings, worked


def edges(row):
    return row[0] + row[1]


def test_matchings_take_eight_steps():
    assert len(worked.steps("agm-edge")) == 8
    times, count = matchings.first_fit(worked.sample())
    assert worked.names(np.flatnonzero(times == 0)) == "agi" and count == 5


def test_second_block_of_nodes_takes_four_steps_and_two_as_a_graph_of_its_own():
    by_all = [edges(row) for row in worked.steps("agm-node")]
    assert by_all[-4:] == ["i", "j", "k", "l"]
    assert [edges(row) for row in worked.steps("sgm")][-2:] == ["ik", "jl"]


def test_edge_locked_defers_five_edges_and_begins_again_at_step_six():
    rows = worked.steps("edge-locked")
    assert "".join(row[2] for row in rows[:6]) == "bdhjl"
    assert all(not row[2] or edges(row) for row in rows), "of two edges that conflict one goes on"
    assert edges(rows[6]) + rows[6][2] == "bd"


def test_shuffled_edges_meet_fewer_conflicts():
    plain, shuffled = worked.steps("edge-locked"), worked.steps("edge-locked", order=worked.SHUFFLE)
    assert len(shuffled) < len(plain)
    assert sorted("".join(map(edges, shuffled))) == list(worked.LABELS)


def test_node_locked_defers_f_and_g_only():
    rows = worked.steps("node-locked")
    assert "".join(row[2] for row in rows) == "fg"
    assert [edges(row) for row in rows] == ["a", "b", "ch", "d", "e", "f", "g", "ik", "jl"]


def test_diagonals():
    assert [edges(row) for row in worked.steps("diagonal")][3] == "ag"
    ratings = worked.sample()
    schedule = matchings.diagonals(ratings.users, ratings.items, ratings.n_items)
    assert schedule.supersteps == 9
    blocks = matchings.block_diagonals(ratings.users, ratings.items, ratings.n_items, 2, 2)
    assert blocks.supersteps == 4 and np.diff(blocks.units).max() <= 4
