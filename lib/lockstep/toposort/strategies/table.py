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
        "Kahn's algorithm on one core, with an array as queue",
        "cpu",
        "Kahn 1962; the thesis's CPU side",
        Serial,
    ),
    Strategy(
        "serial-list",
        "Kahn's algorithm on one core, with a linked list as queue, one allocation per vertex",
        "cpu",
        "the thesis's CPU side, as it describes its queue",
        SerialList,
    ),
    Strategy("networkx", "networkx.topological_sort", "cpu", "NetworkX", NetworkX),
    Strategy("rustworkx", "rustworkx.topological_sort", "cpu", "rustworkx", RustworkX),
    Strategy("igraph", "igraph.Graph.topological_sorting", "cpu", "igraph", Igraph),
    Strategy(
        "naive",
        "three kernels per layer with a scan of all in-degrees; the host reads the size of the queue",
        "published",
        "the thesis, appendix",
        Naive,
    ),
    Strategy(
        "frontier",
        "no scan: the last decrement enqueues a vertex; one launch and one read-back per layer",
        "ladder",
        "this study",
        Frontier,
    ),
    Strategy("graph", "many layers per CUDA graph, one read-back per replay", "ladder", "this study", Graph),
    Strategy(
        "persistent",
        "one cooperative kernel: grid barriers between wide layers, barriers of a few blocks between others",
        "ladder",
        "this study",
        Persistent,
    ),
    Strategy(
        "narrow",
        "width-adaptive: the grid for wide layers, a few blocks for medium ones, one block or warp for narrow ones",
        "ladder",
        "this study",
        Narrow,
    ),
    Strategy(
        "asynchronous",
        "no layers: a vertex is processed once its last predecessor is done",
        "ladder",
        "this study",
        Asynchronous,
    ),
    Strategy(
        "chains",
        "chains of vertices contracted by list ranking, the rest sorted by narrow",
        "ladder",
        "this study",
        Chains,
    ),
    Strategy(
        "auto",
        "CPU or GPU where features decide; otherwise both start, and the first to finish cancels the other",
        "choice",
        "this study",
        Auto,
    ),
    terms={"cuda-graph": "graph", "width-adaptive": "narrow", "chain-contraction": "chains"},
)
