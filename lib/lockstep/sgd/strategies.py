"""The strategies by name: what each is, where it was published, what it promises."""

from dataclasses import dataclass

from . import cpu, offline, online, patches, tiles
from .plans import Plan

PAPER = "Figure 1 of the published study"
HERE = "this compendium"


@dataclass(frozen=True)
class Strategy:
    """One way to keep updates apart.

    Attributes
    ----------
    what : str
        One line.
    family : str
        "offline", "online", "hybrid", "tiles", "racy" or "cpu".
    source : str
        Where it comes from.
    plan : type
        Its Plan.
    exact : bool
        Whether every run equals a serial one in some order of the edges. False where updates may be lost.
    """

    what: str
    family: str
    source: str
    plan: type[Plan]
    exact: bool = True

    @property
    def gpu(self):
        return self.family != "cpu"


STRATEGIES = {
    "agm-edge": Strategy(
        "maximal matchings of the whole graph, edges to threads", "offline", PAPER, offline.AllGraphEdge
    ),
    "agm-node": Strategy(
        "maximal matchings of the whole graph, items to threads", "offline", PAPER, offline.AllGraphNode
    ),
    "sgm": Strategy("maximal matchings of blocks of items by degree", "offline", PAPER, offline.SubGraph),
    "diagonal": Strategy("diagonals of the matrix", "offline", PAPER, offline.Diagonal),
    "block-diagonal": Strategy("diagonals of blocks of the matrix", "offline", PAPER, offline.BlockDiagonal),
    "edge-locked": Strategy("try both locks of an edge, defer on failure", "online", PAPER, online.EdgeLocked),
    "node-locked": Strategy("an item to a thread, try the user's lock", "online", PAPER, online.NodeLocked),
    "node-then-edge": Strategy(
        "a node-locked pass, then edge-locked ones", "hybrid", PAPER + ", Section V-B", online.NodeThenEdge
    ),
    "edge-hubs": Strategy(
        "edge-locked for high degrees, sub-graph matchings for the rest",
        "hybrid",
        PAPER + ", Section V-B",
        online.EdgeHubs,
    ),
    "tiles": Strategy("items stay in a multiprocessor, users go round", "tiles", HERE, tiles.Tiles),
    "patches": Strategy("both sides of a patch in shared memory, for small degrees", "tiles", HERE, patches.Patches),
    "hogwild": Strategy("no locks", "racy", "Niu et al., NIPS 2011; cuMF_SGD", online.Hogwild, exact=False),
    "serial": Strategy("one thread, random order", "cpu", "the definition", cpu.Serial),
    "multicore": Strategy("tiles to cores", "cpu", "DSGD, LIBMF", cpu.Multicore),
}
