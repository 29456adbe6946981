"""All strategies of a study on a graph of one's own: timed where that means something, counted elsewhere, ranked.

On a machine with a GPU every strategy is timed. Without one the baselines of the CPU are timed, and the kernels run
on the hypothetical GPU, which gives results and counts but no times. Every result is verified.

The strategies run in a process of their own: one that takes too long, or takes the process down with it, is
ended, said so, and the others go on.
"""

import json
import math
import queue
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from lockstep.graphs import Graph, GraphError
from lockstep.studies import PACKAGES

COUNTS = ("launches", "readbacks", "barriers", "grid_barriers", "atomics")
COLUMNS = ("strategy", "family", "ms", "times the fastest", "colors", *COUNTS, "verified", "note")
START = 120  # seconds that a worker may take to begin: imports, and compiling a study's kernels


def study_of(name):
    """The package of a study by its name, its number or its package's: "sssp", "2" or "2-sssp-sync".

    Raises
    ------
    ValueError
        There is no such study; the text names all.
    """
    known = {package: study for study, package in PACKAGES.items() if study != "0-machine"}
    for package, study in known.items():
        if name in (package, study, study.partition("-")[0]):
            if not Path(__file__).with_name(package).joinpath("__init__.py").is_file():
                raise ValueError(f"study {study} is not in this release")
            return package
    raise ValueError(f"no study {name!r}; choose one of {', '.join(known)}")


# -- one run of each study, built on its public names --


@dataclass
class Run:
    """A strategy made ready: what is done before each run, the run, and the check of its result."""

    prepare: object
    run: object
    verify: object


def _toposort(graph, strategy, executor, options):
    from lockstep.toposort import CycleError, verify

    plan = strategy.plan(graph, executor)
    if hasattr(plan, "warm"):
        plan.warm()

    def run():
        result = plan.run()
        if result.order.size < graph.n:
            raise CycleError([], graph.name)
        return result

    return Run(plan.prepare, run, lambda result: verify(result, graph))


def _sssp(graph, strategy, executor, options):
    from lockstep.sssp import Problem, verify

    plan = strategy.plan(Problem(graph), executor)
    source = options["source"]
    return Run(lambda: None, lambda: plan.run(source), lambda result: verify(result, graph, strategy.exact))


def _coloring(graph, strategy, executor, options):
    from lockstep.coloring import verify

    plan = strategy.plan(graph, executor)
    return Run(plan.prepare, plan.run, lambda result: verify(result, graph))


def _sgd(ratings, strategy, executor, options):
    from lockstep.sgd import Problem

    plan = strategy.plan(Problem(ratings, options["rank"], 0.005, 0.02), executor)

    def verify(_):
        plan.check_sweep()
        return "invariant" if strategy.exact else "not-applicable"

    return Run(plan.reset, plan.sweep, verify)


def _swarm(batch, strategy, executor, options):
    from lockstep.swarm import analyze

    return Run(
        lambda: None,
        lambda: analyze(batch, options["measure"], strategy=options["strategy"], executor=executor),
        lambda result: "not-applicable",
    )


READY = {"toposort": _toposort, "sssp": _sssp, "coloring": _coloring, "sgd": _sgd, "swarm": _swarm}


def _suited(package, graph):
    """The input as a study takes it; the study's own error where it cannot."""
    if package == "sgd":
        from lockstep.sgd import Ratings

        return Ratings.of(graph)
    graph = Graph.of(graph)
    if graph.n == 0:
        raise GraphError(f"{graph.name or 'the graph'} has no vertices: there is nothing to compare")
    if package == "toposort":
        from lockstep.toposort import topological_sort

        topological_sort(graph, strategy="serial")  # its error says what is wrong with the graph
    if package == "coloring":
        from lockstep.coloring.neighbors import neighbors

        graph = neighbors(graph, warn=False)[0]
    return graph


