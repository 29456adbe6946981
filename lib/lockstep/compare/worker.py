"""Worker process for the strategies, and its watchdog, which kills it if a strategy exceeds its time limit."""

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path

from lockstep import studies

from .runs import measure

START = 120  # seconds until a worker's first line: imports, reading the problem, opening the GPU


def work():
    """A worker: reads its task from standard input, writes progress and results to standard output as JSON lines."""
    task = json.loads(sys.stdin.readline())
    out = sys.stdout
    sys.stdout = sys.stderr  # keeps library output out of the JSON lines
    from lockstep.machine import get_executor

    table = studies.table(task["package"])
    problem = studies.problem(task["package"]).from_folder(Path(task["folder"]), **task["settings"])
    executor = get_executor(task["executor"]) if task["executor"] else None
    for name in task["strategies"]:
        print(json.dumps({"begin": name}), file=out, flush=True)
        try:
            found = measure(table[name], problem, executor, task["rounds"], task["seconds"])
        except Exception as error:  # any error is reported, and the next strategy runs
            found = {"note": " ".join(str(error).split())[:200] or type(error).__name__}
        print(json.dumps({"done": name, **found}), file=out, flush=True)


def watched(task, seconds):
    """Run a worker and yield its results; kill it when a strategy takes more than `seconds`.

    Yields
    ------
    dict
        A line of the worker; ``{"lost": name, "note": why}`` for the strategy during which it was killed or ended.
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
