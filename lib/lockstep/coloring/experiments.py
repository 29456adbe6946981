"""What the notebook measures, part by part; graphs, sizes and rounds come from the parameter file.

    ladder      every strategy on every graph: time and colors, always together
    switch      the hybrid with every switch; the best is chosen in some rounds and judged in others, beside rules; a
                fixed switch where the rule's own is tells what deciding costs from what deciding wrongly does
    balance     what lanes, warps and workgroups read, iteration by iteration; stealing against its controls

On the hypothetical GPU there are no times, only counts; which switch is best is then decided by the number of
iterations. A graph's own figures are recorded under the name (graph).
"""

import numpy as np

from lockstep.evidence import Candidate, VerificationError, parts
from lockstep.graphs import DatasetMissing
from lockstep.provenance import build

from . import balance, oracle, switching
from .cases import case
from .strategies import STRATEGIES

STUDY = "4-coloring-phase-switch"
FIRST = 4  # "the first few iterations"
COUNTED = "-counted"  # the suffix of strategies built to count what they read
AGAIN = "-again"  # of those measured against themselves
FAMILIES = {"rmat-": "rmat", "road-like-": "road_like", "erdos-renyi-": "erdos_renyi", "window-dag-": "window_dag"}
CURVE = ("active", "longest", "warp", "group")  # what is shown of each iteration
CURVES = ("randomized", "hybrid", "degree")  # strategies whose iterations are shown one by one
SEEDED = ("early", "emptying")  # whose colors are counted for several seeds
RULES = ("best", "worst", "auto", "own", "threshold")  # switches that hybrid is judged with; own: where auto switches
SHORT = 1.0  # ms: below, three times the rounds


def plan_of(label):
    """The strategy that a label of the recording means; None if it is none."""
    name = label.removesuffix(COUNTED).removesuffix(AGAIN)
    name = "hybrid" if name.startswith(("hybrid@", "hybrid-")) else name
    return STRATEGIES.get(name)


def candidate(case, executor, label, switch="auto", seed=0):
    """A strategy on a graph, made ready to be measured.

    On a GPU every timed run follows an untimed one of the same strategy at once. Otherwise it would meet whatever
    caches the strategy before it and the check of its colors on the host had left, on either side, and a GPU that
    has stood still meanwhile: for runs below a millisecond that is more than the strategies differ by.
    """
    strategy = plan_of(label)
    machine = executor if strategy.gpu else None
    plan = strategy.plan(case.graph, machine, seed, switching.of(switch))
    checker = case.checker if seed == 0 else oracle.Checker(case.graph, seed)

    def verify(result):
        try:
            return checker(result, strategy)
        except oracle.WrongColoring as error:
            raise VerificationError(str(error)) from None

    def prepare():
        plan.prepare()
        if machine is not None and machine.name == "cuda":
            plan.run()
            plan.prepare()

    def counts(result):
        found = {"colors": (result.count, "1")}
        if "rounds" in result.stats:
            found["iterations"] = (result.stats["rounds"], "1")
        if "switched" in result.stats:
            found |= {"switched": (result.stats["switched"], "1"), "left": (result.stats["left"], "1")}
        return found

    return Candidate(
        label,
        plan.run,
        verify,
        build(STUDY, label, case.name),
        prepare=prepare,
        counts=counts,
        executor=machine,
    )


# -- the parts


def ladder(study, plan, case, executor):
    """Every strategy, colors for several seeds, the A/A control; of the graph the longest chain of priorities, the
    steps of emptying, and the colors that a greedy loop takes in the peer's order.
    """
    parameters, rounds = case.parameters, plan["rounds"]
    skip = plan.get("skip", {}).get(case.name, [])
    names = [name for name in plan["strategies"] if name not in skip]
    degrees = case.graph.out_degrees()
    figures = {
        "nodes": case.graph.n,
        "arcs": case.graph.m,
        "degree": degrees.max(initial=0),
        "chain": oracle.chain(case.graph),
        "steps": oracle.emptied(case.graph, case.checker.expected())[1],
        "peer_colors": oracle.greedy(case.graph, oracle.peers_order(case.graph)).max(initial=-1) + 1,
    }
    figures = {key: (int(value), "1") for key, value in figures.items()}
    study.count("ladder", "ladder", case.name, "(graph)", figures, parameters=parameters)
    chosen = [candidate(case, executor, name) for name in names]
    study.measure("ladder", "ladder", case.name, chosen, parameters=parameters, rounds=rounds)
    for seed in range(plan.get("seeds", {}).get(case.name, 0)):
        chosen = [candidate(case, executor, name, seed=seed) for name in SEEDED if name in names]
        study.measure("ladder", "seeds", case.name, chosen, parameters={**parameters, "seed": seed}, rounds=1)
    if case.name == plan["control"]:
        pairs = ("greedy",) if executor.name == "host" else ("randomized", "hybrid", "early")  # those that are timed
        names = [f"{name}{suffix}" for name in pairs for suffix in ("", AGAIN)]
        chosen = [candidate(case, executor, name) for name in names]
        again = plan.get("control_rounds", 4 * rounds)
        study.measure("ladder", "control", case.name, chosen, parameters=parameters, rounds=again)


