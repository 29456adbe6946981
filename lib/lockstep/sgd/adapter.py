"""SGD schedules on the contract of `lockstep.plan`: each plan of this study inside one that has it."""

from pathlib import Path

import numpy as np

from lockstep import plan
from lockstep.strategy import adapted

from . import problem
from .ratings import Ratings
from .strategies.auto import choose
from .strategies.shared import WrongSweep
from .strategies.table import STRATEGIES as ENTRIES

RATE, REGULARIZATION = 0.005, 0.02


class Problem(plan.Problem):
    """A sweep over ratings with vectors of some rank."""

    def __init__(self, ratings, rank):
        self.ratings, self.settings = ratings, {"rank": rank}
        self.inner = problem.Problem(ratings, rank, RATE, REGULARIZATION)

    @property
    def name(self):
        return self.ratings.name or "the ratings"

    @property
    def lacks(self):
        return "" if self.ratings.m else "ratings"

    @classmethod
    def of(cls, given, rank=16):
        return cls(Ratings.of(given), rank)

    def check(self, result, strategy):
        try:
            result.check_sweep()
        except WrongSweep as error:
            raise plan.WrongResult(f"{strategy.name} on {self.name}: {error}") from None
        return "invariant" if strategy.exact else "not-applicable"

    def to_folder(self, folder):
        ratings = self.ratings
        np.savez(Path(folder) / "ratings.npz", users=ratings.users, items=ratings.items, values=ratings.values,
                 shape=ratings.shape)  # fmt: skip

    @classmethod
    def from_folder(cls, folder, **settings):
        with np.load(Path(folder) / "ratings.npz") as file:
            shape = tuple(file["shape"].tolist())
            return cls.of(Ratings(file["users"], file["items"], file["values"], shape), **settings)


class Adapted(plan.Plan):
    """A plan of this study; its run is a sweep, its result the plan itself, which holds the vectors."""

    entry = None

    def build(self):
        self.inner = self.entry.plan(self.problem.inner, self.executor)

    def reset(self):
        self.inner.reset()

    def run(self):
        self.inner.sweep()
        return self.inner


class Auto(plan.Plan):
    """Returns the plan of what the rule chooses."""

    gpu = False

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        name, reason = choose(problem.ratings, executor)
        chosen = STRATEGIES[name]
        found = chosen.plan_for(problem, executor if chosen.gpu else None)
        found.stats["reason"] = reason
        return found


STRATEGIES = plan.Table(
    *adapted(ENTRIES, Adapted),
    plan.Strategy("auto", "one of these, by the graph and the machine", plan.CHOICE, "this study", Auto),
)
