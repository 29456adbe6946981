"""What goes before a timed run of this study, and how plans are laid out."""

import contextlib
import dataclasses
from types import SimpleNamespace

import pytest

from lockstep.evidence import timing
from lockstep.graphs import generators
from lockstep.plan import Plan
from lockstep.toposort import STRATEGIES, Problem, experiments


@pytest.fixture
def run(monkeypatch):
    """What is done for one run of a strategy, in order, on an executor of this name."""
    monkeypatch.setattr(experiments, "_ready", lambda executor: lambda: done.append("empty launch"))
    done = []

    def noted(name, strategy):
        done.clear()
        executor = name and SimpleNamespace(name=name, reset_counts=lambda: done.append("counts cleared"),
                                            counts={}, synchronize=lambda: None, timer=timer)  # fmt: skip
        problem = Problem.of(generators.disjoint_paths(40, 8))
        (one,) = experiments.candidates([strategy], "paths", problem, executor)
        timing.once(one)
        return list(done)

    @contextlib.contextmanager
    def timer(events):
        done.append("clock on")
        yield SimpleNamespace(device_ms=None, wall_ms=1.0)
        done.append("clock off")

    def noting(kind, strategy, problem, executor=None, options=None):
        made = kind(strategy, problem, executor, options)
        made.by_cpu = strategy.name == "auto" and small
        made.reset, made.run = (lambda: done.append("input put back")), (lambda: done.append("run"))
        return made

    small = True
    monkeypatch.setattr(Plan, "make", classmethod(noting))
    return noted


def test_an_empty_launch_goes_before_a_run_that_launches(run):
    assert run("cuda", "narrow") == [
        "input put back", "empty launch", "counts cleared", "clock on", "run", "clock off",
    ]  # fmt: skip


def test_none_goes_before_a_serial_sort(run):
    assert run("cuda", "serial") == run(None, "serial") == ["input put back", "run"], "by the CPU's clock"
    assert run("cuda", "auto") == ["input put back", "counts cleared", "run"], "which gives so few vertices to the CPU"


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
    for name in names:
        noting = dataclasses.replace(STRATEGIES[name], plan=_noting(STRATEGIES[name].plan, made))
        monkeypatch.setitem(STRATEGIES, name, noting)
    for turn, order in ((0, names), (1, names[::-1]), (2, names)):
        made.clear()
        assert [c.strategy for c in experiments.candidates(names, "paths", problem, host, turn)] == names
        assert made == order


def _noting(plan, made):
    class Noting(plan):
        def load(self):
            made.append(self.name)
            super().load()

    return Noting
