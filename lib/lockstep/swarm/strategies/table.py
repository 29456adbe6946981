"""The strategies: what each is, where it comes from, the method that runs it, and which measures it computes."""

import dataclasses
from dataclasses import dataclass

from lockstep import plan
from lockstep.options import Options

from ..measures import MEASURES
from . import allowed
from .alone import Alone
from .auto import Auto
from .baselines import Cpu, Igraph, NetworkX
from .cpu_lanes import CpuLanes
from .level import Level, Packed
from .paper import Graphs, Paper
from .shared import BatchPlan
from .sources import CpuSources
from .swarm import Swarm


@dataclass(frozen=True)
class Strategy(plan.Strategy):
    """What a strategy is."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures it computes."""
        return tuple(MEASURES if self.family == plan.CHOICE else self.plan.method.tasks)

    @property
    def checksums(self) -> bool:
        """Whether it sums up results, which must be equal bit for bit for that."""
        return self.family == plan.CHOICE or self.plan.method not in (Igraph, NetworkX)


def planned(method):
    """The class of plans whose task is a method's."""

    def check(self):
        allowed.check(allowed.STRATEGY_OPTIONS.get(method.name, {}), vars(self), f"strategy {method.name!r}")

    words = {"__doc__": f"Options of `{method.name}`; see `{method.__name__}`.", "__post_init__": check}
    fields = [(name, object, value) for name, value in method.defaults.items()]
    options = dataclasses.make_dataclass("Options", fields, bases=(Options,), namespace=words, frozen=True)
    return type(method.__name__, (BatchPlan,), {"method": method, "gpu": method.gpu, "Options": options})


# fmt: off
STRATEGIES = plan.Table(*(
    Strategy(name, what, family, published, planned(method))
    for name, method, family, published, what in (
        ("cpu", Cpu, "cpu", "Brandes 2001", "one graph per core, Numba on all cores"),
        ("cpu-sources", CpuSources, "cpu", "Brandes 2001", "one graph at a time, its sources on all cores"),
        ("cpu-lanes", CpuLanes, "cpu", "Then et al. 2014", "one graph per core, up to 512 of its sources in a vector"),
        ("igraph", Igraph, "cpu", "igraph", "igraph, one graph at a time"),
        ("networkx", NetworkX, "cpu", "NetworkX", "NetworkX, one graph at a time"),
        ("level", Level, "control", "conventional GPU",
         "one graph at a time, one launch per level, all in global memory"),
        ("paper", Paper, "published", "SwarmGraph",
         "one graph at a time, one block per source, metadata in shared memory, one or two launches"),
        ("packed", Packed, "control", "this study", "all graphs as one block-diagonal graph, one launch per level"),
        ("graph", Graphs, "control", "this study", "paper's launches in one CUDA graph"),
        ("swarm", Swarm, "ladder", "this study",
         "one launch per size class of a batch; one lane or bit per source"),
        ("alone", Alone, "ladder", "this study", "one graph at a time on all multiprocessors, in one launch"),
    )
), Strategy("auto", "one of these, by the machine", plan.CHOICE, "this study", Auto), terms={
    "binned": "swarm", "single-graph": "alone", "level-synchronous": "level", "block-diagonal": "packed",
    "cuda-graph": "graph",
})
# fmt: on