def measure(package, graph, name, executor, rounds, seconds, options):
    """Time a strategy, or count what it does on the hypothetical GPU.

    Parameters
    ----------
    package, name : str
        Study and strategy.
    graph : Graph or Ratings
    executor : Executor or None
        Where strategies with kernels run.
    rounds : int
        Timed runs after the first, of which the median counts.
    seconds : float
        No further round begins after so long.
    options : mapping

    Returns
    -------
    dict
        ms (None on the hypothetical GPU), the counts of one run, verified.
    """
    strategy = import_module(f"lockstep.{package}").STRATEGIES[name]
    gpu = bool(getattr(strategy, "gpu", False))
    machine = executor if gpu or name == "auto" and executor is not None and executor.name == "cuda" else None
    ready = READY[package](graph, strategy, machine, {**options, "strategy": name})
    begin = time.perf_counter()
    ready.prepare()
    if machine is not None:
        machine.reset_counts()
    result = ready.run()
    if machine is not None:
        machine.synchronize()
    counts = {key: int(machine.counts[key]) for key in COUNTS} if machine is not None else {}
    if machine is not None:
        counts["launches"] += int(machine.counts["graph_launches"])
    if hasattr(result, "colors"):
        counts["colors"] = int(result.count)  # a coloring's time says nothing without them
    verified = ready.verify(result)
    times = []
    if machine is None or machine.name == "cuda":
        while len(times) < rounds and (not times or time.perf_counter() - begin < seconds):
            ready.prepare()
            if machine is not None:
                machine.synchronize()
            start = time.perf_counter()
            ready.run()
            if machine is not None:
                machine.synchronize()
            times.append((time.perf_counter() - start) * 1e3)
    return {"ms": float(np.median(times)) if times else None, "verified": verified, **counts}


# -- the worker, and who watches it --


def _work():
    """A worker: reads its task from standard input, tells on standard output what it does, line by line."""
    task = json.loads(sys.stdin.readline())
    out = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not come between
    from lockstep.machine import get_executor

    graph = _load(Path(task["folder"]), task["package"])
    executor = get_executor(task["executor"]) if task["executor"] else None
    for name in task["strategies"]:
        print(json.dumps({"begin": name}), file=out, flush=True)
        try:
            arguments = (executor, task["rounds"], task["seconds"], task["options"])
            found = measure(task["package"], graph, name, *arguments)
        except Exception as error:  # of any kind: it is told, and the others go on
            found = {"note": " ".join(str(error).split())[:200] or type(error).__name__}
        print(json.dumps({"done": name, **found}), file=out, flush=True)


def _save(graph, folder, package):
    if package == "sgd":
        np.savez(folder / "graph.npz", users=graph.users, items=graph.items, values=graph.values, shape=graph.shape)
    else:
        weights = {} if graph.weights is None else {"weights": graph.weights}
        np.savez(folder / "graph.npz", offsets=graph.offsets, targets=graph.targets, directed=graph.directed, **weights)


def _load(folder, package):
    with np.load(folder / "graph.npz") as file:
        if package == "sgd":
            from lockstep.sgd import Ratings

            return Ratings(file["users"], file["items"], file["values"], tuple(file["shape"].tolist()))
        weights = file["weights"] if "weights" in file else None
        return Graph(file["offsets"], file["targets"], weights, bool(file["directed"]))


