"""Ratings: a sparse users x items matrix, from common containers."""


from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sparse

from lockstep.graphs import Graph, GraphError

if TYPE_CHECKING:
    from lockstep.typing import Numbers, RatingsLike

DUPLICATES = ("keep", "sum", "refuse")


class RatingsError(GraphError):
    """Ratings that cannot be used; the text says which entry and what was expected."""


class Ratings:
    """Ratings of items by users: the edges of a bipartite graph.

    Parameters
    ----------
    users, items : int arrays, shape (m,)
        Row and column of each rating, from 0.
    values : float array, shape (m,)
        The ratings; stored as float32.
    shape : (int, int), optional
        Users and items; the largest ids plus one if left out.
    duplicates : "keep", "sum" or "refuse"
        What to do with several ratings of one item by one user. Kept ones are trained on one after the other.
    name : str

    Attributes
    ----------
    users, items : int32 arrays, shape (m,)
        Sorted by item, then user: the order in which the published study stores its edges.
    values : float32 array, shape (m,)
    offsets : int64 array, shape (n_items + 1,)
        Ratings of item i are ``offsets[i]`` to ``offsets[i + 1] - 1``.

    Raises
    ------
    RatingsError
        A value that is NaN, infinite or beyond float32, an id out of range, arrays of different lengths, duplicates
        that are refused.
    """

    def __init__(
        self, users: "Numbers", items: "Numbers", values: "Numbers", shape: tuple[int, int] | None = None,
        duplicates: Literal["keep", "sum", "refuse"] = "keep", name: str = "",
    ) -> None:
        _check_duplicates(duplicates)
        users, items = whole_ids(users, "rows"), whole_ids(items, "columns")
        if np.ma.is_masked(values):
            raise RatingsError("values have masked entries; leave unknown ratings out")
        values = np.asarray(values)
        if not users.shape == items.shape == values.shape or users.ndim != 1:
            raise RatingsError(
                f"{users.size} rows, {items.size} columns and {values.size} values; expected as many of each"
            )
        if values.dtype.kind not in "fiub":
            raise RatingsError(f"ratings are numbers, not {values.dtype}")
        with np.errstate(over="ignore"):
            bad = np.flatnonzero(~np.isfinite(values.astype(np.float32, copy=False)))
        if bad.size:
            k = int(bad[0])
            way_out = "scale them into float32's range" if np.isfinite(values[k]) else "leave unknown ratings out"
            raise RatingsError(
                f"rating {k} (row {users[k]}, column {items[k]}) is {values[k]}; expected finite numbers "
                f"({bad.size} of {values.size} are not): {way_out}"
            )
        if shape is not None and (len(shape) != 2 or any(not isinstance(one, (int, np.integer)) for one in shape)):
            raise RatingsError(f"shape={shape!r}; expected two whole numbers, users and items")
        if shape is None:
            shape = (int(users.max()) + 1, int(items.max()) + 1) if users.size else (0, 0)
        for ids, count, what in ((users, shape[0], "row"), (items, shape[1], "column")):
            wrong = np.flatnonzero((ids < 0) | (ids >= count))
            if wrong.size:
                k = int(wrong[0])
                raise RatingsError(f"rating {k}: {what} {ids[k]} is not in 0..{count - 1}")
        if max(*shape, users.size) >= 2**31:
            raise RatingsError(
                f"{shape[0]} x {shape[1]} with {users.size} ratings; at most 2^31 - 1 of each are handled"
            )
        if np.uint64 in (users.dtype, items.dtype) and max(shape[0], 1) * max(shape[1], 1) > 2**53:
            raise RatingsError(f"ids of {shape[0]} x {shape[1]} as uint64 would be rounded; expected int64")
        self.shape = (int(shape[0]), int(shape[1]))
        self.name = str(name)
        key = items.astype(np.int64) * max(self.shape[0], 1) + users
        if key.size and np.any(key[1:] < key[:-1]):
            order = np.argsort(key, kind="stable")
            key, users, items, values = key[order], users[order], items[order], values[order]
        repeated = np.flatnonzero(key[1:] == key[:-1])
        if repeated.size and duplicates != "keep":
            if duplicates == "refuse":
                k = int(repeated[0])
                raise RatingsError(
                    f"item {items[k]} has several ratings by user {users[k]} ({repeated.size} duplicates in "
                    "all); say duplicates='keep' or 'sum'"
                )
            first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
            values = np.add.reduceat(values.astype(np.float64), first)
            users, items = users[first], items[first]
        self._set(users, items, values)

    @classmethod
    def _trusted(cls, users, items, values, shape, name=""):
        """Ratings from arrays sorted by item and user that this package made itself, without checking them
        again."""
        self = object.__new__(cls)
        self.shape, self.name = shape, name
        self._set(users, items, values)
        return self

    def _set(self, users, items, values):
        self.users = np.ascontiguousarray(users, np.int32)
        self.items = np.ascontiguousarray(items, np.int32)
        self.values = np.ascontiguousarray(values, np.float32)
        counts = np.bincount(self.items, minlength=self.shape[1])
        self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._degrees = None

    @classmethod
    def of(
        cls, anything: "RatingsLike", duplicates: Literal["keep", "sum", "refuse"] = "keep", seed: int = 0,
    ) -> "Ratings":
        """Ratings from a Ratings, (rows, columns, values), a SciPy sparse matrix, a NetworkX graph or a
        Graph.

        A graph's arcs are ratings of its heads by its tails; without weights their values are drawn around a
        planted factorization (`planted`). A NetworkX graph whose nodes have the attribute ``bipartite`` is
        rated from side 0 to side 1, by the edges' ``rating`` or ``weight``; if no edge has one, values are drawn.
        """
        _check_duplicates(duplicates)
        if isinstance(anything, Ratings):
            if duplicates == "keep" or not anything.has_duplicates():
                return anything
            edges = anything.users, anything.items, anything.values
            return cls(*edges, anything.shape, duplicates, anything.name)
        if sparse.issparse(anything):
            if anything.format == "bsr":  # pyright: ignore[reportAttributeAccessIssue]
                raise RatingsError(
                    "zeros pad the blocks of a BSR matrix, and would be ratings; expected CSR or COO without them"
                )
            coo = anything.tocoo()  # pyright: ignore[reportAttributeAccessIssue]
            if coo.ndim != 2:
                raise RatingsError(f"a sparse array of {coo.ndim} dimension; expected rows and columns")
            return cls(coo.row, coo.col, coo.data, coo.shape, duplicates)
        if isinstance(anything, tuple) and len(anything) == 3:
            return cls(*anything, duplicates=duplicates)
        if hasattr(anything, "nodes") and hasattr(anything, "edges") and not isinstance(anything, Graph):
            sides = dict(anything.nodes(data="bipartite"))  # pyright: ignore[reportAttributeAccessIssue]
            if any(side is not None for side in sides.values()):
                return cls._bipartite(anything, sides, duplicates, seed)
            edges = anything.edges(data=True)  # pyright: ignore[reportAttributeAccessIssue]
            if any("rating" in data for *_, data in edges):
                raise RatingsError("edges have a rating, but no node has the attribute bipartite: 0 for users, 1 for "
                                   "items")  # fmt: skip
        try:
            graph = Graph.of(anything)
        except GraphError as error:
            if hasattr(anything, "nodes"):
                raise RatingsError(str(error)) from None
            raise RatingsError(
                f"ratings as {type(anything).__name__}: expected a SciPy sparse matrix, a tuple (rows, columns, "
                "values), a Graph or a NetworkX graph"
            ) from None
        users, items = graph.edges()
        values = graph.edge_weights()
        if values is None:
            values = planted(users, items, seed)
        return cls(users, items, values, (graph.n, graph.n), duplicates, graph.name)

    @classmethod
    def _bipartite(cls, graph, sides, duplicates, seed):
        numbers = ({}, {})
        for node, side in sides.items():
            if side not in (0, 1):
                raise RatingsError(f"node {node!r} has bipartite={side!r}; expected 0 (users) or 1 (items) of each")
            numbers[side][node] = len(numbers[side])
        users, items, values = [], [], []
        for a, b, data in graph.edges(data=True):
            if sides[a] == sides[b]:
                raise RatingsError(f"edge ({a}, {b}) joins two nodes of side {sides[a]}; expected one of each side")
            user, item = (a, b) if sides[a] == 0 else (b, a)
            users.append(numbers[0][user])
            items.append(numbers[1][item])
            values.append(data.get("rating", data.get("weight")))
        users, items = np.array(users, np.int64), np.array(items, np.int64)
        lacking = [place for place, value in enumerate(values) if value is None]
        empty = any(data.get("rating", 0) is None for *_, data in graph.edges(data=True))
        if lacking and (len(lacking) < len(values) or empty):
            a, b = list(graph.edges)[lacking[0]][:2]
            raise RatingsError(f"edge ({a}, {b}) has no rating; expected one of every edge, or a rating of none")
        if lacking:
            values = planted(users, items, seed)
        return cls(users, items, values, (len(numbers[0]), len(numbers[1])), duplicates, graph.name or "")

    @property
    def n_users(self) -> int:
        return self.shape[0]

    @property
    def n_items(self) -> int:
        return self.shape[1]

    @property
    def m(self) -> int:
        """Number of ratings."""
        return self.users.size

    def degrees(self) -> tuple[np.ndarray, np.ndarray]:
        """Ratings of each user and of each item, int64; counted once, not to be changed."""
        if self._degrees is None:
            self._degrees = np.bincount(self.users, minlength=self.n_users), np.diff(self.offsets)
        return self._degrees

    def has_duplicates(self) -> bool:
        """Whether some user has rated some item more than once."""
        return bool(np.any((self.users[1:] == self.users[:-1]) & (self.items[1:] == self.items[:-1])))

    def largest_degree(self) -> int:
        """The most ratings that a user or an item has: a lower bound on any schedule's critical path."""
        return int(max((d.max() for d in self.degrees() if d.size), default=0))

    def __repr__(self):
        sizes = f"{self.n_users:,} users x {self.n_items:,} items, {self.m:,} ratings"
        return f"<Ratings {self.name or 'unnamed'}: {sizes}>"

    def split(self, share: float = 0.1, seed: int = 0) -> "tuple[Ratings, Ratings]":
        """Two Ratings of the same shape: all but about `share` of the entries to train on, the rest to test
        on."""
        if not isinstance(share, (int, float, np.number)) or not 0 <= share <= 1:
            raise ValueError(f"share={share!r}; expected a share of the ratings, 0 to 1")
        held_out = np.random.default_rng(seed).random(self.m, np.float32) < share
        return tuple(  # pyright: ignore[reportReturnType]
            Ratings._trusted(self.users[k], self.items[k], self.values[k], self.shape, self.name)
            for k in (~held_out, held_out)
        )


