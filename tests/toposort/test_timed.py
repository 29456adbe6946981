"""What goes before a timed run of this study, and how plans are laid out."""

import dataclasses
from types import SimpleNamespace

import pytest

from lockstep.graphs import generators
from lockstep.toposort import STRATEGIES, Problem, experiments


@pytest.fixture
def happened(monkeypatch):
    done = []
    monkeypatch.setattr(experiments, "_ready", lambda executor: lambda: done.append("empty launch"))
    plan = SimpleNamespace(reset=lambda: done.append("input put back"))
    cuda = SimpleNamespace(name="cuda", reset_counts=lambda: done.append("counts cleared"))
    return done, plan, cuda


def test_an_empty_launch_goes_before_a_run_that_launches(happened):
    done, plan, cuda = happened
    experiments._prepare(plan, cuda, launches=True)()
    assert done == ["input put back", "empty launch", "counts cleared"]


def test_none_goes_before_a_serial_sort(happened):
    done, plan, cuda = happened
    experiments._prepare(plan, cuda, launches=False)()
    experiments._prepare(plan, None)()
    assert done == ["input put back", "counts cleared", "input put back"]


def test_the_empty_launches_are_a_plain_and_a_cooperative_one(host):
    host.reset_counts()
    experiments._ready(host)()
    assert host.counts["launches"] == 2


def test_each_kernel_of_the_naive_sort_is_timed_in_each_layer(host, monkeypatch):
    graph = generators.disjoint_paths(40, 8)
    monkeypatch.setattr(host, "device_ms", lambda run, lead: (run(), lead, 1.0)[2], raising=False)
    lead = object()
    problem = Problem.of(graph)
    all_layers = {"enqueue": 9.0, "dequeue": 8.0, "reset": 8.0}
    assert experiments.kernel_times(problem, host, lead) == all_layers, "a last look"
    assert experiments.kernel_times(problem, host, lead, layers=3) == {"enqueue": 3.0, "dequeue": 3.0, "reset": 3.0}


def test_in_every_other_turn_the_last_strategy_is_laid_out_first(host, monkeypatch):
    graph, names, made = generators.disjoint_paths(40, 8), ["naive", "persistent"], []
    problem = Problem.of(graph)
    case = SimpleNamespace(options={"strategies": names, "most_levels": {}, "events": True}, dataset="paths")
    for name in names:
        noting = dataclasses.replace(STRATEGIES[name], plan=_noting(STRATEGIES[name].plan, made))
        monkeypatch.setitem(STRATEGIES, name, noting)
    for turn, order in ((0, names), (1, names[::-1]), (2, names)):
        made.clear()
        assert [c.strategy for c in experiments.candidates(case, problem, host, turn)] == names
        assert made == order


def _noting(plan, made):
    class Noting(plan):
        def load(self):
            made.append(self.name)
            super().load()

    return Noting
