"""Plans as candidates: what is done around a timed run, the same for every strategy of a study."""

from lockstep.plan import CPU, Skip

from .timing import Candidate

COUNTED = ("launches", "barriers", "grid_barriers")  # of an executor, recorded beside a time where there are any


def candidate(plan, label, kernel, before=None, **how):
    """A plan as it is measured: reset, and perhaps something more, before each run; its kernels' launches counted.

    Parameters
    ----------
    plan : Plan
    label : str
        What its rows are called.
    kernel : str
        Id of its build.
    before : callable, optional
        ``before(plan)`` returns what a run that is timed on a GPU, or counted on the emulator, has untimed before it,
        after the reset; None for nothing.
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


def candidates(table, labels, problem, executor, kernel, *, options=None, before=None, backwards=False, left_out=None,
               **how):  # fmt: skip
    """Those of some labels that have a place here, built, in their order.

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
        For those strategies that have such options, besides what their labels say.
    before, **how
        As of `candidate`.
    backwards : bool
        Build the last one first: where arrays lie follows from the order.
    left_out : dict, optional
        Is told of each label that has no place here why.

    Returns
    -------
    list of Candidate
    """
    found, turned = [], -1 if backwards else 1
    for label in labels[::turned]:
        strategy, own = table.resolve(label)
        if executor is None and strategy.gpu:
            continue
        # What a rule may choose is made ready before, as all others are.
        given = {"eager": True, **(options or {})}
        own = {**{key: value for key, value in given.items() if key in strategy.keywords}, **own}
        try:
            plan = strategy.plan_for(problem, None if strategy.family == CPU else executor, **own)
        except Skip as reason:
            if left_out is not None:
                left_out[label] = reason
            continue
        found.append(candidate(plan, label, kernel(label), before, **how))
    return found[::turned]
