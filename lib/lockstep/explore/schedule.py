"""Schedules: the events of a run, timed on an ideal parallel machine that executes all independent events in one step.

The emulator runs one thread at a time and records its events in order. Here the events get logical times (as by
Lamport clocks): a thread's events follow each other; an access to a word comes after the last write to it by another
thread, so atomics on one word serialize; threads at a barrier continue one step after the last arrival; a launch begins
when the previous one has ended. The last step is the length of the critical path of this interleaving, independent of
the number of threads that run at once.
"""

from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx

from lockstep import solving, studies
from lockstep.graphs import Graph, GraphError, generators, load, read, read_ratings
from lockstep.machine import get_executor

if TYPE_CHECKING:
    from lockstep.typing import GraphLike

LIMIT = 60_000  # events recorded per launch: spinning threads generate events without bound
LARGEST = 2_000  # vertices of a file: a figure shows 24 threads, and the emulator is slow
STUDIES = {"toposort": "topological sort", "sssp": "shortest paths", "coloring": "coloring", "sgd": "SGD schedules"}
READS, WRITES = ("read", "load"), ("write", "store")


# Small graphs of different kinds, since a figure shows at most 24 threads (`picture.ROWS`).
GRAPHS = {
    "two ways": lambda: import_module("lockstep.sssp.experiments.race").race_graph(),
    "path of 6": lambda: Graph.from_networkx(nx.path_graph(6, nx.DiGraph)),
    "star of 9": lambda: Graph.from_networkx(nx.star_graph(8, nx.DiGraph)),
    "12 vertices in 4 layers": lambda: generators.layered(12, 4),
    "random, 16 vertices": lambda: generators.random_dag(16, 32),
    "karate": lambda: load("karate"),
    "sample ratings": lambda: import_module("lockstep.sgd.experiments.paper_example").sample(),
}


@dataclass(frozen=True)
class Event:
    """An event of a thread at a step: `kind` is read, write, atomic, wait (until `until`) or mark; `what` names it."""

    step: int
    block: int
    thread: int
    kind: str
    what: str
    until: int = 0


@dataclass
class Schedule:
    """A run, step by step.

    Attributes
    ----------
    study, graph, strategy : str
    seed : int
    events : list of Event
        By rising step.
    launches : list of int
        The step with which each launch begins.
    steps : int
        The last step: the length of the critical path.
    cut : bool
        Whether a launch reached `LIMIT` events, and the rest was left out.
    counts : dict
        The executor's counts: launches, barriers, atomics...
    """

    study: str
    graph: str
    strategy: str
    seed: int
    events: list
    launches: list
    steps: int
    cut: bool
    counts: dict = field(default_factory=dict)

    @property
    def kinds(self) -> Counter:
        """Number of events of each kind."""
        return Counter(event.kind for event in self.events)

    def threads(self) -> list[tuple[int, int]]:
        """(block, thread) of threads with other events than waits: those that write first, then readers."""
        changed = {(e.block, e.thread) for e in self.events if e.kind in ("write", "atomic", "mark")}
        looked = {(e.block, e.thread) for e in self.events if e.kind == "read"} - changed
        return sorted(changed) + sorted(looked)


def graph_of(name: str, study: str = "") -> Any:
    """A graph of `GRAPHS` by name, one of a file, or one of the registry; for ``"sgd"`` a file holds ratings.

    Raises
    ------
    GraphError
        A file cannot be read, or holds more than `LARGEST` vertices (users and items).
    """
    if name in GRAPHS:
        return GRAPHS[name]()
    if not Path(name).is_file():
        return load(name)
    found = _ratings(name) if study == "sgd" else read(name)
    size = sum(found.shape) if study == "sgd" else found.n
    if size > LARGEST:
        raise GraphError(f"{name}: {size:,} vertices; a schedule is drawn of at most {LARGEST:,}")
    return found


def _ratings(file):
    from lockstep.sgd import Ratings

    found = Ratings.of(read_ratings(file))
    found.name = Path(file).name.partition(".")[0]
    return found


def strategies_of(study: str) -> Any:
    """The strategies of a study that run kernels.

    Raises
    ------
    ValueError
        No such study.
    """
    if study not in STUDIES:
        raise ValueError(f"no study {study!r} to watch; choose one of {', '.join(STUDIES)}")
    return [name for name, strategy in studies.table(study).items() if strategy.gpu]


def suits(study: str, name: str) -> bool:
    """Whether a study takes a graph: a sort needs arcs without a cycle, ratings are for SGD alone.

    Raises
    ------
    ValueError
        No such study, or no such graph.
    """
    strategies_of(study)
    graph = graph_of(name, study)
    try:
        problem_of(study, graph).validate()
    except ValueError:
        return False
    return True


def problem_of(study, given):
    """The problem to run: shortest paths from vertex 0, factorizations of rank 2."""
    if study != "sgd" and hasattr(given, "n_users"):
        raise GraphError(f"{study} takes graphs, not {type(given).__name__}")
    settings = {"sssp": {"source": 0}, "sgd": {"rank": 2}}
    return studies.problem(study).of(given, **settings.get(study, {}))


