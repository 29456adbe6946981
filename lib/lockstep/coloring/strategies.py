"""The table of strategies."""

from dataclasses import dataclass

from .cpu import Greedy, Igraph, NetworkX
from .plan import DevicePlan
from .rounds import Binned, Degree, Hybrid, Largest, Queues, Randomized, Resident, Smallest, Staying, Stealing
from .waiting import Early, Waiting


@dataclass(frozen=True)
class Strategy:
    """What a strategy is.

    Attributes
    ----------
    name, what : str
        Its name and, in a sentence, what it does.
    family : {'cpu', 'published', 'control', 'ladder'}
    published : str
        Where it comes from.
    plan : type
    smallest : bool
        Takes the smallest free color: never more colors than the largest degree plus one.
    by_priority : bool
        Its colors are those of a greedy loop in the ladder's order of priority, bit for bit.
    exact : bool
        Always right. True for all of this study.
    deterministic : bool
        The same colors in every run with one seed, on every machine. True for all of this study.
    """

    name: str
    what: str
    family: str
    published: str
    plan: type
    smallest: bool = False
    by_priority: bool = False
    exact: bool = True
    deterministic: bool = True

    @property
    def gpu(self):
        return issubclass(self.plan, DevicePlan)


STRATEGIES = {
    s.name: s
    for s in (
        Strategy(
            "greedy",
            "greedy loop on one core, largest degree first",
            "cpu",
            "Welsh and Powell 1967",
            Greedy,
            True,
        ),
        Strategy("networkx", "networkx.greedy_color, largest_first", "cpu", "NetworkX", NetworkX, True),
        Strategy(
            "igraph",
            "igraph.Graph.vertex_coloring_greedy, most colored neighbors first",
            "cpu",
            "igraph",
            Igraph,
            True,
        ),
        Strategy(
            "randomized",
            "rounds: local maxima of random numbers take the round's color",
            "published",
            "the slides' baseline",
            Randomized,
        ),
        Strategy(
            "stealing",
            "the same with persistent workgroups, each with a queue; who has nothing left steals",
            "published",
            "the slides, after Cederman and Tsigas",
            Stealing,
        ),
        Strategy(
            "hybrid", "rounds by degree at first, then by random numbers", "published", "the slides", Hybrid
        ),
        Strategy(
            "degree",
            "rounds by degree until one colors nothing, then by random numbers",
            "published",
            "the slides' first phase alone",
            Degree,
        ),
        Strategy(
            "staying", "stealing's persistent workgroups without queues", "control", "this study", Staying
        ),
        Strategy("queues", "stealing's queues, but nobody steals", "control", "this study", Queues),
        Strategy(
            "smallest",
            "randomized, but each takes the smallest free color",
            "ladder",
            "Jones and Plassmann 1993",
            Smallest,
            True,
        ),
        Strategy(
            "largest",
            "smallest, with the largest degree first",
            "ladder",
            "Hasenplaugh et al. 2014",
            Largest,
            True,
            True,
        ),
        Strategy(
            "resident",
            "largest in one cooperative kernel, no host between the rounds",
            "ladder",
            "this study",
            Resident,
            True,
            True,
        ),
        Strategy(
            "binned",
            "resident, with a warp for each vertex of degree 30 and more",
            "ladder",
            "this study",
            Binned,
            True,
            True,
        ),
        Strategy(
            "waiting",
            "no rounds: a vertex waits for its neighbors of higher priority alone",
            "ladder",
            "this study",
            Waiting,
            True,
            True,
        ),
        Strategy(
            "early",
            "waiting, and a color is taken as soon as it is certain",
            "ladder",
            "shortcuts of Alabandi, Powers and Burtscher 2020",
            Early,
            True,
            True,
        ),
    )
}
