"""The contract between a strategy and its callers: evidence, `compare`, `explore`, the command line, tests.

A study has a `Problem`, an input prepared once for all strategies, and a `Table` of strategies. A strategy makes a
`Plan` for a problem on a machine; a plan is reset and run repeatedly, and each result verified. Only `run` is timed.

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

from lockstep.options import Options, check_lanes, check_types, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockstep.typing import PathLike

LIMIT = 2**31 - 2**20  # kernels add the number of threads to an int32 index: 2^20 of headroom
AGAIN = "-again"  # suffix of a label: a second measurement of the same strategy (A/A control)
CPU, CHOICE = "cpu", "choice"  # families: a baseline without kernels; a rule that picks another strategy


class Skip(ValueError):
    """A strategy cannot run here; the message says why (missing library, GPU too old, input too large)."""


class WrongResult(AssertionError):
    """A result is wrong; the text names the strategy, the input and the fault."""


class Outgrown(ArithmeticError):
    """A value overflows the number type of the problem; `Problem.wider` returns it with the next wider one."""


class Problem:
    """An input prepared once for all strategies: checked, in the types that kernels take, with its oracle.

    Settings that all compared strategies share are keywords of `of`: the source of shortest paths, the rank of a
    factorization, the measure of a batch.

    Attributes
    ----------
    name : str
        Name of the input in messages.
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
        """Raise if no strategy can solve the input, where detecting that needs a traversal (a cycle)."""

    @property
    def lacks(self) -> str:
        """What an empty input has none of, such as `vertices`; '' if the input is not empty."""
        return ""

    def trivial(self, strategy: "Strategy") -> Any:
        """The result of a strategy on an empty input."""
        raise NotImplementedError

    def check(self, result: Any, strategy: "Strategy") -> str:
        """Compare a result with the oracle's.

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


class Plan:
    """A strategy prepared for one problem on one machine.

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
        Facts about the plan and its last run; `reason` if a rule chose it.
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
        """Why the plan cannot run here, found without building it; None if it can."""

    @classmethod
    def make(cls, strategy: "Strategy", problem: Any, executor: Any = None, options: Any = None) -> "Plan":
        """Build the plan; for a `choice` strategy, the plan of the strategy chosen."""
        plan = cls(strategy, problem, executor, options)
        plan.build()
        return plan

    def build(self) -> None:
        """Preprocess, compile, allocate, bind launches; not timed. May raise `Skip`."""

    def reset(self) -> None:
        """Restore the state before the first run; called before every run, not timed."""

    def run(self) -> Any:
        """Solve the problem; what is timed. The result may stay on the device."""
        raise NotImplementedError

    def figures(self, result: Any) -> dict:
        """{metric: (value, unit)}, recorded with a run's time; computed outside the timed interval."""
        return {}

    @property
    def timed_on(self) -> Any:
        """The executor whose device clock times a run; None: the host clock only."""
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
        Source of the strategy: the publication, or this compendium.
    plan : type
        The subclass of `Plan` that prepares and runs it.
    exact : bool
        False where results may be wrong by design.
    traits : frozenset of str
        Further properties, by study: for example which coloring it produces.
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
        """Whether it runs kernels, on a GPU or on the emulator; False for `auto`."""
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
            It cannot run here.
        ValueError
            It has no such option, or not of that value.
        """
        chosen = self.options_of(**options)
        reason = self.plan.skip(problem, executor, chosen)
        if reason:
            raise Skip(reason)
        return self.plan.make(self, problem, executor, chosen)

    def options_of(self, **options: Any) -> Options:
        """Its options, checked.

        Raises
        ------
        ValueError
            It has no such option, or not of that type or value.
        """
        if unknown := sorted(set(options) - set(self.keywords)):
            known = ", ".join(self.keywords) or "none"
            raise ValueError(f"strategy {self.name!r} has no option {unknown[0]!r}; it has {known}")
        options = plain(options)
        check_types(self.plan.Options, options)
        chosen = self.plan.Options(**options)
        if self.gpu:
            check_lanes(chosen)
        return chosen


class Table(dict):
    """Strategies by name, in the order in which tables and figures show them.

    Parameters
    ----------
    *entries : Strategy
    variants : mapping
        {label of recorded rows: (name, options)}.
    terms : mapping
        {standard term: name} of strategies recorded under another name; `find` accepts both.
    """

    def __init__(
        self, *entries: Strategy, variants: "Mapping | None" = None, terms: "Mapping[str, str] | None" = None,
    ) -> None:
        super().__init__({entry.name: entry for entry in entries})
        self.variants, self.terms = dict(variants or {}), dict(terms or {})

    def find(self, name: str) -> "Strategy":
        """The strategy of that name; a ValueError that lists all, if there is none."""
        if not isinstance(name, str) or self.terms.get(name, name) not in self:
            raise ValueError(f"no strategy {name!r}; choose one of {', '.join([*self, *self.terms])}")
        return self[self.terms.get(name, name)]

    def resolve(self, label: str) -> "tuple[Strategy | None, dict]":
        """(strategy, options) that a label of recorded rows means; (None, {}) if it means none.

        ``name@key=value,...`` is a strategy with options, ``name-again`` its second measurement (A/A control).
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
    """Why a plan that needs a Python library cannot run here; None if it is installed."""
    return None if find_spec(library) else f"{library} is not installed"
