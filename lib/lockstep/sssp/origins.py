"""What study 2's rows follow from."""

import functools

import numpy as np

from lockstep.provenance.origin import Origin
from lockstep.provenance.trace import band

from . import cases, experiments, oracle, race
from .cases import LABELS
from .problem import Problem
from .strategies import STRATEGIES

PROTOCOL = (cases.Prepared.candidate, cases.Prepared.counts, oracle.Checker, oracle.hops, experiments._errors,
            race.count_wrong)


def origin(label, dataset):
    """The `Origin` of recorded rows; None if nothing in them can go stale."""
    name = label.removeprefix("race-")
    made = tuple(make for family, make in cases.MADE.items() if dataset.startswith(f"{family}-"))
    data = (cases.weighted, *made)
    if name in LABELS:
        strategy, options = LABELS[name]
        raced = (race.race_graph,) if name != label else ()
        if strategy in STRATEGIES:
            roots = (STRATEGIES[strategy].plan, *sorted(options.items()), *raced)
            return Origin(roots, given=(Problem,), data=() if raced else data)
    return Origin((cases.sources,), data=data) if label.startswith("(graph)") else None


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""

    def on(graph, executor):
        strategy, options = LABELS[label]
        plan = STRATEGIES[strategy].prepare(Problem(graph), executor, **options)
        return [plan.run(source).distances for source in (0, 5)]

    if label not in LABELS:
        return []
    graphs = (band(300, 2, weights=np.int32), band(200, 1, weights=np.int32), band(400, 9, hub=150, weights=np.int32))
    return [functools.partial(on, graph) for graph in graphs]
