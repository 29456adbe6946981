"""What is fixed before rows are seen: the project keeps to it, and departures are named."""

import json
import subprocess

import pytest

from lockstep import paths
from lockstep.evidence import ledger, protocol


def test_the_project_keeps_to_its_protocol():
    assert protocol.departures(protocol.load()) == []


def test_the_protocol_names_parts_of_the_ledger_and_versions_that_there_are():
    fixed = protocol.load()
    assert set(fixed["parts"]) <= {part.id for part in ledger.load()}
    assert all(number <= len(fixed["amendments"]) for number in fixed["recordings"].values())
    for one in [fixed["fixed"], *fixed["amendments"]]:
        asked = ["git", "cat-file", "-e", one["commit"]]
        if subprocess.run(asked, cwd=paths.ROOT, capture_output=True).returncode == 0:  # else history is not here
            assert protocol._descends(paths.ROOT, "HEAD", one["commit"])


def test_a_bound_or_a_number_of_rounds_is_fixed_and_a_prediction_is_not(tmp_path):
    known = protocol.digests()
    text = (paths.CONFIG / "paper.yaml").read_text()
    (tmp_path / "a.yaml").write_text(text.replace("seconds: 60", "seconds: 61"))
    (tmp_path / "b.yaml").write_text(text.replace("rounds: 12", "rounds: 3", 1))
    assert protocol.digests(config=tmp_path / "a.yaml") == known
    assert protocol.digests(config=tmp_path / "b.yaml")["config"] != known["config"]
    claims = (paths.PAPER / "claims.yaml").read_text()
    (tmp_path / "c.yaml").write_text(claims.replace("bound: 1.1", "bound: 1.2", 1))
    (tmp_path / "d.yaml").write_text(claims.replace("Work stealing between workgroups", "Stealing between workgroups"))
    assert protocol.digests(claims=tmp_path / "c.yaml")["claims"] != known["claims"]
    assert protocol.digests(claims=tmp_path / "d.yaml") == known


@pytest.fixture
def checkout(tmp_path):
    """A repository whose second commit fixes a protocol, and a recording made at its third."""

    def git(*words):
        told = subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=tmp_path,
                              capture_output=True, text=True, check=True)  # fmt: skip
        return told.stdout.strip()

    git("init", "-q")
    commits = []
    for name in "abc":
        git("commit", "-q", "--allow-empty", "-m", name)
        commits.append(git("rev-parse", "HEAD"))

    def measured(commit):
        folder = tmp_path / "data/recordings/gpu"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "machine.json").write_text(json.dumps({"runs": [{"commit": commit}]}))

    return tmp_path, commits, measured


def test_a_recording_of_before_the_protocol_is_none_by_it(checkout):
    root, (before, fixed, after), measured = checkout
    now = {"claims": "x", "config": "y"}
    known = {"fixed": {"commit": fixed, **now}, "amendments": [], "recordings": {"gpu": 0}}
    measured(after)
    assert protocol.departures(known, now, root) == []
    measured(before)
    (told,) = protocol.departures(known, now, root)
    assert before in told and "descend" in told


def test_a_change_without_an_amendment_is_named(checkout):
    root, (_, fixed, after), _ = checkout
    known = {"fixed": {"commit": fixed, "claims": "x", "config": "y"}}
    (told,) = protocol.departures(known, {"claims": "x", "config": "z"}, root)
    assert told.startswith("config: what is measured has changed (z)")
    known["amendments"] = [{"commit": after, "claims": "x", "config": "z", "what": "more rounds", "why": "a test"}]
    assert protocol.departures(known, {"claims": "x", "config": "z"}, root) == []


def test_what_a_part_needs_by_a_pilot():
    import pandas as pd

    judged = pd.DataFrame([{
        "machine": "m", "part": "X1", "paper": "X", "verdict": "holds", "kind": "direction", "relation": "above",
        "population": "collection", "unit": "x", "value": 1.5, "p": 0.04, "n": 32, "graphs": 8, "recordings": 1,
    }])  # fmt: skip
    need = protocol.needs(judged)["X1"]
    assert need["unit"] == "graphs" and need["needed"] > 8
