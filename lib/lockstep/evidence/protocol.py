"""Preregistration: `paper/protocol.yaml`, and whether ledger, parameters and recordings conform to it.

The file holds digests of the ledger's judged fields and of the parameter file. A change of either requires an amendment
with description, reason and new digests; a recording made under the protocol is listed with its amendment, and its
commits descend from the one that the amendment names.
"""

import hashlib
import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import yaml

from lockstep import paths
from lockstep.evidence import ledger, power, recording

FILE = "protocol.yaml"
JUDGED = ("id", "paper", "study", "relation", "kind", "population", "bound", "bounds", "factor", "published", "unit",
          "select", "readings", "untestable", "needs")  # fmt: skip
NOT_SCIENCE = ("seconds",)  # keys of a part left out of the digest: its expected run time


def digests(claims=None, config=None):
    """{"claims", "config"}: digests of the ledger's `JUDGED` fields and of the studies' parameters."""
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
    """Deviations of the project from its protocol, in words; empty if there are none.

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
        commits = dict.fromkeys(run["commit"] for run in recording.runs(root / "data/recordings" / folder))
        if not commits:
            found.append(f"{folder}: its machine.json is missing or lists no runs")
        for commit in commits:
            if not _descends(root, commit, versions[number]["commit"]):
                found.append(f"{folder}: measured at {commit}, which does not descend from the protocol's commit")
    return found


def _descends(root, commit, ancestor):
    told = subprocess.run(["git", "merge-base", "--is-ancestor", ancestor, commit], cwd=root, capture_output=True)
    return told.returncode == 0


def needs(judged):
    """Sample size of each part by a pilot's verdicts, in the protocol's form: {part: {unit, pilot, power, needed}}."""
    table = power.table(judged)
    return {line.part: {"unit": line.unit, "pilot": line.pilot, "power": round(line.power, 2),
                        "needed": None if line.needed != line.needed else int(line.needed)}
            for line in table.itertuples()}  # fmt: skip
