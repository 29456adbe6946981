"""uv and conda install the same pins, hashed, and name no host."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from lockstep import paths
from lockstep.evidence import claims
from lockstep.workflow.wheelhouse import PRESENT, WANTED, closure, parse

LOCKS = ("requirements.lock", "requirements-cuda12.lock", "requirements-compiler.lock")
MAKEFILE = (paths.ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())


def pins(lock):
    """{name: version} of a lock's entries."""
    return dict(re.findall(r"^([a-z0-9][\w.-]*)==([^\s;]+)", (paths.ROOT / lock).read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_is_hashed_and_names_no_host(lock):
    text = (paths.ROOT / lock).read_text()
    assert "://" not in text
    assert "--index" not in text and "--find-links" not in text
    for block in re.split(r"\n(?=[a-z0-9])", text):
        assert "--hash=sha256:" in block, block.splitlines()[0]


@pytest.mark.parametrize("lock", LOCKS[:2])
def test_a_lock_has_one_version_of_each_package(lock):
    names = re.findall(r"^([a-z0-9][\w.-]*)==", (paths.ROOT / lock).read_text(), re.MULTILINE)
    assert len(names) == len(set(names)) > 100


def test_the_locks_differ_in_cuda_alone():
    one, other = (pins(lock) for lock in LOCKS[:2])
    differing = {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
    assert differing
    assert all(re.match(r"cupy-cuda|cuda-toolkit|nvidia-cuda", name) for name in differing), differing


@pytest.mark.parametrize(("lock", "extra"), [(LOCKS[0], "cuda13"), (LOCKS[1], "cuda12")])
def test_what_the_project_asks_for_is_in_the_lock(lock, extra):
    locked = pins(lock)
    asked = [*PROJECT["project"]["dependencies"]]
    extras = re.findall(r"--extra (\w+)", re.search("^EXTRAS.*", MAKEFILE, re.MULTILINE)[0])
    assert set(PROJECT["project"]["optional-dependencies"]) == {*extras, "cuda13", "cuda12"}
    asked += [line for name in extras for line in PROJECT["project"]["optional-dependencies"][name]]
    asked += PROJECT["project"]["optional-dependencies"][extra]
    for requirement in map(Requirement, asked):
        assert requirement.specifier.contains(locked[requirement.name]), str(requirement)


def test_the_wheel_asks_for_little_and_pins_nothing():
    asked = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
    assert len(asked) <= 12 and not {"igraph", "jupyterlab", "snakemake", "dask"} & {one.name for one in asked}
    assert all(one.operator != "==" for each in asked for one in each.specifier)


def test_the_conda_environment_is_python_and_the_same_lock():
    environment = yaml.safe_load((paths.ROOT / "environment.yml").read_text())
    assert set(environment) == {"name", "channels", "dependencies"}
    python, pip, from_pip = environment["dependencies"]
    assert SpecifierSet(PROJECT["project"]["requires-python"]).contains(python.removeprefix("python=") + ".0")
    assert pip == "pip"
    assert from_pip == {"pip": ["-r requirements.lock"]}


def test_the_citation_names_the_present_version():
    citation = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["project"]["version"]
    assert citation["license"] == PROJECT["project"]["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    # the papers that are judged, as the report cites them
    cited = (paths.PAPER / "refs.bib").read_text(encoding="utf-8").replace("{", "").replace("}", "")
    assert len(citation["references"]) == len(claims.papers())
    for paper in citation["references"]:
        families = [author["family-names"] for author in paper["authors"]]
        entry = next(text for text in cited.split("\n@") if f"title = {paper['title']}," in text)
        assert all(name in entry for name in families) and f"year = {paper['year']}," in entry


@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_wheelhouse_holds_what_is_wanted_and_lacking(python):
    packages = parse((paths.ROOT / "requirements.lock").read_text(), python)
    chosen = closure(packages, WANTED) - closure(packages, PRESENT)
    assert {"papermill", "ipykernel", "snakemake", "nbval", "fastjsonschema", "pulp"} <= chosen
    assert not chosen & {"numpy", "pandas", "cupy-cuda13x", "jupyterlab", "typst", "nvidia-cuda-nvrtc"}
    # whatever a chosen package needs is chosen too, or there already
    there = chosen | closure(packages, PRESENT)
    for name, entry in packages.items():
        if entry["via"] & chosen:
            assert name in there, f"{name}, needed by {entry['via'] & chosen}"
