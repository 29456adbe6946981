"""The strategies: what each is, where it comes from, the plan that runs it, and which colors it gives."""

from dataclasses import dataclass

from lockstep import strategy

from .cpu import Greedy, Igraph, NetworkX
from .emptying import Emptying
from .rounds import Binned, Degree, Hybrid, Largest, Queues, Randomized, Resident, Smallest, Staying, Stealing
from .waiting import Early, Waiting


@dataclass(frozen=True)
class Strategy(strategy.Strategy):
    """What a strategy is. All give the same colors in every run with one seed, on every machine.

    Attributes
    ----------
    smallest : bool
        Takes the smallest free color: never more colors than the largest degree plus one.
    by_priority : bool
        Its colors are those of a greedy loop in the ladder's order of priority, bit for bit.
    emptied : bool
        They are what is left of these when the highest colors are emptied, as `oracle.emptied` does.
    """

    smallest: bool = False
    by_priority: bool = False
    emptied: bool = False


# fmt: off
_RULES = {"": {}, "smallest": {"smallest": True}, "priority": {"smallest": True, "by_priority": True},
          "emptied": {"smallest": True, "emptied": True}}

STRATEGIES = strategy.table(*(
    Strategy(name, what, family, published, plan, **_RULES[rule])
    for name, plan, rule, family, published, what in (
        ("greedy", Greedy, "smallest", "cpu", "Welsh and Powell 1967",
         "greedy loop on one core, largest degree first"),
        ("networkx", NetworkX, "smallest", "cpu", "NetworkX", "networkx.greedy_color, largest_first"),
        ("igraph", Igraph, "smallest", "cpu", "igraph",
         "igraph.Graph.vertex_coloring_greedy, most colored neighbors first"),
        ("randomized", Randomized, "", "published", "the slides' baseline",
         "rounds: local maxima of random numbers take the round's color"),
        ("stealing", Stealing, "", "published", "the slides, after Cederman and Tsigas",
         "the same with persistent workgroups, a queue each; who has nothing left steals"),
        ("hybrid", Hybrid, "", "published", "the slides",
         "rounds by degree at first, then by random numbers"),
        ("degree", Degree, "", "published", "the slides' first phase alone",
         "rounds by degree until one colors nothing, then by random numbers"),
        ("staying", Staying, "", "control", "this study", "stealing's persistent workgroups without queues"),
        ("queues", Queues, "", "control", "this study", "stealing's queues, but nobody steals"),
        ("smallest", Smallest, "smallest", "ladder", "Jones and Plassmann 1993",
         "randomized, but each takes the smallest free color"),
        ("largest", Largest, "priority", "ladder", "Hasenplaugh et al. 2014",
         "smallest, with the largest degree first"),
        ("resident", Resident, "priority", "ladder", "this study",
         "largest in one cooperative kernel, no host between the rounds"),
        ("binned", Binned, "priority", "ladder", "this study",
         "resident, with a warp for each vertex of degree 30 and more"),
        ("waiting", Waiting, "priority", "ladder", "this study",
         "no rounds: a vertex waits for its neighbors of higher priority alone"),
        ("early", Early, "priority", "ladder", "shortcuts of Alabandi, Powers and Burtscher 2020",
         "waiting, and a color is taken as soon as it is certain"),
        ("emptying", Emptying, "emptied", "ladder", "after Bloechliger and Zufferey 2008",
         "early, then the highest colors are emptied one by one: neighbors make way"),
    )
))
# fmt: on
