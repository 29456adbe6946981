"""The sweeps that the notebook runs, as data: which ratings, which strategies, under which labels.

A parameter file lists `cells` for each part; a cell names an experiment, a kind of graph and lists; each
combination is one set of ratings, measured by all of the cell's strategies, interleaved.

    {experiment: road, kind: twin, dataset: [CAL, E], strategies: gpu, rank: 16}

Beside the times stand, for every strategy, the milliseconds of its preprocessing and its counts; and, for
every graph, its own figures under the name (graph). Under (best online), (best offline) and (best) stand the
times of the strategy that was best in the even rounds, taken from the odd rounds: chosen on one half, judged
on the other. Under (predicted) stand those of the strategy that the calibrated model named beforehand.
"""

import hashlib
import itertools
import time

import numpy as np

from lockstep.evidence import Candidate, VerificationError
from lockstep.graphs import DatasetMissing, generators, load, load_ratings
from lockstep.machine import get_executor

from . import matchings, model, twins, worked
from .plans import WrongSweep
from .problem import Problem
from .ratings import Ratings, planted
from .strategies import STRATEGIES

STUDY = "1-sgd-schedules"
OFFLINE = ("agm-edge", "agm-node", "sgm", "diagonal", "block-diagonal")
ONLINE = ("edge-locked", "node-locked")
SEVEN = (*OFFLINE, *ONLINE)
EXTRA = {  # variants under names of their own
    "edge-locked-plain": ("edge-locked", {"shuffle": False}),
    "edge-locked-again": ("edge-locked", {}),
    "diagonal-part": ("diagonal", {"limit": 200_000}),
}
PLANS = {name: s.plan for name, s in STRATEGIES.items()}
RATE, REGULARIZATION = 0.005, 0.02


def resolve(name):
    """(strategy, options) of a name in a parameter file."""
    return EXTRA.get(name, (name, {}))


# -- ratings --


def star(edges):
    """One item rated by that many users: nothing but its critical path."""
    users = np.arange(edges)
    items = np.zeros(edges, np.int64)
    return Ratings(users, items, planted(users, items), (edges, 1), name=f"star of {edges}")


def random_ratings(users, items, edges, largest, executor=None, seed=5):
    """A scale-free graph of any size, for calibration."""
    size = twins.Size("scale-free", users, items, edges, largest, 0, 0)
    name = f"{users} x {items}, {edges} edges, degree {largest}"
    return twins.scale_free(size, seed, np if executor is None else executor.xp, name)


def make(kind, cell, executor):
    """The ratings of a cell, and what decides them."""
    if kind == "star":
        return star(cell["edges"]), "star"
    if kind == "twin":
        made = twins.twin(cell["dataset"], executor=executor, factor=cell.get("factor", 1),
                          shuffled=cell.get("shuffled", False))  # fmt: skip
        return made, twins.digest()
    if kind == "random":
        return random_ratings(*cell["size"], executor), twins.digest()
    if kind == "ratings":
        return Ratings.of(load_ratings(cell["dataset"])), "file"
    if kind == "graph":
        graph = load(cell["dataset"])
        users, items = graph.edges()
        made = Ratings(users, items, planted(users, items), (graph.n, graph.n), name=cell["dataset"])
        return made, generators.digest("acyclic")[:0] + "file"
    raise ValueError(f"kind {kind!r}; expected star, twin, random, ratings or graph")


def label(kind, cell):
    """What a cell's data set is called in rows."""
    if kind == "star":
        return f"star-{cell['edges']}"
    if kind == "random":
        return "random-" + "-".join(map(str, cell["size"]))
    name = cell["dataset"] + (f"-by-{cell['factor']}" if cell.get("factor", 1) != 1 else "")
    return f"twin-{name}{'-shuffled' if cell.get('shuffled') else ''}" if kind == "twin" else name


def cases(plan, common=None):
    """The cells of a part, one for each combination of what they list."""
    sets = (common or {}).get("strategies", {})
    for cell in plan.get("cells", []):
        lists = {
            key: value if isinstance(value, list) else [value]
            for key, value in cell.items()
            if key not in ("strategies", "size")
        }
        if "size" in cell:
            lists["size"] = cell["size"] if isinstance(cell["size"][0], list) else [cell["size"]]
        names = cell.get("strategies", [])
        names = sets[names] if isinstance(names, str) else names
        for values in itertools.product(*lists.values()):
            yield dict(zip(lists, values, strict=True)), list(names)


