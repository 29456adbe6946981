"""The sweeps that the notebook runs, as data: which graphs, which strategies, under which labels.

A parameter file lists `cells` for each part. A cell names an experiment, a family of graphs (or data sets), and
lists of sizes; every combination is one graph, measured by all the cell's strategies, interleaved.

    {experiment: table-4.3, family: layered, nodes: [1000000], depth: [1, 10], ids: [random], strategies: ladder}

Beside the times of each strategy, a graph's own figures are recorded under the name (graph): depth in layers,
nodes, edges, and on a GPU the milliseconds of its transfer, which no strategy's time includes.
"""

import functools
import hashlib
import inspect
import itertools
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

from lockstep.evidence import Candidate, VerificationError
from lockstep.graphs import Graph, GraphWarning, acyclic, generators, load
from lockstep.graphs.registry import DatasetMissing

from . import STRATEGIES
from .oracle import Checker, WrongOrder
from .resident import PersistentAgain
from .stepwise import Naive

STUDY = "3-toposort-depth"
SHARES = ("enqueue", "dequeue", "reset")
PLANS = {name: s.plan for name, s in STRATEGIES.items()} | {PersistentAgain.name: PersistentAgain}


def short(number):
    """A size as it stands in a data set's name: 1000000 is 1e6, 262144 is 262144."""
    digits = str(int(number))
    stem = digits.rstrip("0")
    return f"{stem}e{len(digits) - len(stem)}" if len(digits) - len(stem) > 2 else digits


@dataclass
class Case:
    """One graph of an experiment.

    Attributes
    ----------
    experiment, dataset : str
        Labels of its rows.
    make : callable
        Makes the graph; raises DatasetMissing where it cannot be had.
    generators : tuple of str
        What decides it, for the digest: names of generators.
    parameters : dict
    options : dict
        What the cell says besides: strategies, rounds, most_levels, seed.
    """

    experiment: str
    dataset: str
    make: object
    generators: tuple
    parameters: dict
    options: dict = field(default_factory=dict)


# Families: name -> (data set's name, maker, generators, parameters), from the sizes that a cell lists.


def _erdos_renyi(nodes, edges, instance):
    def make():
        return acyclic(generators.erdos_renyi(nodes, edges, seed=instance))

    name = f"erdos-renyi-{short(nodes)}-{short(edges)}-{instance}"
    return name, make, GENERATORS["erdos-renyi"], {"nodes": nodes, "edges": edges, "instance": instance}


def _by_depth(family):
    generator = getattr(generators, family.replace("-", "_"))

    def of(nodes, depth, ids):
        name = f"{family}-{short(nodes)}-{short(depth)}-{ids}"
        parameters = {"nodes": nodes, "depth": depth, "family": family, "ids": ids}
        return name, lambda: generator(nodes, depth, ids=ids), GENERATORS[family], parameters

    return of


def _random_dag(nodes, edges, ids):
    name = f"random-dag-{short(nodes)}-{short(edges)}-{ids}"
    parameters = {"nodes": nodes, "edges": edges, "ids": ids}
    return name, lambda: generators.random_dag(nodes, edges, ids=ids), GENERATORS["random-dag"], parameters


def _window_dag(nodes, edges, window, ids):
    name = f"window-dag-{short(nodes)}-{short(edges)}-{window}-{ids}"
    parameters = {"nodes": nodes, "edges": edges, "window": window, "ids": ids}
    return name, lambda: generators.window_dag(nodes, edges, window, ids=ids), GENERATORS["window-dag"], parameters


def _rmat(scale, edges):
    name = f"rmat-{scale}-{short(edges)}"
    parameters = {"scale": scale, "edges": edges}
    return name, lambda: acyclic(generators.rmat(scale, edges)), GENERATORS["rmat"], parameters


def _road(nodes):
    name = f"road-like-{short(nodes)}"
    return name, lambda: acyclic(generators.road_like(nodes)), GENERATORS["road-like"], {"nodes": nodes}


