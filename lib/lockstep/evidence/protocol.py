"""What is fixed before rows are seen: `paper/protocol.yaml`, and whether ledger, parameters and recordings keep to it.

The file holds digests of what the ledger judges and of what the parameter file measures. Whoever changes either adds an
amendment that says what and why, with the new digests; a recording made by the protocol is listed with the amendment
that it was made under, and its commits descend from the one that the amendment names.
"""

import hashlib
import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import yaml

from lockstep import paths
from lockstep.evidence import ledger, power

FILE = "protocol.yaml"
JUDGED = ("id", "relation", "kind", "population", "bound", "bounds", "factor", "published", "select", "readings")
NOT_SCIENCE = ("seconds",)  # of a part of the parameter file: what it is expected to take


def digests(claims=None, config=None):
    """{"claims", "config"}: what the ledger judges, and what is measured for it; words and predictions left out."""
    parts = [{name: value for name, value in asdict(part).items() if name in JUDGED} for part in ledger.load(claims)]
    studies = yaml.safe_load(Path(config or paths.CONFIG / "paper.yaml").read_text())["studies"]
    for study in studies.values():
        for part in study["parts"].values():
            for name in NOT_SCIENCE:
                part.pop(name, None)
    texts = {"claims": parts, "config": studies}
    return {name: hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()[:16]
            for name, what in texts.items()}  # fmt: skip


def load(file=None):
    """The protocol as a mapping."""
    return yaml.safe_load(Path(file or paths.PAPER / FILE).read_text())


def departures(protocol, now=None, root=None):
    """Where the project does not keep to its protocol, in words; none is good.

    Parameters
    ----------
    protocol : mapping
        See `load`.
    now : mapping, optional
        Present digests; by default the project's.
    root : path, optional
        A checkout with its history and data/recordings; by default the project's.
    """
    root, now, found = Path(root or paths.ROOT), now or digests(), []
    versions = [protocol["fixed"], *protocol.get("amendments", [])]
    for name, digest in now.items():
        if versions[-1][name] != digest:
            what = "judged" if name == "claims" else "measured"
            told = f"add an amendment to {FILE} that says what and why"
            found.append(f"{name}: what is {what} has changed ({digest}); {told}")
    for folder, number in protocol.get("recordings", {}).items():
        machine = json.loads((root / "data/recordings" / folder / "machine.json").read_text())
        for commit in dict.fromkeys(run["commit"] for run in machine["runs"]):
            if not _descends(root, commit, versions[number]["commit"]):
                found.append(f"{folder}: measured at {commit}, which does not descend from the protocol's commit")
    return found


def _descends(root, commit, ancestor):
    told = subprocess.run(["git", "merge-base", "--is-ancestor", ancestor, commit], cwd=root, capture_output=True)
    return told.returncode == 0


def needs(judged):
    """What each part needs by a pilot's verdicts, as the protocol holds it: {part: {unit, pilot, power, needed}}."""
    table = power.table(judged)
    return {line.part: {"unit": line.unit, "pilot": line.pilot, "power": round(line.power, 2),
                        "needed": None if line.needed != line.needed else int(line.needed)}
            for line in table.itertuples()}  # fmt: skip


def render(judged, pilot, commit, recordings=2):
    """The text of a protocol that is fixed now.

    Parameters
    ----------
    judged : DataFrame
        The pilot's verdicts, of one machine.
    pilot : str
        Its name.
    commit : str
        The one whose ledger and parameters are fixed.
    recordings : int
        How many will be made by it, each after a start of the machine of its own.
    """
    lines = [f"  {part}: {json.dumps(need).replace(chr(34), '')}" for part, need in needs(judged).items()]
    fixed = {"commit": commit, **digests()}
    return (
        f"""{HEAD}
fixed: {json.dumps(fixed)}
amendments: []  # - {{commit: ..., claims: ..., config: ..., what: ..., why: ...}}
recordings: {{}}  # folder below data/recordings: number of the version it was made under, 0 for `fixed`
planned: {{recordings: {recordings}, power: {power.POWER}, level: 0.05, least: 1.05}}
pilot: {pilot}
parts:
"""
        + "\n".join(lines)
        + "\n"
    )


HEAD = """\
# What is fixed before the rows of the next recordings are seen. Its rules:
#   - All that a part of the parameter file measures is recorded and counts; no round, graph or strategy is left out for
#     what it showed. A part that was interrupted is measured whole again, or not counted.
#   - Each recording has a start of the machine of its own; none is repeated because a verdict was close.
#   - The kind, unit and population of each claim are the ledger's (paper/claims.yaml); its digest is below.
#   - Rounds, graphs, strategies and tuned options are the parameter file's (config/paper.yaml); its digest is below.
#   - Roads: the verdicts of A3, A5, A6b, A10, A11, A15 and A17 go over from `road` (row by row, 8 to 10 diagonals) to
#     `road-curved` with the first recording that holds both its parts.
#   - Scale-free graphs: the verdicts of A2, A4, A6a, A7, A8, A9, A12 and A23a, and the scale-free half of A1, A6c, A11,
#     A14, A15, A17, A20c and A22, go over from `scale-free` (degrees that fall as a power of their rank: too even) to
#     `scale-free-skewed` with the first recording that holds its parts for STACK, IMDB, CITP, POKEC, BGG and WIKI.
# `parts` says what each tested part had in the pilot, and of what it needs how many for the power of `planned` at the
# level that Holm's adjustment leaves the least favored part of its paper: effect and scatter are the pilot's, the
# effect at least 5 %. null: not to be had. A part that needs more than will be recorded may stay undecided; that is no
# reason to look again."""
