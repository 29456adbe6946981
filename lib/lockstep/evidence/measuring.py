"""Plans as candidates: the same untimed steps around a timed run for every strategy of a study."""

from lockstep.plan import CPU, Skip

from .timing import Candidate

COUNTED = ("launches", "barriers", "grid_barriers")  # of an executor, recorded beside a time where there are any


def candidate(plan, label, kernel, before=None, **how):
    """A plan as a candidate: reset before each run, optionally with a lead, and with its launches counted.

    Parameters
    ----------
    plan : Plan
    label : str
        The strategy name of its rows.
    kernel : str
        Id of its build.
    before : callable, optional
        ``before(plan)`` returns a callable run untimed after each reset, on a GPU or the emulator; None for nothing.
    **how
        Further fields of `Candidate`: events, rounds, warmup.

    Returns
    -------
    Candidate
    """
    machine = plan.timed_on
    lead = before(plan) if before and machine is not None else None

    def prepare():
        plan.reset()
        if lead:
            lead()
        if plan.executor is not None:
            plan.executor.reset_counts()

    def counts(result):  # of kernels; verification reads back, but launches none
        counted = machine.counts if plan.gpu else {}
        return {key: (counted[key], "1") for key in COUNTED if counted.get(key)} | plan.figures(result)

    return Candidate(label, plan.run, plan.verify, kernel, prepare, counts, executor=machine, exact=plan.strategy.exact,
                     **how)  # fmt: skip


def candidates(table, labels, problem, executor, kernel, *, options=None, before=None, place=0, left_out=None,
               **how):  # fmt: skip
    """Candidates of those labels whose strategies can run here, in the order of the labels.

    Parameters
    ----------
    table : Table
    labels : sequence of str
        As of `Table.resolve`.
    problem : Problem
    executor : Executor or None
        None leaves strategies with kernels out.
    kernel : callable
        ``kernel(label)`` is the id of its build.
    options : mapping
        For strategies that take them; options in a label override them.
    before, **how
        As of `candidate`.
    place : int
        Of the cell in its part. At odd places plans are built in reverse order: device addresses depend on the order of
        allocation and change times by a few per cent; in one order this bias would be the same on all graphs.
    left_out : dict, optional
        Receives {label: reason} for labels that cannot run here.

    Returns
    -------
    list of Candidate
    """
    found, step = [], -1 if place % 2 else 1
    for label in labels[::step]:
        strategy, own = table.resolve(label)
        if executor is None and strategy.gpu:
            continue
        # With `eager` a rule's possible choices are built before timing, as all other plans are.
        given = {"eager": True, **(options or {})}
        own = {**{key: value for key, value in given.items() if key in strategy.keywords}, **own}
        try:
            plan = strategy.plan_for(problem, None if strategy.family == CPU else executor, **own)
        except Skip as reason:
            if left_out is not None:
                left_out[label] = reason
            continue
        found.append(candidate(plan, label, kernel(label), before, **how))
    return found[::step]
