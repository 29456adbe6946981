"""The strategies: what each is, and the plan that runs it."""

from lockstep.plan import Strategy, Table

from .asynchronous import Asynchronous
from .auto import Auto
from .baselines import Dijkstra, Igraph
from .chaotic import Chaotic
from .delta_cpu import DeltaCpu
from .near_far import Cluster, NearFar
from .paper import Atomic, Barrier, Checked, Fence, Persistent, Semaphores

# Labels of the tables. Labels include the layers, which are compared within a round.
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
        "delta-stepping on all cores with worklists and atomics",
        "cpu",
        "Meyer and Sanders 2003",
        DeltaCpu,
    ),
    Strategy("igraph", "igraph.Graph.distances", "cpu", "igraph", Igraph),
    Strategy(
        "atomic",
        "atomicMin, one launch and one read-back per round",
        "published",
        "the paper, section V",
        Atomic,
    ),
    Strategy(
        "barrier",
        "no atomics: one writer per vertex reduces its candidates, one launch per round",
        "published",
        "the paper, section V",
        Barrier,
    ),
    Strategy(
        "fence",
        "the barrier's rounds in one launch, separated by a grid barrier",
        "published",
        "the paper, introduction; Xiao and Feng 2010",
        Fence,
    ),
    Strategy(
        "semaphores",
        "no atomics, no barrier: one Boolean per block, in layers; racy",
        "published",
        "the paper, section V",
        Semaphores,
        exact=False,
    ),
    Strategy(
        "checked",
        "semaphores, then a pass that finds arcs left to relax, repeated until there are none",
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
        "worklists instead of scans, arcs balanced over lanes, one launch",
        "ladder",
        "this study, after Davidson et al. 2014",
        NearFar,
    ),
    Strategy(
        "cluster",
        "near-far on one cluster of eight blocks, with its hardware barrier",
        "ladder",
        "this study",
        Cluster,
    ),
    Strategy(
        "asynchronous",
        "no rounds: each block owns a range in shared memory, and inboxes for arcs of others; a sliding horizon",
        "ladder",
        "this study",
        Asynchronous,
    ),
    Strategy(
        "chaotic",
        "asynchronous, without worklists: each thread polls the tails of its own arcs",
        "ladder",
        "this study, after Chazan and Miranker 1969",
        Chaotic,
    ),
    Strategy("auto", "an exact one of these, by the graph and the machine", "choice", "this study", Auto),
    variants=VARIANTS,
    terms={"chaotic-relaxation": "chaotic", "cluster-near-far": "cluster"},
)
