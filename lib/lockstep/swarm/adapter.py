"""Batches on the contract of `lockstep.plan`: the task of an engine inside a plan that has it."""

from pathlib import Path

import numpy as np

from lockstep import plan
from lockstep.batch.pack import Pack
from lockstep.evidence import VerificationError
from lockstep.strategy import adapted

from .cases import Case
from .measures import MEASURES
from .run import Engine
from .strategies import STRATEGIES as ENTRIES

ARRAYS = ("offsets", "targets", "vertex_start", "arc_start")


class Problem(plan.Problem):
    """A measure of every graph of a batch."""

    name = "the batch"

    def __init__(self, pack, measure):
        self.pack, self.settings = pack, {"measure": measure}
        self.case = Case(self.name, pack)

    @property
    def lacks(self):
        return "" if len(self.pack) else "graphs"

    @classmethod
    def of(cls, given, measure="betweenness"):
        if measure not in MEASURES:
            raise ValueError(f"no measure {measure!r}; choose one of {', '.join(MEASURES)}")
        return cls(Pack.of(given), measure)

    def check(self, result, strategy):
        measure = self.settings["measure"]
        try:
            return self.case.check(measure, Engine(measure, None, "cpu").options, result)
        except VerificationError as error:
            raise plan.WrongResult(f"{strategy.name}: {error}") from None

    def to_folder(self, folder):
        pack = self.pack
        weights = {} if pack.weights is None else {"weights": pack.weights}
        np.savez(Path(folder) / "pack.npz", directed=pack.directed, **{k: getattr(pack, k) for k in ARRAYS}, **weights)

    @classmethod
    def from_folder(cls, folder, **settings):
        with np.load(Path(folder) / "pack.npz") as file:
            weights = file["weights"] if "weights" in file else None
            return cls.of(Pack(*(file[name] for name in ARRAYS), weights, bool(file["directed"])), **settings)


class Adapted(plan.Plan):
    """A task of this study's engine."""

    entry = None

    @classmethod
    def skip(cls, problem, executor, options):
        measure = problem.settings["measure"]
        if measure not in cls.entry.measures:
            return f"{cls.entry.name} does not compute {measure}; it computes {', '.join(cls.entry.measures)}"
        return None

    def build(self):
        self.task = Engine(self.problem.settings["measure"], self.executor, self.entry.name).prepare(self.problem.pack)

    def run(self):
        return self.task.run()


class Auto(plan.Plan):
    """Returns the plan of what the engine chooses."""

    gpu = False

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        engine = Engine(problem.settings["measure"], executor, "auto")
        found = STRATEGIES[engine.strategy.name].plan_for(problem, engine.executor)
        found.stats["reason"] = engine.reason
        return found


STRATEGIES = plan.Table(
    *adapted(ENTRIES, Adapted),
    plan.Strategy("auto", "one of these, by the batch and the machine", plan.CHOICE, "this study", Auto),
)
