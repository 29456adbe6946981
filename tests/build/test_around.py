"""The files around the project say what its own say: metadata, container, editor, continuous integration."""

import json
import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from lockstep import paths

PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITED = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_codemeta_says_what_citation_and_project_say():
    told = json.loads((paths.ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert told["version"] == CITED["version"] == PROJECT["version"]
    assert told["description"] == " ".join(CITED["abstract"].split()) and told["keywords"] == CITED["keywords"]
    assert [one["name"] for one in told["author"]] == [one["name"] for one in CITED["authors"]]
    assert told["license"].rpartition("/")[2] == CITED["license"] == PROJECT["license"]
    assert told["softwareRequirements"] == [Requirement(line).name for line in PROJECT["dependencies"]]


def test_the_container_copies_what_is_there_and_sets_up_by_make():
    text = (paths.ROOT / "Containerfile").read_text(encoding="utf-8")
    first, rest = re.findall(r"^COPY (.+) \S+$", text, re.M)[:2]
    for name in [*first.split(), *rest.split()]:
        assert list(paths.ROOT.glob(name)), name
    assert "make setup" in text and 'CMD ["make"]' in text
    python = re.search(r"^FROM python:(3\.\d+)", text, re.M)[1]
    assert SpecifierSet(PROJECT["requires-python"]).contains(python)
    ignored = (paths.ROOT / ".containerignore").read_text()
    assert (paths.ROOT / ".dockerignore").read_text() == ignored and "results" in ignored.split()


def test_the_editor_s_container_is_that_one():
    told = json.loads((paths.ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert (paths.ROOT / ".devcontainer" / told["build"]["dockerfile"]).resolve() == paths.ROOT / "Containerfile"
    assert told["postCreateCommand"].startswith("make setup")


def test_continuous_integration_runs_the_same_script_on_each_python():
    told = yaml.safe_load((paths.ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8"))
    (job,) = told["jobs"].values()
    supported = [f"3.{minor}" for minor in range(20) if SpecifierSet(PROJECT["requires-python"]).contains(f"3.{minor}")]
    assert job["strategy"]["matrix"]["python"] == supported
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert ".ci/run" in runs and "make crate" in runs
    targets = re.findall(r"^([a-z]+):", (paths.ROOT / "Makefile").read_text(), re.M)
    assert all(run.split()[1] in targets for run in runs if run.startswith("make "))


@pytest.mark.parametrize("page", ["artifact"])
def test_the_commands_of_a_page_are_make_s_or_the_command_line_s(page):
    from lockstep import cli

    text = (paths.ROOT / "docs" / "use" / f"{page}.md").read_text(encoding="utf-8")
    targets = {"", *re.findall(r"^([a-z]+):", (paths.ROOT / "Makefile").read_text(), re.M)}
    known = next(action for action in cli.parser()._actions if action.choices).choices
    blocks = "\n".join(re.findall(r"```\n(.*?)```", text, re.S))
    for line in filter(None, blocks.splitlines()):
        words = line.partition("#")[0].split()
        if words[0] == "make":
            assert (words[1:] or [""])[0] in targets, line
        elif words[0] == "lockstep":
            assert words[1] in known, line
    assert "make" in blocks and "lockstep" in blocks
