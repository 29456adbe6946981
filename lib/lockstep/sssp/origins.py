"""Dependencies of study 2's recorded rows."""

import functools

import numpy as np

from lockstep import choose
from lockstep.evidence import measuring
from lockstep.provenance.origin import CHOOSING, CONTRACT, Origin
from lockstep.provenance.trace import band

from . import experiments, oracle
from .experiments import cases, race
from .problem import Problem
from .strategies.shared import PathPlan
from .strategies.table import STRATEGIES

PROTOCOL = (measuring.candidate, PathPlan.figures, Problem.check, oracle.Checker, oracle.hops, experiments._errors,
            race.count_wrong)  # fmt: skip


def origin(label, dataset):
    """The `Origin` of recorded rows; None if the label has none."""
    name = label.removeprefix("race-")
    made = tuple(make for family, make in cases.MADE.items() if dataset.startswith(f"{family}-"))
    data = (cases.weighted, *made, *((cases._shuffled,) if dataset.endswith("-shuffled") else ()))
    strategy, options = STRATEGIES.resolve(name)
    if strategy is not None:
        raced = (race.race_graph,) if name != label else ()
        roots = (strategy.plan, strategy.plan.Options, *sorted(options.items()), *raced)
        entry = CONTRACT
        if strategy.name == "auto":  # follows a rule that is data
            roots, entry = (*roots, choose.stands("sssp")), CHOOSING
        return Origin(roots, given=(Problem,), data=() if raced else data, entry=entry)
    return Origin((cases.sources,), data=data) if label.startswith("(graph)") else None


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""
    strategy, options = STRATEGIES.resolve(label)

    def on(graph, executor):
        found = []
        for source in (0, 5):
            plan = strategy.plan_for(Problem(graph, source), executor, **options)
            plan.reset()
            found.append(plan.run().distances)
        return found

    if strategy is None:
        return []
    graphs = (band(300, 2, weights=np.int32), band(200, 1, weights=np.int32), band(400, 9, hub=150, weights=np.int32))
    return [functools.partial(on, graph) for graph in graphs]