def schedule(study: str, graph: "GraphLike", strategy: str, seed: int = 0) -> Any:
    """Run a strategy on the emulator, and assign its events to steps.

    Parameters
    ----------
    study : str
        A key of `STUDIES`.
    graph : str, or a graph as the study takes it
        A name in `GRAPHS`, a file, a name in the registry, or a graph; small, for everything is kept.
    strategy : str
        One of `strategies_of`.
    seed : int
        Seed of the interleaving.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        No such study or strategy, or one without kernels.
    GraphError, CycleError
        The study cannot use the graph.
    """
    known = strategies_of(study)
    if strategy not in known:
        raise ValueError(f"{study} has no kernels of {strategy!r} to watch; choose one of {', '.join(known)}")
    name = graph if isinstance(graph, str) else getattr(graph, "name", "") or "the graph"
    graph = graph_of(graph, study) if isinstance(graph, str) else graph
    executor = get_executor("host", seed=int(seed), fuzz="memory", multiprocessors=1, trace=LIMIT)
    problem = problem_of(study, graph)
    problem.validate()
    solving.solve(studies.table(study), strategy, problem, executor)
    counts = {key: value for key, value in executor.counts.items() if key != "switches"}
    events, launches, cut = lay_out(executor.trace())
    steps = max((max(e.step, e.until) for e in events), default=0)
    return Schedule(study, name, strategy, int(seed), events, launches, steps, cut, counts)


class _Clocks:
    """The threads' clocks while a trace is laid out."""

    def __init__(self):
        self.events = []
        self.base = 0  # the step with which the present launch began
        self.clock = {}  # of each thread: its last step
        self.written = {}  # word -> (step, thread) of its last write
        self.at_barrier = {}  # block -> {thread: step of arrival}
        self.at_grid = {}  # thread -> step of arrival
        self.looked = {}  # thread -> what it last read

    def now(self, who):
        return self.clock.get(who, self.base)

    def open(self, waiting):
        """Release all waiting threads, one step after the last arrival."""
        if not waiting:
            return
        until = max(waiting.values()) + 1
        for who, since in waiting.items():
            self.events.append(Event(since, *who, "wait", "barrier", until))
            self.clock[who] = until
        waiting.clear()

    def arrive(self, who, waiting):
        waiting[who] = self.clock[who] = self.now(who) + 1

    def access(self, who, event):
        kind = "read" if event.event in READS else "write" if event.event in WRITES else event.event
        step = self.now(who) + 1
        last, by = self.written.get(event.where, (self.base, who))
        if by != who:
            step = max(step, last + 1)
        if kind != "read":
            self.written[event.where] = step, who
        look = (event.where, event.before)
        if kind == "read" and event.event == "load" and self.looked.get(who) == look:
            return  # spinning: the value is unchanged since its last load
        self.looked[who] = look if kind == "read" else None
        self.clock[who] = step
        self.events.append(Event(step, *who, kind, _words(event, kind)))

    def mark(self, who, event):
        self.clock[who] = step = self.now(who) + 1
        self.events.append(Event(step, *who, "mark", f"{event.where}: {event.before}"))

    def end_launch(self):
        for waiting in (*self.at_barrier.values(), self.at_grid):
            self.open(waiting)
        self.base = max(self.clock.values(), default=self.base)
        self.clock, self.looked = {}, {}


def lay_out(trace):
    """Assign the events of a trace to steps.

    Parameters
    ----------
    trace : sequence of TraceEvent
        In order of execution; step numbers restart with each launch.

    Returns
    -------
    events : list of Event
        By rising step.
    launches : list of int
        The step with which each launch begins.
    cut : bool
        Whether a launch reached `LIMIT` events.
    """
    clocks, launches, before, kept, cut = _Clocks(), [], None, 0, False
    for event in trace:
        if before is None or event.step < before:
            if before is not None:
                clocks.end_launch()
            launches.append(clocks.base + 1)
            kept = 0
        before, kept = event.step, kept + 1
        cut |= kept >= LIMIT
        who = (event.block, event.thread)
        if who in clocks.at_grid:
            clocks.open(clocks.at_grid)
        if who in clocks.at_barrier.get(event.block, ()):
            clocks.open(clocks.at_barrier[event.block])
        if event.event == "barrier":
            clocks.arrive(who, clocks.at_barrier.setdefault(event.block, {}))
        elif event.event == "grid barrier":
            clocks.arrive(who, clocks.at_grid)
        elif event.event == "mark":
            clocks.mark(who, event)
        elif "[" in event.where:  # a word of an argument; others are a thread's own or its block's
            if event.event in (*READS, *WRITES, "atomic"):
                clocks.access(who, event)
        elif event.event == "atomic":
            clocks.access(who, event)
    clocks.end_launch()
    return sorted(clocks.events, key=lambda e: (e.step, e.block, e.thread, e.kind)), launches, cut


def _words(event, kind):
    if kind == "read":
        return f"{event.where} is {_short(event.before)}"
    if kind == "write":  # the value before may be uninitialized
        return f"{event.where} becomes {_short(event.after)}"
    return f"{event.where} from {_short(event.before)} to {_short(event.after)}"


def _short(value):
    if isinstance(value, float):
        return f"{value:.3g}"
    return "infinity" if value in (2**31 - 1, 2**32 - 1) else str(value)
