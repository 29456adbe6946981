"""One strategy on one problem: timed, or counted on the emulator."""

import time

import numpy as np

from lockstep import solving
from lockstep.evidence import measuring, timing

WRONG = "measured-wrong"  # one wrong run of several is enough
COUNTS = ("launches", "readbacks", "barriers", "grid_barriers", "atomics")


def measure(strategy, problem, executor, rounds, seconds):
    """Time a strategy, or count its operations on the emulator.

    Parameters
    ----------
    strategy : Strategy
    problem : Problem
    executor : Executor or None
        Where strategies with kernels run.
    rounds : int
        Timed runs after the first, of which the median counts.
    seconds : float
        No further round begins after so long.

    Returns
    -------
    dict
        ms (None on the emulator), the counts of one run, verified.
    """
    machine = solving.executor_for(strategy, executor)
    if machine is not None and machine.name == "host" and not strategy.gpu:
        machine = None  # `auto` chooses a CPU strategy there
    # With `eager` a rule's possible choices are built before timing, as all other plans are.
    made = strategy.plan_for(problem, machine, **({"eager": True} if "eager" in strategy.keywords else {}))
    if machine is not None:
        machine.reset_counts()
    begin = time.perf_counter()
    made, result = solving.first_run(made)
    counts = {}
    if machine is not None:
        machine.synchronize()
        counts = {key: int(machine.counts[key]) for key in COUNTS}
        counts["launches"] += int(machine.counts["graph_launches"])
    if hasattr(result, "colors"):
        counts["colors"] = int(result.count)  # the quality to weigh against a coloring's time
    verified, times, timed = made.verify(result), [], measuring.candidate(made, strategy.name, "", events=False)
    while machine is None or machine.name == "cuda":
        result, spent = timing.once(timed)
        times.append(spent["wall"][0])
        if made.verify(result) == WRONG:
            verified = WRONG
        if len(times) >= rounds or time.perf_counter() - begin > seconds:
            break
    return {"ms": float(np.median(times)) if times else None, "verified": verified, **counts}
