"""The strategies: what each is, where it comes from, and the plan that runs it.

Families are those of the published study: `offline` schedules made beforehand, `online` ones found by locks, a
`hybrid` of both; and `tiles`, `racy` and `cpu`, which it does not have.
"""

from lockstep.strategy import Strategy, table

from . import baselines, offline, online, passes, patches, tiles

PAPER = "Figure 1 of the published study"
HERE = "this compendium"


STRATEGIES = table(
    Strategy(
        "agm-edge", "maximal matchings of the whole graph, edges to threads", "offline", PAPER, offline.AllGraphEdge
    ),
    Strategy(
        "agm-node", "maximal matchings of the whole graph, items to threads", "offline", PAPER, offline.AllGraphNode
    ),
    Strategy("sgm", "maximal matchings of blocks of items by degree", "offline", PAPER, offline.SubGraph),
    Strategy("diagonal", "diagonals of the matrix", "offline", PAPER, offline.Diagonal),
    Strategy("block-diagonal", "diagonals of blocks of the matrix", "offline", PAPER, offline.BlockDiagonal),
    Strategy("edge-locked", "try both locks of an edge, defer on failure", "online", PAPER, online.EdgeLocked),
    Strategy("node-locked", "an item to a thread, try the user's lock", "online", PAPER, online.NodeLocked),
    Strategy(
        "node-then-edge",
        "a node-locked pass, then edge-locked ones",
        "hybrid",
        PAPER + ", Section V-B",
        online.NodeThenEdge,
    ),
    Strategy(
        "edge-hubs",
        "edge-locked for high degrees, sub-graph matchings for the rest",
        "hybrid",
        PAPER + ", Section V-B",
        online.EdgeHubs,
    ),
    Strategy("tiles", "items stay in a multiprocessor, users go round", "tiles", HERE, tiles.Tiles),
    Strategy("patches", "both sides of a patch in shared memory, for small degrees", "tiles", HERE, patches.Patches),
    Strategy("hogwild", "no locks", "racy", "Niu et al., NIPS 2011; cuMF_SGD", online.Hogwild, exact=False),
    Strategy("serial", "one thread, random order", "cpu", "the definition", baselines.Serial),
    Strategy("multicore", "tiles to cores", "cpu", "DSGD, LIBMF", baselines.Multicore),
    # Recorded choices give a strategy's place in this table: those that came later stand at its end.
    Strategy(
        "edge-locked-resident",
        "edge-locked with all passes in one launch, no host between them",
        "online",
        HERE,
        passes.EdgeLockedResident,
    ),
    Strategy(
        "node-then-edge-resident",
        "node-then-edge with its edge-locked passes in one launch",
        "hybrid",
        HERE,
        passes.NodeThenEdgeResident,
    ),
)