def _real(dataset):
    return dataset, lambda: load(dataset), ("acyclic",), {}


def _made_acyclic(dataset):
    return dataset, lambda: acyclic(load(dataset)), ("acyclic",), {"acyclic": True}


# Generators that decide the graphs of a family, for the digest. A real graph's rows carry that of acyclic, used or not.
GENERATORS = {
    "erdos-renyi": ("erdos_renyi", "acyclic"),
    "disjoint-paths": ("disjoint_paths",),
    "layered": ("layered",),
    "random-dag": ("random_dag",),
    "window-dag": ("window_dag",),
    "rmat": ("rmat", "acyclic"),
    "road-like": ("road_like", "acyclic"),
}


FAMILIES = {
    "erdos-renyi": _erdos_renyi,
    "disjoint-paths": _by_depth("disjoint-paths"),
    "layered": _by_depth("layered"),
    "random-dag": _random_dag,
    "window-dag": _window_dag,
    "rmat": _rmat,
    "road-like": _road,
    "real": _real,
    "made-acyclic": _made_acyclic,
}


def cases(plan, common=None):
    """All graphs of a part, in the order in which the part lists them.

    Parameters
    ----------
    plan : mapping
        The part's block of a parameter file.
    common : mapping, optional
        The study's common block: `strategies` names lists of strategies, `most_levels` says for a strategy beyond which
        depth it is left out, because a run would take longer than it is worth.

    Yields
    ------
    Case
    """
    common = common or {}
    named = common.get("strategies", {})
    for cell in plan["cells"]:
        family = FAMILIES[cell["family"]]
        sizes = {
            name: cell[name] if isinstance(cell[name], list) else [cell[name]]
            for name in inspect.signature(family).parameters
        }
        strategies = cell["strategies"]
        options = {
            "strategies": named.get(strategies, strategies) if isinstance(strategies, str) else strategies,
            "rounds": cell.get("rounds", plan.get("rounds", 8)),
            "most_levels": {**common.get("most_levels", {}), **cell.get("most_levels", {})},
            "warmup": cell.get("warmup", True),
            "shares": cell.get("shares", False),
        }
        for values in itertools.product(*sizes.values()):
            name, make, made_by, parameters = family(**dict(zip(sizes, values, strict=True)))
            yield Case(cell["experiment"], name, make, made_by, parameters, options)


@functools.cache
def digest(strategy, made_by=()):
    """Digest of all that decides a strategy's rows on a graph: its own text and the graph's generators."""
    own = PLANS[strategy].digest() if strategy in PLANS else ""
    parts = (own, *(generators.digest(name) for name in made_by))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def digests(strategy, dataset):
    """The present digest of recorded rows; None if nothing in them can go stale."""
    if strategy not in PLANS:
        return None
    for name, made_by in GENERATORS.items():
        if dataset.startswith(f"{name}-"):
            return digest(strategy, made_by)
    return digest(strategy, ("acyclic",))


def candidates(case, graph, executor, check):
    """Candidates of a case's strategies that suit its depth."""
    depth = check.depth
    found = []
    for name in case.options["strategies"]:
        if depth > case.options["most_levels"].get(name, depth):
            continue
        kind = PLANS[name]
        on_gpu = hasattr(kind, "load")  # strategies that run kernels
        if executor is None and on_gpu:
            continue
        try:
            plan = kind(graph, executor)
        except ImportError:  # a library that is not installed here
            continue
        if hasattr(plan, "warm"):
            plan.warm()
        found.append(
            Candidate(
                strategy=name,
                run=plan.run,
                prepare=_prepare(plan, executor),
                verify=_verify(check),
                kernel=digest(name, case.generators),
                counts=_counts(plan, executor) if on_gpu else None,
                executor=executor if on_gpu or name == "auto" and not _by_cpu(plan, executor) else None,
            )
        )
    return found