# -- candidates --


def digest(name, made_by=""):
    """Digest of all that decides a strategy's rows on a graph."""
    name = resolve(name)[0]
    own = PLANS[name].digest() if name in PLANS else ""
    return hashlib.sha256(f"{own} {made_by}".encode()).hexdigest()[:16]


def digests(strategy, dataset):
    """The present digest of recorded rows; None if nothing in them can go stale."""
    name = strategy.split(" +")[0]
    if resolve(name)[0] not in PLANS:
        return None
    if dataset.startswith(("twin-", "random-")):
        return digest(name, twins.digest())
    return digest(name, "star" if dataset.startswith("star-") else "file")


def candidate(name, problem, executor, made_by, label=None, **options):
    """One strategy as it is measured; its plan is built now, and timed."""
    strategy, own = resolve(name)
    chosen = STRATEGIES[strategy]
    plan = chosen.plan(problem, executor if chosen.gpu else None, **{**own, **options})
    begin = plan_start(plan)

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
        return {**known, "preparation": (result.preprocessing * 1e3, "ms")}

    return Candidate(label or name, run, verify, digest(name, made_by), prepare=plan.reset, counts=counts,
                     executor=executor if chosen.gpu else None, exact=chosen.exact)  # fmt: skip


def plan_start(plan):
    """The error before the first sweep."""
    plan.reset()
    return plan.rmse()


# -- measuring --


def measure(study, part, executor, say=print):
    """Measure what this machine's recording lacks of a part.

    Parameters
    ----------
    study : Study
    part : str
        A part that the study's configuration has.
    executor : Executor or None
        Where strategies with kernels run; None leaves them out.
    say : callable
        Is told what is being measured, a line a graph.

    Returns
    -------
    list of str
        Data sets that could not be had, each with the reason.
    """
    block = study.config["parts"][part]
    common = study.config.get("common", {})
    missing = []
    if block.get("worked"):
        _worked(study, part)
    if block.get("atomics"):
        _atomics(study, part, block["atomics"])
    if block.get("calibrate") and executor is not None:
        _costs(study, part, executor, common)
        for cell, names in cases({"cells": common.get("calibration", [])}, common):
            _cell(study, part, cell, names, executor, {"rounds": 3}, common, say)
    for cell, names in cases(block, common):
        try:
            _cell(study, part, cell, names, executor, block, common, say)
        except DatasetMissing as error:
            missing.append(f"{cell['dataset']}: {error}")
    return missing


def _cell(study, part, cell, names, executor, block, common, say):
    begin = time.perf_counter()
    kind, experiment, rank = cell["kind"], cell["experiment"], int(cell.get("rank", 16))
    on_gpu = executor is not None and executor.name == "cuda"
    names = [name for name in names if executor is not None or not STRATEGIES[resolve(name)[0]].gpu]
    dataset = label(kind, cell)
    options = {key: cell[key] for key in ("lock_delay", "barrier_delay") if key in cell}
    parameters = {"rank": rank, **options}
    where = (part, experiment, dataset)
    if names and not _lacking(study, where, names, parameters, block.get("rounds", 8), on_gpu):
        return
    ratings, made_by = make(kind, cell, executor if on_gpu else None)
    _graph(study, where, ratings, parameters, made_by)
    if experiment == "sweeps":
        _sweeps(study, where, ratings, names, executor, parameters, int(cell["sweeps"]), made_by)
    else:
        problem = Problem(ratings, rank, RATE, REGULARIZATION)
        most = {name: degree for name, degree in common.get("largest_degree", {}).items()}
        chosen = []
        for name in names:
            if ratings.largest_degree() > most.get(name, np.inf):
                say(f"  {name} is left out: a node of {ratings.largest_degree():,} ratings")
                continue
            extra = {key: value for key, value in options.items() if STRATEGIES[resolve(name)[0]].gpu}
            chosen.append(candidate(name, problem, executor, made_by, **extra))
        study.measure(*where, chosen, parameters=parameters, rounds=block.get("rounds", 8))
        if cell.get("best"):
            _best(study, where, parameters, ratings)
        del chosen, problem
    if on_gpu:
        executor.xp.get_default_memory_pool().free_all_blocks()
    say(f"{experiment} {dataset}: {ratings.n_users:,} x {ratings.n_items:,}, {ratings.m:,} ratings, largest degree "
        f"{ratings.largest_degree():,}, {len(names)} strategies, {time.perf_counter() - begin:.1f} s")  # fmt: skip


