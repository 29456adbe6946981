"""The table of strategies."""

from dataclasses import dataclass

from .conventional import Level, Packed
from .cpu import Cpu, Igraph, NetworkX
from .published import Graphs, Paper
from .swarm import Swarm


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
    method : type
    exact : bool
        Always right. True for all of this study.
    """

    name: str
    what: str
    family: str
    published: str
    method: type
    exact: bool = True

    @property
    def gpu(self):
        return self.method.gpu

    @property
    def measures(self):
        """Names of the measures it computes."""
        return tuple(self.method.tasks)


# fmt: off
STRATEGIES = {
    name: Strategy(name, what, family, published, method)
    for name, method, family, published, what in (
        ("cpu", Cpu, "cpu", "Brandes 2001", "a graph a core, Numba on all cores"),
        ("igraph", Igraph, "cpu", "igraph", "igraph, one graph after the other"),
        ("networkx", NetworkX, "cpu", "NetworkX", "NetworkX, one graph after the other"),
        ("level", Level, "control", "conventional GPU", "one graph at a time, a launch a level, all in global memory"),
        ("paper", Paper, "published", "SwarmGraph",
         "one graph at a time, a block a source, metadata in shared memory, one launch or two"),
        ("packed", Packed, "control", "this study", "all graphs as one block-diagonal graph, a launch a level"),
        ("graph", Graphs, "control", "this study", "paper's launches in one CUDA graph"),
        ("swarm", Swarm, "ladder", "this study",
         "a launch for each bin of a whole batch; a lane or a bit for each source"),
    )
}
# fmt: on
