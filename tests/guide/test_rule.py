"""The rule finds what was planted, and its regrets are those of graphs that it has not seen."""

import math

import pytest

from lockstep.choose.tree import Leaf, decide, leaves, packed, unpacked
from lockstep.guide import rule
from lockstep.guide.observed import Observation, family_of, group_of


def seen(dataset, times, **features):
    return Observation(dataset, group_of(dataset), family_of(dataset), features, times, {})


def line(x, fast, slow, name):
    """At x, `fast` takes 1 ms and `slow` takes 10."""
    return seen(f"{name}-{x}", {fast: 1.0, slow: 10.0}, size=float(x), degree=3.0)


def test_a_planted_threshold_is_found_and_generalizes():
    known = [line(x, "low", "high", "a") for x in (1, 2, 3, 4)]
    known += [line(x, "high", "low", "b") for x in (20, 30, 40, 50)]
    tree = rule.fit(known)
    assert tree.feature == "size" and 4 <= tree.threshold < 20
    assert decide(tree, {"size": 5, "degree": 3})[0].strategy == "low"
    assert decide(tree, {"size": 25, "degree": 3})[0].strategy == "high"
    regret = rule.regret(rule.left_out(known))
    assert (regret.mean, regret.right, regret.judged) == (pytest.approx(1), 8, 8)
    assert rule.regret(rule.left_out(known, 0)).mean > 2


def test_two_questions_are_asked_only_where_one_does_not_do():
    corners = {(1, 1): "p", (1, 9): "q", (9, 1): "q", (9, 9): "p"}
    known = [
        seen(f"g-{x}-{y}-{k}0", {best: 1.0, "q" if best == "p" else "p": 5.0}, x=x + k / 9, y=y + k / 9)
        for (x, y), best in corners.items()
        for k in range(3)
    ]
    tree = rule.fit(known)
    for (x, y), best in corners.items():
        assert decide(tree, {"x": x, "y": y})[0].strategy == best
    assert len(leaves(tree)) == 4


def test_as_many_questions_as_graphs_left_out_bear_out():
    planted = [line(x, "low", "high", "a") for x in (1, 2, 3, 4)] + [line(x, "high", "low", "b") for x in (20, 30, 40)]
    assert rule.best_depth(planted) == 1
    # The same times without any order in them: what a question finds on the others does not hold.
    mixed = [line(x, "low" if k % 2 else "high", "high" if k % 2 else "low", "c") for k, x in enumerate(range(1, 9))]
    assert rule.best_depth(mixed) == 0


def test_what_costs_less_than_the_margin_is_no_question():
    known = [seen(f"g{x}", {"p": 1.0, "q": 1.02 if x < 5 else 0.99}, size=float(x)) for x in range(1, 9)]
    assert isinstance(rule.fit(known), Leaf)


def test_a_strategy_that_was_left_out_as_too_slow_does_not_win_by_its_absence():
    known = [seen("a", {"p": 1.0, "q": 1.1}, size=1.0), seen("b", {"q": 9.0, "r": 10.0}, size=2.0)]
    assert rule.fit(known).strategy == "q"


def test_variants_of_a_graph_leave_together_and_weigh_as_one():
    known = [line(1, "p", "q", "a")]
    known += [seen(f"layered-9-9-{ids}", {"q": 1.0, "p": 2.0}, size=9.0, degree=1.0) for ids in ("ordered", "random")]
    assert {one.group for one in known} == {"a-1", "layered-9-9"}
    chosen = {one.dataset: strategy for one, strategy in rule.left_out(known)}
    assert chosen == {"a-1": "q", "layered-9-9-ordered": "p", "layered-9-9-random": "p"}
    regret = rule.regret(list(zip(known, ["p", "p", "p"], strict=True)))
    assert regret.judged == 2 and regret.mean == pytest.approx(math.sqrt(2))


def test_a_choice_that_was_never_timed_is_counted_and_not_judged():
    known = [seen("a", {"p": 1.0, "q": 2.0}, size=1.0)]
    regret = rule.regret([(known[0], "r")])
    assert regret.judged == 0 and regret.unknown == 1 and math.isnan(regret.mean)


def test_a_single_graph_gives_a_rule_and_no_loss():
    known = [seen("a", {"p": 1.0, "q": 2.0}, size=1.0)]
    assert rule.fit(known).strategy == "p"
    assert rule.left_out(known) == []
    assert rule.fit([]) is None


@pytest.mark.parametrize(("low", "high", "found"), [(4, 20, 9), (131, 163, 150), (0.99, 1.25, 1), (0, 2, 1), (7, 8, 7)])
def test_thresholds_have_as_few_digits_as_they_can(low, high, found):
    assert rule.rounded_between(low, high) == found


@pytest.mark.parametrize(("dataset", "group", "family"), [
    ("erdos-renyi-1e6-1e3-4", "erdos-renyi-1e6-1e3", "erdos-renyi"),
    ("layered-1e6-200-random", "layered-1e6-200", "layered"),
    ("road-like-4194304", "road-like-4194304", "road-like"),
    ("rmat-20", "rmat-20", "rmat"),
    ("commit-dag-git", "commit-dag-git", "commit-dag"),
    ("cit-HepPh", "cit-HepPh", "cit-HepPh"),
    ("cnr-2000", "cnr-2000", "cnr"),
    ("USA-road-d.NY", "USA-road-d.NY", "USA-road-d.NY"),
])  # fmt: skip
def test_what_is_left_out_together(dataset, group, family):
    assert (group_of(dataset), family_of(dataset)) == (group, family)


def test_a_rule_survives_being_written_down():
    known = [line(x, "low", "high", "a") for x in (1, 2, 3)] + [line(x, "high", "low", "b") for x in (20, 30, 40)]
    tree = rule.fit(known)
    assert unpacked(packed(tree, known.index), known.__getitem__) == tree
