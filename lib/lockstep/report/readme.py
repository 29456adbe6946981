"""The parts of README.md that are made, not typed: what was found, the workflow's picture, the data's licences.

They stand between markers (`<!-- made: NAME -->` ... `<!-- end -->`). No rule writes them, for git tracks the
file: `make publish` does, on purpose, together with the recording that they tell of, and a test compares.
"""

import csv
import re
import subprocess
import sys

import matplotlib.pyplot as plt

from lockstep import paths
from lockstep.evidence import claims
from lockstep.report import figures, style, typeset
from lockstep.report.output import save
from lockstep.report.typeset import machines_of

MADE = re.compile(r"(<!-- made: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PICTURE = "published/verdicts"
PUBLISHED_CLAIMS = "published/claims.txt"  # what the workflow's first screen tells before the first run
HEADLINES = ("A2", "A3", "B2", "B5b", "C3", "D5a", "D10b", "E8a")
SENTENCE = 40  # letters from which on the name of a part stands for itself
SHORT = {"holds": "hold", "fails": "fail", "undecided": "undecided", "not testable here": "not testable here"}


def refresh(file=None, *, recordings=paths.RECORDINGS, paper=paths.PAPER):
    """Write the made parts of README.md anew, and the picture that it shows.

    Parameters
    ----------
    file : path, optional
        By default the project's README.md.
    recordings : path
        Recorded machines: only what is published counts, so that every clone makes the same text.
    paper : path
        Folder of the ledger; the picture and what `lockstep claims` prints go to its `published/`.

    Returns
    -------
    list of Path
        The files written.
    """
    file = file or paths.ROOT / "README.md"
    found = claims.summary(recordings=recordings, results=recordings)
    file.write_text(made(file.read_text(encoding="utf-8"), found, recordings), encoding="utf-8")
    told = paper / PUBLISHED_CLAIMS
    told.parent.mkdir(parents=True, exist_ok=True)
    told.write_text(found.text.rstrip() + "\n", encoding="utf-8")
    return [file, told, *picture(found, paper)]


def made(text, found, recordings=paths.RECORDINGS):
    """`text` with each part between markers made anew.

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
        "verdicts": lambda: verdicts(found, recordings),
        "headlines": lambda: headlines(found, recordings),
        "workflow": workflow,
        "licences": licences,
    }

    def part(match):
        if match[2] not in parts:
            raise ValueError(f"README.md asks for a part {match[2]!r}; there are {', '.join(parts)}")
        return f"{match[1]}{parts[match[2]]()}\n{match[4]}"

    return MADE.sub(part, text)


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
            counts = [(SHORT[word], int((here["verdict"] == word).sum())) for word in claims.VERDICTS]
            told = ", ".join(f"{count} {word}" for word, count in counts if count)
            cells.append("not measured" if (here["verdict"] == claims.VERDICTS[3]).all() else told)
        lines.append(" | ".join([f"| {paper['study']}", paper["message"], *cells]) + " |")
    others = [f"{_dated(one)}: {', '.join(one['studies'])}" for one in listed if not one["tested"]]
    if others:
        lines += ["", f"Recorded too, with rows that none of these claims is judged on: {'; '.join(others)}."]
    return "\n".join(lines)


def headlines(found, recordings=paths.RECORDINGS):
    """A line for each claim that a paper is remembered by: the published figure, and ours with its verdict."""
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
            told = typeset.told(judged.loc[(one["name"], name)])
            cells.append(f"{told['figure']}: {told['verdict']}" if told["figure"] else told["verdict"])
        what = part.of if len(part.of) > SENTENCE else ", ".join(text for text in (part.short, part.of) if text)
        lines.append(" | ".join([f"| {name}: {what}", typeset.published(part), *cells]) + " |")
    return "\n".join(lines)


def _dated(machine):
    return f"{machine['short']} ({', '.join(machine['dates'])})"


def picture(found, paper=paths.PAPER):
    """Every part of every claim as a square, on the machine with the most tested parts."""
    if found.verdicts.empty:
        return []
    style.use()
    tested = found.verdicts[found.verdicts["verdict"] != "not testable here"]["machine"].value_counts()
    lead = tested.index[0] if len(tested) else found.verdicts["machine"].iloc[0]
    ax = figures.mosaic(found.verdicts[found.verdicts["machine"] == lead], claims.papers())
    files = save(ax.figure, PICTURE, paper)
    plt.close("all")
    files[1].unlink()  # a page in the browser shows the SVG
    return files[:1]


def workflow():
    """Snakemake's own picture of the rules, as Mermaid text that code hosts draw."""
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "mermaid-js", "--forceall", "--config", "size=smoke"]
    told = subprocess.run(command, cwd=paths.ROOT, text=True, capture_output=True, check=True).stdout
    # Snakemake numbers the rules and draws its arrows in another order each time.
    names = dict(re.findall(r"(id\d+)\[(\w+)\]", told))
    arrows = sorted(f"    {names[one]} --> {names[other]}" for one, other in re.findall(r"(id\d+) --> (id\d+)", told))
    return "\n".join(["```mermaid", "flowchart LR", *arrows, "```"])


def licences():
    """The registered data sets: whose they are, under what licence, and their official address."""
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
