"""How colorings are timed: what runs before a timed run."""

from types import SimpleNamespace

import pytest

from lockstep.coloring import experiments


class Plan:
    """A plan whose runs take the given seconds of a clock, one after the other."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds, self.runs, self.resets = clock, iter(seconds), 0, 0
        self.executor = SimpleNamespace(name="cuda", synchronize=lambda: None)

    def run(self):
        self.runs += 1
        self.clock[0] += next(self.seconds)

    def reset(self):
        self.resets += 1


@pytest.mark.parametrize(
    ("seconds", "runs"),
    [([3.0] * 9, 2), ([0.001] * 9, 9), ([3.0] + [0.001] * 8, 9)],
    ids=["long", "short", "compiled at first"],
)
def test_a_long_run_is_not_preceded_by_another_each_time(monkeypatch, seconds, runs):
    clock = [0.0]
    monkeypatch.setattr(experiments.time, "perf_counter", lambda: clock[0])
    plan = Plan(clock, seconds)
    warm = experiments.warm_run(plan)
    for _ in seconds:
        warm()
    assert plan.runs == plan.resets == runs


def test_on_the_emulator_nothing_is_run_before():
    assert experiments.warm_run(SimpleNamespace(executor=SimpleNamespace(name="host"))) is None
