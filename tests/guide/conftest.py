"""A small recorded world outside the project, whose best strategies are known beforehand."""

import json

import matplotlib
import pytest

matplotlib.use("Agg")

from lockstep import paths
from lockstep.evidence.recording import Recording, canonical

MACHINE = "nvidia-test-1"


def rows(study, experiment, dataset, figures, times, parameters=None, rounds=3):
    """Rows of one cell: the graph's figures, and the times of its strategies, with a little spread."""
    base = {"study": study, "experiment": experiment, "dataset": dataset, "parameters": canonical(parameters),
            "verified": "exact", "kernel": "k"}  # fmt: skip
    for metric, value in figures.items():
        yield {**base, "strategy": "(graph)", "metric": metric, "unit": "1", "round": 0, "value": float(value)}
    for strategy, time in times.items():
        for turn in range(rounds):
            value = time * (1 + 0.001 * (turn - 1))
            yield {**base, "strategy": strategy, "metric": "wall", "unit": "ms", "round": turn, "value": value}


def toposort_rows(factor=1.0, naive=0.03):
    """Depth decides: a layer costs `narrow` a microsecond, a vertex costs `serial` ten nanoseconds times `factor`.

    `naive` takes so many milliseconds a layer, and is never the best.
    """
    for nodes in (10**4, 10**5, 10**6):
        for depth in (10, 100, 1000, 10**4):
            times = {"serial": factor * nodes * 1e-5, "narrow": 0.01 + depth * 1e-3, "naive": 0.01 + depth * naive}
            figures = {"nodes": nodes, "edges": 3 * nodes, "depth": depth}
            yield from rows("3-toposort-depth", "ladder", f"layered-{nodes}-{depth}-random", figures, times)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "CACHE", tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def world(tmp_path, cache):
    """Writes recordings; returns the arguments that make the guide read them and nothing else.

    `world.toposort()` and `world.rows(...)` make lines to write.
    """

    def write(*lines, machine=MACHINE):
        folder = tmp_path / "recordings" / machine
        folder.mkdir(parents=True, exist_ok=True)
        by_study = {}
        for line in lines:
            by_study.setdefault(line["study"], []).append(line)
        for study, mine in by_study.items():
            file = folder / f"{study}.csv"
            file.unlink(missing_ok=True)
            Recording(file).append(mine)
        (folder / "machine.json").write_text(json.dumps({"name": machine, "gpu": "NVIDIA Test", "runs": []}))
        return {"recordings": tmp_path / "recordings", "results": tmp_path / "results"}

    write.rows, write.toposort = rows, toposort_rows
    return write
