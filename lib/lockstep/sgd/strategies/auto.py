"""Which strategy `auto` takes, and why."""

import functools

from lockstep import plan

from . import model

FEW = 2_000_000  # ratings from which several threads are faster
SMALL, NEAR = 64, 0.05  # largest degree and scatter (see `model`) for `patches` without calibration


def choose(ratings, executor):
    """The strategy for these ratings here.

    On a GPU the predictor (`model`) selects, calibrated on this machine, else on a recorded one.

    Parameters
    ----------
    ratings : Ratings
    executor : Executor or None
        None: no GPU is available or requested.

    Returns
    -------
    strategy, reason : str
    """
    if executor is None:
        if ratings.m < FEW:
            return "serial", f"no GPU, and {ratings.m:,} ratings are too few for several threads"
        return "multicore", f"no GPU, and {ratings.m:,} ratings"
    from .table import STRATEGIES  # which lists `Auto`

    machine, coefficients = calibration()
    times = {
        name: value
        for name, value in model.predict(coefficients, model.features(ratings)).items()
        if name in STRATEGIES and STRATEGIES[name].exact
    }
    if not times and ratings.largest_degree() <= SMALL and model.scatter(ratings) <= NEAR:
        return "patches", (
            "no machine is calibrated here; no node has more than "
            f"{ratings.largest_degree():,} ratings, and neighbouring ids rate each other"
        )
    if not times:
        return "tiles", "no machine is calibrated here; tiles have the shortest critical path of all"
    (best, least), *others = times.items()
    second = f", {others[0][0]} {others[0][1]:.3g} ms" if others else ""
    return best, (
        f"predicted {least:.3g} ms a sweep{second}, from {ratings.m:,} ratings and a largest degree of "
        f"{ratings.largest_degree():,} on {machine}"
    )


@functools.cache
def calibration():
    """(machine, coefficients) of this machine's own rows, else of the first recorded machine that was calibrated."""
    from lockstep.evidence import machine_name, machines

    try:
        known = machines()
        here = machine_name()
    except (OSError, ValueError):
        return "", {}
    for name in sorted(known, key=lambda name: name != here):
        rows = known[name]
        coefficients = model.from_rows(rows[rows["study"] == "1-sgd-schedules"])
        if coefficients:
            return name, coefficients
    return "", {}


class Auto(plan.Plan):
    """Returns the plan of the strategy that it chooses."""

    gpu = False

    @classmethod
    def make(cls, strategy, problem, executor=None, options=None):
        from .table import STRATEGIES

        name, reason = choose(problem.ratings, executor)
        chosen = STRATEGIES[name]
        found = chosen.plan_for(problem, executor if chosen.gpu else None)
        found.stats["reason"] = reason
        return found
