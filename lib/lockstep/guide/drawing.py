"""The guide in the paper: one picture of the decisions, a table of the choices, a table of what they lose."""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

from lockstep.choose.tree import Leaf, branch, condition, leaves
from lockstep.digits import listed, significant
from lockstep.evidence.statistics import center
from lockstep.report.output import numbers, save, table
from lockstep.report.style import FAINT, INK, WIDTH, color_of, decades

from . import observed
from .advice import machine_of
from .lessons import lessons, ratios
from .problems import PROBLEMS

NAME = "guide"
STEP = 1.15  # horizontal distance of successive questions, in axis units
LETTERS = 42  # characters per line of a question, which fit a step
CHOSEN_BY = {
    "unseen": "the rule, graph left out",
    "unfamiliar": "the rule, its whole family left out",
    "one": "one strategy for all, graph left out",
    "beside_auto": "the rule, graph left out, where auto is timed",
    "auto": "the study's auto, on the same graphs",
    "plain": "the plain alternative",
}


def choices(known):
    """A row per leaf: problem, condition, strategy, speed-up on the recorded graphs."""
    lines = []
    for lesson in known:
        for leaf, way in leaves(lesson.tree):
            name, found = ratios(lesson.problem.plain, leaf.strategy, leaf.observations)
            values, timed = np.array([value for value, _ in found]), {graph for _, graph in found}
            lines.append({
                "problem": lesson.problem.title,
                "when": condition(way, lesson.problem.units),
                "take": leaf.strategy,
                "graphs": len({one.group for one in leaf.observations if one.dataset in timed or not name}),
                "CPU": name or None,
                "speed-up": center(values) if len(values) else None,
                "least": float(values.min()) if len(values) else None,
                "most": float(values.max()) if len(values) else None,
            })  # fmt: skip
    return lines


def regrets(known):
    """A row per problem and method of choice: time over the best time, on graphs outside the fit."""
    lines = []
    for lesson in known:
        for name, text in CHOSEN_BY.items():
            regret = getattr(lesson, name)
            if regret.judged and not (name == "beside_auto" and regret == lesson.unseen):
                lines.append({
                    "problem": lesson.problem.title,
                    "chosen by": text,
                    "times the best": regret.mean,
                    "at worst": regret.worst,
                    "on": regret.where,
                    "as good as the best": f"{regret.right} of {regret.judged}",
                })  # fmt: skip
    return lines


def picture(known):
    """Draw each problem's decision tree, and beside each leaf its speed-ups on the recorded graphs.

    Parameters
    ----------
    known : sequence of Lesson

    Returns
    -------
    matplotlib Figure
    """
    heights = [max(len(leaves(lesson.tree)), 1.5) for lesson in known]
    figure = plt.figure(figsize=(WIDTH, 0.55 + 0.42 * sum(heights) + 0.2 * len(known)))
    grid = figure.add_gridspec(len(known), 2, width_ratios=[2.1, 1], height_ratios=heights)
    first = None
    for row, (lesson, height) in enumerate(zip(known, heights, strict=True)):
        left = figure.add_subplot(grid[row, 0])
        right = first = figure.add_subplot(grid[row, 1], sharex=first)
        _tree(left, lesson, height)
        _gains(right, lesson, height)
        right.tick_params(labelbottom=row == len(known) - 1)
    first.set_xlabel("speed-up over the plain one")
    return figure


def _rows(lesson, height):
    """Where each leaf stands: evenly, from the top."""
    count = len(leaves(lesson.tree))
    return [(k + 0.5) * height / count for k in range(count)]


def _colors(lesson):
    return color_of(list(dict.fromkeys(leaf.strategy for leaf, _ in leaves(lesson.tree))))


