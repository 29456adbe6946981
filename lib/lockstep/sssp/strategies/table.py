"""The strategies: what each is, and the plan that runs it."""

from lockstep.plan import Strategy, Table

from .asynchronous import Asynchronous
from .auto import Auto
from .baselines import Dijkstra, Igraph
from .chaotic import Chaotic
from .delta_cpu import DeltaCpu
from .near_far import Cluster, NearFar
from .paper import Atomic, Barrier, Checked, Fence, Persistent, Semaphores

# Labels of the tables. Layers stand in the label, for they are compared within a round.
VARIANTS = {
    **{f"semaphores-{k}": ("semaphores", {"layers": k}) for k in (*range(1, 7), 8, 12, 16, 24)},
    **{f"pending-{k}": ("semaphores", {"layers": k, "reading": "pending"}) for k in range(1, 7)},
    **{f"relaunch-{k}": ("semaphores", {"layers": k, "reading": "relaunch"}) for k in range(1, 7)},
    **{f"one-look-{k}": ("semaphores", {"layers": k, "looks": 1}) for k in range(1, 7)},
    "barrier-copies": ("barrier", {"copies": "distances"}),
}

STRATEGIES = Table(
    Strategy("dijkstra", "SciPy's Dijkstra; the oracle", "cpu", "Dijkstra 1959; SciPy", Dijkstra),
    Strategy(
        "delta-cpu",
        "delta-stepping on all cores, work lists and atomics",
        "cpu",
        "Meyer and Sanders 2003",
        DeltaCpu,
    ),
    Strategy("igraph", "igraph.Graph.distances", "cpu", "igraph", Igraph),
    Strategy(
        "atomic",
        "atomicMin, a launch and a read-back a round",
        "published",
        "the paper, section V",
        Atomic,
    ),
    Strategy(
        "barrier",
        "no atomics: one writer a vertex reduces its candidates, a launch a round",
        "published",
        "the paper, section V",
        Barrier,
    ),
    Strategy(
        "fence",
        "the barrier's rounds in one launch, a device-wide barrier of memory fences between them",
        "published",
        "the paper, introduction; Xiao and Feng 2010",
        Fence,
    ),
    Strategy(
        "semaphores",
        "no atomics, no barrier: a Boolean a block, in layers; racy",
        "published",
        "the paper, section V",
        Semaphores,
        exact=False,
    ),
    Strategy(
        "checked",
        "semaphores, then a pass that finds arcs left to relax, until there are none",
        "ladder",
        "this study",
        Checked,
    ),
    Strategy(
        "persistent",
        "atomic's rounds in one launch with a grid barrier",
        "ladder",
        "this study",
        Persistent,
    ),
    Strategy(
        "near-far",
        "work lists instead of scans, arcs spread over lanes, one launch",
        "ladder",
        "this study, after Davidson et al. 2014",
        NearFar,
    ),
    Strategy(
        "cluster",
        "near-far on one cluster of eight blocks, whose barrier is in hardware",
        "ladder",
        "this study",
        Cluster,
    ),
    Strategy(
        "asynchronous",
        "no rounds: a block owns a range in shared memory, others lower its inbox; a horizon",
        "ladder",
        "this study",
        Asynchronous,
    ),
    Strategy(
        "chaotic",
        "no rounds, no lists: a thread keeps a few arcs and rereads their tails",
        "ladder",
        "this study, after Chazan and Miranker 1969",
        Chaotic,
    ),
    Strategy("auto", "an exact one of these, by the graph and the machine", "choice", "this study", Auto),
    variants=VARIANTS,
    terms={"chaotic-relaxation": "chaotic", "cluster-near-far": "cluster"},
)
