"""Measurements of study 4: kinds of cells of a parameter file (see `lockstep.evidence.parts`; graphs in `cases`).

    time     all strategies of a graph, interleaved
    ladder   the same, and the graph's own figures
    seeds    colors for several seeds
    switch   the hybrid with every switch; the best is selected and evaluated in different rounds, beside rules; a fixed
             switch at the rule's round separates the rule's overhead from the loss of a wrong switch
    balance  reads of lanes, warps and workgroups by iteration; stealing against its controls

The emulator yields counts but no times; the best switch is then the one with the fewest
iterations. A graph's own figures are recorded under the name (graph).
"""

import functools
import time

import numpy as np

from lockstep.evidence import measuring, parts
from lockstep.provenance import build

from .. import oracle
from ..problem import Problem
from ..strategies.table import STRATEGIES
from . import balance, cases

STUDY = "4-coloring-phase-switch"
FIRST = 4  # "the first few iterations"
COUNTED = "-counted"  # the suffix of strategies built to count what they read
FAMILIES = {"rmat-": "rmat", "road-like-": "road_like", "erdos-renyi-": "erdos_renyi", "window-dag-": "window_dag"}
CURVE = ("active", "longest", "warp", "group")  # what is shown of each iteration
CURVES = ("randomized", "hybrid", "degree")  # strategies whose iterations are shown one by one
RULES = ("best", "worst", "auto", "own", "threshold")  # evaluated switches of hybrid; own: fixed at auto's round
SHORT = 1.0  # ms: below, three times the rounds
LONG = 0.5  # s: of a run that takes so long, what a warm one changes (below a millisecond) is 0.2 % at most


def warm_run(plan):
    """An untimed run of the same strategy, before every timed run on a GPU; of one that took LONG, only twice.

    Otherwise cache contents on host and device would depend on the previous strategy and the check of its colors,
    and the GPU would have idled meanwhile: for runs below a millisecond these effects exceed the differences between
    strategies. The second run is the first without compilation.
    """
    seconds = []

    def run():
        if len(seconds) > 1 and min(seconds) >= LONG:
            return
        begin = time.perf_counter()
        plan.run()
        plan.executor.synchronize()
        seconds.append(time.perf_counter() - begin)
        plan.reset()

    return run if plan.executor.name == "cuda" else None


def candidates(case, executor, labels, problem=None, place=0):
    """Strategies on a graph, made ready to be measured."""
    problem = problem or case.problem
    return measuring.candidates(STRATEGIES, labels, problem, executor, lambda label: build(STUDY, label, case.name),
                                before=warm_run, place=place)  # fmt: skip


def switched(case, executor, label, switch):
    """`hybrid` with a switch, under a label independent of the switch."""
    plan = STRATEGIES["hybrid"].plan_for(case.problem, executor, switch=switch)
    return measuring.candidate(plan, label, build(STUDY, label, case.name), warm_run)


# -- kinds of cells


def _time(study, part, cell, executor, *, made=None):
    """All strategies."""
    found = cases.case(cell.graph, made)
    chosen = candidates(found, executor, cell.strategies, place=cell.place)
    study.measure(part, cell.experiment, found.name, chosen, parameters=found.parameters, rounds=cell.rounds)
    yield _told(cell, found)


def _ladder(study, part, cell, executor, *, made=None):
    """All strategies, and the graph's `figures`."""
    found = cases.case(cell.graph, made)
    study.count(part, cell.experiment, found.name, "(graph)", figures(found), parameters=found.parameters)
    yield from _time(study, part, cell, executor, made=made)


def figures(case):
    """A graph's size, the longest chain of priorities, the steps of emptying, and the colors that a greedy loop takes
    in the peer's order.
    """
    found = {
        "nodes": case.graph.n,
        "arcs": case.graph.m,
        "degree": case.graph.out_degrees().max(initial=0),
        "chain": oracle.chain(case.graph),
        "steps": oracle.emptied(case.graph, case.problem.checker.expected())[1],
        "peer_colors": oracle.greedy(case.graph, oracle.peers_order(case.graph)).max(initial=-1) + 1,
    }
    return {key: (int(value), "1") for key, value in found.items()}


def _seeds(study, part, cell, executor, *, seeds, made=None):
    """Colors for `seeds` seeds: one run per strategy and seed."""
    found = cases.case(cell.graph, made)
    for seed in range(seeds):
        chosen = candidates(found, executor, cell.strategies, Problem(found.graph, seed))
        parameters = {**found.parameters, "seed": seed}
        study.measure(part, cell.experiment, found.name, chosen, parameters=parameters, rounds=1)
    yield _told(cell, found)


def _switch(study, part, cell, executor, *, switches, choose, made=None):
    """See `switch`."""
    found = cases.case(cell.graph, made)
    switch(study, part, cell, executor, found, switches, choose)
    yield _told(cell, found)


