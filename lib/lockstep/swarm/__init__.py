"""Many small graphs at once: betweenness, closeness, all distances and more, of each graph of a batch.

>>> import networkx as nx
>>> from lockstep.swarm import analyze
>>> analyze([nx.path_graph(4), nx.star_graph(3)], strategy="cpu")[1].tolist()
[3.0, 0.0, 0.0, 0.0]
"""

from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack

from .measures import MEASURES, Measure
from .references import reference
from .run import Engine, Results, analyze
from .strategies import STRATEGIES, Strategy
from .task import Values

__all__ = [
    "MEASURES", "STRATEGIES", "Engine", "GraphBatch", "Measure", "Pack", "Results", "Strategy", "Values",
    "analyze", "reference",
]  # fmt: skip
