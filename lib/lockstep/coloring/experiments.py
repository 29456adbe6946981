"""What the notebook measures, part by part; sizes, rounds and data sets come from the parameter file.

    ladder      every strategy on every graph: time, colors
    switch      the hybrid with every switch; the best is chosen in some rounds and judged in others
    balance     what lanes, warps and workgroups read, iteration by iteration; stealing against its controls

Hypothetical GPU: no times, only counts. What decides about the best switch is then the number of iterations.
"""

import hashlib
import inspect
from dataclasses import dataclass, field

import numpy as np

from lockstep.evidence import Candidate
from lockstep.graphs import DatasetMissing, Graph, generators, load

from . import balance, oracle, strategies, switching
from .neighbors import neighbors

STUDY = "4-coloring-phase-switch"
FEW = 4  # the first few iterations


@dataclass
class Case:
    """A graph as it is measured.

    Attributes
    ----------
    name : str
    graph : Graph
        Undirected, each neighbor once.
    structured : bool
        Roads and meshes, as opposed to what grew without a plan.
    generator : str
        Digest of what made it; empty for data sets.
    skip : list of str
        Strategies that take too long on it.
    checker : Checker
    """

    name: str
    graph: Graph
    structured: bool = False
    generator: str = ""
    skip: list = field(default_factory=list)

    def __post_init__(self):
        self.checker = oracle.Checker(self.graph)

    @property
    def parameters(self):
        return {
            "structured": self.structured,
            "nodes": self.graph.n,
            "arcs": self.graph.m,
            "degree": int(self.graph.out_degrees().max(initial=0)),
        }

    def digest(self, plan, *more):
        """Digest of a strategy on this graph."""
        parts = (plan.digest(), self.generator, *map(str, more))
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def case(spec):
    """The graph that an entry of the parameter file names.

    Parameters
    ----------
    spec : mapping
        ``name``, ``structured``, ``skip``; and ``make``, a generator's name with its arguments, unless the name is one
        of the registry.

    Raises
    ------
    DatasetMissing
        The data set cannot be had here.
    """
    spec = {"structured": False, "skip": [], **spec}
    digest = ""
    if "make" in spec:
        (family, arguments), = spec["make"].items()  # fmt: skip
        graph, digest = getattr(generators, family)(**arguments), generators.digest(family)
    else:
        graph = load(spec["name"])
    return Case(spec["name"], neighbors(graph, warn=False)[0], spec["structured"], digest, spec["skip"])


def cases(specs, missing):
    """The cases that can be had here, one at a time; what cannot is added to ``missing`` as {name: why}."""
    for spec in specs:
        try:
            yield case(spec)
        except DatasetMissing as error:
            missing[spec["name"]] = str(error)


def candidate(case, executor, name, label=None, switch="auto", seed=0):
    """A strategy on a graph, made ready to be measured."""
    strategy = strategies.STRATEGIES[name]
    rule = switching.of(switch)
    plan = strategy.plan(case.graph, executor if strategy.gpu else None, seed, rule)
    checker = case.checker if seed == 0 else oracle.Checker(case.graph, seed)

    def counts(result):
        found = {"colors": (result.count, "1"), "iterations": (result.active.size, "1")}
        if "switched" in result.stats:
            found |= {"switched": (result.stats["switched"], "1"), "left": (result.stats["left"], "1")}
        return found

    return Candidate(
        label or name,
        plan.run,
        lambda result: checker(result, strategy),
        case.digest(strategy.plan, switch if name == "hybrid" else "", seed),
        prepare=plan.prepare,
        counts=counts,
        executor=executor if strategy.gpu else None,
    )


# -- ladder --


def ladder(study, block, executor, missing):
    """Every strategy on every graph, colors for several seeds, the longest chain of priorities, the A/A control."""
    for one in cases(block["graphs"], missing):
        names = [name for name in block["strategies"] if name not in one.skip]
        measured = [candidate(one, executor, name) for name in names]
        study.measure(
            "ladder", "ladder", one.name, measured, parameters=one.parameters, rounds=block["rounds"]
        )
        study.count(
            "ladder",
            "chain",
            one.name,
            "priorities",
            {"chain": (chain(one.graph), "1")},
            kernel=one.generator or "-",
            parameters=one.parameters,
        )
        for seed in range(block.get("seeds", 0)):
            study.measure(
                "ladder",
                "seeds",
                one.name,
                [candidate(one, executor, "early", seed=seed)],
                parameters={**one.parameters, "seed": seed},
                rounds=1,
            )
        if one.name == block["control"]:
            again = [
                candidate(one, executor, name, label)
                for name in ("randomized", "early")
                for label in (name, f"{name}-again")
            ]
            study.measure(
                "ladder", "control", one.name, again, parameters=one.parameters, rounds=2 * block["rounds"]
            )


def chain(graph, seed=0):
    """Vertices on the longest path along which priorities fall: so many colorings must follow each other."""
    depth = np.zeros(graph.n, np.int32)
    order = oracle.largest_first(graph, seed)
    return int(oracle.longest(graph.offsets, graph.targets, order, np.argsort(order), depth))


