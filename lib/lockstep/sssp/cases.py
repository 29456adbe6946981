"""What study 2 measures, and on what: labels of strategies, graphs by name, and a graph with all that runs on it.

A graph is named as in the registry, or by a generator and its size (`road-like-16384`, `rmat-20`). Graphs without
weights get whole numbers from 1 to 100, drawn with a fixed seed; `weights: unit` leaves them at 1. `arcs: once` keeps
one arc of each edge, as the file has it.
"""

import numpy as np

from lockstep.evidence import Candidate, VerificationError
from lockstep.graphs import Graph, generators, load
from lockstep.provenance import build

from .choice import Auto
from .oracle import Checker, WrongDistances
from .plans import DevicePlan
from .problem import Problem
from .strategies import STRATEGIES, NotFitting, NotSupported

STUDY = "2-sssp-sync"
MOST_WEIGHT = 100

# Labels of the tables: strategy and options. Layers stand in the label, for they are compared within a round.
LABELS = {
    **{name: (name, {}) for name in STRATEGIES},
    **{f"semaphores-{k}": ("semaphores", {"layers": k}) for k in (*range(1, 7), 8, 12, 16, 24)},
    **{f"pending-{k}": ("semaphores", {"layers": k, "reading": "pending"}) for k in range(1, 7)},
    **{f"relaunch-{k}": ("semaphores", {"layers": k, "reading": "relaunch"}) for k in range(1, 7)},
    **{f"one-look-{k}": ("semaphores", {"layers": k, "looks": 1}) for k in range(1, 7)},
    "barrier-copies": ("barrier", {"copies": "distances"}),
    "persistent-again": ("persistent", {}),  # the control: a strategy against itself
}


def _road_like(size):
    return generators.road_like(int(size), seed=1)


def _rmat(size):
    scale = int(size)
    return generators.rmat(scale, 16 << scale, seed=1)


MADE = {"road-like": _road_like, "rmat": _rmat}  # graphs that are made, by what their names begin with


def make(name, weights="random", arcs="both"):
    """A graph by its name, with weights.

    Raises
    ------
    DatasetMissing
        It cannot be had here.
    """
    family = next((family for family in MADE if name.startswith(f"{family}-")), None)
    graph = MADE[family](name.removeprefix(f"{family}-")) if family else load(name)
    if arcs == "once":
        sources, targets = graph.edges(once=True)
        graph = Graph.from_edges(sources, targets, n=graph.n, weights=graph.edge_weights(once=True), name=graph.name)
    return weighted(graph, weights)


def weighted(graph, weights="random"):
    """The graph with weights: its own, or drawn ones where it has none; with 1 for each arc if they are `unit`."""
    if weights == "unit":
        return Graph(graph.offsets, graph.targets, None, graph.directed, graph.name)
    if graph.weights is not None:
        return graph
    sources, targets = graph.edges(once=True)
    drawn = np.random.default_rng(0).integers(1, MOST_WEIGHT + 1, sources.size)
    return Graph.from_edges(sources, targets, n=graph.n, weights=drawn, directed=graph.directed, name=graph.name)


def sources(prepared, count, seed=7):
    """`count` seeded sources with arcs that reach at least a tenth of the graph, as far as a search finds them."""
    candidates = np.random.default_rng(seed).permutation(np.flatnonzero(prepared.graph.out_degrees() > 0))
    found = []
    for source in candidates[: 2 * count + 20].tolist():
        if np.isfinite(prepared.check.exact(source)).mean() >= 0.1:
            found.append(source)
        if len(found) == count:
            break
    return found or candidates[:1].tolist()


class Prepared:
    """A graph of an experiment with what its strategies share: problem, oracle, arrays on the device."""

    def __init__(self, dataset, executor, weights="random", arcs="both"):
        self.dataset, self.executor = dataset, executor
        self.graph = make(dataset, weights, arcs)
        self.problem, self.check, self.arrays = Problem(self.graph), Checker(self.graph), {}
        self.left_out = {}  # label -> why it has no place here

    def plan(self, label, delta=None):
        """The plan of a label; None if it has no place here (no GPU, no library, too large)."""
        name, options = LABELS[label]
        kind = STRATEGIES[name].plan
        on_gpu = issubclass(kind, DevicePlan)
        if on_gpu and self.executor is None:
            return None
        arguments = {"delta": None if delta is None else delta * self.problem.mean_weight * self.problem.scale}
        if on_gpu or kind is Auto:
            arguments["arrays"] = self.arrays
        try:
            return STRATEGIES[name].prepare(self.problem, self.executor, **arguments, **options)
        except (ImportError, NotFitting, NotSupported) as error:
            self.left_out[label] = error
            return None

    def candidate(self, label, source, delta=None):
        """How a label is measured from a source; None if it has no place here."""
        plan = self.plan(label, delta)
        if plan is None:
            return None
        executor = self.executor if isinstance(getattr(plan, "inner", plan), DevicePlan) else None
        exact = STRATEGIES[LABELS[label][0]].exact

        def verify(result):
            try:
                return self.check(result, exact)
            except WrongDistances as error:
                raise VerificationError(str(error)) from None

        return Candidate(
            strategy=label,
            run=lambda: plan.run(source),
            prepare=executor.reset_counts if executor is not None else None,
            verify=verify,
            kernel=build(STUDY, label, self.dataset),
            counts=lambda result: self.counts(result, executor),
            executor=executor,
            exact=exact,
        )

    def candidates(self, labels, source, delta=None):
        """How those labels are measured from a source that have a place here."""
        found = (self.candidate(label, source, delta) for label in labels)
        return [candidate for candidate in found if candidate is not None]

    def counts(self, result, executor):
        """Rounds and launches of a run; for strategies that may be wrong, how wrong."""
        names = ("rounds", "buckets", "sweeps", "steps", "repairs")
        found = {name: (result.stats[name], "1") for name in names if name in result.stats}
        if executor is not None:
            found["launches"] = (executor.counts["launches"], "1")
        if not STRATEGIES[result.strategy].exact:
            errors = self.check.errors(result)
            found |= {"wrong": (errors.wrong, "vertices"), "wrong_share": (errors.share, "1")}
        return found
