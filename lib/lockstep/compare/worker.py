"""A process of its own for the strategies, and who watches it: one that takes too long is ended, the others go on."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from lockstep.graphs import Graph

from .runs import measure

START = 120  # seconds that a worker may take to begin: imports, and compiling a study's kernels



def work():
    """A worker: reads its task from standard input, tells on standard output what it does, line by line."""
    task = json.loads(sys.stdin.readline())
    out = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not come between
    from lockstep.machine import get_executor

    graph = load(Path(task["folder"]), task["package"])
    executor = get_executor(task["executor"]) if task["executor"] else None
    for name in task["strategies"]:
        print(json.dumps({"begin": name}), file=out, flush=True)
        try:
            arguments = (executor, task["rounds"], task["seconds"], task["options"])
            found = measure(task["package"], graph, name, *arguments)
        except Exception as error:  # of any kind: it is told, and the others go on
            found = {"note": " ".join(str(error).split())[:200] or type(error).__name__}
        print(json.dumps({"done": name, **found}), file=out, flush=True)


def save(graph, folder, package):
    if package == "sgd":
        np.savez(folder / "graph.npz", users=graph.users, items=graph.items, values=graph.values, shape=graph.shape)
        return
    weights = {} if graph.weights is None else {"weights": graph.weights}
    if package == "swarm":
        arrays = {name: getattr(graph, name) for name in ("offsets", "targets", "vertex_start", "arc_start")}
        np.savez(folder / "graph.npz", directed=graph.directed, **arrays, **weights)
    else:
        np.savez(folder / "graph.npz", offsets=graph.offsets, targets=graph.targets, directed=graph.directed, **weights)


def load(folder, package):
    with np.load(folder / "graph.npz") as file:
        if package == "sgd":
            from lockstep.sgd import Ratings

            return Ratings(file["users"], file["items"], file["values"], tuple(file["shape"].tolist()))
        weights = file["weights"] if "weights" in file else None
        if package == "swarm":
            from lockstep.swarm import Pack

            arrays = (file[name] for name in ("offsets", "targets", "vertex_start", "arc_start"))
            return Pack(*arrays, weights, bool(file["directed"]))
        return Graph(file["offsets"], file["targets"], weights, bool(file["directed"]))


def watched(task, seconds):
    """Run a worker; yield what it tells. Ends it when a strategy takes longer than it may.

    Yields
    ------
    dict
        A line of the worker; ``{"lost": name, "note": why}`` for the strategy that it was ended in.
    """
    worker = subprocess.Popen(
        [sys.executable, "-c", "from lockstep.compare.worker import work; work()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    lines, errors = queue.Queue(), []

    def read():
        for line in worker.stdout:
            lines.put(json.loads(line))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    threading.Thread(target=lambda: errors.extend(worker.stderr), daemon=True).start()
    current = ""
    try:
        worker.stdin.write(json.dumps(task) + "\n")
        worker.stdin.flush()
        while True:
            try:
                line = lines.get(timeout=seconds if current else START)
            except queue.Empty:
                yield {"lost": current, "note": f"not done after {seconds:g} s"}
                return
            if line is None:
                if worker.wait() or current:
                    last = errors[-1].strip() if errors else f"status {worker.returncode}"
                    yield {"lost": current, "note": f"its process ended: {last}"}
                return
            current = line.get("begin", "")
            if "done" in line:
                yield line
    finally:
        worker.kill()
        worker.wait()
