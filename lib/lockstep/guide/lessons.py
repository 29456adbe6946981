"""Lessons: the rule of a problem fitted to a machine's recording, and its regret on graphs left out.

Reading tens of thousands of rows and refitting the rule without each graph takes seconds. The result is cached under a
digest of the recording's path, time and size, of the strategy table and of the source of the guide and `choose`; other
modules, such as `evidence.statistics`, are not tracked.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep import cache, paths
from lockstep.choose import tree
from lockstep.machine import MachineError, costs

from . import observed, rule
from .problems import PROBLEMS, Problem

if TYPE_CHECKING:
    from lockstep.typing import PathLike

NEAREST = 3  # recorded graphs from which a gain is predicted
FAR = 4  # times the largest of a leaf's graphs, or a fraction of the smallest, beyond which its gains say nothing


@dataclass(frozen=True)
class Gain:
    """Speed-up of the choice over another strategy, on the recorded graphs nearest to a graph.

    Attributes
    ----------
    against : str
    value, low, high : float
        Geometric mean, least and most.
    graphs : tuple of str
    """

    against: str
    value: float
    low: float
    high: float
    graphs: tuple


def ratios(names, strategy, seen):
    """The first of some strategies that was timed on graphs, and [(its time over the strategy's, graph), ...]."""
    for name in names:
        found = [(one.time(name) / one.time(strategy), one.dataset) for one in seen]
        found = [(value, graph) for value, graph in found if not math.isnan(value)]
        if found:
            return name, found
    return "", []


@dataclass(frozen=True)
class Lesson:
    """Observations, rule and regrets of a problem on a machine.

    Attributes
    ----------
    problem : Problem
    machine : str
    observations : list of Observation
    tree : Leaf or Question
    unseen, unfamiliar : Regret
        Of the rule on graphs, and on whole families of graphs, that it was not fitted on.
    one : Regret
        Of one strategy for all graphs, chosen without the graph.
    auto, beside_auto : Regret
        Of the study's `auto`, and of `unseen`'s choices, on the same graphs: those where both were timed.
    plain : Regret
        Of the plain alternative.
    """

    problem: object
    machine: str
    observations: list
    tree: object
    unseen: rule.Regret
    unfamiliar: rule.Regret
    one: rule.Regret
    auto: rule.Regret
    beside_auto: rule.Regret
    plain: rule.Regret

    @property
    def auto_is_better(self) -> bool:
        """Whether the study's `auto` loses less than the rule, on the same graphs."""
        return bool(self.auto.judged) and self.auto.mean < self.beside_auto.mean

    def decide(self, features: dict[str, float]) -> Any:
        """The leaf for a graph's features, and the questions on the way there."""
        return tree.decide(self.tree, features)

    def nearest(self, features: dict[str, float], leaf: Any) -> list[observed.Observation]:
        """The observations of a leaf's `NEAREST` graphs, by distance of standardized log features."""
        names = [name for name in features if all(name in one.features for one in self.observations)]
        known = np.array([[_scale(one.features[name]) for name in names] for one in self.observations])
        spread = known.std(axis=0)
        spread[spread == 0] = 1.0
        at = np.array([_scale(features[name]) for name in names])

        def distance(one):
            place = np.array([_scale(one.features[name]) for name in names])
            return float(np.linalg.norm((place - at) / spread))

        ordered = sorted(leaf.observations, key=distance)
        groups = list(dict.fromkeys(one.group for one in ordered))[:NEAREST]
        return [one for one in ordered if one.group in groups]

    def gain(self, features: dict[str, float], leaf: Any, against: tuple[str, ...]) -> Gain | None:
        """The gain over the first of some strategies that was timed on the nearest graphs; None if none was."""
        others = [name for name in against if name != leaf.strategy]
        name, pairs = ratios(others, leaf.strategy, self.nearest(features, leaf))
        if not pairs:
            return None
        values = [value for value, _ in pairs]
        mean = math.exp(np.mean(np.log(values)))
        return Gain(name, mean, min(values), max(values), tuple(dict.fromkeys(graph for _, graph in pairs)))

    def outside(self, features: dict[str, float], leaf: Any = None) -> list[tuple[str, float, float]]:
        """Features of a graph outside the recorded range, or, of a leaf, more than `FAR` times outside the range of its
        graphs: [(feature, value, bound), ...].
        """
        found, far = [], FAR if leaf else 1
        for name, value in features.items():
            known = [one.features[name] for one in (leaf or self).observations if name in one.features]
            if known and not min(known) / far <= value <= max(known) * far:
                found.append((name, value, min(known) if value < min(known) else max(known)))
        return found

    def smallest(self, cost: costs.Costs | None) -> tuple[float, str, observed.Observation] | None:
        """(size, strategy, observation): below that size the CPU's plain alternative takes less time than a launch and
        its read-back; its time is in proportion to the size, by the smallest graph on which it was recorded.

        None without recorded costs, without a plain alternative's time, and for batches: one launch serves all graphs.
        """
        known = [(one, name) for one in self.observations if (name := _first(self.problem.plain, one))]
        if cost is None or not known or "graphs" in self.observations[0].features:
            return None
        one, name = min(known, key=lambda pair: pair[0].features["size"])
        return one.features["size"] * min(1, cost.readback_us / (1e3 * one.time(name))), name, one


def costs_of(machine, recordings, results, first=False):
    """The recorded costs of the machine itself, see `costs.of`; None if there are none."""
    try:
        found = costs.of(machine, results or paths.RESULTS, recordings or paths.RECORDINGS, first) if machine else None
    except MachineError:
        return None
    return found if found is not None and found.machine == machine else None


def _scale(value):
    return math.log(max(value, 1e-9))


def learn(
    problem: Problem, machine: str, recordings: "PathLike | None" = None, results: "PathLike | None" = None,
) -> "Lesson | None":
    """The lesson of a problem on a machine; None where nothing is recorded.

    Parameters
    ----------
    problem : Problem
    machine : str
    recordings, results : path, optional
        By default the project's.
    """
    if not observed.files(problem, machine, recordings, results):
        return None
    found = _kept(problem, machine, recordings, results)
    observations = [observed.Observation(**line) for line in found["observations"]]
    if not observations:
        return None
    regrets = {name: rule.Regret(**line) for name, line in found["regrets"].items()}
    return Lesson(problem, machine, observations, tree.unpacked(found["tree"], observations.__getitem__), **regrets)


def lessons(machine: str, recordings: "PathLike | None" = None, results: "PathLike | None" = None) -> dict:
    """{problem: Lesson or None} of a machine."""
    return {name: learn(problem, machine, recordings, results) for name, problem in PROBLEMS.items()}


def _compute(problem, *where):
    """The cached content: observations, the rule, and its regrets and those of other methods of choice."""
    observations = observed.from_rows(problem, observed.rows(problem, *where))
    depth, place = rule.best_depth(observations), {id(one): k for k, one in enumerate(observations)}
    unseen = rule.left_out(observations, depth)
    both = [(one, name) for one, name in unseen if "auto" in one.others and not math.isnan(one.regret(name))]
    chosen = {
        "unseen": unseen,
        "unfamiliar": rule.left_out(observations, depth, by="family"),
        "one": rule.left_out(observations, 0),
        "auto": [(one, "auto") for one, _ in both],
        "beside_auto": both,
        "plain": [(one, _first(problem.plain, one)) for one in observations],
    }
    return {
        "observations": [asdict(one) for one in observations],
        "tree": tree.packed(rule.fit(observations, depth), lambda one: place[id(one)]),
        "regrets": {name: asdict(rule.regret(pairs)) for name, pairs in chosen.items()},
    }


def _first(names, one):
    return next((name for name in names if not math.isnan(one.time(name))), "")


def _own_text(problem):
    """Source that determines a lesson: the guide's, `choose`'s, and the study's strategy table.

    Read, not imported: importing five studies would dominate the time.
    """
    here = Path(__file__).parent
    files = [here / f"{name}.py" for name in ("observed", "rule", "problems", "lessons")]
    files += [here.parent / "plan.py", *(here.parent / "choose").glob("*.py")]
    files.append(here.parent / problem.name / "strategies" / "table.py")
    return "".join(file.read_text() for file in files)


def _kept(problem, *where):
    files = observed.files(problem, *where)
    target = paths.CACHE / "guide" / problem.name / f"{cache.name_of(_own_text(problem), files=files)}.json"
    try:
        return json.loads(target.read_text())
    except (OSError, ValueError):
        text = json.dumps(_compute(problem, *where))
    cache.write(target, text.encode())
    return json.loads(text)
