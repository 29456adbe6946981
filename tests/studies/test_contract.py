"""Every strategy of every study by the contract of `lockstep.plan` alone: what runs one needs to know nothing else."""

import dataclasses
import typing

import numpy as np
import pytest

from lockstep import options, solving, studies
from lockstep.graphs import Graph, generators, load
from lockstep.machine import get_executor
from lockstep.options import Options
from lockstep.plan import CHOICE, CPU, Outgrown, Plan, Problem, Skip, Strategy, Table

GIVEN = {
    "toposort": lambda: generators.random_dag(80, 240, seed=1),
    "sssp": lambda: generators.rmat(6, 300, seed=1, directed=False, simple=True),
    "coloring": lambda: generators.rmat(6, 300, seed=1, directed=False, simple=True),
    "sgd": lambda: load("karate"),
    "swarm": lambda: [generators.rmat(4, 40, seed=seed, directed=False, simple=True) for seed in range(3)],
}
EVERY = [(package, name) for package in GIVEN for name in studies.table(package)]


@pytest.mark.parametrize(("package", "name"), EVERY)
def test_a_strategy_goes_through_its_life(package, name):
    table, kind = studies.table(package), studies.problem(package)
    problem, strategy = kind.of(GIVEN[package]()), table.find(name)
    assert isinstance(table, Table) and isinstance(problem, Problem) and isinstance(strategy, Strategy)
    assert not problem.lacks
    problem.validate()
    machine = solving.executor_for(strategy, "host")
    assert (machine is None) == (strategy.family == CPU)
    try:
        made = strategy.plan_for(problem, machine)
    except Skip as why:
        pytest.skip(str(why))
    assert isinstance(made, Plan) and made.problem is problem
    assert (made.executor is not None) == made.gpu or strategy.family == CHOICE
    for _ in range(2):  # what a run destroys, `reset` restores
        made.reset()
        word = made.verify(made.run())
        assert word in (("exact", "invariant") if strategy.exact else ("exact", "measured-wrong", "not-applicable"))


@pytest.mark.parametrize("package", GIVEN)
def test_every_study_has_a_rule_and_baselines(package):
    table = studies.table(package)
    assert table["auto"].family == CHOICE and not table["auto"].gpu
    assert {entry.gpu for entry in table.values()} == {True, False}
    assert all(entry.gpu == (entry.family not in (CPU, CHOICE)) for entry in table.values())


@pytest.mark.parametrize("package", GIVEN)
def test_a_problem_goes_into_a_folder_and_comes_back(package, tmp_path):
    kind = studies.problem(package)
    problem = kind.of(GIVEN[package]())
    problem.to_folder(tmp_path)
    back = kind.from_folder(tmp_path, **problem.settings)
    assert back.settings == problem.settings and set(problem.settings) == set(kind.keywords())
    name = next(name for name, entry in studies.table(package).items() if entry.family == CPU)
    made = studies.table(package)[name].plan_for(problem)
    made.reset()
    assert back.check(made.run(), made.strategy) in ("exact", "invariant")


class Counter(Plan):
    """Counts to the problem's number, in bytes."""

    @dataclasses.dataclass(frozen=True)
    class Options(Options):
        step: int = 1

        def __post_init__(self):
            if self.step < 1:
                raise ValueError(f"step={self.step}: count by 1 or more")

    gpu = False

    @classmethod
    def skip(cls, problem, executor, options):
        return "even numbers alone" if problem.number % 2 else None

    def run(self):
        if self.problem.number > 255 and not self.problem.wide:
            raise Outgrown
        return type("Counted", (), {"number": self.problem.number, "stats": {}})()


class Number(Problem):
    def __init__(self, number, wide=False):
        self.number, self.wide, self.settings = number, wide, {}

    def check(self, result, strategy):
        return "exact"

    def wider(self):
        return None if self.wide or self.number > 65535 else Number(self.number, True)


TABLE = Table(Strategy("count", "counts", CPU, "here", Counter), variants={"count-by-2": ("count", {"step": 2})})


def test_options_are_checked_before_anything_is_built():
    assert TABLE["count"].plan_for(Number(4), step=2).options.step == 2
    with pytest.raises(ValueError, match="strategy 'count' has no option 'stride'; it has step"):
        TABLE["count"].plan_for(Number(4), stride=2)
    with pytest.raises(ValueError, match="step=0"):
        TABLE["count"].plan_for(Number(4), step=0)
    with pytest.raises(Skip, match="even numbers alone"):
        TABLE["count"].plan_for(Number(3))


def test_numbers_that_do_not_suffice_are_widened_once():
    assert solving.solve(TABLE, "count", Number(4)).number == 4
    assert solving.solve(TABLE, "count", Number(300)).number == 300
    made, _ = solving.first_run(TABLE["count"].plan_for(Number(300), step=3))
    assert made.problem.wide and made.options.step == 3
    with pytest.raises(Outgrown):
        solving.solve(TABLE, "count", Number(70_000))


