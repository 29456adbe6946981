"""What is counted, not timed: the worked example, atomics an edge, bounds on schedules, errors sweep by
sweep."""

from lockstep.machine import get_executor
from lockstep.provenance import build

from ..problem import Problem
from ..strategies import matchings
from ..strategies.table import STRATEGIES
from . import derived, paper_example

EXAMPLE = "(two threads)"  # the strategy column of the worked example's rows
BLOCK = (16, 16)  # items and users of a block, where bounds are counted


def sweeps(study, where, ratings, names, executor, parameters, count):
    """Errors on train and test after each of `count` sweeps; nothing is timed."""
    train, test = ratings.split(0.1, seed=1)
    problem = Problem(train, parameters["rank"])
    rows = study.rows()
    rows = rows[(rows["experiment"] == where[1]) & (rows["dataset"] == where[2]) & (rows["metric"] == "test rmse")]
    for name in names:
        kernel = build(study.name, name, where[2])
        mine = rows[(rows["strategy"] == name) & (rows["kernel"] == kernel)]
        if mine["round"].nunique() >= count:
            continue
        chosen = STRATEGIES[name]
        plan = chosen.plan_for(problem, executor if chosen.gpu else None)
        plan.reset()
        on_test = plan.scorer(test)
        for round_index in range(count):
            plan.run()
            plan.check_sweep()
            values = {"train rmse": (plan.rmse(), "1"), "test rmse": (on_test(), "1")}
            study.count(
                *where, name, values, kernel=kernel, parameters=parameters, round=round_index,
                verified="invariant" if chosen.exact else "not-applicable",
            )  # fmt: skip


def example(study, part):
    """The counts of the worked example, from the emulator with two threads."""
    ratings = paper_example.sample()
    rows = {name: paper_example.steps(name) for name in ("agm-edge", "agm-node", "edge-locked", "node-locked")}
    second = [row for row in rows["agm-node"] if set(row[0] + row[1]) <= set("ijkl")]
    again = next(k for k, row in enumerate(rows["edge-locked"]) if "b" in row[0] + row[1])
    deferred = sorted("".join(row[2] for row in rows["edge-locked"][:again]))
    by_node = sorted("".join(row[2] for row in rows["node-locked"]))
    diagonals = matchings.diagonals(ratings.users, ratings.items, ratings.n_items)
    blocks = matchings.block_diagonals(ratings.users, ratings.items, ratings.n_items, 2, 2)
    third = paper_example.names(diagonals.order[diagonals.times == 3])
    figures = {
        "agm-edge steps": len(rows["agm-edge"]),
        "agm-node steps of the second block": len(second),
        "edge-locked second pass begins": again if deferred == list("bdhjl") else -1,
        "node-locked defers f and g": len(by_node) if by_node == ["f", "g"] else -1,
        "diagonals": diagonals.supersteps,
        "diagonals of blocks": blocks.supersteps,
        "d3 is a and g": int(sorted(third) == ["a", "g"]),
    }
    values = {key: (value, "1") for key, value in figures.items()}
    study.count(part, "worked-example", "sample-graph", EXAMPLE, values,
                kernel=build(study.name, EXAMPLE, "sample-graph"), verified="exact")  # fmt: skip


def atomics(study, part, dataset, ratings):
    """Atomics an edge, counted by the emulator, and the bounds on the numbers of supersteps."""
    problem = Problem(ratings, 4)
    for strategy in derived.SEVEN:
        executor = get_executor("host")
        plan = STRATEGIES[strategy].plan_for(problem, executor)
        plan.reset()
        executor.reset_counts()
        plan.run()
        plan.check_sweep()
        share = executor.counts["atomics"] / ratings.m
        study.count(part, "atomics", dataset, strategy, {"atomics_an_edge": (share, "1")},
                    kernel=build(study.name, strategy, dataset), verified="invariant")  # fmt: skip
    bounds(study, part, dataset, ratings)


def bounds(study, part, dataset, ratings):
    """1 where a bound on the number of supersteps is met, else 2; the schedules are checked on the way."""
    users, items, n_users, n_items = ratings.users, ratings.items, ratings.n_users, ratings.n_items
    matching = matchings.by_time(*matchings.first_fit(ratings))
    diagonal = matchings.diagonals(users, items, n_items)
    blocks = matchings.block_diagonals(users, items, n_items, *BLOCK)
    kinds = derived.bounds(n_users, n_items, ratings.largest_degree(), *BLOCK)
    found = ((matching, None), (diagonal, None), (blocks, BLOCK))
    for (name, met), (schedule, cut) in zip(kinds.items(), found, strict=True):
        matchings.check(ratings, schedule, cut)
        values = {"bound": (1 if met(schedule.supersteps) else 2, "1"), "supersteps": (schedule.supersteps, "1")}
        study.count(part, "bounds", dataset, name, values, kernel=build(study.name, name, dataset),
                    verified="exact")  # fmt: skip


def residency(study, part, executor):
    """Resident threads of the node-locked kernel with its shared memory, and of both kernels
    without."""
    problem = Problem(paper_example.sample(), 16)
    for lanes in (1, 4):
        nodes = STRATEGIES["node-locked"].plan_for(problem, executor, lanes=lanes, threads=256)
        edges = STRATEGIES["edge-locked"].plan_for(problem, executor, lanes=lanes, threads=256)
        found = {
            "node-locked": nodes.by_node.max_blocks(256, nodes.shared),
            "node-locked +no shared memory": nodes.by_node.max_blocks(256, 0),
            "edge-locked": edges.by_edge.max_blocks(256, 0),
        }
        for name, blocks in found.items():
            kernel = build(study.name, name, "sample-graph")
            study.count(part, "residency", "sample-graph", name, {"resident_threads": (256 * blocks, "1")},
                        parameters={"lanes": lanes}, kernel=kernel)  # fmt: skip
