"""What a user's program looks like to a type checker; checked, not run (`make types`)."""

from typing import assert_type

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sparse

from lockstep.coloring import Coloring, color
from lockstep.compare import compare
from lockstep.graphs import Graph, load, random_dag, read
from lockstep.guide import advise
from lockstep.sgd import Factorization, Ratings, factorize
from lockstep.sssp import ShortestPaths, shortest_paths
from lockstep.swarm import GraphBatch, Results, analyze
from lockstep.toposort import TopologicalOrder, topological_sort

graph = read("edges.csv.gz", directed=True, names=True)
assert_type(graph, Graph)
assert_type(graph.n, int)
assert_type(load("karate").to_scipy(), sparse.csr_array)
assert_type(Graph.from_edges([0, 1], np.array([1, 2]), weights=[1.5, 2]), Graph)

paths = shortest_paths(nx.karate_club_graph(), 0, strategy="dijkstra", executor="host")
assert_type(paths, ShortestPaths)
assert_type(paths.distances, np.ndarray)
assert_type(paths.path_to(33), list)
order = topological_sort(random_dag(100, 300), "serial")
assert_type(order, TopologicalOrder)
assert_type(order.depth, int)
assert_type(color(sparse.csr_array((3, 3))), Coloring)
assert_type(color(graph, switch="never", loops="refuse").colors, np.ndarray)

ratings = Ratings.of(sparse.coo_array((3, 3)))
assert_type(factorize(ratings, rank=8, storage="float16"), Factorization)
assert_type(ratings.split(share=0.2), tuple[Ratings, Ratings])
assert_type(analyze([graph, nx.path_graph(3)], "closeness"), Results)
assert_type(analyze(GraphBatch("folder", bad="refuse"), strategy_options={"threads": 128}), Results)
assert_type(compare("toposort", graph, ["serial", "narrow"], rounds=5), pd.DataFrame)
advise(graph, machine="nvidia-h100").record()

# What must be refused: each of these comments is an error of its own if the line under it is accepted.
shortest_paths("edges.csv", 0)  # pyright: ignore[reportArgumentType]
color(graph, loops="keep")  # pyright: ignore[reportArgumentType]
topological_sort(graph, executor="tpu")  # pyright: ignore[reportArgumentType]
factorize(ratings, storage="float64")  # pyright: ignore[reportArgumentType]
print(order.depths)  # pyright: ignore[reportAttributeAccessIssue]
