"""The trees that `should_run` follows, fitted to `data/networkx-times.csv`, and their regret on families left out."""

import json

import numpy as np
import pandas as pd

from lockstep import paths
from lockstep.choose import tree
from lockstep.guide import rule
from lockstep.guide.observed import Observation

from . import SERVED, choice

TIMES = paths.DATA / "networkx-times.csv"
SHOWN = "random, 8 edges a node"  # the family whose gain the documentation shows
TABLES = ("networkx-gain.csv", "networkx-choice.csv")


def read(file=TIMES):
    """Times as `times.measure` makes them."""
    return pd.read_csv(file)


def observations(times, name):
    """Observations of a function: a graph on a machine, with the times of both backends."""
    found = []
    for row in times[times["function"] == name].itertuples():
        graph = f"{row.family}, {row.nodes:,} nodes"
        features = {"nodes": row.nodes, "arcs": row.arcs, "degree": row.arcs / row.nodes, "gpu": row.gpu}
        taken = {"lockstep": row.lockstep_ms, "networkx": row.networkx_ms}
        found.append(Observation(graph, graph, row.family, features, taken, {}))
    return found


def fit(seen):
    """The tree of a function, and the choices on each family by a tree of the same depth fitted without it."""
    depth = rule.best_depth(seen)
    return rule.fit(seen, depth), rule.left_out(seen, depth, by="family")


def regret(chosen):
    """Time of the chosen backend over that of the faster one.

    Parameters
    ----------
    chosen : list of (Observation, str)

    Returns
    -------
    dict
        graphs; right: graphs on which the choice was within 3 % of the faster one; mean: geometric mean over the
        graphs; worst and its graph; always and never: the mean if the backend were always, or never, used.
    """
    one = rule.regret(chosen)
    fixed = {backend: rule.regret([(seen, backend) for seen, _ in chosen]).mean for backend in ("lockstep", "networkx")}
    return {"graphs": one.judged, "right": one.right, "mean": one.mean, "worst": one.worst, "worst graph": one.where,
            "always": fixed["lockstep"], "never": fixed["networkx"]}  # fmt: skip


def shipped(times):
    """Regret of the shipped trees on measured times, a line a function."""
    lines = []
    for name in dict.fromkeys(times["function"]):
        own = choice.rules()[name]
        seen = observations(times, name)
        lines.append({"function": name, **regret([(one, tree.decide(own, one.features)[0].strategy) for one in seen])})
    return pd.DataFrame(lines)


def where(found, gpu):
    """The condition under which a tree chooses the backend, in words."""
    ways = [way for leaf, way in tree.leaves(choice.restricted(found, gpu)) if leaf.strategy == "lockstep"]
    if [] in ways:
        return "always"
    return " or ".join(tree.condition(way, choice.UNITS) for way in ways) or "never"


def choices(fits, gpus):
    """Rule and regret, a line for each function without and with a GPU.

    Parameters
    ----------
    fits : mapping
        {function: what `fit` returns}.
    gpus : sequence of int
        0 and 1, as far as there are times.
    """
    lines = []
    for name, (found, chosen) in fits.items():
        for gpu in gpus:
            here = [(one, backend) for one, backend in chosen if one.features["gpu"] == gpu]
            lines.append({"function": name, "GPU": _yes(gpu), "lockstep for": where(found, gpu), **regret(here)})
    return pd.DataFrame(lines)


def gain(times):
    """How many times as fast as NetworkX the backend is on `SHOWN`, a line for each function without and with a GPU."""
    shown = times[times["family"] == SHOWN]
    ratios = np.log(shown["networkx_ms"] / shown["lockstep_ms"])
    means = np.exp(ratios.groupby([shown["function"], shown["gpu"], shown["nodes"]], sort=False).mean()).unstack()
    means.columns = [f"{nodes:,} nodes" for nodes in means.columns]
    found = means.reset_index().rename(columns={"gpu": "GPU"})
    place = found["function"].map(SERVED.index)
    found["GPU"] = found["GPU"].map(_yes)
    return found.iloc[np.lexsort((found["GPU"], place))]


def _yes(gpu):
    return "yes" if gpu else "no"


def write(times=None, folder=paths.ROOT / "docs" / "use", file=choice.FILE):
    """Write the trees, and the tables of the documentation; the paths."""
    times = read() if times is None else times
    fits = {name: fit(observations(times, name)) for name in SERVED}
    packed = {name: tree.packed(found, lambda one: one.family) for name, (found, _) in fits.items()}
    file.write_text(json.dumps(packed, indent=1) + "\n", encoding="utf-8")
    tables = (gain(times), choices(fits, sorted(set(times["gpu"]))))
    for name, table in zip(TABLES, tables, strict=True):
        table.to_csv(folder / name, index=False, float_format="%.3g")
    return [file, *(folder / name for name in TABLES)]
