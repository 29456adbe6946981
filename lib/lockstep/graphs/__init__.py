"""Inputs of the studies: the CSR graph, readers, generators, and the registry of data sets.

>>> from lockstep.graphs import Graph, acyclic, load, read
>>> acyclic(Graph.from_edges([0, 1, 2], [1, 2, 0])).m
3
"""

from . import families, generators, task_graphs
from .acyclic import acyclic
from .fetching import probe_hosts
from .foreign import graph_of
from .generators import (
    disjoint_paths,
    erdos_renyi,
    layered,
    random_dag,
    rmat,
    road_like,
    window_dag,
    with_weights,
)
from .graph import Graph, GraphError, GraphWarning
from .ratings import read_batch, read_coordinates, read_ratings
from .reading import read
from .registry import DatasetMissing, datasets, load, load_batch, load_coordinates, load_ratings

__all__ = [
    "DatasetMissing", "Graph", "GraphError", "GraphWarning", "acyclic", "datasets", "disjoint_paths", "erdos_renyi",
    "families", "generators", "graph_of", "layered", "load", "load_batch", "load_coordinates", "load_ratings",
    "probe_hosts", "random_dag", "read", "read_batch", "read_coordinates", "read_ratings", "rmat", "road_like",
    "task_graphs", "window_dag", "with_weights",
]
