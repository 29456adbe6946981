"""What study 4's rows follow from."""

import functools

from lockstep.graphs import families
from lockstep.provenance.origin import Origin
from lockstep.provenance.trace import band

from . import balance, cases, experiments, oracle, switching
from .experiments import COUNTED, FAMILIES, plan_of

PROTOCOL = (experiments.candidate, experiments.summary, experiments.ladder, experiments.switch, experiments.unevenness,
            oracle.Checker)  # fmt: skip


def origin(label, dataset):
    """The `Origin` of recorded rows; None if nothing in them can go stale."""
    strategy = plan_of(label)
    if strategy is None:
        return None
    made = tuple(families.GENERATORS[family] for prefix, family in FAMILIES.items() if dataset.startswith(prefix))
    counted = (balance.measure,) if label.endswith(COUNTED) else ()
    # Which rule decides on the switch stands in the label; all rules count for each that switches.
    rules = (switching.of,) if strategy.name == "hybrid" else ()
    return Origin((strategy.plan, *rules, *counted), data=(cases.neighbors, *made[:1]))


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""
    strategy = plan_of(label)

    def on(graph, executor):
        rule = label.partition("@")[2] or "auto"
        switch = switching.of(int(rule) if rule.isdigit() else rule)
        plan = strategy.plan(graph, executor if strategy.gpu else None, 0, switch)
        for _ in range(2):
            plan.prepare()
            result = plan.run()
        return [result.colors]

    if strategy is None:
        return []
    graphs = (band(300, 2, both=True), band(200, 1, both=True), band(400, 9, hub=150, both=True))
    return [functools.partial(on, graph) for graph in graphs]
