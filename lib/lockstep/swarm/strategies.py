"""The strategies: what each is, where it comes from, the method that runs it, and which measures it computes."""

from dataclasses import dataclass

from lockstep import strategy

from .alone import Alone
from .conventional import Level, Packed
from .cpu import Cpu, Igraph, NetworkX
from .published import Graphs, Paper
from .swarm import Swarm


@dataclass(frozen=True)
class Strategy(strategy.Strategy):
    """What a strategy is; its plan is a Method."""

    @property
    def measures(self):
        """Names of the measures it computes."""
        return tuple(self.plan.tasks)


# fmt: off
STRATEGIES = strategy.table(*(
    Strategy(name, what, family, published, method)
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
        ("alone", Alone, "ladder", "this study", "one graph at a time, by all multiprocessors in one launch"),
    )
))
# fmt: on
