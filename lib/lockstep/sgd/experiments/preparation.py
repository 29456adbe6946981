"""A strategy as it is measured: its plan, the time of its preprocessing, how a sweep is checked and what it counts."""

import itertools
import time

import numpy as np

from lockstep.evidence import Candidate, VerificationError

from ..strategies.shared import WrongSweep
from ..strategies.table import STRATEGIES
from . import conflicts, updates

EXTRA = {  # variants under names of their own
    "edge-locked-plain": ("edge-locked", {"shuffle": False}),
    "edge-locked-again": ("edge-locked", {}),
    "diagonal-part": ("diagonal", {"limit": 200_000}),
}
QUICK = 5.0  # seconds below which a preprocessing of the CPU is done again, its first time not counted
SAMPLES, SPENT = 3, 1.0  # so often is a preprocessing timed, unless that many seconds are gone before
PLANS = {name: s.plan for name, s in STRATEGIES.items()}


def resolve(name):
    """(strategy, options) of a name in a parameter file."""
    return EXTRA.get(name, (name, {}))


def candidate(name, problem, executor, kernel, label=None, **options):
    """One strategy as it is measured; its plan is built now, and timed. `kernel` is the id of its build."""
    strategy, own = resolve(name)
    chosen = STRATEGIES[strategy]
    plan, seconds = built(chosen.plan, problem, executor if chosen.gpu else None, **{**own, **options})
    if chosen.family == "offline":
        conflicts.check(plan)  # once: a tally would not tell two ratings that met at a node
    # Nor two that locks or ranges should have kept apart.
    counted = updates.check(plan) if chosen.gpu and chosen.exact else None
    begin = plan_start(plan)
    prepared = iter(seconds)

    def run():
        plan.sweep()
        return plan

    def verify(result):
        try:
            result.check_sweep()
        except WrongSweep as error:
            raise VerificationError(str(error)) from None
        end = result.rmse()
        if not np.isfinite(end) or end > 1.001 * begin:
            raise VerificationError(f"{name}: the error went from {begin:.4g} to {end:.4g} in one sweep")
        return "invariant" if chosen.exact else "not-applicable"

    def counts(result):
        known = {key: (value, "1") for key, value in result.stats.items() if isinstance(value, (int, float))}
        steps = getattr(result, "schedule", None)
        if steps is not None and result.problem.ratings.m:
            first, last = result.span
            known["measured_share"] = ((last - first) / max(steps.supersteps, 1), "1")
        if executor is not None and executor.name == "cuda" and chosen.family == "offline":
            arrivals = result.blocks * result.stats["supersteps"]
            known["barrier_arrivals_an_edge"] = (arrivals / max(result.problem.ratings.m, 1), "1")
        if counted is not None:  # share of the ratings whose loss would have been seen
            known["updates_counted"] = (counted, "1")
        for value in itertools.islice(prepared, 1):  # a sample a round, for as many rounds as there are samples
            known["preparation"] = (value * 1e3, "ms")
        return known

    return Candidate(label or name, run, verify, kernel, prepare=plan.reset, counts=counts,
                     executor=executor if chosen.gpu else None, exact=chosen.exact)  # fmt: skip


def built(make, problem, executor, **options):
    """A plan, and the seconds that its preprocessing took, one for each time that it was done.

    Some of CuPy's reductions and scans are compiled for the size at hand, so the first graph of a size is charged with
    compilation in spite of a warm-up on small ones. So the first building for a GPU does not count, however long it
    took; nor does that for the CPU, unless it takes QUICK seconds, of which compilation is a small part. The
    hypothetical GPU builds once: its times mean nothing.
    """

    def timed():
        begin = time.perf_counter()
        plan = make(problem, executor, **options)
        return plan, time.perf_counter() - begin

    plan, took = timed()
    enough = plan.preprocessing >= QUICK if executor is None else executor.name == "host"
    if enough:
        return plan, [plan.preprocessing]
    seconds, spent = [], 0.0
    while not seconds or (len(seconds) < SAMPLES and spent < SPENT):
        del plan  # before the next one needs the memory
        if executor is not None:
            problem._cache.pop(("first fit", id(executor)), None)  # with the seconds that it took
        plan, took = timed()
        seconds.append(plan.preprocessing)
        spent += took
    return plan, seconds


def plan_start(plan):
    """The error before the first sweep."""
    plan.reset()
    return plan.rmse()
