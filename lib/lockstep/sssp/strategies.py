"""The strategies: what each is, and the plan that runs it."""

from dataclasses import dataclass

from lockstep import strategy
from lockstep.machine import MachineError

from .baselines import DeltaCpu, Dijkstra, Igraph
from .chaotic import Chaotic
from .choice import Auto
from .ladder import Asynchronous, Cluster, NearFar, NotFitting
from .published import Atomic, Barrier, Checked, Fence, Persistent, Semaphores


class NotSupported(MachineError):
    """This GPU lacks what a strategy is built on."""


def architecture(executor):
    """The GPU's compute capability times ten (90 for 9.0); None where kernels run on the host."""
    if executor is None or executor.name != "cuda":
        return None
    return int(executor.xp.cuda.Device(executor.device).compute_capability)


@dataclass(frozen=True)
class Strategy(strategy.Strategy):
    """What a strategy is; some need a GPU of a late generation.

    Attributes
    ----------
    since : int
        The first architecture of GPU that it runs on (90: compute capability 9.0).
    """

    since: int = 0

    def prepare(self, problem, executor, **options):
        """The plan, made ready.

        Raises
        ------
        NotSupported
            The GPU is older than the first that it runs on.
        """
        here = architecture(executor)
        if here is not None and here < self.since:
            raise NotSupported(
                f"strategy {self.name!r} needs a GPU of compute capability {self.since / 10:.1f} or later; this one "
                f"has {here / 10:.1f}. Choose another strategy, or 'auto'"
            )
        return self.plan(problem, executor, **options)


STRATEGIES = strategy.table(
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
        since=90,
    ),
    Strategy(
        "asynchronous",
        "no rounds: every block owns a range in shared memory, sends mail, keeps to a horizon",
        "ladder",
        "this study",
        Asynchronous,
    ),
    Strategy(
        "chaotic",
        "no rounds, no lists: every thread keeps a few arcs and watches their tails",
        "ladder",
        "this study, after Chazan and Miranker 1969",
        Chaotic,
    ),
    Strategy("auto", "an exact one of these, by the graph and the machine", "choice", "this study", Auto),
)

__all__ = ["STRATEGIES", "Asynchronous", "NotFitting", "NotSupported", "Strategy"]
