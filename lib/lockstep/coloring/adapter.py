"""Coloring on the contract of `lockstep.plan`: each plan of this study inside one that has it."""

from lockstep import plan
from lockstep.graphs import Graph
from lockstep.strategy import adapted

from .choice import choose
from .neighbors import neighbors
from .oracle import Checker
from .strategies import STRATEGIES as ENTRIES


class Problem(plan.GraphProblem):
    """A graph to be colored, each neighbor once, and the seed of the random numbers."""

    def __init__(self, graph, seed=0):
        super().__init__(graph, seed=seed)
        self.checker = Checker(graph, seed)

    @classmethod
    def of(cls, given, seed=0):
        return cls(neighbors(Graph.of(given), warn=False)[0], seed)

    def check(self, result, strategy):
        return self.checker(result, ENTRIES[strategy.name])


class Adapted(plan.Plan):
    """A plan of this study."""

    entry = None

    def build(self):
        self.inner = self.entry.plan(self.problem.graph, self.executor, self.problem.settings["seed"])

    def reset(self):
        self.inner.prepare()

    def run(self):
        return self.inner.run()


class Auto(plan.Plan):
    """Returns the plan of what the rule chooses."""

    gpu = False

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        name, reason = choose(problem.graph, executor)
        chosen = STRATEGIES[name]
        found = chosen.plan_for(problem, executor if chosen.gpu else None)
        found.stats["reason"] = reason
        return found


STRATEGIES = plan.Table(
    *adapted(ENTRIES, Adapted),
    plan.Strategy("auto", "one of these, by the graph and the machine", plan.CHOICE, "this study", Auto),
)
