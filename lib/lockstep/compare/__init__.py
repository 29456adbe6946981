"""Compare all strategies of a study on a user's graph: timed on hardware, counted on the emulator, ranked.

On a machine with a GPU every strategy is timed. Without one the CPU baselines are timed, and the kernels run on the
emulator, which gives results and counts but no times. Every result is verified.

The strategies run in a worker process: if one exceeds its time limit or crashes the process, this is reported and the
others continue in a new one.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lockstep import studies
from lockstep.graphs import GraphError
from lockstep.studies import PACKAGES

from .runs import COUNTS, WRONG
from .showing import picture, steps, told
from .worker import watched

if TYPE_CHECKING:
    from lockstep.typing import BatchLike, ExecutorLike, GraphLike, RatingsLike

COLUMNS = ("strategy", "family", "ms", "times the fastest", "colors", *COUNTS, "verified", "note")


def study_of(name: str) -> str:
    """The package of a study by its name, its number or its package's: "sssp", "2" or "2-sssp-sync".

    Raises
    ------
    ValueError
        There is no such study; the text names all.
    """
    known = {package: study for study, package in PACKAGES.items() if study != "0-machine"}
    for package, study in known.items():
        if name in (package, study, study.partition("-")[0]):
            return package
    raise ValueError(f"no study {name!r}; choose one of {', '.join(known)}")


def compare(
    study: str, graph: "GraphLike | RatingsLike | BatchLike", strategies: Sequence[str] | None = None,
    executor: "ExecutorLike" = None, rounds: int = 3, seconds: float | None = None,
    say: Callable[[str], Any] | None = None, **options: Any,
) -> pd.DataFrame:
    """All strategies of a study on a graph, ranked.

    Parameters
    ----------
    study : str
        "toposort", "sssp", "coloring", "sgd" or "swarm", or the study's number.
    graph : Graph, NetworkX graph or SciPy sparse matrix; Ratings for "sgd", a sequence of graphs for "swarm"
    strategies : sequence of str, optional
        By default all but `auto`.
    executor : {"cuda", "host"} or Executor, optional
        Where kernels run, in processes that make an executor of this kind. None: the GPU if one is usable, else the
        emulator.
    rounds : int
        Timed runs, of which the median counts.
    seconds : float, optional
        Longest time of a strategy, its first run included; by default 60, and 20 on the emulator.
    say : callable, optional
        Called with a line for each finished strategy.
    **options
        ``source`` of sssp (by default a vertex with most arcs), ``rank`` of sgd (16), ``measure`` of swarm
        (betweenness).

    Returns
    -------
    DataFrame
        Columns `COLUMNS`: timed strategies first, by time; then counted ones, by dependent steps (see `steps`);
        then failed ones, with the reason in `note`. ``.attrs`` holds study, executor, graph and options.

    Raises
    ------
    ValueError
        No such study or strategy.
    GraphError
        The study cannot use the graph.
    NoGpuError
        ``executor="cuda"`` and no GPU is usable.
    """
    from lockstep.machine import get_executor, gpu_available

    package = study_of(study)
    table = studies.table(package)
    wanted = strategies or (name for name in table if name != "auto")
    names = list(dict.fromkeys(table.find(name).name for name in wanted))
    if executor is None:
        where = "cuda" if gpu_available() else "host"
    else:
        where = get_executor(executor).name
    seconds = (60 if where == "cuda" else 20) if seconds is None else seconds
    if rounds < 1 or not seconds > 0:
        raise ValueError(f"rounds={rounds}, seconds={seconds:g}; expected one round at least, and more than no time")
    kind = studies.problem(package)
    if wrong := sorted(set(options) - set(kind.keywords())):
        raise ValueError(f"{package} has no option {', '.join(wrong)}; it has {', '.join(kind.keywords()) or 'none'}")
    problem = kind.of(graph, **{key: value for key, value in options.items() if value is not None})
    if problem.lacks:
        raise GraphError(f"{problem.name} has no {problem.lacks}: there is nothing to compare")
    problem.validate()
    lines = {}
    with tempfile.TemporaryDirectory() as folder:
        problem.to_folder(Path(folder))
        left = list(names)
        while left:
            task = {"folder": folder, "package": package, "strategies": left, "executor": where, "rounds": rounds,
                    "seconds": seconds / 2, "settings": problem.settings}  # fmt: skip
            for line in watched(task, seconds):
                name = line.pop("done", None) or line.pop("lost") or left[0]
                lines[name] = line
                left.remove(name)
                if say:
                    say(f"{name}: {_outcome(line)}")
    attributes = {"package": package, "executor": where, "graph": problem.name, "options": problem.settings}
    return _ranked(table, lines, **attributes)


def _outcome(line):
    return f"{line['ms']:.3g} ms" if line.get("ms") else line.get("note") or "counted"


def _ranked(table, lines, **attributes):
    timed = [line["ms"] for line in lines.values() if line.get("ms") and line.get("verified") != WRONG]
    rows = []
    for name, line in lines.items():
        ratio = line["ms"] / min(timed) if line.get("ms") and timed else None
        rows.append({"strategy": name, "family": table[name].family, "ms": line.get("ms"), "times the fastest": ratio,
                     **{key: line.get(key) for key in ("colors", *COUNTS)}, "verified": line.get("verified"),
                     "note": line.get("note", "")})  # fmt: skip

    def rank(row):
        failed = row["verified"] is None
        return failed, row["verified"] == WRONG, row["ms"] is None, row["ms"] or 0.0, steps(row), row["strategy"]

    found = pd.DataFrame(sorted(rows, key=rank), columns=list(COLUMNS))
    for key in ("ms", "times the fastest", "colors", *COUNTS):
        found[key] = pd.to_numeric(found[key])
    found.attrs = attributes
    return found


__all__ = ["COLUMNS", "compare", "picture", "steps", "study_of", "told"]
