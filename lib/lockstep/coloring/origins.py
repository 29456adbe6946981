"""Dependencies of study 4's recorded rows."""

import functools

from lockstep import choose
from lockstep.evidence import measuring
from lockstep.graphs import families
from lockstep.provenance.origin import CHOOSING, CONTRACT, Origin
from lockstep.provenance.trace import band

from . import experiments, oracle, problem
from .experiments import FAMILIES, balance
from .problem import Problem
from .strategies import switching
from .strategies.shared import ColoringPlan
from .strategies.table import STRATEGIES

PROTOCOL = (measuring.candidate, experiments.warm_run, experiments.candidates, experiments.switched,
            experiments.summary, experiments.figures, experiments.switch, experiments.unevenness, ColoringPlan.figures,
            Problem.check, oracle.Checker)  # fmt: skip


def origin(label, dataset):
    """The `Origin` of recorded rows; None if the label has none."""
    strategy, options = STRATEGIES.resolve(label)
    if strategy is None:
        return None
    made = tuple(families.GENERATORS[family] for prefix, family in FAMILIES.items() if dataset.startswith(prefix))
    counted = (balance.measure,) if options.get("count") else ()
    # The label names the switching rule; every hybrid label depends on all rules.
    rules = (switching.of,) if strategy.name == "hybrid" else ()
    if strategy.name == "auto":  # follows a rule that is data
        rules, entry = (choose.stands("coloring"),), CHOOSING
    else:
        entry = CONTRACT
    return Origin((strategy.plan, *rules, *counted), (Problem,), (problem.neighbors, *made[:1]), entry=entry)


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""
    strategy, options = STRATEGIES.resolve(label)

    def on(graph, executor):
        plan = strategy.plan_for(Problem(graph), executor if strategy.gpu else None, **options)
        for _ in range(2):
            plan.reset()
            result = plan.run()
        return [result.colors]

    if strategy is None:
        return []
    graphs = (band(300, 2, both=True), band(200, 1, both=True), band(400, 9, hub=150, both=True))
    return [functools.partial(on, graph) for graph in graphs]
