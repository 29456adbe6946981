"""What counting builds count: every warp has its words, reads are those of a round, and the colors stay the same."""

import networkx as nx
import numpy as np
import pytest

from lockstep.coloring import STRATEGIES, Problem
from lockstep.coloring.experiments import balance
from lockstep.graphs import Graph
from lockstep.machine import get_executor

COUNTED = ("randomized", "hybrid", "degree", "staying", "stealing")


@pytest.fixture(scope="module")
def graph():
    return Graph.from_networkx(nx.barabasi_albert_graph(5000, 4, seed=1))


@pytest.mark.parametrize("name", COUNTED)
def test_reads_of_a_round(graph, name):
    strategy, host = STRATEGIES[name], get_executor("host")
    problem = Problem(graph)
    rounds, result, _ = balance.measure(strategy, problem, host, count=True)
    problem.check(result, strategy)
    plain = strategy.plan_for(problem, host)
    plain.reset()
    assert np.array_equal(plain.run().colors, result.colors)
    assert len(rounds) == result.stats["rounds"] and rounds[0].active == graph.n
    degrees = graph.out_degrees()
    for one in rounds:
        assert one.active // 2 <= one.read <= graph.m, "some neighbors of each that is active, none twice"
        assert one.longest <= degrees.max() and one.colored >= 0
        assert one.warp >= 1 and one.group >= one.warp * 0.999 and one.between >= 0.999
    assert rounds[-1].active == rounds[-1].colored


def test_a_counting_plan_has_four_words_for_each_warp(graph):
    plan = STRATEGIES["randomized"].plan_for(Problem(graph), get_executor("host"), count=True)
    plan.reset()
    plan.run()
    warps = plan.blocks * plan.threads // 32
    assert all(sample.shape == (warps, 4) for sample in plan.samples)
    assert warps * 32 >= graph.n
