"""What README.md tells people to type exists, and its Python examples run."""

import re
import shlex

import networkx as nx
import pytest

from lockstep import cli, paths
from lockstep.workflow import plan

TEXT = (paths.ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
TYPED = [line.partition("#")[0].strip() for kind, text in BLOCKS if not kind for line in text.splitlines()]
TYPED += re.findall(r"`((?:lockstep|make|snakemake)(?: [^`]*)?)`", TEXT)
VALUES = {"S": "0", "N": "2"}  # where a word stands for a number


def typed(command):
    return sorted({line for line in TYPED if line.split()[:1] == [command]})


@pytest.mark.parametrize("line", typed("lockstep"))
def test_a_command_is_one_of_the_command_line(line):
    words = shlex.split(line)[1:]
    if not words:
        return
    words = ["3" if word == "STUDY" else VALUES.get(word, word) for word in words]
    if words == ["advise"] or words == ["color"]:
        words.append("FILE")
    if words[0] == "swarm" and "--out" not in words:
        words += ["INPUT", "--out", "DIR"]
    cli.parser().parse_args(words)  # SystemExit where there is no such command or option


def test_all_commands_are_named():
    known = next(action for action in cli.parser()._actions if action.dest == "==SUPPRESS==" or action.choices).choices
    assert set(known) <= {line.split()[1] for line in typed("lockstep") if " " in line}


@pytest.mark.parametrize("line", typed("make"))
def test_a_goal_of_make_exists(line):
    goals = re.findall(r"^([a-z]+):", (paths.ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    settings = [word.partition("=")[0] for word in line.split()[1:] if "=" in word]
    assert set(settings) <= {"CUDA", "PYTHON", "UV"}
    assert {word for word in line.split()[1:] if "=" not in word} <= {*goals, "again"}


def test_the_part_that_is_named_exists_at_both_sizes():
    named = set(re.findall(r"\)/(\d-[\w-]+)/([\w-]+)\.done", TEXT.replace("\n", " ")))
    assert named
    for study, part in named:
        assert part in plan.load(paths.ROOT / "config/paper.yaml")[study]["parts"]
        assert f"{study}.ipynb" in {file.name for file in paths.NOTEBOOKS.iterdir()}


@pytest.mark.parametrize("setting", sorted(set(re.findall(r"LOCKSTEP_[A-Z]+", TEXT))))
def test_a_setting_is_read_somewhere(setting):
    assert any(setting in file.read_text(encoding="utf-8") for file in (paths.ROOT / "lib").rglob("*.py"))


@pytest.mark.parametrize("anchor", sorted(set(re.findall(r"\]\(#([\w-]+)\)", TEXT))))
def test_a_link_within_leads_to_a_heading(anchor):
    headings = re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)
    assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_a_python_example_runs(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-graph.txt").write_text("0 1\n1 2\n0 2\n")
    folder = tmp_path / "folder" / "of" / "edge-lists"
    folder.mkdir(parents=True)
    nx.write_edgelist(nx.path_graph(5), folder / "a.txt", data=False)
    names = {}
    exec(compile(PYTHON[number], f"README.md, example {number + 1}", "exec"), names)
    if "result" in names:
        assert names["result"].order.tolist() == [0, 1, 2]
    elif "paths" in names:
        shown = re.search(r"# (\[.*\]) dijkstra$", PYTHON[number], re.MULTILINE)[1]
        assert capsys.readouterr().out.startswith(shown), "what the comment says"
    elif "near" in names:
        karate = nx.karate_club_graph()
        assert names["near"] == pytest.approx(nx.closeness_centrality(karate))
        assert names["between"] == pytest.approx(nx.betweenness_centrality(karate))
    else:
        assert list((tmp_path / "shards").glob("*.arrow"))