def _tree(ax, lesson, height):
    places = dict(zip((id(leaf) for leaf, _ in leaves(lesson.tree)), _rows(lesson, height), strict=True))
    colors = _colors(lesson)
    ax.set(xlim=(0, 3), ylim=(height, 0), xticks=[], yticks=[], title=lesson.problem.title)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)

    def line(xs, ys):
        ax.plot(xs, ys, color=FAINT, linewidth=0.8, zorder=1)

    def draw(tree, x):
        if isinstance(tree, Leaf):
            y = places[id(tree)]
            graphs = len({one.group for one in tree.observations})
            line([x, 2.3], [y, y])
            ax.text(2.98, y, tree.strategy, ha="right", va="center", fontsize=8, weight="bold",
                    color=colors[tree.strategy][0])  # fmt: skip
            plain, _ = ratios(lesson.problem.plain, tree.strategy, tree.observations)
            told = f"{graphs} graphs" + (f", over {plain}" if plain else "")
            ax.text(2.98, y + 0.3, told, ha="right", va="center", fontsize=5.5, color="#666666")
            return y
        low, high = draw(tree.low, x + STEP), draw(tree.high, x + STEP)
        line([x, x], [low, high])
        for y, above in ((low, False), (high, True)):
            line([x, x + STEP], [y, y])
            told = textwrap.fill(branch(lesson.problem.units, tree.feature, tree.threshold, above), LETTERS)
            ax.text(x + 0.04, y - 0.06, told, ha="left", va="bottom", fontsize=5.1, color=INK,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
        return (low + high) / 2

    if isinstance(lesson.tree, Leaf):
        ax.text(0.04, height / 2 - 0.06, "any", ha="left", va="bottom", fontsize=5.1, color=INK)
    draw(lesson.tree, 0)


def _gains(ax, lesson, height):
    colors = _colors(lesson)
    ax.axvline(1, color=INK, linewidth=0.8)
    for (leaf, _), y in zip(leaves(lesson.tree), _rows(lesson, height), strict=True):
        values = np.sort([value for value, _ in ratios(lesson.problem.plain, leaf.strategy, leaf.observations)[1]])
        spread = 0.16 * np.where(np.arange(len(values)) % 2, 1, -1)
        color, marker = colors[leaf.strategy]
        ax.plot(values, y + spread, marker, color=color, markersize=3, linestyle="none", alpha=0.8)
        if len(values):
            ax.plot(center(values), y, "|", color=INK, markersize=11)
    ax.set(xscale="log", ylim=(height, 0), yticks=[])
    ax.grid(axis="y", visible=False)
    decades(ax.xaxis)


def sentences(known, machine, absent):
    """Sentences for the report, generated from the regrets."""
    told = []
    for lesson in known:
        regret, family, one = lesson.unseen, lesson.unfamiliar, lesson.one
        if not regret.judged:
            continue
        text = (
            f"For {lesson.problem.title} the rule's regret is {_percent(regret.mean)} on graphs left out (geometric "
            f"mean over {regret.judged}; at worst {significant(regret.worst)} times the best time, on {regret.where})"
        )
        if len(leaves(lesson.tree)) > 1 and one.judged:
            text += f", that of one strategy for all graphs {_percent(one.mean)}"
        if family.judged and family.mean > 1.03 * regret.mean:
            text += f"; with the whole family left out it is {_percent(family.mean)}"
        if lesson.auto.judged:
            text += f"; {_compared(lesson)}"
            if lesson.auto_is_better:
                text += ", so use that where available"
        timed = {name for seen in lesson.observations for name in seen.times}
        if unweighed := [name for name in lesson.problem.strategies() if name not in timed]:
            names = ", ".join(f"`{name}`" for name in unweighed)
            text += f"; not considered, for lack of times on these graphs: {names}"
        told.append(text + ".")
    if absent:
        titles = ", ".join(PROBLEMS[name].title for name in absent)
        told.append(f"Without recorded times on {machine}, and so without advice: {titles}.")
    return told


def _compared(lesson):
    """The study's own choice against the rule, on the same graphs."""
    if lesson.beside_auto == lesson.unseen:
        return f"that of the study's own `auto` is {_percent(lesson.auto.mean)} on the same {lesson.auto.judged} graphs"
    return (
        f"on the {lesson.auto.judged} graphs on which the study's own `auto` is timed too, its regret is "
        f"{_percent(lesson.auto.mean)}, the rule's {_percent(lesson.beside_auto.mean)}"
    )


def brief(known):
    """The rules' regret on graphs outside their fit, and where a study's own `auto` has less."""
    judged = [lesson for lesson in known if lesson.unseen.judged]
    if not judged:
        return []
    regrets = listed(f"{_percent(lesson.unseen.mean)} for {lesson.problem.title}" for lesson in judged)
    better = [
        f"{lesson.problem.title} ({_percent(lesson.auto.mean)} against the rule's {_percent(lesson.beside_auto.mean)} "
        f"on {lesson.auto.judged} graphs)"
        for lesson in judged
        if lesson.auto_is_better
    ]
    told = [f"On graphs outside the fit its regret against the best strategy on each is {regrets}."]
    return told + ([f"The study's own `auto` has less, so use that, for {listed(better)}."] if better else [])


def stale_choices(known, stale, recordings=None, results=None):
    """Which of the times behind `choices` are of earlier code: a sentence, or none.

    Parameters
    ----------
    known : list of Lesson
    stale : callable
        See `claims.summary`.
    recordings, results : path, optional
        By default the project's.
    """
    found = []
    for lesson in known:
        problem, names = lesson.problem, set()
        old = stale(observed.rows(problem, lesson.machine, recordings, results))
        old = set(zip(old["strategy"], old["dataset"], strict=True))
        for leaf, _ in leaves(lesson.tree):
            beside = [ratios(side, leaf.strategy, leaf.observations)[0] for side in (problem.published, problem.plain)]
            seen = {one.dataset for one in leaf.observations}
            names |= {name for name in (leaf.strategy, *beside) if any((name, graph) in old for graph in seen)}
        if names:
            found.append(f"{problem.title} (`{'`, `'.join(sorted(names))}`)")
    return [f"Times of earlier code are behind {listed(found)}."] if found else []


def _percent(mean):
    return f"{significant(100 * (mean - 1), 2)} %" if mean < 2 else f"a factor of {significant(mean, 2)}"


def publish(machine=None, generated=None, drawn=None, recordings=None, results=None, stale=None):
    """Write picture, tables and numbers for the report; with no machine recorded, numbers that say so.

    Parameters
    ----------
    machine : str, optional
    generated, drawn : path, optional
        Folders of tables and numbers, and of figures; by default the project's.
    recordings, results : path, optional
    stale : callable, optional
        See `stale_choices`.

    Returns
    -------
    list of Lesson
        What the guide rests on.
    """
    from lockstep.report import style

    name = machine_of(machine, recordings, results)
    found = lessons(name, recordings, results) if name else dict.fromkeys(PROBLEMS)
    known = [lesson for lesson in found.values() if lesson is not None]
    absent = [problem for problem, lesson in found.items() if lesson is None]
    values = {"machine": name, "problems": len(known), "summary": sentences(known, name or "any machine", absent)}
    values["brief"] = brief(known)
    values["aged"] = stale_choices(known, stale, recordings, results) if stale else []
    if known:
        style.use()
        save(picture(known), f"{NAME}/decisions", drawn)
        table(choices(known), f"{NAME}/choices", generated)
        table(regrets(known), f"{NAME}/regrets", generated)
        values["captions"] = {
            "decisions": f"Decision trees for {name}: the questions of each problem's rule, and beside each answer the "
            "speed-up of the choice over the plain alternative on the recorded graphs that lead there "
            "(a dot a graph, each numbering of one and each measure of a batch apart; none where the plain alternative "
            "was not timed; a bar their geometric mean)."
        }
        values["tables"] = {
            "choices": f"The guide for {name}: condition, choice, recorded graphs with a time of the CPU's strategy, "
            "and speed-up over it.",
            "regrets": "Regret: time over that of the best strategy, as a geometric mean over graphs left out of the "
            "rule's fit. The same test selected the number of questions.",
        }
    numbers(NAME, values, generated)
    return known
