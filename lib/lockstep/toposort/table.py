"""The table of strategies."""

from dataclasses import dataclass

from .baselines import Igraph, NetworkX, RustworkX, Serial, SerialList
from .choice import Auto
from .device import DevicePlan
from .resident import Asynchronous, Chains, Narrow, Persistent
from .stepwise import Frontier, Graph, Naive


@dataclass(frozen=True)
class Strategy:
    """What a strategy is.

    Attributes
    ----------
    name, what : str
        Its name and, in a sentence, what it does.
    family : {'cpu', 'published', 'ladder', 'choice'}
    published : str
        Where it comes from.
    exact : bool
        Always right. True for all of this study.
    layered : bool
        Whether its order lists layer after layer.
    plan : type
    """

    name: str
    what: str
    family: str
    published: str
    layered: bool
    plan: type
    exact: bool = True

    @property
    def gpu(self):
        return issubclass(self.plan, DevicePlan)


STRATEGIES = {
    s.name: s
    for s in (
        Strategy(
            "serial",
            "Kahn on one core; the order is the queue, in one array",
            "cpu",
            "Kahn 1962; the thesis's CPU side",
            True,
            Serial,
        ),
        Strategy(
            "serial-list",
            "Kahn on one core with a linked list as queue, a node allocated for each vertex",
            "cpu",
            "the thesis's CPU side, as it describes its queue",
            True,
            SerialList,
        ),
        Strategy("networkx", "networkx.topological_sort", "cpu", "NetworkX", False, NetworkX),
        Strategy("rustworkx", "rustworkx.topological_sort", "cpu", "rustworkx", False, RustworkX),
        Strategy("igraph", "igraph.Graph.topological_sorting", "cpu", "igraph", False, Igraph),
        Strategy(
            "naive",
            "three kernels a layer, a scan of all in-degrees, the queue's size read by the host",
            "published",
            "the thesis, appendix",
            True,
            Naive,
        ),
        Strategy(
            "frontier",
            "no scan: who takes the last predecessor away queues the vertex; the host reads each size",
            "ladder",
            "this study",
            True,
            Frontier,
        ),
        Strategy(
            "graph", "many levels in one CUDA graph; the host looks once a replay", "ladder", "this study", True, Graph
        ),
        Strategy(
            "persistent",
            "one cooperative kernel; all blocks meet between wide levels, the warps of a few blocks between others",
            "ladder",
            "this study",
            True,
            Persistent,
        ),
        Strategy(
            "narrow",
            "the grid for wide levels, a few blocks for less wide ones, one block or warp alone for narrow ones",
            "ladder",
            "this study",
            True,
            Narrow,
        ),
        Strategy(
            "asynchronous",
            "no levels: a vertex is ready when its last predecessor is done",
            "ladder",
            "this study",
            False,
            Asynchronous,
        ),
        Strategy(
            "chains",
            "runs of 1-1 vertices contracted by list ranking, the rest sorted by narrow",
            "ladder",
            "this study",
            False,
            Chains,
        ),
        Strategy(
            "auto",
            "the CPU or the GPU where features decide; else both begin, and who is done first stops the other",
            "choice",
            "this study",
            False,
            Auto,
        ),
    )
}
