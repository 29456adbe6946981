"""The rules that `auto` follows are those that the published recordings lead to, and studies can follow them."""

import json

import numpy as np
import pytest

from lockstep import choose, paths, studies
from lockstep.choose import tree
from lockstep.choose.features import near_share
from lockstep.coloring.strategies import auto as coloring
from lockstep.graphs import generators
from lockstep.guide import fitted
from lockstep.sssp.strategies import auto as sssp


def kept():
    return json.loads((paths.DATA / choose.FILE).read_text(encoding="utf-8"))


def strategies(problem):
    return {leaf.strategy for one in kept().values() if problem in one
            for leaf, _ in tree.leaves(tree.unpacked(one[problem]["rule"]))}  # fmt: skip


def test_the_file_holds_what_the_recordings_lead_to():
    assert kept() == fitted.rules(), "renew it with: make rules"


@pytest.mark.parametrize("problem, auto", [("sssp", sssp), ("coloring", coloring)])
def test_auto_can_take_whatever_the_rule_names(problem, auto):
    small = {one[problem]["small"][1] for one in kept().values() if problem in one and one[problem]["small"]}
    assert strategies(problem) | small <= set(auto.CHOICES) <= set(studies.table(problem))


def test_batches_have_one_strategy_whatever_their_sizes():
    assert strategies("swarm") == {"swarm"}, "swarm's auto consults no rule"


def test_the_features_of_a_graph_decide(monkeypatch):
    rule = {"feature": "near", "threshold": 40.0, "low": {"strategy": "a", "graphs": ["x"]},
            "high": {"strategy": "b", "graphs": ["x", "y"]}}  # fmt: skip
    monkeypatch.setattr(choose, "_read", lambda: {"gpu-1": {"sssp": {"rule": rule, "small": [100, "c"]}}})
    figures = {"n": 1000, "m": 3000, "largest": 4}
    assert choose.by_rule("sssp", {**figures, "near": 0.5}) == (
        "b", "more than 40 % of arcs within a 128th of the ids: the fastest on 2 recorded graphs of gpu-1")  # fmt: skip
    assert choose.by_rule("sssp", {**figures, "near": 0.4})[0] == "a"
    assert choose.by_rule("sssp", {"n": 30, "m": 60, "largest": 3, "near": 1})[0] == "c"
    with pytest.raises(LookupError, match="no rule for sgd in .*rules.json; write it with: make rules"):
        choose.by_rule("sgd", {})
    before = choose.stands("sssp")
    other = {"rule": rule | {"threshold": 41.0}, "small": None}
    monkeypatch.setattr(choose, "_read", lambda: {"gpu-1": {"sssp": other}})
    assert choose.stands("sssp") != before, "rows of auto follow from its rule"


def test_near_arcs():
    road = generators.road_like(2**16, seed=1)
    number = np.random.default_rng(0).permutation(road.n)
    tails, heads = road.edges()
    assert near_share(road) > 0.5
    assert near_share(type(road).from_edges(number[tails], number[heads], n=road.n)) < 0.05
    assert near_share(type(road).from_edges([], [], n=3)) == 0