def _by_cpu(plan, executor):
    """Whether `auto` has given this graph to the CPU for its size alone: then it is timed as the CPU's strategies are,
    without events of the GPU.
    """
    return plan.by_cpu and executor is not None and executor.name == "cuda"


def _prepare(plan, executor):
    def prepare():
        plan.prepare()
        if executor is not None:
            executor.reset_counts()

    return prepare


def _verify(check):
    def verify(result):
        try:
            return check(result, result.layered)
        except WrongOrder as error:
            raise VerificationError(str(error)) from None

    return verify


def _counts(plan, executor):
    def counts(result):
        # Counted while the run lasted; what verification read back is not in it.
        return {
            key: (executor.counts[key], "1")
            for key in ("launches", "barriers", "grid_barriers")
            if executor.counts[key]
        }

    return counts


class _Check(Checker):
    def __init__(self, graph):
        super().__init__(graph)
        from .oracle import layers
        from .serial import kahn

        order = np.empty(graph.n, graph.targets.dtype)
        kahn(graph.offsets, graph.targets, graph.in_degrees(), order)
        self._layer, self.depth = layers(graph, order)


def measure(study, part, executor, say=print):
    """Measure what this machine's recording lacks of a part.

    Parameters
    ----------
    study : Study
    part : str
        A part that the study's configuration has.
    executor : Executor or None
        Where strategies with kernels run; None leaves them out.
    say : callable
        Is told what is being measured, a line a graph.

    Returns
    -------
    list of str
        Data sets that could not be had, each with the reason.
    """
    missing = []
    for case in cases(study.config["parts"][part], study.config.get("common")):
        begin = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GraphWarning)  # loops dropped on the way to a DAG
                graph = Graph.of(case.make())
        except DatasetMissing as error:
            missing.append(f"{case.dataset}: {error}")
            continue
        check = _Check(graph)
        label = (part, case.experiment, case.dataset)
        figures = {"depth": (check.depth, "layers"), "nodes": (graph.n, "1"), "edges": (graph.m, "1")}
        kernel = digest("(graph)", case.generators)
        study.count(*label, "(graph)", figures, kernel=kernel, parameters=case.parameters)
        if executor is not None and executor.name == "cuda":
            study.count(
                *label,
                "(graph)",
                {"transfer": (_transfer(graph, executor), "ms")},
                kernel=kernel,
                parameters=case.parameters,
            )
        if case.options["shares"]:
            _shares(study, label, case, graph, executor)
        chosen = candidates(case, graph, executor, check)
        if chosen:
            study.measure(
                *label, chosen, parameters=case.parameters, rounds=case.options["rounds"], warmup=case.options["warmup"]
            )
        say(
            f"{case.experiment} {case.dataset}: {graph.n:,} vertices, {graph.m:,} arcs, {check.depth:,} layers, "
            f"{len(chosen)} strategies, {time.perf_counter() - begin:.1f} s"
        )
    return missing


def _transfer(graph, executor):
    """Milliseconds that bring a graph and its in-degrees to the GPU (from ordinary, unpinned memory)."""
    arrays = (graph.offsets.astype(np.int32), graph.targets, graph.in_degrees())
    executor.array(arrays[0])
    with executor.timer() as timer:
        copies = [executor.array(a) for a in arrays]
    del copies
    return timer.wall_ms


def _shares(study, label, case, graph, executor):
    """The three kernels of the naive strategy, each waited for. Only a GPU has such times."""
    if executor is None or executor.name != "cuda":
        return
    plan = Naive(graph, executor)
    plan.prepare()
    plan.shares()
    for turn in range(case.options["rounds"]):
        plan.prepare()
        spent = plan.shares()
        values = {f"{kernel}_ms": (spent[kernel], "ms") for kernel in SHARES}
        study.count(
            *label, "naive", values, kernel=digest("naive", case.generators), parameters=case.parameters, round=turn
        )