def _check_duplicates(duplicates):
    if duplicates not in DUPLICATES:
        raise ValueError(f"duplicates={duplicates!r}; expected one of {', '.join(DUPLICATES)}")


def whole_ids(values, what):
    """Ids as an array of whole numbers."""
    if np.ma.is_masked(values):
        raise RatingsError(f"{what} have masked entries; expected an id for every rating")
    values = np.asarray(values)
    if values.dtype.kind not in "iu":
        whole = values.astype(np.int64) if values.dtype.kind == "f" and np.isfinite(values).all() else None
        if values.size and (whole is None or np.any(whole != values)):
            raise RatingsError(f"{what} hold ids that are not whole numbers ({values.dtype})")
        values = np.zeros(0, np.int64) if whole is None else whole
    return values


_ODD = np.uint64(0x9E3779B97F4A7C15)


def mix(word, xp=np):
    """A well-mixed 64-bit word for each word (the finalizer of splitmix64), alike on CPU and GPU."""
    word = word.astype(xp.uint64) + _ODD
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def uniform(word, xp=np):
    """Numbers in [0, 1) from mixed words, float32 with 24 bits."""
    return (word >> np.uint64(40)).astype(xp.float32) * np.float32(2.0**-24)


def planted(
    users: np.ndarray, items: np.ndarray, seed: int = 0, rank: int = 8, noise: float = 0.3, xp: Any = np,
) -> np.ndarray:
    """Ratings of a factorization of the given rank, plus noise: about 1 to 5, seeded, a function of the
    ids alone.

    The features of a node are uniform in [-1, 1); a rating is 3 plus their scaled inner product plus uniform
    noise of the given half width. So a factorization can beat the mean, and the noise bounds the expected
    error from below.
    """
    values = xp.full(users.shape, 3.0, xp.float32)
    u, i = users.astype(xp.uint64), items.astype(xp.uint64)
    start = np.uint64((seed * 0x632BE59BD9B4E019) % 2**64)
    for k in range(rank):
        a = uniform(mix(u * np.uint64(2 * rank) + np.uint64(2 * k) + start, xp), xp)
        b = uniform(mix(i * np.uint64(2 * rank) + np.uint64(2 * k + 1) + start, xp), xp)
        values += (2 * a - 1) * (2 * b - 1) * np.float32(3.0 / np.sqrt(rank))
    word = mix(mix(u, xp) * _ODD + mix(i + start, xp), xp)
    return values + (2 * uniform(word, xp) - 1) * np.float32(noise)
