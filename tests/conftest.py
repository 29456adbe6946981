"""A small world with verdicts of every kind, recorded outside the project, for report and README; and a browser."""

import json
import shutil

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from lockstep.evidence.recording import Recording, canonical


def sample(experiment, strategy, metric, turn, value, parameters, dataset):
    return {
        "study": "3-toposort-depth", "experiment": experiment, "dataset": dataset, "strategy": strategy,
        "parameters": canonical(parameters), "metric": metric, "unit": "1" if metric == "depth" else "ms",
        "round": turn, "value": float(value), "verified": "exact", "kernel": "k",
    }  # fmt: skip


@pytest.fixture
def recordings(tmp_path):
    """A recorded machine with the thesis's family of layered graphs and a control, and nothing else."""
    random = np.random.default_rng(0)
    rows = []
    for depth in (1, 10, 100, 1000, 10**4, 10**5, 10**6):
        parameters = {"nodes": 10**6, "depth": depth, "family": "disjoint-paths", "ids": "ordered"}
        times = {
            ("serial", "wall"): 20,
            ("naive", "device"): 0.03 + 0.03 * depth,
            ("naive", "wall"): 0.04 * depth,
        }
        for (strategy, metric), time in times.items():
            for turn in range(4):
                value = time * np.exp(random.normal(0, 0.01))
                rows.append(sample("table-4.3", strategy, metric, turn, value, parameters, f"paths-{depth}"))
        rows.append(sample("table-4.3", "serial", "depth", 0, depth, parameters, f"paths-{depth}"))
    for strategy in ("persistent", "persistent-again"):
        for turn in range(4):
            rows.append(sample("control", strategy, "wall", turn, 1 + 0.001 * turn, {}, "layered"))
    folder = tmp_path / "recordings" / "nvidia-test-1"
    Recording(folder / "3-toposort-depth.csv").append(rows)
    run = {"date": "2026-01-02T03:04:05+00:00", "commit": "abc", "study": "3-toposort-depth"}
    machine = {"name": "nvidia-test-1", "gpu": "NVIDIA Test", "cpu": "Test CPU", "cores": 2, "runs": [run]}
    (folder / "machine.json").write_text(json.dumps(machine))
    return tmp_path / "recordings"


@pytest.fixture
def two_machines(recordings):
    """Beside it a machine with two such GPUs, which has measured what one GPU cannot, and nothing else."""
    rows = []
    for strategy, seconds in {"gpus@1-dynamic": 2.0, "gpus@2-dynamic": 1.1, "gpus@2-static": 1.3}.items():
        for turn in range(3):
            row = sample("gpus", strategy, "work", turn, seconds, {"measure": "closeness"}, "benchmark-100000")
            rows += [{**row, "study": "5-swarm-batch", "metric": metric} for metric in ("work", "wall")]
    folder = recordings / "nvidia-test-0"  # its name comes first: that must not make it lead
    Recording(folder / "5-swarm-batch.csv").append(rows)
    run = {"date": "2026-02-03T03:04:05+00:00", "commit": "abc", "study": "5-swarm-batch"}
    machine = {"name": folder.name, "gpu": "NVIDIA Test", "gpus": 2, "cpu": "Test CPU", "cores": 4, "runs": [run]}
    (folder / "machine.json").write_text(json.dumps(machine))
    return recordings


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless Chromium."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium with its driver (Debian: chromium, chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    words = ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "window-size=1400,5000")
    for word in (*words, f"user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(f"--{word}")
    found = webdriver.Chrome(options, Service(driver))
    yield found
    found.quit()
