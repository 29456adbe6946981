"""The problems that the guide advises on: which rows tell about each, and the figures of a graph that decide.

A figure must be cheap to find on a reader's graph and recorded with the graphs of the study, for the rule is
fitted on those. What a study calls its figures in its rows is written here and nowhere else.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from lockstep import studies
from lockstep.choose.features import FEATURES


@dataclass(frozen=True)
class Problem:
    """One problem, as the guide sees its study.

    Attributes
    ----------
    name, study : str
        Name of the package, and of the study whose rows count.
    title : str
        What it is called in tables.
    experiments : tuple of str
        Experiments that timed the strategies against each other.
    plain : tuple of str
        The plain alternative that a gain is told against: the first of these that was measured.
    published : tuple of str
        What the study's paper proposes, likewise.
    wanted : callable
        Whether a strategy of the study's table may be advised.
    given : mapping
        Figure -> names that it has in rows of `(graph)` or `(batch)`, or among the parameters.
    needed : tuple of str
        Strategies without whose time a graph does not count: where only some were measured, another would seem best.
    optional : tuple of str
        Figures that a graph may lack; a feature counts only if all graphs of the study have it.
    note : str
        What a choice holds for.
    """

    name: str
    study: str
    title: str
    plain: tuple
    published: tuple
    given: dict
    experiments: tuple = ()
    wanted: Callable = field(default=lambda strategy: strategy.exact)
    needed: tuple = ()
    optional: tuple = ()
    note: str = ""

    @property
    def derive(self) -> Callable[..., dict[str, float]]:
        """Figures in, the features that the rule may test out."""
        return FEATURES[self.name][0]

    @property
    def units(self) -> dict[str, str]:
        """Feature -> how a threshold on it is read: "arcs a vertex", for example."""
        return FEATURES[self.name][1]

    def strategies(self) -> tuple[str, ...]:
        """Names that may be advised, without `auto`; empty where the study is not in this release."""
        try:
            table = studies.table(self.name)
        except (ImportError, AttributeError):
            return ()
        return tuple(name for name, strategy in table.items() if name != "auto" and self.wanted(strategy))


SIZE = {"n": ("nodes", "vertices", "n"), "m": ("edges", "arcs", "stored_arcs", "m")}

PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem(
            "toposort", "3-toposort-depth", "topological sort", ("serial",), ("naive",),
            {**SIZE, "depth": ("depth",)},
            # The tables with two strategies of the GPU alone would say that no other one is good.
            experiments=("auto", "ladder", "real-dags", "table-4.3", "table-4.4"), needed=("narrow",),
        ),
        Problem(
            "sssp", "2-sssp-sync", "shortest paths", ("dijkstra",), ("barrier", "atomic"),
            {"n": SIZE["n"], "m": ("stored_arcs", "arcs", "edges"), "largest": ("largest_degree",),
             "near": ("near_share",)},
            experiments=("time", "choice"), optional=("largest",),
        ),
        Problem(
            "coloring", "4-coloring-phase-switch", "coloring", ("greedy",), ("randomized",),
            {**SIZE, "largest": ("degree",)}, experiments=("ladder",),
            # Time alone would favor those that waste colors.
            wanted=lambda strategy: "smallest" in strategy.traits,
            note="of those that take the smallest free color",
        ),
        Problem(
            "sgd", "1-sgd-schedules", "SGD sweeps", ("multicore", "serial"), ("edge-locked",),
            {"users": ("users",), "items": ("items",), "m": ("ratings",), "largest": ("largest degree",)},
            experiments=("scale-free", "road", "real", "calibration"), note="for a sweep, its schedule made beforehand",
        ),
        Problem(
            "swarm", "5-swarm-batch", "batches of small graphs", ("cpu",), ("paper",),
            {"graphs": ("graphs",), **SIZE},
            experiments=("batch",), note="over betweenness, closeness and all distances",
        ),
    )
}  # fmt: skip
