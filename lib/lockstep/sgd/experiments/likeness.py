"""Similarity of twins to available real graphs, and road twins with ids like those of a real road network.

A grid numbered row by row has a handful of occupied diagonals, a real road network tens of thousands: its ids are
spatial, but not row-major. `curved` numbers a road twin along a Hilbert curve and moves each vertex back along it by a
power-law distance, at most a tenth of all ids. Power, scale and limit were fitted to New York's roads (USA-road-d.NY),
before any schedule ran on such a twin.

With power-law degrees the top 1 % of items have half the edges that they have in real graphs, and no item has one
edge. `skewed` twins have lognormal degrees, which need no fit, and near ids, whose exponent alone was fitted, before
any schedule ran on such a twin. The table holds both kinds.

``python -m lockstep.sgd.experiments.likeness`` writes the table anew.
"""

import numpy as np
import pandas as pd

from lockstep import paths
from lockstep.graphs import load

from ..ratings import Ratings, mix, planted, uniform
from ..strategies import model
from . import skewed, twins

SCALE, FARTHEST = 0.03, 0.1  # of the distance that a vertex is moved (power -3); its largest share of all ids
# Available graphs and the kind of their twins: none of the published twelve is in the mirror.
KINDS = {"USA-road-d.NY": "road", "coAuthorsDBLP": "scale-free", "caidaRouterLevel": "scale-free",
         "soc-Epinions1": "scale-free"}  # fmt: skip
FILE = paths.ROOT / "data/likeness.csv"


def hilbert(x, y, bits, xp=np):
    """The place of each cell (x, y) of a 2^bits x 2^bits grid along a Hilbert curve; int64."""
    place = xp.zeros_like(x)
    for bit in reversed(range(bits)):
        size = np.int64(1 << bit)
        right, down = (x & size) > 0, (y & size) > 0
        place += size * size * ((3 * right) ^ down)
        x, y = x & (size - 1), y & (size - 1)
        back = right & ~down
        x, y = xp.where(back, size - 1 - x, x), xp.where(back, size - 1 - y, y)
        x, y = xp.where(down, x, y), xp.where(down, y, x)
    return place


def curve(n, seed=0, xp=np):
    """New ids of the n vertices of a road twin, whose own go row by row; int64 (n,)."""
    width = int(np.ceil(np.sqrt(n)))
    v = xp.arange(n, dtype=xp.int64)
    place = hilbert(v % width, v // width, width.bit_length(), xp)
    drawn = uniform(mix(v.astype(xp.uint64) + np.uint64((seed << 44) + (4 << 40)), xp), xp).astype(xp.float64)
    drawn = xp.maximum(drawn, 1e-9)
    moved = xp.minimum(SCALE * (1 / (drawn * drawn * drawn) - 1), FARTHEST * n)  # products: alike on CPU and GPU
    ids = xp.empty(n, xp.int64)
    ids[xp.argsort(place + moved)] = v
    return ids


def curved(ratings, seed=0, xp=np):
    """A road twin under the ids of `curve`, its values planted anew; Ratings."""
    ids = curve(ratings.shape[0], seed, xp)
    user, item = (ids[xp.asarray(one)] for one in (ratings.users, ratings.items))
    order = xp.argsort(item * ratings.shape[0] + user)
    user, item = user[order].astype(xp.int32), item[order].astype(xp.int32)
    arrays = (a if xp is np else a.get() for a in (user, item, planted(user, item, seed, xp=xp)))
    return Ratings._trusted(*arrays, ratings.shape, f"{ratings.name}, ids along a curve")


def twin_of(ratings, kind, make=skewed.scale_free):
    """A twin of an available graph with its numbers of nodes and edges and its largest degree."""
    size = twins.Size(kind, *ratings.shape, ratings.m, int(np.diff(ratings.offsets).max()), 0, 0)
    if kind == "road":
        return curved(twins.road(size))
    return make(size)


def figures(ratings):
    """Figures on which schedules depend: degrees, their distribution, diagonals, relative id distance of edges."""
    degrees = np.sort(np.diff(ratings.offsets))[::-1]
    reach = np.abs(ratings.items.astype(np.int64) - ratings.users)
    near, far = np.quantile(reach, [0.5, 0.9]) / max(ratings.shape)
    return {
        "edges": ratings.m,
        "largest item": int(degrees[0]),
        "largest user": int(np.bincount(ratings.users).max()),
        "edges of the busiest hundredth": degrees[: max(len(degrees) // 100, 1)].sum() / ratings.m,
        "items of one edge or none": (degrees <= 1).mean(),
        "diagonals": model.diagonals(ratings),
        "an edge's reach, median": near,
        "an edge's reach, nine tenths": far,
    }


def table(names=KINDS):
    """A graph, its twin, and the twin over the graph, a line each figure; the graphs are loaded.

    Returns
    -------
    DataFrame
        `graph, figure, real, twin, twin over real, power law`: the last is a twin whose degrees fall as a power.
    """
    lines = []
    for name in names:
        graph = load(name)
        users, items = graph.edges()
        ratings = Ratings(users, items, planted(users, items), (graph.n, graph.n))
        made, plain = (twin_of(ratings, KINDS[name], make) for make in (skewed.scale_free, twins.scale_free))
        real, made, plain = figures(ratings), figures(made), figures(plain)
        for key, value in real.items():
            over = made[key] / value if value else np.nan
            lines.append({"graph": name, "figure": key, "real": value, "twin": made[key], "twin over real": over,
                          "power law": plain[key] if KINDS[name] == "scale-free" else np.nan})  # fmt: skip
    return pd.DataFrame(lines)


if __name__ == "__main__":
    table().to_csv(FILE, index=False, float_format="%.6g", lineterminator="\n")
