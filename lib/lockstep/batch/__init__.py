"""Batches of many graphs, independent of the computation: sources, packs, shards, streams, results, clusters.

An engine performs the computation: ``prepare(pack)`` and ``run(pack)``, ``measure`` and ``options``, ``lengths``
(whether weights are lengths) and ``most_vertices`` (of the largest graph whose values fit in memory).
"""

from .batch import GraphBatch
from .pack import Pack

__all__ = ["GraphBatch", "Pack"]
