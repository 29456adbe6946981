"""The problems that the guide advises on: the rows used for each, and the figures of a graph that its rule may test.

A figure must be cheap to compute on a user's graph and recorded with the graphs of the study, to which the rule is
fitted. The names of figures in rows are listed only here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from lockstep import studies
from lockstep.choose.features import FEATURES


@dataclass(frozen=True)
class Problem:
    """One problem, with the rows and strategies of its study that the guide uses.

    Attributes
    ----------
    name, study : str
        Name of the package, and of the study whose rows are used.
    title : str
        Name in tables.
    experiments : tuple of str
        Experiments that timed the strategies in the same rounds.
    plain : tuple of str
        The baseline of speed-ups: the first of these that was measured.
    published : tuple of str
        The paper's strategy, likewise.
    wanted : callable
        Whether a strategy of the study's table may be advised.
    given : mapping
        Figure -> names that it has in rows of `(graph)` or `(batch)`, or among the parameters.
    needed : tuple of str
        Strategies whose time a graph must have to be used; otherwise their absence would make others seem best.
    optional : tuple of str
        Figures that a graph may lack; a feature is used only if all graphs of the study have it.
    note : str
        Scope of a choice.
    followed : bool
        Whether `auto` follows the rule. Such a rule is fitted to a machine's first recording alone: with later ones it
        could change, and recorded rows of `auto` would be those of another rule.
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
    followed: bool = False

    @property
    def derive(self) -> Callable[..., dict[str, float]]:
        """Figures in, the features that the rule may test out."""
        return FEATURES[self.name][0]

    @property
    def units(self) -> dict[str, str]:
        """{feature: unit of its thresholds}, "arcs a vertex" for example."""
        return FEATURES[self.name][1]

    def strategies(self) -> tuple[str, ...]:
        """Names that may be advised, without `auto`."""
        table = studies.table(self.name)
        return tuple(name for name, strategy in table.items() if name != "auto" and self.wanted(strategy))


SIZE = {"n": ("nodes", "vertices", "n"), "m": ("edges", "arcs", "stored_arcs", "m")}

PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem(
            "toposort", "3-toposort-depth", "topological sort", ("serial",), ("naive",),
            {**SIZE, "depth": ("depth",)},
            # Tables that timed only two GPU strategies would bias the rule: require `narrow`.
            experiments=("auto", "ladder", "real-dags", "table-4.3", "table-4.4"), needed=("narrow",),
        ),
        Problem(
            "sssp", "2-sssp-sync", "shortest paths", ("dijkstra",), ("barrier", "atomic"),
            {"n": SIZE["n"], "m": ("stored_arcs", "arcs", "edges"), "largest": ("largest_degree",),
             "near": ("near_share",)},
            experiments=("time", "choice"), optional=("largest",), followed=True,
        ),
        Problem(
            "coloring", "4-coloring-phase-switch", "coloring", ("greedy",), ("randomized",),
            {**SIZE, "largest": ("degree",)}, experiments=("ladder",),
            # By time alone, strategies that use more colors would win.
            wanted=lambda strategy: "smallest" in strategy.traits,
            note="of those that take the smallest free color", followed=True,
        ),
        Problem(
            "sgd", "1-sgd-schedules", "SGD sweeps", ("multicore", "serial"), ("edge-locked",),
            {"users": ("users",), "items": ("items",), "m": ("ratings",), "largest": ("largest degree",)},
            experiments=("scale-free-skewed", "scale-free", "road-curved", "road", "real", "calibration"),
            note="for a sweep, its schedule made beforehand",
        ),
        Problem(
            "swarm", "5-swarm-batch", "batches of small graphs", ("cpu-lanes", "cpu"), ("paper",),
            {"graphs": ("graphs",), **SIZE},
            experiments=("batch",), note="over betweenness, closeness and all distances",
        ),
    )
}  # fmt: skip
