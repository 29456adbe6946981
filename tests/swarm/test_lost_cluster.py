"""A Dask cluster whose scheduler or workers are killed in the middle of a batch: one line, and nothing done is lost."""

import json
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from distributed import KilledWorker

from lockstep.batch import watching
from lockstep.batch.batch import GraphBatch
from lockstep.batch.watching import ClusterError, Idle
from lockstep.cli import main
from lockstep.graphs import Graph

pytestmark = pytest.mark.slow


@pytest.fixture
def dask(tmp_path):
    """A function that starts a part of a cluster in a process of its own."""
    started = []

    def start(*words):
        command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"]
        with open(tmp_path / f"{words[0]}.log", "w") as log:
            started.append(subprocess.Popen(command, stdout=log, stderr=log))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def cluster(dask, tmp_path):
    """(address, scheduler, a function that starts a worker) of a cluster on this machine."""
    file = tmp_path / "scheduler.json"
    scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    address = address_in(file, scheduler)
    return address, scheduler, lambda: dask("worker", address, "--nthreads", "1", "--no-nanny")


def address_in(file, scheduler):
    """The address that a scheduler writes into its file, which for a moment is there and empty, or half written."""
    while scheduler.poll() is None:
        try:
            return json.loads(file.read_text())["address"]
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.05)
    raise AssertionError(f"the scheduler ended with status {scheduler.returncode}: see {file.parent}/scheduler.log")


@pytest.fixture
def command(tmp_path, cluster):
    """The words of a command over 40 pieces, each of which takes a while."""
    draw = np.random.default_rng(1)
    graphs = [Graph.from_edges(*draw.integers(0, 1000, (2, 4000)), n=1000, directed=False) for _ in range(40)]
    GraphBatch(graphs).write(tmp_path / "in", graphs=1)
    words = ["--out", str(tmp_path / "out"), "--executor", "host", "--strategy", "cpu"]
    return ["swarm", str(tmp_path / "in"), *words, "--scheduler", cluster[0]]


@pytest.fixture
def started(command, tmp_path):
    """A function that starts the command, with further words, and returns once three pieces are done."""
    processes = []

    def start(*words):
        run = [sys.executable, "-m", "lockstep", *command, *words]
        processes.append(subprocess.Popen(run, stderr=subprocess.PIPE, text=True))
        while len(parts(tmp_path)) < 3:
            assert processes[-1].poll() is None, processes[-1].stderr.read()
            time.sleep(0.01)
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def parts(folder):
    return {path: path.stat().st_mtime_ns for path in (folder / "out").glob("part-*.parquet")}


def check_what_is_left(command, folder):
    """Some parts are there; the same command without the cluster does the others, and only those."""
    there = parts(folder)
    assert 3 <= len(there) < 40
    assert main(command[: command.index("--scheduler")]) == 0
    assert there.items() <= parts(folder).items()
    assert sorted(pd.read_parquet(folder / "out")["graph"]) == list(range(40))


def test_a_scheduler_that_is_killed(cluster, command, started, tmp_path):
    address, scheduler, worker = cluster
    worker()
    run = started()
    scheduler.kill()
    told = run.communicate(timeout=60)[1]
    assert run.returncode == 3
    assert told.count("\n") == 1 and told.startswith(f"lockstep: the scheduler at {address} no longer answers.")
    assert f"of 40 graphs are done and stay in {tmp_path / 'out'}" in told
    assert told.endswith(f"lockstep {' '.join(command)}\n")
    check_what_is_left(command, tmp_path)


def test_workers_that_are_all_killed(cluster, command, started, tmp_path):
    worker = cluster[2]()
    run = started("--worker-timeout", "6")
    worker.kill()
    told = run.communicate(timeout=60)[1].splitlines()
    assert run.returncode == 3 and len(told) == 2, told
    first, last = told
    assert "no worker" in first and "waiting for one, 6 s at most (--worker-timeout)" in first
    assert "left for 6 s" in last and "are done and stay in" in last and last.endswith("--worker-timeout 6")
    check_what_is_left(command, tmp_path)


def test_a_worker_that_comes_late_goes_on(cluster, started):
    first = cluster[2]()
    run = started()
    first.kill()
    assert "waiting for one, 300 s at most" in run.stderr.readline()
    cluster[2]()
    told = run.communicate(timeout=60)[1]
    assert run.returncode == 0 and told.count("\n") == 1 and "of 40 graphs" in told


def test_a_cluster_without_workers(cluster, command, capsys):
    assert main([*command, "--worker-timeout", "1"]) == 3
    assert f"the scheduler at {cluster[0]} has no worker for 1 s" in capsys.readouterr().err


def test_time_without_a_worker_counts_from_the_last_one(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(watching.time, "monotonic", lambda: now[0])
    idle = Idle("no worker", 10)
    for seconds, busy in ((0, False), (6, False), (7, False), (8, True), (9, False), (18, False)):
        now[0] = seconds
        idle(busy)
    now[0] = 19
    with pytest.raises(ClusterError, match="no worker for 10 s"):
        idle(False)


def test_a_piece_of_which_every_worker_dies():
    died = KilledWorker("piece-7", SimpleNamespace(address="tcp://127.0.0.1:1"), 3)
    error = watching._told(died)
    assert isinstance(error, ClusterError)
    assert str(error) == "4 workers died, one after the other, of one piece (piece-7)"
