"""The strategies: what each is, and the plan that runs it."""

from dataclasses import dataclass

from .baselines import DeltaCpu, Dijkstra, Igraph
from .choice import Auto
from .ladder import Asynchronous, Cluster, NearFar, NotFitting
from .plans import DevicePlan
from .published import Atomic, Barrier, Checked, Fence, Persistent, Semaphores


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
        False where results may be wrong by design.
    plan : type
    """

    name: str
    what: str
    family: str
    published: str
    plan: type
    exact: bool = True

    @property
    def gpu(self):
        return issubclass(self.plan, DevicePlan)


STRATEGIES = {
    s.name: s
    for s in (
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
            "atomicMin, a launch a round, the host asks for the bucket's end",
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
            "no rounds: every block owns a range in shared memory, sends mail, keeps to a horizon",
            "ladder",
            "this study",
            Asynchronous,
        ),
        Strategy("auto", "an exact one of these, by the graph and the machine", "choice", "this study", Auto),
    )
}

__all__ = ["STRATEGIES", "Asynchronous", "NotFitting", "Strategy"]
