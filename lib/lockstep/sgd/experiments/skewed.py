"""Scale-free twins whose degrees are as skewed, and whose ids as near to one another, as those of real graphs.

As in `twins`, a twin has the published number of nodes, edges and largest degree, and pairs are distinct. Here degrees
on both sides are lognormal, and where both sides have equally many nodes an edge's ends have near ids. `likeness`
compares both kinds with real graphs: the top 1 % of items have 0.74 to 0.99 times the edges of the real graph's,
against 0.44 to 0.56 with power-law degrees.

Pairs are drawn as by `twins.scale_free`, in a separate loop: recorded rows of plain twins depend on that function's
source, which is removed together with their parts.
"""

import numpy as np
from scipy.special import ndtri

from ..ratings import mix
from .twins import TABLE, _draws, _rated, shrunk


def lognormal(nodes, edges, largest):
    """Whole degrees at a lognormal's quantiles that fall from `largest` and add up to `edges`; int64 (nodes,).

    The largest degree and the mean fix both of its parameters, so nothing is fitted. Broido and Clauset (2019) found
    that a lognormal describes most networks called scale-free at least as well as a power law does.
    """
    largest = min(largest, edges)
    quantiles = -ndtri((np.arange(nodes) + 0.5) / nodes)
    low, high = 0.0, 2 * quantiles[0]
    for _ in range(60):
        spread = (low + high) / 2
        rest = largest * np.exp(spread * (quantiles[1:] - quantiles[0]))
        low, high = (spread, high) if rest.sum() > edges - largest else (low, spread)
    places = np.rint(np.cumsum(rest) * ((edges - largest) / max(rest.sum(), 1e-300))).astype(np.int64)
    return np.concatenate([[largest], np.diff(places, prepend=0)])


def weights_of(wanted, degrees):
    """Weights by which drawing leaves each user, on average, the wanted number of distinct items; int64.

    A user of weight w is among the d distinct users of an item with a chance of 1 - exp(-w d / edges).
    """
    degree, count = np.unique(degrees, return_counts=True)
    grid = np.concatenate([[0], np.geomspace(0.25, 64 * len(degrees), 512)])
    edges = degrees.sum()
    found = np.array([(count * -np.expm1(-weight * degree / edges)).sum() for weight in grid])
    return np.rint(64 * np.interp(wanted, found, grid)).astype(np.int64)


def scale_free(size, seed=0, xp=np, name=""):
    """A twin of a size: exactly its edges, as distinct pairs, one item of exactly the largest degree.

    Parameters
    ----------
    size : twins.Size
    seed : int
    xp : module
        numpy or cupy: where it is drawn.
    name : str

    Returns
    -------
    Ratings
    """
    users, items = size.users, size.items
    degrees = lognormal(items, size.edges, min(size.largest, users))
    weights = weights_of(lognormal(users, size.edges, min(size.largest // 2, items * 99 // 100)), degrees)
    wanted = xp.asarray(degrees)[xp.argsort(_draws(items, seed, 1, xp))]  # ids say nothing about degrees
    ends = xp.cumsum(xp.asarray(weights)[xp.argsort(_draws(users, seed, 2, xp))])
    keys, drawn = xp.zeros(0, xp.int64), 0
    while keys.size < size.edges:
        missing = wanted - xp.bincount(keys // users, minlength=items)
        item = xp.searchsorted(xp.cumsum(missing), xp.arange(int(missing.sum()), dtype=xp.int64), side="right")
        number = xp.arange(drawn, drawn + item.size, dtype=xp.uint64)
        word = mix(number + np.uint64((seed * 0x9E3779B1 + 7) % 2**40 << 24), xp)
        drawn += item.size
        if drawn < 16 * size.edges:
            place = _near if users == items else _anywhere
            user = xp.searchsorted(ends, place(item, items, word, int(ends[-1]), xp), side="right")
        else:  # what a busy item still lacks is drawn evenly
            user = ((word >> np.uint64(11)) % np.uint64(users)).astype(xp.int64)
        keys = xp.unique(xp.concatenate([keys, item * users + user]))
    return _rated(keys, users, items, seed, xp, name)


def _anywhere(item, items, word, total, xp):
    """A place in the cumulative weights of the users, each as likely; int64."""
    return ((word >> np.uint64(11)) % np.uint64(total)).astype(xp.int64)


def _near(item, items, word, total, xp):
    """A place in the cumulative weights whose distance from the item's own is the cube of a uniform draw; int64.

    Of the powers 1.5 to 4 the cube comes nearest to three real graphs' reach and diagonals (see `likeness`).
    """
    drawn = (word >> np.uint64(11)).astype(xp.float64) * 2.0**-53
    distance = (drawn * drawn * drawn * (total / 2)).astype(xp.int64)
    here = item * total // items
    return xp.where(word & np.uint64(1) > 0, here + distance, here - distance) % total


def twin(name, seed=0, executor=None, factor=1):
    """The skewed twin of a row of the published Table II; parameters as of `twins.twin`."""
    size = TABLE[name] if factor == 1 else shrunk(TABLE[name], factor)
    label = f"skewed twin of {name}" + (f" / {factor}" if factor != 1 else "")
    return scale_free(size, seed, np if executor is None else executor.xp, label)