def switch(study, plan, case, executor):
    """The hybrid with every switch; then the best, the worst and the rules, in rounds of their own.

    All of a graph's together, for a few per cent are at stake. Of the graph itself the degree at which the phase by
    degree gets stuck, and what its degrees alone would let expect.
    """
    degrees = case.graph.out_degrees()
    figures = {
        "degree": degrees.max(initial=0),
        "stuck": oracle.stuck(case.graph),
        "expected": oracle.stuck_expected(degrees),
    }
    figures = {key: (int(value), "1") for key, value in figures.items()}
    study.count("switch", "degrees", case.name, "(graph)", figures, parameters=case.parameters)
    same = {"parameters": case.parameters, "together": True}
    sweep = [candidate(case, executor, f"hybrid@{at}", at) for at in plan["switches"]]
    rows = study.measure("switch", "sweep", case.name, sweep, rounds=plan["choose"], **same)
    metric = "wall" if "wall" in set(rows["metric"]) else "iterations"
    times = rows[rows["metric"] == metric].pivot_table("value", "round", "strategy")
    means = np.log(times).mean().reindex([one.strategy for one in sweep])  # the first of equals is the best
    at = {"best": means.idxmin().split("@")[1], "worst": means.idxmax().split("@")[1]}
    trial = STRATEGIES["hybrid"].plan(case.graph, executor)
    trial.prepare()
    at["own"] = str(trial.run().stats["switched"])
    rules = {rule: at.get(rule, rule) for rule in RULES}
    judged = [candidate(case, executor, "randomized")]
    judged += [
        candidate(case, executor, f"hybrid-{rule}", int(value) if value.isdigit() else value)
        for rule, value in rules.items()
    ]
    short = metric == "wall" and np.exp(means.min()) < SHORT  # what else the host does weighs most there
    rounds = plan["rounds"] * (3 if short else 1)
    rows = study.measure("switch", "judged", case.name, judged, rounds=rounds, seed=1, **same)
    if metric == "wall":
        times = rows[rows["metric"] == "wall"].pivot_table("value", "round", "strategy")
        for turn, row in times.iterrows():
            for one in judged[1:]:
                gain = {"gain": (row["randomized"] / row[one.strategy], "x")}
                where = ("switch", "gain", case.name, one.strategy, gain)
                study.count(*where, kernel=one.kernel, parameters=case.parameters, round=turn)


def unevenness(study, plan, case, executor):
    """Reads of lanes, warps and workgroups by iteration; stealing against workgroups that do not steal."""
    parameters = case.parameters
    for name in plan["counted"]:
        label = name + COUNTED
        kernel = build(STUDY, label, case.name)
        known = study.rows()
        known = known[(known["strategy"] == label) & (known["dataset"] == case.name) & (known["kernel"] == kernel)]
        if (known["metric"] == "group").any():
            continue
        strategy = STRATEGIES[name]
        rounds, result, traffic = balance.measure(strategy.plan, case.graph, executor)
        verified = case.checker(result, strategy)
        where = {"kernel": kernel, "verified": verified}
        if name in CURVES:
            shown = rounds[: plan["iterations"]]
            curve = {f"{key}@{i}": (getattr(r, key), "1") for i, r in enumerate(shown) for key in CURVE}
            study.count("balance", "iterations", case.name, label, curve, parameters=parameters, **where)
        values = {**summary(case, rounds, result), **traffic}
        if executor.name == "host":  # its workgroups run one after the other, which leaves one to steal from all
            values = {key: value for key, value in values.items() if key not in ("between", *traffic)}
        values = {key: (float(value), "1") for key, value in values.items()}
        study.count("balance", "imbalance", case.name, label, values, parameters=parameters, **where)
    chosen = [candidate(case, executor, name) for name in ("randomized", "staying", "queues", "stealing")]
    study.measure("balance", "stealing", case.name, chosen, parameters=parameters, rounds=plan["rounds"])


def summary(case, rounds, result):
    """What a whole coloring comes to, for the ledger.

    group : held up over done inside workgroups, over all iterations; `later`: after the first few
    warp, between : the same inside warps, and between workgroups
    top : share of the hundredth of vertices of highest degree that the first few iterations color
    fading : vertices colored by an iteration by degree, in the second half of that phase over the first
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


PARTS = {"ladder": ladder, "switch": switch, "balance": unevenness}


def measure(study, part, executor, say=print):
    """Measure what this machine's recording lacks of a part; see `lockstep.evidence.parts.measure`."""
    return parts.measure(_jobs, study, part, executor, say, DatasetMissing)


def _jobs(study, part, executor, say):
    block, specs = study.config["parts"][part], study.config["common"]["graphs"]
    for name in block["graphs"]:
        yield name, _graph(study, part, block, name, specs.get(name) or {}, executor)


def _graph(study, part, block, name, spec, executor):
    found = case(name, spec)
    PARTS[part](study, block, found, executor)
    yield f"{part} {name}: {found.graph.n:,} vertices, {found.graph.m:,} arcs"