def _watched(task, seconds):
    """Run a worker; yield what it tells. Ends it when a strategy takes longer than it may.

    Yields
    ------
    dict
        A line of the worker; ``{"lost": name, "note": why}`` for the strategy that it was ended in.
    """
    worker = subprocess.Popen(
        [sys.executable, "-c", "from lockstep.compare import _work; _work()"],
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


def compare(study, graph, strategies=None, executor=None, rounds=3, seconds=None, say=None, **options):
    """All strategies of a study on a graph, ranked.

    Parameters
    ----------
    study : str
        "toposort", "sssp", "coloring" or "sgd", or the study's number.
    graph : Graph, NetworkX graph or SciPy sparse matrix; Ratings for "sgd"
    strategies : sequence of str, optional
        By default all but `auto`.
    executor : {"cuda", "host"}, optional
        Where kernels run. None: the GPU if one answers, else the hypothetical one.
    rounds : int
        Timed runs, of which the median counts.
    seconds : float, optional
        Longest time of a strategy, its first run included; by default 60, and 20 on the hypothetical GPU.
    say : callable, optional
        Is told which strategy has been done.
    **options
        ``source`` of sssp (by default a vertex with most arcs), ``rank`` of sgd (16).

    Returns
    -------
    DataFrame
        Columns `COLUMNS`: the timed ones first, the fastest on top; then those that were counted, by the steps
        that they wait for; then those that failed, with a note that says why. ``.attrs`` says on what.

    Raises
    ------
    ValueError
        No such study or strategy.
    GraphError
        The study cannot use the graph.
    NoGpuError
        ``executor="cuda"`` and no GPU answers.
    """
    from lockstep.machine import get_executor, gpu_available

    package = study_of(study)
    if package == "swarm":
        raise ValueError("a batch of graphs is compared by `lockstep swarm` and its notebook, not by compare")
    table = import_module(f"lockstep.{package}").STRATEGIES
    names = list(strategies or (name for name in table if name != "auto"))
    unknown = [name for name in names if name not in table]
    if unknown:
        raise ValueError(f"no strategy {unknown[0]!r}; choose from {', '.join(table)}")
    if executor is not None:
        get_executor(executor)  # its error says why there is none
    where = executor or ("cuda" if gpu_available() else "host")
    seconds = seconds or (60 if where == "cuda" else 20)
    named = getattr(graph, "name", "") or "the graph"
    graph = _suited(package, graph)
    options = _options(package, graph, options)
    lines = {}
    with tempfile.TemporaryDirectory() as folder:
        _save(graph, Path(folder), package)
        left = list(names)
        while left:
            task = {"folder": folder, "package": package, "strategies": left, "executor": where, "rounds": rounds,
                    "seconds": seconds / 2, "options": options}  # fmt: skip
            for line in _watched(task, seconds):
                name = line.pop("done", None) or line.pop("lost") or left[0]
                lines[name] = line
                left.remove(name)
                if say:
                    say(f"{name}: {_outcome(line)}")
    return _ranked(table, lines, package=package, executor=where, graph=named, options=options)


def _options(package, graph, given):
    known = {"sssp": ("source",), "sgd": ("rank",)}.get(package, ())
    wrong = set(given) - set(known)
    if wrong:
        raise ValueError(f"{package} has no option {', '.join(sorted(wrong))}; it has {', '.join(known) or 'none'}")
    given = {key: value for key, value in given.items() if value is not None}
    if package == "sssp":
        source = int(given.get("source", graph.out_degrees().argmax()))
        if not 0 <= source < graph.n:
            raise GraphError(f"source is {source}; the graph has vertices 0 to {graph.n - 1}")
        return {"source": source}
    return {"rank": int(given.get("rank", 16))} if package == "sgd" else {}


def _outcome(line):
    return f"{line['ms']:.3g} ms" if line.get("ms") else line.get("note") or "counted"


def steps(line):
    """What a run waits for one after the other, as far as it is counted: launches, read-backs, grid barriers."""
    return sum(line.get(key) or 0 for key in ("launches", "readbacks", "grid_barriers"))


def _ranked(table, lines, **attributes):
    timed = [line["ms"] for line in lines.values() if line.get("ms")]
    rows = []
    for name, line in lines.items():
        family = getattr(table[name], "family", "")
        ratio = line["ms"] / min(timed) if line.get("ms") else None
        rows.append({"strategy": name, "family": family, "ms": line.get("ms"), "times the fastest": ratio,
                     **{key: line.get(key) for key in ("colors", *COUNTS)}, "verified": line.get("verified"),
                     "note": line.get("note", "")})  # fmt: skip

    def rank(row):
        failed = row["verified"] is None
        return failed, row["ms"] is None, row["ms"] or 0.0, steps(row), row["strategy"]

    found = pd.DataFrame(sorted(rows, key=rank), columns=list(COLUMNS))
    for key in ("ms", "times the fastest", "colors", *COUNTS):
        found[key] = pd.to_numeric(found[key])
    found.attrs = attributes
    return found


# -- showing --


def told(found):
    """The ranking as text, and in its first line what the figures are."""
    from lockstep.report.output import readable

    counted = found.attrs["executor"] == "host"
    kind = (
        "no GPU here: times are the CPU's, kernels are counted on the hypothetical GPU"
        if counted
        else "times by the wall clock, without transfers"
    )
    shown = found.drop(columns=[name for name in ("colors", *COUNTS, "note") if found[name].isna().all()])
    if (shown.get("note", pd.Series(dtype=str)) == "").all():
        shown = shown.drop(columns="note", errors="ignore")
    cells = shown.map(lambda value: readable(int(value)) if _whole(value) else readable(value))
    return f"{found.attrs['graph']}: {found.attrs['package']}; {kind}\n\n{cells.to_string(index=False)}"


def _whole(value):
    return isinstance(value, float) and math.isfinite(value) and value.is_integer()


def picture(found):
    """The ranking as a picture: times, and counts where kernels ran on the hypothetical GPU.

    Parameters
    ----------
    found : DataFrame
        What `compare` returned.

    Returns
    -------
    matplotlib Figure
    """
    import matplotlib.pyplot as plt

    from lockstep.report import style
    from lockstep.report.digits import significant
    from lockstep.report.figures import decades

    style.use()
    timed = found[found["ms"].notna()]
    counted = found[found["ms"].isna() & found["verified"].notna()]
    panels = [("milliseconds, by the wall clock", timed, lambda line: line["ms"])] if len(timed) else []
    if len(counted):
        panels.append(("launches, read-backs and grid barriers (counted)", counted, steps))
    rows = [max(len(lines), 1) for _, lines, _ in panels] or [1]
    figure, axes = plt.subplots(
        len(rows), 1, figsize=(style.WIDTH, 0.7 * len(rows) + 0.22 * sum(rows)), squeeze=False, height_ratios=rows
    )
    looks = style.color_of(sorted(found["family"].unique()))
    for ax, (label, lines, value) in zip(axes[:, 0], panels, strict=False):
        values = [max(float(value(line)), 1e-6) for _, line in lines.iterrows()]
        for place, (at, family) in enumerate(zip(values, lines["family"], strict=True)):
            color, marker = looks[family]
            ax.plot(at, place, marker, color=color, markersize=5.5)
            text = significant(at) if lines is timed else f"{at:,.0f}"
            ax.annotate(text, (at, place), (7, 0), textcoords="offset points", va="center", fontsize=6.5)
        ax.set(xscale="log", yticks=range(len(values)), yticklabels=lines["strategy"], xlabel=label)
        ax.set_xlim(min(values) / 1.3, max(values) * 2)  # room for the last figure
        ax.set_ylim(len(values) - 0.4, -0.6)
        decades(ax.xaxis)
    if not panels:
        axes[0, 0].text(0.5, 0.5, "no strategy came to its end", ha="center", va="center")
        axes[0, 0].set_axis_off()
    else:
        shown = [name for name in looks if name in set(pd.concat([lines for _, lines, _ in panels])["family"])]
        handles = [
            plt.Line2D([], [], color=looks[name][0], marker=looks[name][1], linestyle="none") for name in shown
        ]
        axes[0, 0].legend(handles, shown, loc="upper left", bbox_to_anchor=(1.01, 1))
    axes[0, 0].set_title(f"{found.attrs['package']} on {found.attrs['graph']}")
    return figure