@pytest.mark.parametrize("package", GIVEN)
def test_the_field_s_names_are_understood(package):
    table = studies.table(package)
    assert table.terms and not set(table.terms) & set(table)
    for term, name in table.terms.items():
        assert table.find(term) is table[name]


def test_a_table_finds_names_and_resolves_labels():
    assert TABLE.find("count").name == "count" and list(TABLE) == ["count"]
    for name in ("cuont", ["count"]):
        with pytest.raises(ValueError, match="no strategy .*; choose one of count"):
            TABLE.find(name)
    assert TABLE.resolve("count-by-2") == (TABLE["count"], {"step": 2})
    assert TABLE.resolve("count") == (TABLE["count"], {}) and TABLE.resolve("other") == (None, {})


def test_kernels_run_on_the_emulator_where_no_gpu_answers(monkeypatch):
    table = studies.table("toposort")
    host = get_executor("host")
    assert solving.executor_for(table["naive"], host) is host and solving.executor_for(table["serial"], host) is None
    monkeypatch.setattr(solving, "get_executor", lambda asked=None: host if asked == "host" else None)
    assert solving.executor_for(table["naive"]) is host and solving.executor_for(table["auto"]) is None


def test_nothing_to_do_is_no_run():
    problem = studies.problem("toposort").of(Graph.from_edges([], []))
    assert problem.lacks == "vertices"
    result = solving.solve(studies.table("toposort"), "narrow", problem, "host")
    assert result.order.size == 0 and result.depth == 0 and np.size(result.level_sizes) == 0


@pytest.mark.parametrize(
    ("label", "name", "options"),
    [
        ("swarm@shared=metadata,busy=8", "swarm", {"shared": "metadata", "busy": 8}),
        ("swarm@persistent=False", "swarm", {"persistent": False}),
        ("swarm-again", "swarm", {}),
        ("gpus@2-static", None, {}),
        ("(batch)", None, {}),
    ],
)
def test_a_label_says_strategy_and_options(label, name, options):
    strategy, told = studies.table("swarm").resolve(label)
    assert (strategy and strategy.name, told) == (name, options)


@pytest.mark.parametrize("study", ["toposort", "coloring"])
@pytest.mark.parametrize("threads", [0, 48, 2048, 64.0, True])
def test_blocks_are_of_whole_warps(study, threads):
    table = studies.table(study)
    taking = [strategy for strategy in table.values() if "threads" in strategy.keywords]
    assert taking, "no strategy of the study takes the option"
    for strategy in taking:
        with pytest.raises(ValueError, match=f"threads={threads}; expected a multiple of 32, 1024 at most"):
            strategy.plan.Options(threads=threads)
        assert strategy.plan.Options(threads=96).threads == 96


WRONG = {  # by the word that an error has for the type
    "True or False": ["no", 1, 0.0, np.ones(1, bool)],
    "a whole number": [True, "8", 8.0, float("nan"), np.ones(2, int)],
    "a number that float64 holds": [True, "8", 10**400, np.ones(2)],
    "text": [1, True],
}


def test_every_option_refuses_values_of_other_types():
    seen = set()
    for package, name in EVERY:
        strategy = studies.table(package)[name]
        hints = typing.get_type_hints(strategy.plan.Options)
        for option, hint in hints.items():
            kinds = typing.get_args(hint) or (hint,)
            for kind, (_, word) in options.TYPES.items():
                if kind not in kinds or word not in WRONG:
                    continue
                seen.add(word)
                for value in WRONG[word]:
                    with pytest.raises(ValueError, match=f"^{option}=.*; expected {word}"):
                        strategy.options_of(**{option: value})
            if type(None) not in kinds and hint is not object:
                with pytest.raises(ValueError, match=f"{option}=None; expected"):
                    strategy.options_of(**{option: None})
    assert seen >= set(WRONG) - {"text"}


def test_an_option_of_named_values_names_them():
    barrier = studies.table("sssp")["barrier"]
    with pytest.raises(ValueError, match="copies='distance'; expected 'flag' or 'distances'"):
        barrier.options_of(copies="distance")
    assert barrier.options_of(copies="distances", threads=np.int64(64)).copies == "distances"


@pytest.mark.parametrize("package", ["toposort", "sssp", "coloring"])
def test_options_are_checked_on_an_empty_graph_too(package):
    kind, table = studies.problem(package), studies.table(package)
    empty = kind.of(Graph.from_edges([], [], n=0, directed=package != "coloring"))
    name = next(name for name, entry in table.items() if entry.family == CPU)
    with pytest.raises(ValueError, match="has no option 'width'"):
        solving.solve(table, name, empty, width=3)
