"""Synthetic twins of the published study's twelve graphs (its Table II), and of any other size.

A twin has the published number of nodes, edges and largest degree; all else is drawn. Scale-free twins: item
degrees follow a power law of their rank, users are drawn with such weights, pairs are distinct, ids are
independent of degrees. Road twins: a grid with missing streets and few diagonals, both arcs of every edge,
one crossing of the published largest degree; ids are row-major or shuffled, as a control. Ratings
are planted (rank 8 and noise, see `ratings.planted`). Draws are integer hashes, so CPU and GPU draw the
same twin; on a GPU it takes seconds.
"""

from dataclasses import dataclass

import numpy as np

from ..ratings import Ratings, mix, planted


@dataclass(frozen=True)
class Size:
    """One row of Table II: users (rows), items (columns), edges, largest degree, and the published
    seconds."""

    kind: str
    users: int
    items: int
    edges: int
    largest: int
    k40: float
    r9: float
    note: str = ""


# |V| counts both sides; where only the sum is printed, rows and columns are ours and the note says so.
TABLE = {
    "STACK": Size(
        "scale-free", 545_196, 96_680, 1_300_000, 6_119, 0.04, 0.18, "printed 0.1 M edges; its degree fits 1.3 M",
    ),
    "STACK-printed": Size("scale-free", 545_196, 96_680, 100_000, 6_119, 0.04, 0.18, "with the printed 0.1 M edges"),
    "IMDB": Size("scale-free", 896_308, 428_440, 3_700_000, 1_590, 0.07, 0.38),
    "WIKI": Size("scale-free", 120_000, 20_000, 5_000_000, 100_022, 0.39, 1.04, "rows and columns are ours"),
    "BGG": Size("scale-free", 90_000, 40_000, 6_000_000, 43_331, 0.22, 0.53, "rows and columns are ours"),
    "CITP": Size("scale-free", 3_774_768, 3_774_768, 16_500_000, 779, 0.32, 1.69),
    "POKEC": Size("scale-free", 1_632_803, 1_632_803, 22_300_000, 14_734, 0.42, 2.3),
    "LIVEJ": Size("scale-free", 4_847_571, 4_847_571, 68_900_000, 20_293, 1.5, 7.2),
    "NFLIX": Size("scale-free", 480_189, 17_770, 99_000_000, 227_715, 2.13, 5.28),
    "CAL": Size("road", 1_890_815, 1_890_815, 4_600_000, 7, 0.08, 0.49),
    "E": Size("road", 3_598_623, 3_598_623, 8_700_000, 9, 0.19, 0.91),
    "W": Size("road", 6_262_104, 6_262_104, 15_100_000, 9, 0.37, 1.58),
    "CTR": Size("road", 14_081_816, 14_081_816, 33_800_000, 8, 0.9, 3.54),
}


