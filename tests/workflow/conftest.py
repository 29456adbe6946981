"""A tiny compendium in a folder of its own: this Snakefile and profile over studies that only count."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lockstep import paths
from lockstep.evidence import machine_name

# A study's notebook reduced to what the workflow relies on: rows are appended one by one, and rows that are
# there are not measured again. Each measured row leaves a line in `measured`: so tests see repetitions.
SOURCE = """
import csv, os, time
from pathlib import Path
import yaml
STUDY = {study!r}
folder = Path("results", os.environ["TEST_MACHINE"])
journal = folder / f"{{STUDY}}.csv"
sizes = yaml.safe_load(Path(config).read_text())["studies"][STUDY]["parts"]
there = set(journal.read_text().split()) if journal.exists() else set()
if part is None:
    Path("paper/generated", f"{{STUDY}}.json").write_text('{{"captions": {{"rows": "What was counted."}}}}')
    Path("figures", STUDY, "rows.svg").write_text(f"<svg>{{sorted(there)}}</svg>")
else:
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(sizes[part]["rows"]):
        row = f"{{part}}-{{k}}-{{sizes[part].get('size', 0)}}"
        if row not in there:
            time.sleep(sizes[part].get("pause", 0))
            if sizes[part].get("fail") == k:
                raise RuntimeError("row that fails on purpose")
            for file in (journal, folder / "measured"):
                with file.open("a") as out:
                    out.write(row + "\\n")
"""


def notebook(study, parameters="config = None\npart = None\nexecutor = None"):
    """A notebook with a parameters cell and one cell of work."""

    def cell(text, tags):
        return {
            "cell_type": "code",
            "execution_count": None,
            "id": tags[0] if tags else "work",
            "metadata": {"tags": tags},
            "outputs": [],
            "source": text,
        }

    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
        "cells": [cell(parameters, ["parameters"]), cell(SOURCE.format(study=study), [])],
    }


class Compendium:
    """A folder with two small studies, and Snakemake over it."""

    def __init__(self, root: Path):
        self.root = root
        for name in ("Snakefile", "profiles/default/config.yaml", "config/schema.yaml"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(paths.ROOT / name, root / name)
        shutil.copytree(paths.PAPER / "captions", root / "paper/captions")
        for package in ("toposort", "machine", "sssp"):
            self.write(f"lib/lockstep/{package}/kernels.cu", f"// {package}")
        self.write("lib/lockstep/evidence/study.py", "")
        self.write("data/datasets.csv", "name\n")
        self.write("results/datasets.csv", "name,status\n")  # newer than the registry: the data sets are known
        self.write("lib/lockstep/report/style.py", "")
        for study in ("0-machine", "3-toposort-depth"):
            self.write(f"notebooks/{study}.ipynb", json.dumps(notebook(study)))
        self.configure({"depth": {"rows": 3}, "tables": {"rows": 1}})

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def configure(self, depth_parts, costs=None):
        """Write config/smoke.yaml: the parts of study 3 and the sizes of study 0's only part."""
        studies = {"0-machine": {"costs": {"rows": 1, **(costs or {})}}, "3-toposort-depth": depth_parts}
        blocks = {
            study: {"parts": {part: {"seconds": 1, **sizes} for part, sizes in parts.items()}}
            for study, parts in studies.items()
        }
        self.write("config/smoke.yaml", json.dumps({"studies": blocks}))

    goals = ("paper/generated/0-machine.json", "paper/generated/3-toposort-depth.json")

    @staticmethod
    def done(part):
        """The file that says that a part of study 3 is measured."""
        return f"results/{machine_name()}/3-toposort-depth/{part}.done"

    def command(self, *words, goals=None):
        return [
            sys.executable,
            "-m",
            "snakemake",
            "--cores",
            "1",
            "--config",
            "size=smoke",
            *words,
            "--",
            *(self.goals if goals is None else goals),
        ]

    @property
    def environment(self):
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {
            **inherited,
            "LOCKSTEP_OFFLINE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "TEST_MACHINE": machine_name(),
        }

    def run(self, *words, goals=None, check=True):
        """Run Snakemake; returns the finished process with its text."""
        done = subprocess.run(
            self.command(*words, goals=goals),
            cwd=self.root,
            env=self.environment,
            text=True,
            capture_output=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def jobs(self, goals=None):
        """What a dry run would do: a list like ["measure 3-toposort-depth, part depth", ...]."""
        told = self.run("-n", goals=goals)
        lines = (told.stdout + told.stderr).splitlines()
        told = [line.partition(": ")[2] for line in lines if line.startswith("Job ")]
        return {job for job in told if job}  # the goal itself has no message

    def start(self):
        """Start Snakemake in a process group of its own, as a shell does for a command.

        A shell's background job ignores Ctrl-C, and its children do so too; this one shall not.
        """
        return subprocess.Popen(
            self.command(),
            cwd=self.root,
            env=self.environment,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def measured(self):
        """Rows in the order in which they were measured, repetitions included."""
        return [row for file in self.root.glob("results/*/measured") for row in file.read_text().split()]


@pytest.fixture
def compendium(tmp_path, monkeypatch):
    monkeypatch.setenv("LOCKSTEP_ROOT", str(tmp_path))  # for what a test runs beside Snakemake
    return Compendium(tmp_path)
