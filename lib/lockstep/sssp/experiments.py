"""The sweeps that the notebook runs, as data: which graphs, which strategies, under which labels.

A parameter file lists `cells` for each part. A cell names a kind of measurement (`time`, `layers`, `delta`, `degrees`
or `race`), an experiment, graphs, and labels of strategies; a label is a strategy, with its options in `LABELS`.

    {kind: time, experiment: published, graphs: [ego-Facebook, USA-road-d.NY], strategies: [atomic, semaphores-2]}

A graph is named as in the registry, or by a generator and its size (`road-like-16384`, `rmat-20`). Graphs without
weights get whole numbers from 1 to 100, drawn with a fixed seed; `weights: unit` leaves them at 1. `arcs: once` keeps
one arc of each edge, as the file has it.
"""

import hashlib
import inspect
import time

import numpy as np

from lockstep.evidence import Candidate, VerificationError
from lockstep.evidence.recording import canonical
from lockstep.graphs import Graph, generators, load
from lockstep.graphs.registry import DatasetMissing

from . import race
from .choice import Auto
from .oracle import Checker, WrongDistances, _open, hops
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
GENERATORS = {"road-like": "road_like", "rmat": "rmat"}


def make(name, weights="random", arcs="both"):
    """A graph by its name, with weights.

    Raises
    ------
    DatasetMissing
        It cannot be had here.
    """
    family = next((f for f in GENERATORS if name.startswith(f"{f}-")), None)
    if family == "road-like":
        graph = generators.road_like(int(name.removeprefix("road-like-")), seed=1)
    elif family == "rmat":
        scale = int(name.removeprefix("rmat-"))
        graph = generators.rmat(scale, 16 << scale, seed=1)
    else:
        graph = load(name)
    if arcs == "once":
        sources, targets = graph.edges(once=True)
        graph = Graph.from_edges(sources, targets, n=graph.n, weights=graph.edge_weights(once=True), name=graph.name)
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


def digest(label, dataset=""):
    """Digest of all that decides a label's rows on a data set."""
    if label.startswith("race-"):
        own = digest(label.removeprefix("race-")) + inspect.getsource(race)
    elif label in LABELS:
        name, options = LABELS[label]
        own = STRATEGIES[name].plan.digest() + repr(sorted(options.items())) if name in STRATEGIES else ""
    else:
        own = inspect.getsource(make) + inspect.getsource(sources)
    made_by = [generators.digest(g) for f, g in GENERATORS.items() if dataset.startswith(f"{f}-")]
    return hashlib.sha256(" ".join([own, *made_by]).encode()).hexdigest()[:16]


def digests(label, dataset):
    """The present digest of recorded rows; None if nothing in them can go stale."""
    return digest(label, dataset) if label in LABELS or label.startswith(("race-", "(graph)")) else None


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
            kernel=digest(label, self.dataset),
            counts=lambda result: self.counts(result, executor),
            executor=executor,
            exact=exact,
        )

    def counts(self, result, executor):
        names = ("rounds", "buckets", "sweeps", "steps", "repairs")
        found = {name: (result.stats[name], "1") for name in names if name in result.stats}
        if executor is not None:
            found["launches"] = (executor.counts["launches"], "1")
        if not STRATEGIES[result.strategy].exact:
            errors = self.check.errors(result)
            found |= {"wrong": (errors.wrong, "vertices"), "wrong_share": (errors.share, "1")}
        return found


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
    plan, missing = study.config["parts"][part], []
    lists = (study.config.get("common") or {}).get("strategies", {})
    for cell in plan["cells"]:
        options = {"rounds": plan.get("rounds", 8), **cell}
        named = options.get("strategies", [])
        options["strategies"] = lists[named] if isinstance(named, str) else named
        if cell["kind"] == "race":
            _race(study, part, options, say)
            continue
        for dataset in cell["graphs"]:
            begin = time.perf_counter()
            weights, arcs = cell.get("weights", "random"), cell.get("arcs", "both")
            try:
                prepared = Prepared(dataset, executor, weights, arcs)
            except DatasetMissing as error:
                missing.append(f"{dataset}: {error}")
                continue
            parameters = {"weights": weights, "arcs": arcs}
            if "-" in dataset and dataset.rpartition("-")[2].isdigit():
                parameters["nodes"] = prepared.graph.n
            KINDS[cell["kind"]](study, part, options, prepared, parameters)
            graph = prepared.graph
            for label, reason in prepared.left_out.items():
                say(f"{cell['experiment']} {dataset}: {label} is left out: {reason}")
            say(
                f"{cell['experiment']} {dataset}: {graph.n:,} vertices, {graph.m:,} arcs, "
                f"{time.perf_counter() - begin:.1f} s"
            )
    return missing


def _time(study, part, cell, prepared, parameters):
    """Time of each label from the same source."""
    source = sources(prepared, 1)[0]
    candidates = [prepared.candidate(label, source) for label in cell["strategies"]]
    candidates = [candidate for candidate in candidates if candidate is not None]
    if candidates:
        study.measure(part, cell["experiment"], prepared.dataset, candidates, parameters=parameters,
                      rounds=cell["rounds"])  # fmt: skip


def _delta(study, part, cell, prepared, parameters):
    """Time of each label at each bucket width, in multiples of the mean weight; 0 stands for one bucket."""
    source = sources(prepared, 1)[0]
    for delta in cell["deltas"]:
        width = np.inf if delta == 0 else delta
        candidates = [prepared.candidate(label, source, width) for label in cell["strategies"]]
        candidates = [candidate for candidate in candidates if candidate is not None]
        if candidates:
            study.measure(part, cell["experiment"], prepared.dataset, candidates,
                          parameters={**parameters, "delta": delta}, rounds=cell["rounds"])  # fmt: skip


