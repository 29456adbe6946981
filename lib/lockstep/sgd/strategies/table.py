"""The strategies: what each is, where it comes from, and the plan that runs it.

Families are those of the published study: `offline` schedules made beforehand, `online` ones found by locks, a
`hybrid` of both; and `tiles`, `racy` and `cpu`, which it does not have.
"""

from lockstep.plan import CHOICE, Strategy, Table

from . import baselines, offline, online, passes, patches, tiles
from .auto import Auto

PAPER = "Figure 1 of the published study"
HYBRIDS = PAPER + ", Section V-B"
HERE = "this compendium"

# fmt: off
# Labels of recorded rows.
VARIANTS = {
    "edge-locked-plain": ("edge-locked", {"shuffle": False}),
    "diagonal-part": ("diagonal", {"limit": 200_000}),
}

# Recorded choices give a strategy's place in this table: those that came later stand at its end.
STRATEGIES = Table(*(
    Strategy(name, what, family, published, plan, exact=family != "racy")
    for name, plan, family, published, what in (
        ("agm-edge", offline.AllGraphEdge, "offline", PAPER,
         "maximal matchings of the whole graph, edges assigned to threads"),
        ("agm-node", offline.AllGraphNode, "offline", PAPER,
         "maximal matchings of the whole graph, items assigned to threads"),
        ("sgm", offline.SubGraph, "offline", PAPER, "maximal matchings of blocks of items by degree"),
        ("diagonal", offline.Diagonal, "offline", PAPER, "diagonals of the matrix"),
        ("block-diagonal", offline.BlockDiagonal, "offline", PAPER, "diagonals of blocks of the matrix"),
        ("edge-locked", online.EdgeLocked, "online", PAPER, "try both locks of an edge, defer on failure"),
        ("node-locked", online.NodeLocked, "online", PAPER, "one item per thread, try the user's lock"),
        ("node-then-edge", online.NodeThenEdge, "hybrid", HYBRIDS, "a node-locked pass, then edge-locked ones"),
        ("edge-hubs", online.EdgeHubs, "hybrid", HYBRIDS,
         "edge-locked for high degrees, sub-graph matchings for the rest"),
        ("tiles", tiles.Tiles, "tiles", HERE,
         "each item stays in one multiprocessor, ranges of users rotate over the blocks"),
        ("patches", patches.Patches, "tiles", HERE, "both sides of a partition in shared memory, for small degrees"),
        ("hogwild", online.Hogwild, "racy", "Niu et al., NIPS 2011; cuMF_SGD", "no locks; updates may be lost"),
        ("serial", baselines.Serial, "cpu", "the definition", "one thread, random order"),
        ("multicore", baselines.Multicore, "cpu", "DSGD, LIBMF", "tiles on the cores of a CPU"),
        ("edge-locked-resident", passes.EdgeLockedResident, "online", HERE,
         "edge-locked with all passes in one launch"),
        ("node-then-edge-resident", passes.NodeThenEdgeResident, "hybrid", HERE,
         "node-then-edge with its edge-locked passes in one launch"),
        ("auto", Auto, CHOICE, HERE, "one of these, by the graph and the machine"),
    )
), variants=VARIANTS, terms={"matrix-blocks": "tiles", "graph-partitions": "patches"})
# fmt: on
