"""The generated parts of README.md: results, the workflow's rule graph, the data's licences.

They are between markers (`<!-- made: NAME -->` ... `<!-- end -->`). Since git tracks the file, no workflow rule writes
them: `make publish` does, together with the recording that they describe, and a test compares.
"""

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean

from lockstep import paths, studies
from lockstep.choose import tree
from lockstep.digits import significant
from lockstep.evidence import claims, telling
from lockstep.guide.drawing import stale_choices
from lockstep.guide.lessons import lessons, ratios
from lockstep.machine import MachineError, costs
from lockstep.provenance import stale
from lockstep.report import figures, wording
from lockstep.report.typeset import machines_of
from lockstep.workflow import pictures
from lockstep.workflow.screen import last_lines

MADE = re.compile(r"(<!-- made: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PUBLISHED_CLAIMS = "published/claims.txt"  # shown by the workflow's first screen before the first run
HEADLINES = ("A2", "A3", "B2", "B5b", "C3", "D5a", "D10b", "E1a")
LISTED = 15  # parts of earlier code, at most, that are named one by one
SENTENCE = 40  # characters above which a part's name is shown without the claim's


def refresh():
    """Regenerate the generated parts of README.md, its figures, and the output of `lockstep claims`.

    Only published recordings are used, not results measured here, so that every clone generates the same text.

    Returns
    -------
    list of Path
        The files written.
    """
    file, told = paths.ROOT / "README.md", paths.PAPER / PUBLISHED_CLAIMS
    found = claims.summary(recordings=paths.RECORDINGS, results=paths.RECORDINGS, stale=stale)
    file.write_text(made(file.read_text(encoding="utf-8"), found), encoding="utf-8")
    told.parent.mkdir(parents=True, exist_ok=True)
    told.write_text(found.text.rstrip() + "\n", encoding="utf-8")
    lead = _lead(found, paths.RECORDINGS)
    return [file, told, *(pictures.draw(found, lead) if lead else [])]


def made(text, found, recordings=paths.RECORDINGS):
    """`text` with each part between markers regenerated.

    Parameters
    ----------
    text : str
        What README.md holds.
    found : Summary
        What was judged, see `lockstep.evidence.claims.summary`.

    Raises
    ------
    ValueError
        For a marker whose part is not known.
    """
    parts = {
        "ladder": lambda: ladder(found, recordings),
        "choices": lambda: choices(found, recordings),
        "verdicts": lambda: verdicts(found, recordings),
        "headlines": lambda: headlines(found, recordings),
        "screen": lambda: screen(found),
        "workflow": workflow,
        "licences": licences,
    }

    def part(match):
        if match[2] not in parts:
            raise ValueError(f"README.md asks for a part {match[2]!r}; there are {', '.join(parts)}")
        return f"{match[1]}{parts[match[2]]()}\n{match[4]}"

    return MADE.sub(part, text)


def _lead(found, recordings):
    """Description of the lead machine, the first of `machines_of`; None without machines."""
    return next(iter(machines_of(found, recordings, recordings)), None)


def ladder(found, recordings=paths.RECORDINGS):
    """Cost of a step by mechanism on the lead machine, from study 0."""
    lead = _lead(found, recordings)
    try:
        cost = costs.of(lead["name"] if lead else None, recordings, recordings)
    except MachineError:
        return "What a step costs is not recorded on this machine."
    told = [f"**{_time(ns(cost))}** {how}" for _, how, ns in figures.MECHANISMS.values() if how]
    return f"On {lead['short']} one step costs {', '.join(told[:-1])}, and {told[-1]}."


def _time(ns):
    return f"{significant(ns / 1e3)} µs" if ns >= 1e3 else f"{significant(ns)} ns"


def guided(found, recordings=paths.RECORDINGS):
    """Name and lessons of the machine with the most lessons; of several, the first of `machines_of`."""
    known = [(one["short"], list(filter(None, lessons(one["name"], recordings, recordings).values())))
             for one in machines_of(found, recordings, recordings)]  # fmt: skip
    return max(known, key=lambda one: len(one[1]), default=("no machine", []))


def choices(found, recordings=paths.RECORDINGS):
    """The guide's choices by condition, and their speed-ups over the paper's strategy and over a CPU."""
    machine, known = guided(found, recordings)
    lines = [
        "| to compute | on graphs with | take | × the paper's way | × a CPU |",
        "|---|---|---|---|---|",
    ]
    over = {}
    for lesson in known:
        problem = lesson.problem
        for row, (leaf, way) in enumerate(tree.leaves(lesson.tree)):
            where = tree.condition(way, problem.units) if way else "any size"
            entry = studies.table(problem.name)[leaf.strategy]
            beside = [ratios(names, leaf.strategy, leaf.observations) for names in (problem.published, problem.plain)]
            over.setdefault(problem.title, [f"`{name}`" for name, _ in beside])
            gains = [_gain(*one, leaf.strategy) for one in beside]
            first = "| " if row else f"| {problem.title}"
            lines.append(" | ".join([first, where, f"`{leaf.strategy}`: {entry.what}", *gains]) + " |")
    sides = "; ".join(f"{title} {' and '.join(names)}" for title, names in over.items())
    about = f"On {machine}; ×: how many times as fast, transfers left out: a line's graphs' mean, least and most."
    old = stale_choices(known, stale, recordings, recordings)
    lines += ["", " ".join([about, f"The paper's way and the CPU's: {sides}.", *old])]
    return "\n".join(lines)


def _gain(name, pairs, strategy):
    """`31.5 (7.46 to 1,340)`: the mean over the graphs on which both were timed, the least and the most."""
    if name == strategy:
        return "it is one"
    values = [value for value, _ in pairs]
    if not values:
        return "not measured"
    span = f" ({significant(min(values))} to {significant(max(values))})" if len(values) > 1 else " (one graph)"
    return f"{significant(geometric_mean(values))}{span}"


def verdicts(found, recordings=paths.RECORDINGS):
    """A line a paper: its message, and how many parts of its claims hold, fail or stay open on each machine.

    A machine that has rows, but none that a claim is judged on, is named below.
    """
    listed = machines_of(found, recordings, recordings)
    machines = [one for one in listed if one["tested"]]
    shown = [_dated(one) for one in machines]
    lines = [
        " | ".join(["| study", "what its paper says", *(f"{name}: parts of its claims" for name in shown)]) + " |",
        "|---" * (2 + len(shown)) + "|",
    ]
    judged = found.verdicts
    for letter, paper in sorted(claims.papers().items(), key=lambda item: item[1]["study"]):
        cells = []
        for one in machines:
            here = judged[(judged["machine"] == one["name"]) & (judged["paper"] == letter)]
            cells.append("<br>".join(filter(None, [*telling.tally(here), telling.aged(here)])))
        lines.append(" | ".join([f"| {paper['study']}", paper["message"], *cells]) + " |")
    lines += _ages(judged)
    others = [f"{_dated(one)}: {', '.join(one['studies'])}" for one in listed if not one["tested"]]
    if others:
        lines += ["", f"Also recorded, but not used for any verdict: {'; '.join(others)}."]
    return "\n".join(lines)


def _ages(judged):
    """Which parts rest on rows of earlier code, and at which commits these were measured: a line a machine."""
    old = judged[judged["stale"] > 0]
    for machine, parts in old.groupby("machine", sort=False):
        at = ", ".join(dict.fromkeys(filter(None, parts["measured"])))
        yield ""
        if len(parts) > LISTED:
            yield f"{telling.STALE} {machine}: {len(parts)} parts, which `lockstep claims --machine {machine}` marks."
        else:
            yield f"{telling.STALE} {machine}: {', '.join(parts['part'])}" + (f", measured at {at}." if at else ".")


def headlines(found, recordings=paths.RECORDINGS):
    """A line for each of the best-known claims: the published figure, and ours with its verdict."""
    machines = [one for one in machines_of(found, recordings, recordings) if one["tested"]]
    parts = {part.id: part for part in claims.load()}
    judged = found.verdicts.set_index(["machine", "part"])
    lines = [
        " | ".join(["| claim", "published", *(one["short"] for one in machines)]) + " |",
        "|---" * (2 + len(machines)) + "|",
    ]
    for name in HEADLINES:
        part, cells = parts[name], []
        for one in machines:
            told = wording.told(judged.loc[(one["name"], name)])
            verdict = f"{told['verdict']} {telling.STALE}" if told["stale"] else told["verdict"]
            cells.append(f"{told['figure']}: {verdict}" if told["figure"] else verdict)
        what = part.of if len(part.of) > SENTENCE else ", ".join(text for text in (part.short, part.of) if text)
        lines.append(" | ".join([f"| {name}: {what}", wording.published(part), *cells]) + " |")
    lines += ["", *(f"{told}.  " for told in telling.differences(found.verdicts))]
    return "\n".join(lines)


def _dated(machine):
    first, *_, last = [*machine["dates"], machine["dates"][-1]]
    return f"{machine['short']} ({first if first == last else f'{first} to {last}'})"


def screen(found):
    """The last screen of `make` on a machine that adds no verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "claims.txt")
        told.write_text(found.text, encoding="utf-8")
        return "\n".join(["```", *last_lines(told, built=True), "```"])


def workflow():
    """Snakemake's rule graph as Mermaid text, which code hosts render."""
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "mermaid-js", "--forceall", "--config", "size=smoke"]
    told = subprocess.run(command, cwd=paths.ROOT, text=True, capture_output=True, check=True).stdout
    # Snakemake's numbering of rules and order of edges vary between calls.
    names = dict(re.findall(r"(id\d+)\[(\w+)\]", told))
    arrows = sorted(f"    {names[one]} --> {names[other]}" for one, other in re.findall(r"(id\d+) --> (id\d+)", told))
    return "\n".join(["```mermaid", "flowchart LR", *arrows, "```"])


def licences():
    """The registered data sets with source, licence and official address."""
    lines = ["| data sets | source | licence | official address |", "|---|---|---|---|"]
    together = {}
    with (paths.DATA / "datasets.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            home = re.match(r"https?://([^/]+)", row["url"] or "")
            carried = row["url"].startswith("builtin:")
            where = home[1] if home else "comes with a package" if carried else "no file: see `lockstep datasets`"
            key = (row["source"], row["licence"], where)
            together.setdefault(key, []).append(row["name"])
    for (source, licence, home), names in together.items():
        lines.append(f"| {', '.join(names)} | {source} | {licence} | {home} |")
    return "\n".join(lines)
