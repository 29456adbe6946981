"""The strategies: what each is, where it comes from, the plan that runs it, and which colors it gives.

Colors are reproducible with one seed (switch "threshold": on one machine).
"""

from lockstep.plan import CHOICE, Strategy, Table

from ..oracle import BY_PRIORITY, EMPTIED, SMALLEST
from .auto import Auto
from .baselines import Greedy, Igraph, NetworkX
from .emptying import Emptying
from .rounds import Binned, Degree, Hybrid, Largest, Queues, Randomized, Resident, Smallest, Staying, Stealing
from .waiting import Early, Waiting

# fmt: off
_TRAITS = {"": (), "smallest": (SMALLEST,), "priority": (SMALLEST, BY_PRIORITY), "emptied": (SMALLEST, EMPTIED)}
# Labels of recorded rows: builds that count, with one size of workgroup, as imbalance depends on it; controls, and
# hybrid with a switch of its own or one found by measuring.
_COUNTED = ("randomized", "hybrid", "degree", "staying", "stealing")
VARIANTS = {
    **{f"{name}-counted": (name, {"count": True, "threads": 256}) for name in _COUNTED},
    **{f"hybrid@{at}": ("hybrid", {"switch": at}) for at in (*range(65), "never")},
    **{f"hybrid-{rule}": ("hybrid", {}) for rule in ("best", "worst", "auto", "own", "threshold")},
}

STRATEGIES = Table(*(
    Strategy(name, what, family, published, plan, traits=frozenset(_TRAITS[rule]))
    for name, plan, rule, family, published, what in (
        ("greedy", Greedy, "smallest", "cpu", "Welsh and Powell 1967",
         "greedy loop on one core, largest degree first"),
        ("networkx", NetworkX, "smallest", "cpu", "NetworkX", "networkx.greedy_color, largest_first"),
        ("igraph", Igraph, "smallest", "cpu", "igraph",
         "igraph.Graph.vertex_coloring_greedy, most colored neighbors first"),
        ("randomized", Randomized, "", "published", "the slides' baseline",
         "rounds: local maxima of random numbers take the round's color"),
        ("stealing", Stealing, "", "published", "the slides, after Cederman and Tsigas",
         "randomized with persistent workgroups, one queue each; idle workgroups steal"),
        ("hybrid", Hybrid, "", "published", "the slides",
         "rounds by degree first, then by random numbers"),
        ("degree", Degree, "", "published", "the slides' first phase alone",
         "rounds by degree until one colors nothing, then by random numbers"),
        ("staying", Staying, "", "control", "this study", "stealing's persistent workgroups without queues"),
        ("queues", Queues, "", "control", "this study", "stealing's queues without stealing"),
        ("smallest", Smallest, "smallest", "ladder", "Jones and Plassmann 1993",
         "randomized with the smallest free color"),
        ("largest", Largest, "priority", "ladder", "Hasenplaugh et al. 2014",
         "smallest, with the largest degree first"),
        ("resident", Resident, "priority", "ladder", "this study",
         "largest in one cooperative kernel, without the host between rounds"),
        ("binned", Binned, "priority", "ladder", "this study",
         "resident with one warp per vertex of degree 30 and more"),
        ("waiting", Waiting, "priority", "ladder", "this study",
         "asynchronous Jones-Plassmann: a vertex waits only for its neighbors of higher priority"),
        ("early", Early, "priority", "ladder", "shortcuts of Alabandi, Powers and Burtscher 2020",
         "waiting with shortcuts: a color is taken as soon as it is certain"),
        ("emptying", Emptying, "emptied", "ladder", "after Bloechliger and Zufferey 2008",
         "early, then elimination of the highest color classes by recoloring neighbors"),
        ("auto", Auto, "smallest", CHOICE, "this study", "one of these, by the graph and the machine"),
    )
), variants=VARIANTS, terms={
    "work-stealing": "stealing", "async-jones-plassmann": "waiting", "async-jones-plassmann-shortcuts": "early",
    "color-class-elimination": "emptying",
})
# fmt: on
