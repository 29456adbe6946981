"""The strategies: description, origin and plan of each."""

from lockstep.plan import Strategy, Table

from .asynchronous import Asynchronous
from .auto import Auto
from .baselines import Igraph, NetworkX, RustworkX
from .chains import Chains
from .frontier import Frontier
from .graph import Graph
from .naive import Naive
from .narrow import Narrow
from .persistent import Persistent
from .serial import Serial, SerialList

STRATEGIES = Table(
    Strategy(
        "serial",
        "Kahn on one core; the order is the queue, in one array",
        "cpu",
        "Kahn 1962; the thesis's CPU side",
        Serial,
    ),
    Strategy(
        "serial-list",
        "Kahn on one core with a linked list as queue, a node allocated for each vertex",
        "cpu",
        "the thesis's CPU side, as it describes its queue",
        SerialList,
    ),
    Strategy("networkx", "networkx.topological_sort", "cpu", "NetworkX", NetworkX),
    Strategy("rustworkx", "rustworkx.topological_sort", "cpu", "rustworkx", RustworkX),
    Strategy("igraph", "igraph.Graph.topological_sorting", "cpu", "igraph", Igraph),
    Strategy(
        "naive",
        "three kernels a layer, a scan of all in-degrees, the queue's size read by the host",
        "published",
        "the thesis, appendix",
        Naive,
    ),
    Strategy(
        "frontier",
        "no scan: who takes the last predecessor away queues the vertex; the host reads each size",
        "ladder",
        "this study",
        Frontier,
    ),
    Strategy("graph", "many levels in one CUDA graph; the host looks once a replay", "ladder", "this study", Graph),
    Strategy(
        "persistent",
        "one cooperative kernel; all blocks meet between wide levels, the warps of a few blocks between others",
        "ladder",
        "this study",
        Persistent,
    ),
    Strategy(
        "narrow",
        "the grid for wide levels, a few blocks for less wide ones, one block or warp alone for narrow ones",
        "ladder",
        "this study",
        Narrow,
    ),
    Strategy(
        "asynchronous",
        "no levels: a vertex is ready when its last predecessor is done",
        "ladder",
        "this study",
        Asynchronous,
    ),
    Strategy(
        "chains",
        "runs of 1-1 vertices contracted by list ranking, the rest sorted by narrow",
        "ladder",
        "this study",
        Chains,
    ),
    Strategy(
        "auto",
        "the CPU or the GPU where features decide; else both begin, and who is done first stops the other",
        "choice",
        "this study",
        Auto,
    ),
    terms={"cuda-graph": "graph", "width-adaptive": "narrow", "chain-contraction": "chains"},
)
