"""The strategy `swarm`: a launch for each bin of a whole batch."""

from . import binning
from .batched import SIDE
from .betweenness import Betweenness
from .distances import Closeness, Distances
from .lengths import ClosenessByLengths, Lengths
from .shared import Method
from .structure import Components, PageRank, Strong, Triangles
from .walks import Walks


class Swarm(Method):
    """A launch for each bin of graphs alike in size; a lane (betweenness, lengths) or a bit (distances) a source.

    Options of its own
    ------------------
    shared : {"rows", "metadata", "nothing"}
        What lies in shared memory where it fits.
    persistent : bool
        Resident blocks process items from a queue; False: a block for each item.
    width : int
        Sources of a group, 32, 16, 8 or 4; 0: 32, or as many as fit. Nonzero disables `sparse`.
    sparse : float
        Undirected graphs of fewer arcs a vertex, and short rows, get a lane for each pair of a source and a vertex
        (with ``shared="rows"``); 0: none.
    words : int
        Words of a set of sources at most, a power of two to 32.
    busy : int
        Items for each block, where there is as much to cut; not of sparse graphs.
    threads : int
        Of a block, a power of two from 32 to 1,024; 0: by the size of the graphs.
    memory : int
        Bytes for distance matrices at a time, and for what does not fit into shared memory.
    """

    name = "swarm"
    defaults = {"shared": "rows", "persistent": True, "width": 0, "sparse": 7, "words": 8, "busy": binning.BUSY,
             "threads": 0, "memory": 4 << 30}  # fmt: skip
    tasks = {"betweenness": Betweenness, "closeness": Closeness, "apsp": Distances, "components": Components,
             "strong": Strong, "triangles": Triangles, "pagerank": PageRank, "walks": Walks}  # fmt: skip
    weighted = {"closeness": ClosenessByLengths, "apsp": Lengths}

    def streams(self, count):
        """That many streams of the device."""
        if not hasattr(self, "_streams"):
            self._streams = [self.executor.xp.cuda.Stream(non_blocking=True) for _ in range(SIDE)]
        return self._streams[:count]
