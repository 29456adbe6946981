"""The wheel works anywhere: from a foreign folder, where neither the package nor the home can be written, on no GPU."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lockstep import paths

USE = """
import os
from pathlib import Path
from lockstep import paths
from lockstep.cli import main
from lockstep.graphs import read
from lockstep.toposort import topological_sort

assert paths.ROOT == Path(os.environ["UNPACKED"]) / "lockstep/compendium", paths.ROOT
assert main(["advise", "karate"]) == 0
assert main(["sort", "graph.txt"]) == 0
assert topological_sort(read("graph.txt")).order.tolist() == [0, 1, 2]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout; skipped where its build back end cannot be had."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(paths.ROOT)]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode and "hatchling" in done.stderr:
        pytest.skip("hatchling is not here and cannot be fetched")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_it_is_small(wheel):
    assert wheel.stat().st_size < 25e6


def test_it_works_where_nothing_can_be_written_inside_a_foreign_project(wheel, tmp_path):
    unpacked, project = tmp_path / "unpacked", tmp_path / "project"
    zipfile.ZipFile(wheel).extractall(unpacked)
    for folder in [p for p in (unpacked / "lockstep").rglob("*/") if p.is_dir()] + [unpacked / "lockstep"]:
        (folder / "__pycache__").write_text("a file, so that nothing is kept here, not even by root")
    project.mkdir()
    (project / "Snakefile").touch()
    (project / "graph.txt").write_text("0 1\n1 2\n0 2\n")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("LOCKSTEP_", "NUMBA_"))}
    settings |= {"HOME": "/proc/none", "PYTHONPATH": str(unpacked), "UNPACKED": str(unpacked), "TMPDIR": str(tmp_path)}
    settings["CUDA_VISIBLE_DEVICES"] = ""
    command = [sys.executable, "-c", USE]
    done = subprocess.run(command, cwd=project, env=settings, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no times recorded" not in done.stdout, "the wheel carries the recordings"
    left = {p.name for p in tmp_path.iterdir()} - {"unpacked", "project"}
    assert not {name for name in left if name.startswith("lockstep-")}, "scratch folders go with the process"
    assert [p.name for p in project.iterdir()] != [] and not (project / "results").exists()


def test_the_checkout_is_found_by_the_package_and_not_by_the_current_folder(tmp_path):
    (tmp_path / "Snakefile").touch()
    command = [sys.executable, "-c", "from lockstep import paths; print(paths.ROOT)"]
    told = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=True).stdout.strip()
    assert Path(told) == paths.ROOT
    settings = {**os.environ, "LOCKSTEP_ROOT": str(tmp_path)}
    told = subprocess.run(command, cwd="/", env=settings, text=True, capture_output=True, check=True).stdout.strip()
    assert Path(told) == tmp_path.resolve()


BARE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from lockstep.cli import main

for words in (["advise", "karate"], ["claims", "--study", "sgd"], ["sort", "graph.txt"], ["color", "graph.txt"],
              ["paths", "graph.txt", "--source", "0"], ["machine"]):
    assert main(words) == 0, words
assert main(["compare", "toposort", "graph.txt", "--plot", "ranking.svg"]) == 2
"""


def test_commands_need_none_of_the_extras_and_name_what_they_lack(tmp_path):
    """The libraries of the extras cannot be imported, as if `pip install lockstep` alone had been run."""
    from lockstep.cli import EXTRAS

    (tmp_path / "graph.txt").write_text("0 1\n1 2\n0 2\n")
    absent = {*EXTRAS, "snakemake", "fastjsonschema", "psutil", "IPython"}
    command = [sys.executable, "-c", BARE.replace("ABSENT", repr(absent))]
    settings = {**os.environ, "LOCKSTEP_ROOT": str(paths.ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=settings, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "matplotlib is not installed; it comes with: pip install 'lockstep[compendium]'" in done.stderr
