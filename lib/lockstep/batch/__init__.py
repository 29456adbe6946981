"""Many graphs at once, whatever is computed of them: batches of any source, packs, shards, streams, results, clusters.

What computes is handed in, an engine: ``prepare(pack)`` and ``run(pack)``, ``measure`` and ``options``, ``lengths``
(whether weights are lengths) and ``most_vertices`` (of the largest graph whose values fit into memory).
"""

from .batch import GraphBatch
from .pack import Pack

__all__ = ["GraphBatch", "Pack"]