def shrunk(size, factor):
    """The same kind of graph with 1/factor of the nodes, edges and (where it is large) largest degree."""
    users, items = (max(int(nodes / factor), 64) for nodes in (size.users, size.items))
    edges = min(max(int(size.edges / factor), 64), users * items // 16)  # at most 1/16 of the matrix is occupied
    largest = size.largest if size.kind == "road" else min(max(size.largest // factor, 16), users // 2)
    return Size(size.kind, users, items, edges, largest, size.k40, size.r9, f"1/{factor} of the published size")


def power_law(nodes, edges, largest):
    """Whole degrees that fall as a power of the rank from `largest` to at least 1 and add up to `edges`;
    int64.

    With fewer edges than nodes the last ones have none.
    """
    if edges <= nodes + largest:
        degrees = np.zeros(nodes, np.int64)
        degrees[0] = min(largest, edges)
        rest = edges - degrees[0]
        degrees[1 : 1 + rest] = 1
        return degrees
    ranks = np.arange(1, nodes + 1, dtype=np.float64)
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        above = nodes  # only ranks whose power exceeds 1
        if np.log(largest) < middle * np.log(nodes):
            above = min(int(largest ** (1 / middle)) + 1, nodes)
        total = np.maximum(largest * ranks[:above] ** -middle, 1).sum() + (nodes - above)  # those beyond have 1
        low, high = (middle, high) if total > edges else (low, middle)
    degrees = np.maximum(largest * ranks**-high, 1).astype(np.int64)
    missing = edges - degrees.sum()  # rounding down and the last step of the search leave less than one a node
    degrees[1 : 1 + missing % (nodes - 1)] += 1
    degrees[1:] += missing // (nodes - 1)
    return np.minimum(degrees, largest)


def scale_free(size, seed=0, xp=np, name=""):
    """A scale-free twin: exactly `size.edges` distinct pairs, one item of exactly the largest degree.

    Parameters
    ----------
    size : Size
    seed : int
    xp : module
        numpy or cupy: where it is drawn.
    name : str

    Returns
    -------
    Ratings
    """
    users, items = size.users, size.items
    wanted = power_law(items, size.edges, min(size.largest, users))
    wanted = np.minimum(wanted, users)
    wanted = xp.asarray(wanted)[xp.argsort(_draws(items, seed, 1, xp))]  # ids say nothing about degrees
    weights = power_law(users, max(size.edges, 2 * users), max(min(size.largest // 2, items // 4), 2))
    ends = xp.cumsum(xp.asarray(weights)[xp.argsort(_draws(users, seed, 2, xp))])
    total = np.uint64(int(ends[-1]))
    keys = xp.zeros(0, xp.int64)
    drawn = 0
    for attempt in range(64):
        missing = wanted - xp.bincount(keys // users, minlength=items)
        count = int(missing.sum())
        if not count:
            break
        item = xp.searchsorted(xp.cumsum(missing), xp.arange(count, dtype=xp.int64), side="right")
        word = mix(
            xp.arange(drawn, drawn + count, dtype=xp.uint64) + np.uint64((seed * 0x9E3779B1 + 7) % 2**40 << 24),
            xp,
        )
        drawn += count
        if attempt < 16:  # by weight; what a busy item still lacks after that is drawn evenly
            user = xp.searchsorted(ends, ((word >> np.uint64(11)) % total).astype(xp.int64), side="right")
        else:
            user = (word >> np.uint64(11)) % np.uint64(users)
        keys = xp.unique(xp.concatenate([keys, item * users + user.astype(xp.int64)]))
    else:
        raise AssertionError(f"{count} edges could not be placed")
    if keys.size != size.edges:
        raise AssertionError(f"{keys.size} edges drawn, {size.edges} wanted: {size}")
    return _rated(keys, users, items, seed, xp, name)


def road(size, seed=0, xp=np, name="", shuffled=False):
    """A road twin: exactly `size.edges` arcs, both ways, one crossing of exactly the largest degree, the
    others at most 7."""
    n = size.users
    width = int(np.ceil(np.sqrt(n)))
    v = xp.arange(n, dtype=xp.int64)
    hub = (n // 2 // width) * width + width // 2
    around = [
        dy * width + dx for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1), (0, 2))
    ]
    spokes = [hub + d for d in around[: size.largest] if 0 <= hub + d < n]
    edges = size.edges // 2 - len(spokes)
    diagonal = 0.04
    straight = min((edges / n - diagonal) / 2 * 1.03 + 3 / np.sqrt(n), 1.0)
    found = []
    for way, (step, share) in enumerate(((1, straight), (width, straight), (width + 1, diagonal))):
        keep = mix(v * 4 + way + (seed << 40), xp) < np.uint64(int(share * 2.0**63) * 2)
        keep &= v + step < n
        if way != 1:
            keep &= v % width + 1 < width
        start = v[keep]
        start = start[(start != hub) & (start + step != hub)]
        found.append(start * n + (start + step))
    keys = xp.sort(xp.concatenate(found))
    if keys.size < edges:
        raise AssertionError(f"{keys.size} streets, {edges} wanted")
    keys = keys[
        (xp.arange(edges, dtype=xp.int64) * int(keys.size)) // max(edges, 1)
    ]  # thinned evenly to the exact number
    one, other = keys // n, keys % n
    one = xp.concatenate([one, xp.full(len(spokes), hub, xp.int64)])
    other = xp.concatenate([other, xp.array(spokes, xp.int64)])
    if shuffled:
        names = xp.argsort(_draws(n, seed, 3, xp))
        one, other = names[one], names[other]
    keys = xp.sort(xp.concatenate([one * n + other, other * n + one]))
    return _rated(keys, n, n, seed, xp, name)


def twin(name, seed=0, executor=None, factor=1, shuffled=False):
    """The twin of a row of Table II, by its name there.

    Parameters
    ----------
    name : str
        A key of TABLE.
    seed : int
    executor : Executor or None
        Where it is drawn; the result is the same.
    factor : int
        1 / factor of the published size.
    shuffled : bool
        Road twins alone: ids shuffled.
    """
    size = TABLE[name] if factor == 1 else shrunk(TABLE[name], factor)
    label = f"twin of {name}" + (f" / {factor}" if factor != 1 else "") + (", shuffled ids" if shuffled else "")
    xp = np if executor is None else executor.xp
    if size.kind == "road":
        return road(size, seed, xp, label, shuffled)
    return scale_free(size, seed, xp, label)


def _draws(count, seed, stream, xp):
    return mix(xp.arange(count, dtype=xp.uint64) + np.uint64((seed << 44) + (stream << 40)), xp)


def _rated(keys, users, items, seed, xp, name):
    """Ratings of sorted keys item * users + user."""
    item, user = (keys // users).astype(xp.int32), (keys % users).astype(xp.int32)
    values = planted(user, item, seed, xp=xp)
    arrays = (a if xp is np else a.get() for a in (user, item, values))
    return Ratings._trusted(*arrays, (users, items), name)
