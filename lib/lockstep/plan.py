"""The contract between a strategy and its callers: evidence, `compare`, `explore`, the command line, tests.

A study has a `Problem`, an input made ready once for all strategies, and a `Table` of strategies. A strategy makes a
`Plan` for a problem on a machine; a plan is reset and run as often as wanted, and each result verified. `run` alone is
timed.

>>> from lockstep.graphs import Graph
>>> from lockstep.toposort import STRATEGIES, Problem
>>> problem = Problem.of(Graph.from_edges([0, 2, 1], [1, 0, 3]))
>>> plan = STRATEGIES.find("serial").plan_for(problem)
>>> plan.reset()
>>> result = plan.run()
>>> plan.verify(result), result.order.tolist()
('exact', [2, 0, 1, 3])
"""

import ast
import inspect
import pickle
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockstep.typing import PathLike

LIMIT = 2**31 - 2**20  # kernels add the number of their threads to an int
AGAIN = "-again"  # the suffix of a label: a strategy measured against itself
CPU, CHOICE = "cpu", "choice"  # families: a baseline without kernels; a rule that picks another strategy


class Skip(ValueError):
    """A strategy has no place here: a library is missing, the GPU is too old, the input too large; the text says."""


class WrongResult(AssertionError):
    """A result is wrong; the text names the strategy, the input and the fault."""


class Outgrown(ArithmeticError):
    """A run needs larger numbers than its problem was made ready with; `Problem.wider` has them."""


class Problem:
    """An input made ready once for all strategies: checked, in the types that kernels take, with its oracle.

    What the strategies of a comparison must share is part of it and a keyword of `of`: the source of shortest paths,
    the rank of a factorization, the measure of a batch.

    Attributes
    ----------
    name : str
        What messages call the input.
    given : object
        The input, as `of` takes it.
    settings : dict
        The keywords of `of`, as they were given or chosen.
    """

    name = "the graph"
    settings: dict = {}
    given: Any

    @classmethod
    def of(cls, given: Any) -> "Problem":
        """The problem of an input of any kind that the study takes.

        Raises
        ------
        GraphError
            The study cannot use the input.
        ValueError
            A setting is out of range.
        """
        raise NotImplementedError

    @classmethod
    def keywords(cls) -> tuple[str, ...]:
        """The settings that `of` takes."""
        return tuple(inspect.signature(cls.of).parameters)[1:]

    def validate(self) -> None:
        """Raise what no strategy could solve, where it takes a walk through the input to see (a cycle)."""

    @property
    def lacks(self) -> str:
        """What the input has none of, so that there is nothing to do: `vertices`; an empty text if it has some."""
        return ""

    def trivial(self, strategy: "Strategy") -> Any:
        """The result of a strategy where there is nothing to do."""
        raise NotImplementedError

    def check(self, result: Any, strategy: "Strategy") -> str:
        """Hold a result against the oracle.

        Returns
        -------
        str
            `exact`, `invariant` (right, one of many that are), `measured-wrong` (of a strategy that may be wrong) or
            `not-applicable`.

        Raises
        ------
        WrongResult
            The strategy must be right, and is not.
        """
        raise NotImplementedError

    def wider(self) -> "Problem | None":
        """The same with the next larger type of numbers; None if there is none."""

    def to_folder(self, folder: "PathLike") -> None:
        """Write the input into a folder, for `from_folder` in another process."""
        with Path(folder, "problem.pickle").open("wb") as file:
            pickle.dump(self.given, file, pickle.HIGHEST_PROTOCOL)

    @classmethod
    def from_folder(cls, folder: "PathLike", **settings: Any) -> "Problem":
        """The problem of an input that `to_folder` wrote."""
        with Path(folder, "problem.pickle").open("rb") as file:
            return cls.of(pickle.load(file), **settings)


class GraphProblem(Problem):
    """A problem on one graph.

    Attributes
    ----------
    graph : Graph
    """

    def __init__(self, graph: Any, **settings: Any) -> None:
        self.given = self.graph = graph
        self.settings = settings

    @property
    def name(self) -> str:
        return self.graph.name or "the graph"

    @property
    def lacks(self) -> str:
        return "" if self.graph.n else "vertices"

    def too_large(self, instead: str) -> str | None:
        """Why kernels cannot count vertices or arcs, and the strategy of the CPU to take instead; None if they can."""
        n, m = self.graph.n, self.graph.m
        if max(n, m) < LIMIT:
            return None
        return (f"{self.name} has {n:,} vertices and {m:,} arcs; the GPU strategies take fewer than "
                f"2^31 - 2^20 of each: use strategy={instead!r}")  # fmt: skip


@dataclass(frozen=True)
class Options:
    """Options of a plan; a subclass for each plan that has any.

    `__post_init__` raises ValueError for what is out of range: kernels check nothing.
    """