def _lacking(study, where, names, parameters, rounds, on_gpu):
    """Whether the recording lacks anything of a cell: large graphs are not made for nothing."""
    if not on_gpu:
        return True
    rows = study.rows()
    rows = rows[(rows["experiment"] == where[1]) & (rows["dataset"] == where[2]) & (rows["metric"] == "wall")]
    from lockstep.evidence.recording import canonical

    rows = rows[rows["parameters"] == canonical(parameters)]
    done = {
        name for name, mine in rows.groupby("strategy")
        if mine["round"].nunique() >= rounds and mine["kernel"].iloc[-1] == digests(name, where[2])
    }  # fmt: skip
    return not set(names) <= done


def _graph(study, where, ratings, parameters, made_by):
    users, items = ratings.degrees()
    values = dict(zip(model.FEATURES, model.features(ratings), strict=True))
    values |= {"users": ratings.n_users, "items": ratings.n_items, "user degree": users.max(initial=0),
               "item degree": items.max(initial=0)}  # fmt: skip
    study.count(*where, "(graph)", {key: (float(value), "1") for key, value in values.items()},
                kernel=made_by, parameters=parameters)  # fmt: skip


def _best(study, where, parameters, ratings):
    """Rows of the best of a family: chosen by the even rounds, with the times of the odd ones."""
    from lockstep.evidence.recording import canonical

    part, experiment, dataset = where
    rows = study.rows()
    rows = rows[
        (rows["experiment"] == experiment) & (rows["dataset"] == dataset) & (rows["metric"] == "wall")
    ]
    rows = rows[(rows["parameters"] == canonical(parameters)) & ~rows["strategy"].str.startswith("(")]
    table = rows.pivot_table(index="round", columns="strategy", values="value")
    even, odd = table[table.index % 2 == 0], table[table.index % 2 == 1]
    if even.empty or odd.empty:
        return
    exact = [name for name in table if name in STRATEGIES and STRATEGIES[name].exact and STRATEGIES[name].gpu]
    families = {"(best online)": ONLINE, "(best offline)": OFFLINE, "(best of seven)": SEVEN, "(best)": exact}
    choices = {
        family: even[[name for name in names if name in even]].median().idxmin()
        for family, names in families.items() if any(name in even for name in names)
    }  # fmt: skip
    guess = [name for name in model.predict(model.from_rows(study.rows()), ratings) if name in exact]
    if guess:
        choices["(predicted)"] = guess[0]
    for family, name in choices.items():
        kernel = f"{name} {rows[rows['strategy'] == name]['kernel'].iloc[-1]}"
        for turn, value in odd[name].items():
            study.count(*where, family, {"wall": (float(value), "ms")}, kernel=kernel, parameters=parameters,
                        verified="invariant", round=int(turn))  # fmt: skip
    for family, name in choices.items():
        number = list(STRATEGIES).index(name) + 1  # in the order of STRATEGIES
        study.count(*where, family, {"chosen": (number, "1")}, kernel=name, parameters=parameters)
    _with_preparation(study, where, parameters, rows)
    _order(study, where, parameters, table, ratings)


def _with_preparation(study, where, parameters, walls):
    """Rows of preprocessing plus one sweep, and the number of sweeps at which the diagonals stop being
    cheaper."""
    rows = study.rows()
    rows = rows[(rows["experiment"] == where[1]) & (rows["dataset"] == where[2])]
    from lockstep.evidence.recording import canonical

    rows = rows[(rows["parameters"] == canonical(parameters)) & (rows["metric"] == "preparation")]
    prepared = rows.groupby("strategy")["value"].median()
    for name in SEVEN:
        mine = walls[walls["strategy"] == name]
        for turn, value in zip(mine["round"], mine["value"], strict=True):
            study.count(*where, name, {"total": (float(value + prepared.get(name, 0.0)), "ms")},
                        kernel=mine["kernel"].iloc[-1], parameters=parameters, verified="invariant",
                        round=int(turn))  # fmt: skip


