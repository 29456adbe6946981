"""A run packed as an RO-Crate reads back: what ran, from what, to what, where."""

import json

import pytest

from lockstep import paths
from lockstep.evidence import computer
from lockstep.studies import PACKAGES
from lockstep.workflow import crate

rocrate = pytest.importorskip("rocrate.rocrate")


@pytest.fixture
def ran(tmp_path):
    """A checkout in small, after a run of the workflow."""
    root, here = tmp_path / "root", computer.describe_machine()["name"]
    names = [*crate.INPUTS, *crate.OUTPUTS, "Snakefile", *(f"notebooks/{study}.ipynb" for study in PACKAGES)]
    names += ["figures/0-machine/barriers.svg", "data/recordings/some-gpu/machine.json", "data/recordings/builds.csv"]
    for name in [*names, f"results/{here}/0-machine.csv", "results/other/0-machine.csv"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "CITATION.cff").write_text((paths.ROOT / "CITATION.cff").read_text())
    return root


@pytest.mark.parametrize("target", ["crate", "crate.zip"])
def test_it_reads_back(ran, tmp_path, target):
    found = rocrate.ROCrate(crate.write(tmp_path / target, ran))
    files = {one.id for one in found.data_entities}
    here = computer.describe_machine()["name"]
    assert {*crate.INPUTS, *crate.OUTPUTS, "figures/0-machine/barriers.svg", f"results/{here}/0-machine.csv"} <= files
    assert "results/other/0-machine.csv" not in files, "of another machine"
    run = found.get("#run")
    assert run["instrument"].id == "Snakefile" == found.mainEntity.id
    read = {one.id for one in run["object"]}
    assert read >= {*crate.INPUTS, "notebooks/3-toposort-depth.ipynb", "data/recordings/builds.csv"}
    assert {one.id for one in run["result"]} >= set(crate.OUTPUTS)
    assert json.loads(run["description"])["name"] == here
    assert "MIT" in str(found.license) and "Lockstep" in found.name


def test_where_typst_is_missing_there_is_no_report_to_pack(ran, tmp_path, monkeypatch):
    monkeypatch.setattr(crate, "has_typst", lambda: False)
    for name in ("report.pdf", "report.html"):
        (ran / "paper" / "generated" / name).unlink()
    files = {one.id for one in rocrate.ROCrate(crate.write(tmp_path / "crate", ran)).data_entities}
    assert "results/claims.csv" in files and "paper/generated/report.pdf" not in files


def test_without_a_run_it_says_what_is_missing(ran, tmp_path):
    (ran / "paper" / "generated" / "report.pdf").unlink()
    with pytest.raises(ValueError, match=r"paper/generated/report.pdf is not there; run snakemake --cores 1 first"):
        crate.write(tmp_path / "crate", ran)
