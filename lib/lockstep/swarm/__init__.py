"""Many small graphs at once: betweenness, closeness, all distances and more, of each graph of a batch.

>>> import networkx as nx
>>> from lockstep.swarm import analyze
>>> analyze([nx.path_graph(4), nx.star_graph(3)], strategy="cpu")[1].tolist()
[3.0, 0.0, 0.0, 0.0]
"""


from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lockstep.batch.batch import GraphBatch
from lockstep.batch.pack import Pack

from .measures import MEASURES, Measure
from .problem import Problem
from .references import reference
from .result import Results, Values
from .strategies.alone import shares
from .strategies.engine import Engine
from .strategies.table import STRATEGIES, Strategy

if TYPE_CHECKING:
    from lockstep.typing import BatchLike, ExecutorLike


def analyze(
    batch: "BatchLike", measure: str = "betweenness", executor: "ExecutorLike" = None, strategy: str = "auto",
    strategy_options: Mapping | None = None, **options: Any,
) -> Results:
    """Compute a measure of every graph of a batch.

    Parameters
    ----------
    batch : GraphBatch, or what makes one
        A sequence of Graphs, NetworkX graphs or SciPy matrices; a Pack; a path. For batches larger than memory use
        `lockstep swarm`, which writes results incrementally.
        Weights are stored as float32: fractions are rounded, and a graph with a weight that float32 does not hold
        (see `GraphBatch`) is left out.
    measure : str
        A name in MEASURES.
    executor : "cuda", "host", Executor or None
        None: the GPU if available, else the CPU for `auto`, and the emulator for GPU strategies.
    strategy : str
        A name in STRATEGIES, or `auto`.
    strategy_options : mapping
        Options of the strategy, which must then be named.
    **options
        Parallel arcs count once, with the smallest weight, also for pagerank. Of the measure: ``endpoints``,
        ``precision`` ("double", "single") for betweenness (NaN where there are more shortest paths than 1e300, with
        single 1e37, impossible below 235 vertices); ``form`` ("networkx", "plain": the paper's first equation,
        "harmonic": its second), ``wf_improved``, ``weighted`` for closeness; ``reduce`` ("matrix", "total",
        "eccentricity", "average"), ``weighted`` for apsp; ``damping``, ``tolerance``, ``limit`` for pagerank (at most
        ``limit`` rounds, convergence not reported; strategy `networkx` raises unless converged); ``length``, ``walks``,
        ``seed`` for walks.

    Returns
    -------
    Results
        ``result[k]`` is graph k's array: shape (n,), for ``apsp`` (n, n) with inf where there is no path, for walks
        (n, walks, length + 1). ``result.labels[k]`` holds the names of its vertices, None where they are numbers.

    Raises
    ------
    ValueError
        No such measure, strategy or option, or a value that it cannot have.
    GraphError
        The batch holds something that is no graph.
    NoGpuError
        ``executor="cuda"`` without a usable GPU.

    Examples
    --------
    >>> import networkx as nx
    >>> result = analyze([nx.path_graph(3), nx.cycle_graph(5)], "apsp", reduce="eccentricity", strategy="cpu")
    >>> [values.tolist() for values in result]
    [[2.0, 1.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.0]]
    """
    engine = Engine(measure, executor, strategy, strategy_options, **options)
    batch = GraphBatch.of(batch).suited(engine)
    single = strategy == "auto" and engine.executor is not None and len(batch) == 1
    single = single and measure in STRATEGIES["alone"].measures
    parts, numbers, problems, labels = [], [], [], {}
    machine = engine.executor
    if machine is not None:
        machine.reset_counts()
    for piece in batch.pieces:
        loaded = batch.load_piece(piece)
        problems += loaded.problems
        labels |= loaded.labels
        if len(loaded.pack):
            if single:
                engine = _for_one(engine, loaded.pack, options)
            parts.append(engine.run(loaded.pack).get())
            numbers.append(loaded.numbers)
    stats = {"graphs": sum(len(part) for part in parts), "machine": "cpu" if machine is None else machine.name}
    if machine is not None:
        stats["launches"] = machine.counts["launches"]
    if engine.reason:
        stats["reason"] = engine.reason
    return Results(parts, numbers, len(batch), measure, engine.strategy.name, problems, stats, labels)


def _for_one(engine, pack, options):
    """The engine of `alone` for a batch of one graph, if `alone` supports it; else the given engine."""
    found = Engine(engine.measure.name, engine.executor, "alone", **options)
    if shares(found.method, pack) is None:
        return engine
    found.reason = "one graph: all multiprocessors take its sources"
    return found


__all__ = [
    "MEASURES", "STRATEGIES", "Engine", "GraphBatch", "Measure", "Pack", "Problem", "Results", "Strategy", "Values",
    "analyze", "reference",
]  # fmt: skip