def _order(study, where, parameters, table, ratings):
    """Whether the published cost model orders offline and online correctly: 1 if it does, 2 if not."""
    costs = published_costs(study.rows())
    rows = study.rows()
    rows = rows[
        (rows["experiment"] == where[1]) & (rows["dataset"] == where[2]) & (rows["metric"] == "passes")
    ]
    passes = rows[rows["strategy"] == "edge-locked"]["value"].median()
    offline = [name for name in ("agm-edge", "agm-node", "sgm") if name in table]
    if costs is None or not offline or "edge-locked" not in table or not passes:
        return
    degree = ratings.largest_degree()
    predicted = costs.offline(degree), costs.online(degree, passes)
    measured = min(table[name].median() for name in offline), table["edge-locked"].median()
    right = (predicted[0] < predicted[1]) == (measured[0] < measured[1])
    values = {
        "order": (1 if right else 2, "1"),
        "offline": (predicted[0], "ms"),
        "online": (predicted[1], "ms"),
    }
    study.count(*where, "(cost model)", values, kernel=digest("edge-locked") + digest("agm-edge"),
                parameters=parameters)  # fmt: skip


def _costs(study, part, executor, common):
    """p, b and l on a star, where nothing but its critical path happens."""
    edges = int(common.get("star", 2000))
    ratings = star(edges)
    problem = Problem(ratings, 16, RATE, REGULARIZATION)
    on_gpu = executor.name == "cuda"
    lanes = 4 if on_gpu else 1
    one = {"blocks": 1, "threads": lanes, "lanes": lanes}
    chosen = [
        candidate("block-diagonal", problem, executor, "star", "block-diagonal +one group", rows=1, columns=edges, **one),
        candidate("agm-edge", problem, executor, "star", "agm-edge +all blocks",
                  blocks=executor.multiprocessors * (5 if on_gpu else 1)),
        candidate("edge-locked", problem, executor, "star", "edge-locked +one group", shuffle=False, **one),
        candidate("tiles", problem, executor, "star"),
    ]  # fmt: skip
    study.measure(part, "costs", f"star-{edges}", chosen, parameters={"rank": 16}, rounds=8)
    nothing = star(4)
    empty = Problem(nothing, 16, RATE, REGULARIZATION)
    study.measure(part, "costs", "star-4", [candidate("edge-locked", empty, executor, "star", "edge-locked +one group",
                  shuffle=False, **one)], parameters={"rank": 16}, rounds=8)  # fmt: skip


def published_costs(rows):
    """The published model's costs out of a machine's rows, or None."""
    rows = rows[(rows["experiment"] == "costs") & (rows["metric"] == "wall")]
    if rows.empty:
        return None
    times = rows.groupby(["dataset", "strategy"])["value"].median()
    sizes = [int(name.split("-")[1]) for name in rows["dataset"].unique()]
    large = max(sizes)
    where = f"star-{large}"
    try:
        call = times["star-4", "edge-locked +one group"]
        p = times[where, "block-diagonal +one group"] / large
        return model.Published(
            p=p,
            b=max(times[where, "agm-edge +all blocks"] / large - p, 0.0),
            l=max((times[where, "edge-locked +one group"] - call) / large - p, 0.0),
            call=call,
        )
    except KeyError:
        return None


def _sweeps(study, where, ratings, names, executor, parameters, sweeps, made_by):
    """Errors on train and test after each of many sweeps; nothing is timed."""
    train, test = ratings.split(0.1, seed=1)
    for name in names:
        plan = STRATEGIES[name].plan(
            Problem(train, parameters["rank"], RATE, REGULARIZATION),
            executor if STRATEGIES[name].gpu else None,
        )
        kernel = digest(name, made_by)
        if _has_sweeps(study, where, name, kernel, sweeps):
            continue
        plan.reset()
        on_test = plan.scorer(test)
        for turn in range(sweeps):
            plan.sweep()
            plan.check_sweep()
            values = {"train rmse": (plan.rmse(), "1"), "test rmse": (on_test(), "1")}
            study.count(*where, name, values, kernel=kernel, parameters=parameters, round=turn,
                        verified="invariant" if STRATEGIES[name].exact else "not-applicable")  # fmt: skip


