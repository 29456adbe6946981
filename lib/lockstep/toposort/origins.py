"""Dependencies of study 3's recorded rows."""

import functools

from lockstep.evidence import measuring
from lockstep.graphs import families, task_graphs
from lockstep.provenance.origin import CONTRACT, Origin
from lockstep.provenance.trace import band

from . import experiments
from .problem import Problem
from .strategies.table import STRATEGIES

PROTOCOL = (experiments.candidates, experiments.empty_launch, measuring.candidate, Problem.depth, Problem.check,
            experiments._transfer, experiments.kernel_times)  # fmt: skip

# Generators of each family's graphs. For real graphs it is acyclic, used or not.
GENERATORS = {
    "erdos-renyi": ("erdos_renyi", "acyclic"),
    "disjoint-paths": ("disjoint_paths",),
    "layered": ("layered",),
    "random-dag": ("random_dag",),
    "window-dag": ("window_dag",),
    "rmat": ("rmat", "acyclic"),
    "road-like": ("road_like", "acyclic"),
    **{family.replace("_", "-"): (family,) for family in task_graphs.FAMILIES},
}


def origin(label, dataset):
    """The `Origin` of recorded rows; None if the label has none."""
    strategy, options = STRATEGIES.resolve(label)
    if strategy is None and label != "(graph)":
        return None
    made_by = next((names for name, names in GENERATORS.items() if dataset.startswith(f"{name}-")), ("acyclic",))
    plan = () if strategy is None else (strategy.plan, *sorted(options.items()))
    return Origin(plan, (Problem,), tuple(families.GENERATORS[name] for name in made_by), entry=CONTRACT)


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""

    strategy, options = STRATEGIES.resolve(label)

    def on(graph, executor):
        plan = strategy.plan_for(Problem.of(graph), executor, **options)
        for _ in range(2):
            plan.reset()
            result = plan.run()
        return result.order, result.level_sizes

    if strategy is None or label == "auto":  # whose choice depends on CPU time
        return []
    return [functools.partial(on, graph) for graph in (band(300, 2), band(200, 1), band(400, 3, hub=150), band(900, 9))]
