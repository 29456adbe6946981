"""Measurement of one strategy: its plan, its preprocessing time, and the check and the counts of a sweep."""

import itertools
import time

import numpy as np

from lockstep.evidence import VerificationError, measuring

from ..strategies.table import STRATEGIES
from . import conflicts, updates

QUICK = 5.0  # seconds below which a CPU preprocessing is repeated and its first time discarded
SAMPLES, SPENT = 3, 1.0  # most timings of a preprocessing; none begins after that many seconds
WORSE = 1.001  # largest ratio of the errors after and before a sweep


def candidate(name, problem, executor, kernel, label=None, **options):
    """One strategy as it is measured; its plan is built now, and timed.

    Parameters
    ----------
    name : str
        As of `Table.resolve`.
    problem : Problem
    executor : Executor or None
        Where strategies with kernels run.
    kernel : str
        Id of its build.
    label : str, optional
        What its rows are called, if not by its name.
    **options
        Of the strategy, besides what its name says.

    Returns
    -------
    Candidate
    """
    strategy, own = STRATEGIES.resolve(name)
    machine = executor if strategy.gpu else None
    plan, seconds = built(strategy.plan_for, problem, machine, **{**own, **options})
    if strategy.family == "offline":
        conflicts.check(plan)  # once: a tally would not detect two concurrent ratings of a node
    # Nor conflicts that locks or ranges should have prevented.
    counted = updates.check(plan) if strategy.gpu and strategy.exact else None
    begin = plan_start(plan)
    prepared = iter(seconds)

    def verify(swept):
        word, end = plan.verify(swept), swept.rmse()
        if not np.isfinite(end) or end > WORSE * begin:
            raise VerificationError(f"{name}: the error went from {begin:.4g} to {end:.4g} in one sweep")
        return word

    def counts(swept):
        known = plan.figures(swept)
        if counted is not None:  # share of the ratings whose loss would have been seen
            known["updates_counted"] = (counted, "1")
        for value in itertools.islice(prepared, 1):  # a sample a round, for as many rounds as there are samples
            known["preparation"] = (value * 1e3, "ms")
        return known

    one = measuring.candidate(plan, label or name, kernel)
    one.verify, one.counts = verify, counts
    return one


def built(make, problem, executor, **options):
    """A plan, and the seconds that its preprocessing took, one for each time that it was done.

    CuPy compiles some reductions and scans per size, so the first graph of a size includes compilation despite a
    warm-up on small ones. The first GPU build is therefore discarded, whatever its duration; so is the first CPU build,
    unless it takes QUICK seconds or more, of which compilation is a small part. The emulator builds once, since its
    times are not reported.
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