def _has_sweeps(study, where, name, kernel, sweeps):
    rows = study.rows()
    rows = rows[(rows["experiment"] == where[1]) & (rows["dataset"] == where[2]) & (rows["strategy"] == name)]
    return rows[(rows["kernel"] == kernel) & (rows["metric"] == "test rmse")]["round"].nunique() >= sweeps


def _worked(study, part):
    """The counts of the worked example, from the hypothetical GPU with two threads."""
    ratings = worked.sample()
    rows = {name: worked.steps(name) for name in ("agm-edge", "agm-node", "edge-locked", "node-locked")}
    second = [row for row in rows["agm-node"] if set(row[0] + row[1]) <= set("ijkl")]
    pass_two = next(k for k, row in enumerate(rows["edge-locked"]) if "b" in row[0] + row[1])
    deferred = "".join(row[2] for row in rows["edge-locked"][:pass_two])
    diagonals = matchings.diagonals(ratings.users, ratings.items, ratings.n_items)
    blocks = matchings.block_diagonals(ratings.users, ratings.items, ratings.n_items, 2, 2)
    third = worked.names(diagonals.order[diagonals.times == 3])
    figures = {
        "agm-edge steps": len(rows["agm-edge"]),
        "agm-node steps of the second block": len(second),
        "edge-locked second pass begins": pass_two if sorted(deferred) == list("bdhjl") else -1,
        "node-locked defers f and g": sum(len(row[2]) for row in rows["node-locked"])
        if {*"".join(row[2] for row in rows["node-locked"])} == set("fg")
        else -1,
        "diagonals": diagonals.supersteps,
        "diagonals of blocks": blocks.supersteps,
        "d3 is a and g": int(sorted(third) == ["a", "g"]),
    }
    study.count(part, "worked-example", "sample-graph", "(two threads)",
                {key: (value, "1") for key, value in figures.items()}, kernel=digest("edge-locked") + digest("agm-node"),
                verified="exact")  # fmt: skip


def _atomics(study, part, sizes):
    """Atomics an edge, counted by the hypothetical GPU, and the bounds on the numbers of matchings."""
    for name, factor in sizes.items():
        ratings = twins.twin(name, factor=factor)
        dataset = f"twin-{name}-by-{factor}"
        problem = Problem(ratings, 4, RATE, REGULARIZATION)
        for strategy in SEVEN:
            executor = get_executor("host")
            plan = STRATEGIES[strategy].plan(problem, executor)
            plan.reset()
            executor.reset_counts()
            plan.sweep()
            plan.check_sweep()
            atomics = executor.counts["atomics"] / ratings.m
            study.count(part, "atomics", dataset, strategy, {"atomics_an_edge": (atomics, "1")},
                        kernel=digest(strategy, twins.digest()), verified="invariant")  # fmt: skip
        _bounds(study, part, dataset, ratings)


def _bounds(study, part, dataset, ratings):
    """1 where a bound on the number of supersteps is met and the schedule is a partition into matchings, else
    2."""
    rows, columns = 16, 16
    times, count = matchings.first_fit(ratings)
    schedules = {
        "matchings": (matchings.by_time(times, count), None, lambda n: n >= ratings.largest_degree()),
        "diagonals": (matchings.diagonals(ratings.users, ratings.items, ratings.n_items), None,
                      lambda n: n <= sum(ratings.shape) - 1),
        "block diagonals": (matchings.block_diagonals(ratings.users, ratings.items, ratings.n_items, rows, columns),
                            (rows, columns),
                            lambda n: n <= -(-ratings.n_items // rows) + -(-ratings.n_users // columns) - 1),
    }  # fmt: skip
    for name, (schedule, blocks, holds) in schedules.items():
        matchings.check(ratings, schedule, blocks)
        met = 1 if holds(schedule.supersteps) else 2
        study.count(part, "bounds", dataset, name, {"bound": (met, "1"), "supersteps": (schedule.supersteps, "1")},
                    kernel=twins.digest(), verified="exact")  # fmt: skip
