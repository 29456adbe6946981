"""Dependencies of study 1's recorded rows."""

import functools

import numpy as np

from lockstep.evidence import measuring
from lockstep.plan import CHOICE
from lockstep.provenance.origin import CHOOSING, CONTRACT, Origin

from . import oracle
from .experiments import (
    cases,
    conflicts,
    counted,
    derived,
    further,
    likeness,
    paper_example,
    preparation,
    skewed,
    twins,
)
from .problem import Problem
from .ratings import Ratings, planted
from .strategies import matchings, shared
from .strategies.table import STRATEGIES

PLANS = {name: strategy.plan for name, strategy in STRATEGIES.items() if strategy.family != CHOICE}
OWN = [getattr(plan, name) for plan in PLANS.values() for name in ("check_sweep", "figures")]
PROTOCOL = (cases.problem_of, measuring.candidate, preparation.candidate, preparation.built, preparation.plan_start,
            conflicts.check, counted.sweeps, counted.atomics, counted.residency, counted.bounds, derived.record,
            oracle.checksum, Problem.check, shared.SweepPlan.rmse, *dict.fromkeys(OWN))  # fmt: skip
EXAMPLE = ("agm-edge", "agm-node", "edge-locked", "node-locked")


def origin(label, dataset):
    """The `Origin` of recorded rows; None if the label has none."""
    name = label.split(" +")[0]
    made = dataset.startswith(("twin-", "random-", "further-"))
    given = (Problem, Ratings)
    if name == counted.EXAMPLE:
        shown = (matchings.diagonals, matchings.block_diagonals)
        return Origin((*(PLANS[one] for one in EXAMPLE), *shown), given, (paper_example.sample,), entry=CONTRACT)
    data = (twins.twin, cases.random_ratings) if made else (cases.star,) if dataset.startswith("star-") else (planted,)
    if dataset.startswith("further-"):
        data = (further.twin,)
    elif dataset.endswith("-skewed"):
        data = (skewed.twin if dataset.startswith("twin-") else skewed.scale_free,)
    elif dataset.endswith("-curved"):
        data += (likeness.curved,)
    if name in ("(graph)", *derived.BOUNDS) and made:
        return Origin((), given, data)
    strategy, options = STRATEGIES.resolve(name)
    if strategy is None:
        return None
    roots = (strategy.plan, strategy.plan.Options, *sorted(options.items()))
    return Origin(roots, given, data, entry=CHOOSING if strategy.family == CHOICE else CONTRACT)


def trial(label):
    """What `trace` runs of a label: functions of an executor, which return arrays."""
    strategy, options = STRATEGIES.resolve(label.split(" +")[0])

    def on(made, rank, executor):
        plan = strategy.plan_for(Problem(made, rank), executor if strategy.gpu else None, **options)
        for _ in range(2):
            plan.reset()
            plan.run()
        return plan.vectors()

    if strategy is None or strategy.name in ("hogwild", "multicore"):  # non-deterministic results
        return []
    return [functools.partial(on, made, rank) for rank in (4, 16) for made in (_ratings(60, 40, 700), cases.star(50))]


def _ratings(users, items, edges):
    """Ratings by arithmetic, the first items with the most."""
    keys = np.unique((np.arange(edges) * 7919 % users) * items + (np.arange(edges) ** 2 // 37) % items)
    return Ratings(keys // items, keys % items, (keys % 5 + 1).astype(np.float32), (users, items), name="by arithmetic")