def _sources(study, part, cell, prepared, parameters):
    """Wrong vertices of each label, one run from each of many sources; for exact labels the check is the result."""
    if not study.selected(part):
        return
    picked = sources(prepared, cell["sources"])
    parameters = {**parameters, "sources": len(picked)}
    done = study.rows()
    done = done[(done["experiment"] == cell["experiment"]) & (done["dataset"] == prepared.dataset)]
    done = done[(done["parameters"] == canonical(parameters)) & (done["metric"] == "all_right")]
    known = dict(zip(done["kernel"], done["value"], strict=True))
    needed = None
    for label in cell["strategies"]:
        kernel = digest(label, prepared.dataset)
        if kernel not in known:
            plan = prepared.plan(label)
            if plan is None:
                continue
            values, verified = _errors(plan, picked, prepared, STRATEGIES[LABELS[label][0]].exact)
            study.count(part, cell["experiment"], prepared.dataset, label, values, kernel=kernel,
                        parameters=parameters, verified=verified)  # fmt: skip
            known[kernel] = values["all_right"][0]
        if label.startswith("semaphores-") and needed is None and known[kernel]:
            needed = int(label.removeprefix("semaphores-"))
    longest = int(hops(prepared.graph, picked[0], prepared.check.exact(picked[0])).max())
    figures = {"nodes": (prepared.graph.n, "1"), "arcs": (prepared.graph.m, "1"), "hops": (longest, "arcs"),
               "degree": (prepared.graph.m / prepared.graph.n, "1")}  # fmt: skip
    if needed is not None:
        figures["layers_needed"] = (needed, "layers")
    study.count(part, cell["experiment"], prepared.dataset, "(graph)", figures,
                kernel=digest("(graph)", prepared.dataset), parameters=parameters)  # fmt: skip


def _errors(plan, picked, prepared, exact):
    """What runs from many sources got wrong, and the word for it."""
    wrong, shares, largest, sweeps, still_open = [], [], [], [], []
    graph = prepared.graph
    weights = np.ones(graph.m) if graph.weights is None else graph.weights.astype(np.float64)  # once, not for each run
    for source in picked:
        result = plan.run(source)
        if exact:
            prepared.check(result)
        errors = prepared.check.errors(result)
        wrong.append(errors.wrong)
        shares.append(errors.share)
        largest.append(errors.largest)
        sweeps.append(result.stats.get("sweeps", 0))
        still_open.append(_open(graph.offsets, graph.targets, weights, result.distances) if errors.wrong else 0)
    values = {
        "all_right": (int(not any(wrong)), "1"),
        "sources": (len(picked), "1"),
        "wrong_sources": (int(np.count_nonzero(wrong)), "1"),
        "wrong_vertices": (float(np.mean(wrong)), "vertices"),
        "open_vertices": (float(np.mean(still_open)), "vertices"),
        "most_wrong": (max(wrong), "vertices"),
        "wrong_share": (float(np.mean(shares)), "1"),
        "largest_error": (min(max(largest), 1e9), "1"),  # not reached at all: 10^9
        "sweeps": (float(np.mean(sweeps)), "1"),
    }
    return values, "measured-wrong" if any(wrong) else "exact"


def _degrees(study, part, cell, prepared, parameters):
    """Degree statistics as the paper prints them, and the histogram of its Figures IV and VI."""
    graph = prepared.graph
    degrees = graph.out_degrees()
    values = {
        "vertices": (graph.n, "vertices"),
        "stored_arcs": (graph.m, "arcs"),
        "edges": (graph.edges(once=True)[0].size, "edges"),
        "largest_degree": (int(degrees.max()), "1"),
        "smallest_degree": (int(degrees.min()), "1"),
        "arcs_a_vertex": (round(graph.m / graph.n, 2), "1"),
        "edges_a_vertex": (round(graph.edges(once=True)[0].size / graph.n, 2), "1"),
        **{f"degree_{d}": (int(c), "vertices") for d, c in enumerate(np.bincount(degrees)) if c},
    }
    study.count(part, cell["experiment"], prepared.dataset, "(graph)", values,
                kernel=digest("(graph)", prepared.dataset), parameters=parameters)  # fmt: skip


def _race(study, part, cell, say):
    """On the hypothetical GPU, whatever else there is: of how many fuzzed schedules distances come out wrong."""
    begin = time.perf_counter()
    graph = race.race_graph()
    for label, seeds in cell["seeds"].items():
        kernel = digest(f"race-{label}")
        name, options = LABELS[label]
        parameters = {"seeds": seeds}
        if not study.selected(part):
            continue
        known = study.rows()
        if ((known["strategy"] == f"race-{label}") & (known["kernel"] == kernel) & (known["value"] == seeds)).any():
            continue
        wrong, first = race.count_wrong(graph, range(seeds), name, **options)
        values = {
            "seeds": (seeds, "1"),
            "wrong_seeds": (wrong, "1"),
            "first_wrong_seed": (-1 if first is None else first, "1"),
        }
        study.count(part, cell["experiment"], graph.name, f"race-{label}", values, kernel=kernel,
                    parameters=parameters, verified="measured-wrong" if wrong else "exact")  # fmt: skip
    say(f"{cell['experiment']} {graph.name}: {time.perf_counter() - begin:.1f} s")


KINDS = {"time": _time, "delta": _delta, "sources": _sources, "degrees": _degrees}
