"""Rows that follow from measured ones: the best of a family, sums with preprocessing, the published cost
model.

They are recorded beside the measured rows, so that claims are judged on recorded rows alone, and are recomputed
whenever those rows are measured again. A choice is made on the even rounds and its times are taken from the odd
rounds, so that selection and evaluation use disjoint samples.
"""

import functools

import numpy as np

from lockstep.evidence.recording import canonical
from lockstep.provenance import build

from ..strategies import model
from ..strategies.table import STRATEGIES

OFFLINE = ("agm-edge", "agm-node", "sgm", "diagonal", "block-diagonal")
ONLINE = ("edge-locked", "node-locked")
SEVEN = (*OFFLINE, *ONLINE)
BOUNDS = ("matchings", "diagonals", "block diagonals")  # kinds of schedules whose supersteps the paper bounds


def rows_of(study, where, parameters, metric):
    """Rows of one cell and metric on this machine, derived ones left out."""
    rows = study.rows()
    keep = (rows["experiment"] == where[1]) & (rows["dataset"] == where[2]) & (rows["metric"] == metric)
    keep &= (rows["parameters"] == canonical(parameters)) & ~rows["strategy"].str.startswith("(")
    return rows[keep]


def record(study, where, parameters):
    """Record all rows derived from a cell's rows, replacing those derived from earlier rows."""
    walls = rows_of(study, where, parameters, "wall")
    table = walls.pivot_table(index="round", columns="strategy", values="value")
    if table.empty:
        return
    count = functools.partial(study.count, *where, parameters=parameters, renew=True)
    derive = functools.partial(study.derive, *where, parameters=parameters)
    known, kernels = _features(study, where, parameters), walls.groupby("strategy")["kernel"].last()
    _best(count, derive, study.rows(), table, kernels, known)
    _with_preparation(derive, walls, rows_of(study, where, parameters, "preparation"))
    _order(count, study.rows(), rows_of(study, where, parameters, "passes"), table, kernels, known)
    kernel = functools.partial(build, study.name, dataset=where[2])
    _bounds(count, kernel, _graph(study, where, parameters), rows_of(study, where, parameters, "supersteps"))


def _graph(study, where, parameters):
    """The rows of the cell's graph itself."""
    rows = study.rows()
    rows = rows[(rows["experiment"] == where[1]) & (rows["dataset"] == where[2]) & (rows["strategy"] == "(graph)")]
    return rows[rows["parameters"] == canonical(parameters)]


def _features(study, where, parameters):
    """The recorded `model.features` of the cell's graph; None if they are not recorded."""
    own = _graph(study, where, parameters).groupby("metric")["value"].last()
    return own[list(model.FEATURES)].to_numpy() if set(model.FEATURES) <= set(own.index) else None


def _best(count, derive, rows, table, kernels, known):
    even, odd = table[table.index % 2 == 0], table[table.index % 2 == 1]
    if even.empty or odd.empty:
        return
    exact = [name for name in table if name in STRATEGIES and STRATEGIES[name].exact and STRATEGIES[name].gpu]
    families = {"(best online)": ONLINE, "(best offline)": OFFLINE, "(best of seven)": SEVEN, "(best)": exact}
    choices = {
        family: even[[name for name in names if name in even]].median().idxmin()
        for family, names in families.items()
        if any(name in even for name in names)
    }
    guess = model.predict(model.from_rows(rows), known) if known is not None else []
    for family, names in {model.PREDICTED: exact, model.OF_SEVEN: SEVEN}.items():
        if among := [name for name in guess if name in names and name in even]:
            choices[family] = among[0]
    for family, name in choices.items():
        kernel = f"{name} {kernels[name]}"  # the same for all rows of a choice; another choice supersedes them
        derive(family, "wall", "ms", odd[name].dropna().to_dict(), kernel=kernel)
        count(family, {"chosen": (list(STRATEGIES).index(name) + 1, "1")}, kernel=kernel)


def _with_preparation(derive, walls, prepared):
    """`total`: preprocessing and one sweep, in milliseconds."""
    prepared = prepared.groupby("strategy")["value"].median()
    for name in SEVEN:
        mine = walls[walls["strategy"] == name].set_index("round")
        if len(mine):
            totals = (mine["value"] + prepared.get(name, 0.0)).to_dict()
            derive(name, "total", "ms", totals, kernel=mine["kernel"].iloc[-1])


def _order(count, rows, passes, table, kernels, known):
    """Whether the published cost model orders offline and online correctly: 1 if it does, 2 if not."""
    costs = published_costs(rows)
    passes = passes[passes["strategy"] == "edge-locked"]["value"].median()
    offline = [name for name in ("agm-edge", "agm-node", "sgm") if name in table]
    if costs is None or known is None or not offline or "edge-locked" not in table or not passes > 0:
        return
    degree = known[model.FEATURES.index("largest degree")]
    predicted = costs.offline(degree), costs.online(degree, passes)
    measured = min(table[name].median() for name in offline), table["edge-locked"].median()
    right = (predicted[0] < predicted[1]) == (measured[0] < measured[1])
    values = {"order": (1 if right else 2, "1"), "offline": (predicted[0], "ms"), "online": (predicted[1], "ms")}
    count("(cost model)", values, kernel=" ".join(kernels[name] for name in (*offline, "edge-locked")))


def _bounds(count, kernel, graph, supersteps):
    """1 where the published bound on a schedule's supersteps is met, else 2."""
    own = graph.groupby("metric")["value"].last()
    if not {"users", "items", "largest degree"} <= set(own.index):
        return
    block = STRATEGIES["block-diagonal"].plan.Options()
    met = bounds(own["users"], own["items"], own["largest degree"], block.rows, block.columns)
    steps = supersteps.groupby("strategy")["value"].last()
    diagonal = "diagonal" if "diagonal" in steps else "diagonal-part"
    for name, strategy in zip(met, ("agm-edge", diagonal, "block-diagonal"), strict=True):
        if strategy in steps:
            values = {"bound": (1 if met[name](steps[strategy]) else 2, "1"), "supersteps": (steps[strategy], "1")}
            count(name, values, kernel=kernel(name))


def bounds(users, items, degree, rows, columns):
    """The published bounds on supersteps: {kind of schedule: whether so many meet its bound}.

    Parameters
    ----------
    users, items : int
    degree : int
        The largest.
    rows, columns : int
        Items and users of a block, of block diagonals.
    """
    most = np.ceil(items / rows) + np.ceil(users / columns) - 1
    met = (lambda steps: steps >= degree, lambda steps: steps <= items + users - 1, lambda steps: steps <= most)
    return dict(zip(BOUNDS, met, strict=True))


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
