"""What study 1's rows follow from."""

import functools

import numpy as np

from lockstep.provenance.origin import Origin

from . import oracle
from .experiments import cases, conflicts, counted, derived, paper_example, preparation, twins
from .experiments.preparation import PLANS, resolve
from .problem import Problem
from .ratings import Ratings, planted
from .strategies import matchings, shared
from .strategies.table import STRATEGIES

PROTOCOL = (cases.problem_of, preparation.candidate, preparation.built, preparation.plan_start, conflicts.check,
            counted.sweeps, counted.atomics, counted.residency, counted.bounds, derived.record, oracle.checksum,
            shared.Plan.rmse, *dict.fromkeys(plan.check_sweep for plan in PLANS.values()))  # fmt: skip
EXAMPLE = ("agm-edge", "agm-node", "edge-locked", "node-locked")


def origin(label, dataset):
    """The `Origin` of recorded rows; None if nothing in them can go stale."""
    name = label.split(" +")[0]
    made = dataset.startswith(("twin-", "random-"))
    given = (Problem, Ratings)
    if name == counted.EXAMPLE:
        shown = (matchings.diagonals, matchings.block_diagonals)
        return Origin((*(PLANS[one] for one in EXAMPLE), *shown), given, (paper_example.sample,))
    data = (twins.twin, cases.random_ratings) if made else (cases.star,) if dataset.startswith("star-") else (planted,)
    if name in ("(graph)", *derived.BOUNDS) and made:
        return Origin((), given, data)
    strategy, options = resolve(name)
    return Origin((PLANS[strategy], *sorted(options.items())), given, data) if strategy in PLANS else None


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""
    strategy, options = resolve(label.split(" +")[0])

    def on(made, rank, executor):
        chosen = STRATEGIES[strategy]
        plan = chosen.plan(Problem(made, rank), executor if chosen.gpu else None, **options)
        for _ in range(2):
            plan.reset()
            plan.sweep()
        return plan.vectors()

    if strategy not in STRATEGIES or strategy in ("hogwild", "multicore"):  # whose result is another each time
        return []
    return [functools.partial(on, made, rank) for rank in (4, 16) for made in (_ratings(60, 40, 700), cases.star(50))]


def _ratings(users, items, edges):
    """Ratings by arithmetic, the first items with the most."""
    keys = np.unique((np.arange(edges) * 7919 % users) * items + (np.arange(edges) ** 2 // 37) % items)
    return Ratings(keys // items, keys % items, (keys % 5 + 1).astype(np.float32), (users, items), name="by arithmetic")
