"""Advice: for each problem the strategy, its expected speed-up, and the regret of the rule."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from lockstep.choose.tree import condition
from lockstep.digits import apart, readable, significant
from lockstep.machine import gpu_available

from . import features as look
from . import lessons, observed
from .problems import PROBLEMS

if TYPE_CHECKING:
    from lockstep.typing import BatchLike, GraphLike, PathLike, RatingsLike


class UnknownMachine(ValueError):
    """No machine of that name is recorded."""


@dataclass(frozen=True)
class Choice:
    """What to take for one problem.

    Attributes
    ----------
    problem, title : str
    strategy : str or None
        None: not advised; `reason` says why.
    reason : str
    gains : list of Gain
        Speed-ups over the plain alternative and over the paper's strategy.
    nearest : tuple of str
        The recorded graphs nearest in feature space.
    regret : Regret or None
        Of the rule on graphs outside its fit.
    warnings : list of str
    auto, beside_auto : Regret or None
        Of the study's own choice, if its regret is less than the rule's, and of the rule on the same graphs.
    """

    problem: str
    title: str
    strategy: str | None
    reason: str
    gains: list = field(default_factory=list)
    nearest: tuple = ()
    regret: object = None
    warnings: list = field(default_factory=list)
    auto: object = None
    beside_auto: object = None


@dataclass(frozen=True)
class Advice:
    """Advice for a graph; `str()` of it is the output of `lockstep advise`.

    Attributes
    ----------
    features : Features
    machine : str
        The machine whose recorded times are used; "" if none is recorded.
    choices : dict
        {problem: Choice}
    notes : list of str
    """

    features: look.Features
    machine: str
    choices: dict
    notes: list

    def __str__(self):
        lines = [self.features.name, *(f"  {what:<14}{text}" for what, text in self.features.lines), ""]
        lines += [f"for {self.machine}:" if self.machine else "no machine is recorded"]
        lines += [f"  {note}" for note in self.notes]
        for choice in self.choices.values():
            lines += ["", *_lines(choice)]
        return "\n".join(lines)

    def record(self) -> dict:
        """The same as plain dicts, lists and numbers; see the schema of `lockstep advise --json`."""
        found = {name: getattr(self.features, name) for name in ("name", "kind", "figures")}
        choices = [asdict(choice) for choice in self.choices.values()]
        return {**found, "machine": self.machine, "notes": self.notes, "choices": choices}


def _lines(choice):
    if choice.strategy is None:
        return [f"{choice.title}: {choice.reason}"]
    lines = [f"{choice.title}: {choice.strategy}", f"  because       {choice.reason}"]
    for gain in choice.gains:
        span = f" ({significant(gain.low)} to {significant(gain.high)})" if len(gain.graphs) > 1 else " (one graph)"
        lines.append(f"  expected      {significant(gain.value)} times as fast as {gain.against}{span}")
    if choice.nearest:
        lines.append(f"  as on         {', '.join(choice.nearest)}")
    regret = choice.regret
    if regret is not None and regret.judged:
        share = f"on graphs left out {significant(regret.mean)} times the best time on average"
        lines.append(f"  if wrong      {share}, at worst {significant(regret.worst)} times ({regret.where}); "
                     f"{regret.right} of {regret.judged} as good as the best")  # fmt: skip
    elif regret is not None:
        lines.append("  if wrong      not known: too few graphs are recorded to leave one out")
    if choice.auto is not None:
        mean, worst = significant(choice.auto.mean), significant(choice.auto.worst)
        rule = significant(choice.beside_auto.mean)
        lines.append(f"  or auto       the study's own choice has less regret: {mean} times the best time on average, "
                     f"at worst {worst} times ({choice.auto.where}), where this advice is {rule} times it; "
                     f"{choice.auto.judged} graphs with both")  # fmt: skip
    return lines + [f"  but           {warning}" for warning in choice.warnings]


def advise(
    graph: "GraphLike | RatingsLike | BatchLike", machine: str | None = None, recordings: "PathLike | None" = None,
    results: "PathLike | None" = None,
) -> Advice:
    """Which synchronization to choose for a graph, and why.

    Parameters
    ----------
    graph : Graph, NetworkX graph, SciPy sparse matrix, Ratings, or a sequence of graphs
        Ratings are advised on for `factorize`, a sequence (or GraphBatch) for `analyze`; a graph for all the
        others, its arcs taken as ratings too.
    machine : str, optional
        A recorded machine's name, or the beginning of one. None: this machine, if it is recorded, else the one
        with the largest first recording.
    recordings, results : path, optional
        Folders of recorded machines, and of results measured here.

    Returns
    -------
    Advice

    Raises
    ------
    GraphError
        The input is no graph, or has no vertices.
    UnknownMachine
        No such machine is recorded.
    """
    found = look.of(graph)
    name = machine_of(machine, recordings, results)
    cost = lessons.costs_of(name, recordings, results)
    notes = _notes(name, cost)
    choices = {}
    for problem in PROBLEMS.values():
        if problem.name in found.missing:
            if found.kind == "graph" and problem.name != "swarm":
                choices[problem.name] = Choice(problem.name, problem.title, None, found.missing[problem.name])
            continue
        choices[problem.name] = _choice(problem, found, name, cost, recordings, results)
    return Advice(found, name, choices, notes)


def machine_of(name: str | None = None, recordings: "PathLike | None" = None, results: "PathLike | None" = None) -> str:
    """The name of the machine to advise for; "" if none is recorded and none was asked for."""
    known = observed.machine_names(recordings, results)
    if name is not None:
        match = [one for one in known if one.startswith(name)]
        if not match:
            raise UnknownMachine(
                f"no machine {name!r} with a GPU's times is recorded; there is {', '.join(known) or 'none'}"
            )
        return match[0]
    if gpu_available():
        from lockstep.evidence import machine_name

        if machine_name() in known:
            return machine_name()
    return known[0] if known else ""


def _notes(machine, cost):
    notes = []
    if cost is not None:
        notes.append(
            f"a launch costs {significant(cost.launch_us)} us, read back {significant(cost.readback_us)} us, a load "
            f"from L2 {significant(cost.load_ns('L2'))} ns"
        )
    if not gpu_available():
        notes.append("this machine has no GPU that answers: here `auto` takes a strategy for the CPU")
    elif machine:
        from lockstep.evidence import machine_name

        if machine != machine_name():
            notes.append("this machine's GPU is not recorded: `make` measures it")
    notes.append("times are those of the work alone: without transfers to the GPU and without reading the file")
    return notes


def _choice(problem, found, machine, cost, recordings, results):
    others = observed.machine_names(recordings, results)
    model = machine.rpartition("-")[0]
    names = [machine, *sorted(others, key=lambda name: name.rpartition("-")[0] != model)]  # the order of `choose.rules`
    known = (lessons.learn(problem, name, recordings, results) for name in names if name)
    lesson = next((one for one in known if one is not None), None)
    if lesson is None:
        reason = f"study {problem.study} has no times recorded anywhere yet; `auto` chooses without them"
        return Choice(problem.name, problem.title, None, reason)
    lent = lesson.machine != machine
    if lent:
        cost = lessons.costs_of(lesson.machine, recordings, results)
    warnings = [f"no rule is fitted on {machine} yet: this is {lesson.machine}'s"] if lent else []
    features = {name: float(value) for name, value in problem.derive(found.figures).items()}
    small = _too_small(lesson, features, cost)
    if small:
        warnings.insert(0, "no recorded graph is as small, so a guess")
        return Choice(problem.name, problem.title, *small, warnings=warnings)
    leaf, way = lesson.decide(features)
    graphs = len({one.group for one in leaf.observations})
    reason = condition(way, problem.units)
    reason += f" (decided on {graphs} graph{'s' if graphs > 1 else ''})"
    if problem.note:
        reason += f"; {problem.note}"
    far, outside = lesson.outside(features, leaf), lesson.outside(features)
    told = ", ".join(_beyond(problem, *one) for one in far or outside)
    where = f"{lessons.FAR} times off the graphs that decided this" if far else "outside of all that is recorded"
    if told:
        warnings.insert(0, f"{where}, so a guess: {told}")
    gains = [lesson.gain(features, leaf, names) for names in (problem.plain, problem.published) if not far]
    return Choice(
        problem.name,
        problem.title,
        leaf.strategy,
        reason,
        [gain for gain in gains if gain is not None],
        tuple(dict.fromkeys(one.dataset for one in lesson.nearest(features, leaf))),
        lesson.unseen,
        warnings,
        lesson.auto if lesson.auto_is_better else None,
        lesson.beside_auto if lesson.auto_is_better else None,
    )


def _too_small(lesson, features, cost):
    """(strategy, reason) where the graph is smaller than `Lesson.smallest` says, else None."""
    found = lesson.smallest(cost)
    if found is None or features["size"] >= found[0]:
        return None
    _, plain, smallest = found
    needed = 1e3 * smallest.time(plain) * features["size"] / smallest.features["size"]
    reason = (
        f"smaller than every recorded graph, and {plain} should need about {significant(needed)} us (in proportion to "
        f"{smallest.dataset}), a launch and its read-back {significant(cost.readback_us)}"
    )
    return plain, reason


def _beyond(problem, feature, value, bound):
    side = "most" if value > bound else "least"
    value, bound = ((readable(int(one)) if one.is_integer() else apart(one, other))
                    for one, other in ((value, bound), (float(bound), value)))  # fmt: skip
    return f"{value} {problem.units[feature]} (recorded: {bound} at {side})"
