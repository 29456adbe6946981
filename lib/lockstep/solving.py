"""Solve a problem once: choose the executor, run the strategy, and rerun with wider numbers after an overflow."""

from lockstep.machine import get_executor
from lockstep.plan import CPU, Outgrown


def executor_for(strategy, executor=None):
    """The executor of a strategy: the requested one (see `get_executor`), or the emulator for kernels where no GPU
    is usable; None for CPU strategies.
    """
    if strategy.family == CPU:
        get_executor(executor)  # only for its errors: an unknown name, no usable GPU
        return None
    machine = get_executor(executor)
    return get_executor("host") if machine is None and strategy.gpu else machine


def first_run(plan):
    """Run a plan for the first time.

    Returns
    -------
    plan : Plan
        That plan; of the wider problem, if the numbers of this one turned out too small.
    result : object
    """
    plan.reset()
    try:
        return plan, plan.run()
    except Outgrown:
        wider = plan.problem.wider()
        if wider is None:
            raise
        again = type(plan).make(plan.strategy, wider, plan.executor, plan.options)
        if "reason" in plan.stats:  # of `auto`
            again.stats["reason"] = plan.stats["reason"]
        again.reset()
        return again, again.run()


def solve(table, name, problem, executor=None, **options):
    """Solve a problem once by a strategy of a table; the result, with launches and read-backs in its `stats`."""
    strategy = table.find(name)
    machine = executor_for(strategy, executor)
    if problem.lacks:
        strategy.options_of(**options)  # only for its errors
        return problem.trivial(strategy)
    plan = strategy.plan_for(problem, machine, **options)
    if machine is not None:
        machine.reset_counts()
    _, result = first_run(plan)
    if machine is not None:
        counts = machine.counts
        result.stats |= {"launches": counts["launches"] + counts["graph_launches"], "readbacks": counts["readbacks"]}
    return result
