"""What a factorization returns."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .ratings import whole_ids

if TYPE_CHECKING:
    from lockstep.typing import Numbers


@dataclass
class Factorization:
    """Vectors whose inner products approximate the ratings.

    Attributes
    ----------
    users : float32 array, shape (n_users, rank)
    items : float32 array, shape (n_items, rank)
        A rating of item i by user u is predicted as ``users[u] @ items[i]``.
    rmse : list of float
        Root mean square error on the ratings trained on, after each sweep.
    test_rmse : list of float
        The same on the test ratings; empty without them.
    strategy : str
        Strategy that ran; for ``auto`` its choice.
    stats : dict
        Statistics of the strategy's run, seconds of preprocessing by part, and for `auto` the reason of its
        choice.
    """

    users: np.ndarray
    items: np.ndarray
    rmse: list
    strategy: str
    test_rmse: list = field(default_factory=list)
    stats: dict = field(default_factory=dict)

    def predict(self, users: "Numbers", items: "Numbers") -> np.ndarray:
        """Predicted ratings of pairs, float32.

        Parameters
        ----------
        users, items : int arrays of one shape (m,)

        Raises
        ------
        ValueError
            They are not of one shape, or an id is no whole number or out of range.
        """
        users, items = whole_ids(np.atleast_1d(users), "users"), whole_ids(np.atleast_1d(items), "items")
        if users.shape != items.shape or users.ndim != 1:
            raise ValueError(f"users of shape {users.shape} and items of shape {items.shape}; expected one (m,)")
        for ids, vectors, side in ((users, self.users, "user"), (items, self.items, "item")):
            wrong = np.flatnonzero((ids < 0) | (ids >= len(vectors)))
            if wrong.size:
                raise ValueError(f"{side} {ids[wrong[0]]} is not in 0..{len(vectors) - 1}")
        return np.einsum("ij,ij->i", self.users[users], self.items[items])

    def __repr__(self):
        last = f", rmse {self.rmse[-1]:.4f}" if self.rmse else ""
        users, items = self.users.shape[0], self.items.shape[0]
        return f"<Factorization {users:,} x {items:,} of rank {self.users.shape[1]} by {self.strategy}{last}>"