def switch(study, part, cell, executor, case, switches, choose):
    """The hybrid with every switch; then the best, the worst and the rules, in rounds of their own.

    A graph's candidates are measured together, since differences are a few per cent. Recorded of the graph: the degree
    at which the phase by degree gets stuck, and its estimate from the degrees alone.
    """
    degrees = case.graph.out_degrees()
    figures = {
        "degree": degrees.max(initial=0),
        "stuck": oracle.stuck(case.graph),
        "expected": oracle.stuck_expected(degrees),
    }
    figures = {key: (int(value), "1") for key, value in figures.items()}
    study.count(part, "degrees", case.name, "(graph)", figures, parameters=case.parameters)
    same = {"parameters": case.parameters, "together": True}
    sweep = candidates(case, executor, [f"hybrid@{at}" for at in switches])
    rows = study.measure(part, "sweep", case.name, sweep, rounds=choose, **same)
    metric = "wall" if "wall" in set(rows["metric"]) else "iterations"
    times = rows[rows["metric"] == metric].pivot_table("value", "round", "strategy")
    means = np.log(times).mean().reindex([one.strategy for one in sweep])  # the first of equals is the best
    at = {"best": means.idxmin().split("@")[1], "worst": means.idxmax().split("@")[1]}
    trial = STRATEGIES["hybrid"].plan_for(case.problem, executor)
    trial.reset()
    at["own"] = str(trial.run().stats["switched"])
    rules = {rule: at.get(rule, rule) for rule in RULES}
    judged = candidates(case, executor, ["randomized"])
    judged += [
        switched(case, executor, f"hybrid-{rule}", int(value) if value.isdigit() else value)
        for rule, value in rules.items()
    ]
    short = metric == "wall" and np.exp(means.min()) < SHORT  # host noise weighs most there
    rounds = cell.rounds * (3 if short else 1)
    rows = study.measure(part, "judged", case.name, judged, rounds=rounds, seed=1, **same)
    if metric == "wall":
        times = rows[rows["metric"] == "wall"].pivot_table("value", "round", "strategy")
        for round_index, row in times.iterrows():
            for one in judged[1:]:
                gain = {"gain": (row["randomized"] / row[one.strategy], "x")}
                where = (part, "gain", case.name, one.strategy, gain)
                study.count(*where, kernel=one.kernel, parameters=case.parameters, round=round_index)


def _balance(study, part, cell, executor, *, counted, iterations, made=None):
    """See `unevenness`; and stealing against workgroups that do not steal."""
    found = cases.case(cell.graph, made)
    unevenness(study, part, executor, found, counted, iterations)
    chosen = candidates(found, executor, cell.strategies, place=cell.place)
    study.measure(part, "stealing", found.name, chosen, parameters=found.parameters, rounds=cell.rounds)
    yield _told(cell, found)


def unevenness(study, part, executor, case, counted, iterations):
    """Reads of lanes, warps and workgroups by iteration."""
    parameters = case.parameters
    for name in counted:
        label = name + COUNTED
        kernel = build(STUDY, label, case.name)
        known = study.rows()
        known = known[(known["strategy"] == label) & (known["dataset"] == case.name) & (known["kernel"] == kernel)]
        if (known["metric"] == "group").any():
            continue
        strategy, options = STRATEGIES.resolve(label)
        rounds, result, traffic = balance.measure(strategy, case.problem, executor, **options)
        verified = case.problem.check(result, strategy)
        where = {"kernel": kernel, "verified": verified}
        if name in CURVES:
            shown = rounds[:iterations]
            curve = {f"{key}@{i}": (getattr(r, key), "1") for i, r in enumerate(shown) for key in CURVE}
            study.count(part, "iterations", case.name, label, curve, parameters=parameters, **where)
        values = {**summary(case, rounds, result), **traffic}
        if executor.name == "host":  # its workgroups run in sequence, so one steals all chunks
            values = {key: value for key, value in values.items() if key not in ("between", *traffic)}
        values = {key: (float(value), "1") for key, value in values.items()}
        study.count(part, "imbalance", case.name, label, values, parameters=parameters, **where)


def summary(case, rounds, result):
    """Figures of a whole coloring.

    group : imbalance inside workgroups (see `balance`), over all iterations; `later`: after the first FIRST
    warp, between : the same inside warps, and between workgroups
    top : share of the 1 % of vertices of highest degree that the first FIRST iterations color
    fading : mean vertices colored per iteration by degree, second half of that phase over the first
    """
    read = np.array([r.read for r in rounds], float)
    degrees = case.graph.out_degrees()
    high = degrees >= np.sort(degrees)[-max(case.graph.n // 100, 1)]
    found = {key: np.average([getattr(r, key) for r in rounds], weights=read) for key in ("group", "warp", "between")}
    found["top"] = (result.colors[high] < FIRST).mean()
    if read[FIRST:].sum():
        found["later"] = np.average([r.group for r in rounds[FIRST:]], weights=read[FIRST:])
    last = result.stats.get("switched", 0)
    if result.strategy == "degree" and last >= 4:
        colored = np.array([r.colored for r in rounds[:last]], float)
        found["fading"] = colored[last // 2 :].mean() / colored[: last // 2].mean()
    return found


KINDS = {"time": _time, "ladder": _ladder, "seeds": _seeds, "switch": _switch, "balance": _balance}
measure = functools.partial(parts.measure, KINDS)


def _told(cell, found):
    return f"{cell.experiment} {found.name}: {found.graph.n:,} vertices, {found.graph.m:,} arcs"
