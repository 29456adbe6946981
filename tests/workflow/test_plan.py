"""Parameter files: what is refused, in which words, and what a change of one size touches."""

import json

import pytest
import yaml

from lockstep import paths
from lockstep.workflow import plan

GOOD = {"studies": {"3-toposort-depth": {"parts": {"depth": {"seconds": 20, "rounds": 3, "depths": [1, 10]}}}}}


def written(tmp_path, content):
    file = tmp_path / "small.yaml"
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return file


@pytest.mark.parametrize("size", ["smoke", "paper"])
def test_the_two_parameter_files_are_valid(size):
    studies = plan.load(paths.CONFIG / f"{size}.yaml")
    for study, block in studies.items():
        assert (paths.NOTEBOOKS / f"{study}.ipynb").is_file()
        assert block["parts"], f"{study} measures nothing"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"studis": {}}, ["top level", "studies is missing", "found: studis"]),
        (
            {"studies": {"0-a": {"parts": {"b": {"seconds": 1}}}}, "more": 1},
            ["top level", "unknown key more", "known: studies"],
        ),
        (
            {"studies": {"3-toposort-depth": {"part": {}, "parts": {}}}},
            ["studies.3-toposort-depth", "unknown key part"],
        ),
        (
            {"studies": {"3-toposort-depth": {"parts": {"depth": {"rounds": 3}}}}},
            ["studies.3-toposort-depth.parts.depth", "seconds is missing"],
        ),
        (
            {"studies": {"3-toposort-depth": {"parts": {"depth": {"seconds": "ten"}}}}},
            ["studies.3-toposort-depth.parts.depth.seconds", "expected a number", '"ten"'],
        ),
        (
            {"studies": {"3-toposort-depth": {"parts": {"depth": {"seconds": 5000}}}}},
            ["yaml: studies.3-toposort-depth.parts.depth.seconds must be smaller than or equal to 540"],
        ),
        ({"studies": {"toposort": {"parts": {}}}}, ["studies", "unknown key toposort", "^[0-9]+-"]),
        ({"studies": {"3-toposort-depth": None}}, ["expected an object"]),
        ({"studies": {"3-toposort-depth": {"parts": {"all": {"seconds": 1}}}}}, ["unknown key all"]),
    ],
)
def test_an_error_names_file_key_and_expectation(tmp_path, change, words):
    with pytest.raises(plan.ConfigError) as caught:
        plan.load(written(tmp_path, change))
    for word in ["small.yaml", *words]:
        assert word in str(caught.value)


def test_a_missing_file_is_told_with_what_there_is():
    with pytest.raises(plan.ConfigError, match="config/huge.yaml: no such parameter file; there is: paper, smoke"):
        plan.load(paths.CONFIG / "huge.yaml")


def test_broken_yaml_names_the_line(tmp_path):
    with pytest.raises(plan.ConfigError, match=r"small\.yaml line \d+: not YAML"):
        plan.load(written(tmp_path, "studies:\n  a: [1,\n  b: 2\n"))


def test_blocks_are_rewritten_only_when_they_change(tmp_path):
    studies = plan.load(written(tmp_path, GOOD))
    plan.write_blocks(studies, tmp_path / "config")
    block = tmp_path / "config/3-toposort-depth/depth.json"
    assert json.loads(block.read_text())["part"] == {"rounds": 3, "depths": [1, 10]}
    before = block.stat().st_mtime_ns
    studies["3-toposort-depth"]["parts"]["depth"]["seconds"] = 30  # a better prediction changes no measurement
    plan.write_blocks(studies, tmp_path / "config")
    assert block.stat().st_mtime_ns == before
    studies["3-toposort-depth"]["parts"]["depth"]["depths"] = [1]
    plan.write_blocks(studies, tmp_path / "config")
    assert json.loads(block.read_text())["part"]["depths"] == [1]