class Plan:
    """A strategy made ready for one problem on one machine.

    Parameters
    ----------
    strategy : Strategy
    problem : Problem
    executor : Executor or None
        None for strategies of the CPU.
    options : Options or None
        As `Strategy.plan_for` makes them; None for a plan that has none.

    Attributes
    ----------
    stats : dict
        What the plan tells of itself; `reason` if a rule chose it.
    """

    Options = Options
    gpu = True  # whether it runs kernels, on a GPU or on the emulator

    def __init__(
        self, strategy: "Strategy", problem: Any, executor: Any = None, options: "Options | None" = None,
    ) -> None:
        self.strategy, self.problem, self.executor, self.options = strategy, problem, executor, options
        self.stats = {}

    @classmethod
    def skip(cls, problem: Any, executor: Any, options: Any) -> Any:
        """Why it has no place here, found without building it; None if it has."""

    @classmethod
    def make(cls, strategy: "Strategy", problem: Any, executor: Any = None, options: Any = None) -> "Plan":
        """The plan, built; one that chooses returns the plan that it chose."""
        plan = cls(strategy, problem, executor, options)
        plan.build()
        return plan

    def build(self) -> None:
        """Preprocess, compile, allocate, bind launches; not timed. May raise `Skip`."""

    def reset(self) -> None:
        """Put the input back as it was before the first run; before every run, not timed."""

    def run(self) -> Any:
        """Solve the problem; what is timed. The result may stay on the device."""
        raise NotImplementedError

    def figures(self, result: Any) -> dict:
        """{metric: (value, unit)}, recorded beside a run's time; taken when the clock has stopped."""
        return {}

    @property
    def timed_on(self) -> Any:
        """The executor by whose clock a run is timed; None: the CPU's alone."""
        return self.executor

    def verify(self, result: Any) -> str:
        """`Problem.check` of a result of this plan."""
        return self.problem.check(result, self.strategy)


@dataclass(frozen=True)
class Strategy:
    """An entry of a study's table.

    Attributes
    ----------
    name, what : str
        Its name and, in a line, what it does.
    family : str
        `cpu`: a baseline without kernels. `choice`: picks one of the others by the graph and the machine. The rest
        run kernels: `published` as a paper has them, `control` for comparison alone, `ladder` of this compendium's
        own, or, in the first study, the kinds of schedule that its paper tells apart.
    published : str
        Where it comes from.
    plan : type
        The subclass of `Plan` that makes it ready and runs it.
    exact : bool
        False where results may be wrong by design.
    traits : frozenset of str
        What else its study tells of it: which colors it gives, for example.
    """

    name: str
    what: str
    family: str
    published: str
    plan: type
    exact: bool = True
    traits: frozenset = frozenset()

    @property
    def gpu(self) -> bool:
        """Whether it runs kernels, on a GPU or on the emulator; of `auto` no."""
        return self.plan.gpu

    @property
    def keywords(self) -> tuple[str, ...]:
        """The options that it takes."""
        return tuple(field.name for field in fields(self.plan.Options))

    def plan_for(self, problem: Any, executor: Any = None, **options: Any) -> "Plan":
        """The plan for a problem on a machine, built.

        Raises
        ------
        Skip
            It has no place here.
        ValueError
            It has no such option, or not of that value.
        """
        if unknown := sorted(set(options) - set(self.keywords)):
            known = ", ".join(self.keywords) or "none"
            raise ValueError(f"strategy {self.name!r} has no option {unknown[0]!r}; it has {known}")
        options = self.plan.Options(**options)
        reason = self.plan.skip(problem, executor, options)
        if reason:
            raise Skip(reason)
        return self.plan.make(self, problem, executor, options)


class Table(dict):
    """Strategies by name, in the order in which tables and figures show them.

    Parameters
    ----------
    *entries : Strategy
    variants : mapping
        {label of recorded rows: (name, options)}.
    terms : mapping
        {the field's name: name}, of strategies whose rows were recorded under a name of our own; both are understood.
    """

    def __init__(
        self, *entries: Strategy, variants: "Mapping | None" = None, terms: "Mapping[str, str] | None" = None,
    ) -> None:
        super().__init__({entry.name: entry for entry in entries})
        self.variants, self.terms = dict(variants or {}), dict(terms or {})

    def find(self, name: str) -> "Strategy":
        """The strategy of that name; a ValueError that lists all, if there is none."""
        if self.terms.get(name, name) not in self:
            raise ValueError(f"no strategy {name!r}; choose one of {', '.join([*self, *self.terms])}")
        return self[self.terms.get(name, name)]

    def resolve(self, label: str) -> "tuple[Strategy | None, dict]":
        """(strategy, options) that a label of recorded rows means; (None, {}) if it means none.

        ``name@key=value,...`` is a strategy with options, ``name-again`` one that is measured against itself.
        """
        label = label.removesuffix(AGAIN)
        name, _, told = label.partition("@")
        if label in self.variants or name not in self:
            name, options = self.variants.get(label, (None, {}))
            return self.get(name), options
        return self[name], {key: _value(text) for key, text in (pair.split("=") for pair in told.split(",") if pair)}


def _value(text):
    """An option's value in a label: a number, a truth value, or text."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def missing(library: str) -> str | None:
    """Why a plan that is built on a Python library has no place here; None if it is installed."""
    return None if find_spec(library) else f"{library} is not installed"
