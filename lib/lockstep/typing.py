"""Types of the public functions' arguments, for readers and type checkers; not imported at run time."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Literal, Protocol, TypeAlias

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sparse

from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack
from lockstep.graphs import Graph
from lockstep.machine import Executor
from lockstep.sgd.ratings import Ratings


class Igraph(Protocol):
    """A graph of igraph, which this package does not import."""

    def get_edgelist(self) -> Any: ...


class Rustworkx(Protocol):
    """A graph of rustworkx, likewise."""

    def weighted_edge_list(self) -> Any: ...


Array: TypeAlias = np.ndarray
Numbers: TypeAlias = np.ndarray | Sequence[int] | Sequence[float]
Sparse: TypeAlias = (sparse.coo_array | sparse.csr_array | sparse.csc_array | sparse.coo_matrix | sparse.csr_matrix
                     | sparse.csc_matrix)  # fmt: skip
PathLike: TypeAlias = str | os.PathLike[str]
GraphLike: TypeAlias = Graph | nx.Graph | Sparse | np.ndarray | pd.DataFrame | Igraph | Rustworkx
RatingsLike: TypeAlias = Ratings | GraphLike | tuple[Numbers, Numbers, Numbers]
BatchLike: TypeAlias = GraphBatch | Pack | GraphLike | Sequence[GraphLike] | PathLike
ExecutorLike: TypeAlias = Executor | Literal["cuda", "host"] | None

__all__ = ["IO", "Any", "Array", "BatchLike", "Callable", "ExecutorLike", "GraphLike", "Literal", "Mapping", "Numbers",
           "PathLike", "RatingsLike", "Sequence", "Sparse"]  # fmt: skip