# -- switch --


def switch(study, block, executor, missing):
    """The hybrid with every switch, then the best, the worst and the rules in rounds of their own."""
    for one in cases(block["graphs"], missing):
        fixed = {
            f"hybrid@{at}": candidate(one, executor, "hybrid", f"hybrid@{at}", at) for at in block["switches"]
        }
        rows = study.measure(
            "switch",
            "sweep",
            one.name,
            list(fixed.values()),
            parameters=one.parameters,
            rounds=block["choose"],
        )
        if rows.empty:
            continue
        metric = "wall" if "wall" in set(rows["metric"]) else "iterations"
        means = np.log(rows[rows["metric"] == metric].pivot_table("value", "round", "strategy")).mean()
        at = {"best": means.idxmin().split("@")[1], "worst": means.idxmax().split("@")[1]}
        judged = [candidate(one, executor, "randomized")]
        for label, which in {**at, "auto": "auto", "threshold": "threshold"}.items():
            which = int(which) if which.isdigit() else which
            judged.append(candidate(one, executor, "hybrid", f"hybrid-{label}", which))
        rows = study.measure(
            "switch", "judged", one.name, judged, parameters=one.parameters, rounds=block["rounds"], seed=1
        )
        if metric == "wall" and study.selected("switch"):
            times = rows[rows["metric"] == metric].pivot_table("value", "round", "strategy")
            for turn, row in times.iterrows():
                for label in ("best", "auto", "threshold"):
                    study.count(
                        "switch",
                        "gain",
                        one.name,
                        f"hybrid-{label}",
                        {"gain": (row["randomized"] / row[f"hybrid-{label}"], "x")},
                        kernel=judged[1].kernel,
                        parameters=one.parameters,
                        round=turn,
                    )


# -- balance --


def unevenness(study, block, executor, missing):
    """Reads of lanes, warps and workgroups by iteration; stealing against persistent workgroups that do not steal."""
    for one in cases(block["graphs"], missing):
        for name in ("randomized", "hybrid", "degree", "staying", "stealing"):
            plan = strategies.STRATEGIES[name].plan
            kernel = case_digest = one.digest(plan, inspect.getsource(balance))
            done = study.count(
                "balance", "imbalance", one.name, name, {}, kernel=kernel, parameters=one.parameters
            )
            if not study.selected("balance") or len(done[done["kernel"] == case_digest]):
                continue
            rounds, result = balance.measure(plan, one.graph, executor)
            one.checker(result, strategies.STRATEGIES[name])
            for i, r in enumerate(rounds[: block["iterations"]]):
                values = {key: (getattr(r, key), "1") for key in balance.FIELDS}
                study.count(
                    "balance",
                    "iterations",
                    one.name,
                    name,
                    values,
                    kernel=kernel,
                    parameters={**one.parameters, "iteration": i},
                )
            study.count(
                "balance",
                "imbalance",
                one.name,
                name,
                summary(one, rounds, result),
                kernel=kernel,
                parameters=one.parameters,
            )
        again = [candidate(one, executor, name) for name in ("randomized", "staying", "queues", "stealing")]
        study.measure(
            "balance", "stealing", one.name, again, parameters=one.parameters, rounds=block["rounds"]
        )


def summary(one, rounds, result):
    """What a whole coloring comes to, for the ledger.

    group, later: what workgroups are held up for over what they get done, in all iterations and in those after the
    first few. between: the same between workgroups. top: share of the hundredth of vertices of highest degree that the
    first few iterations color. fading: vertices colored by an iteration by degree, second half of that phase over first.
    """
    read = np.array([r.read for r in rounds], float)
    degrees = one.graph.out_degrees()
    high = degrees >= np.sort(degrees)[-max(one.graph.n // 100, 1)]
    found = {
        "group": np.average([r.group for r in rounds], weights=read),
        "warp": np.average([r.warp for r in rounds], weights=read),
        "between": np.average([r.between for r in rounds], weights=read),
        "top": (result.colors[high] < FEW).mean(),
    }
    if len(rounds) > FEW and read[FEW:].sum():
        found["later"] = np.average([r.group for r in rounds[FEW:]], weights=read[FEW:])
    last = result.stats.get("switched", 0)
    if result.strategy == "degree" and last >= 2:
        colored = np.array([r.colored for r in rounds[:last]], float)
        found["fading"] = colored[last // 2 :].mean() / colored[: last // 2].mean()
    traffic = {key: result.stats[key] for key in ("pops", "steals", "lost", "looks") if key in result.stats}
    return {key: (float(value), "1") for key, value in {**found, **traffic}.items()}


PARTS = {"ladder": ladder, "switch": switch, "balance": unevenness}


def run(study, executor):
    """Measure the selected parts; {data set: why it is missing}."""
    missing = {}
    for name, block in study.config.get("parts", {}).items():
        if study.selected(name):
            PARTS[name](study, block, executor, missing)
    return missing
