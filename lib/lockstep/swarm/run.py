"""One measure, one machine, any number of packs."""

import threading

import numpy as np

from lockstep.machine import Executor, get_executor

from . import allowed, measures
from .alone import shares
from .strategies import STRATEGIES


class Engine:
    """Computes one measure of pack after pack.

    Parameters
    ----------
    measure : str
        A name in MEASURES.
    executor : "cuda", "host", Executor or None
        None: the GPU if one answers, else the CPU for `auto`, and the hypothetical GPU for a strategy of the GPU.
    strategy : str
        A name in STRATEGIES; `auto` takes `swarm` on a GPU and `cpu` without one.
    knobs : mapping
        Options of the strategy itself (see its class), which must be named then.
    **options
        Of the measure (see MEASURES).

    Raises
    ------
    ValueError
        No such measure, strategy or option, or a value that it cannot have; a strategy that does not compute the
        measure; knobs without a strategy that they are of.

    Notes
    -----
    `run` launches and returns; results stay on the device. A pack in host memory is copied there (`to_device`).
    """

    def __init__(self, measure="betweenness", executor=None, strategy="auto", knobs=None, **options):
        if measure not in measures.MEASURES:
            raise ValueError(f"no measure {measure!r}; choose one of {', '.join(measures.MEASURES)}")
        if strategy != "auto" and strategy not in STRATEGIES:
            raise ValueError(f"no strategy {strategy!r}; choose auto or one of {', '.join(STRATEGIES)}")
        if knobs and strategy == "auto":  # which takes another one on another machine
            raise ValueError(f"knobs ({', '.join(knobs)}) are of one strategy; name it: strategy='swarm', for example")
        self.measure = measures.MEASURES[measure]
        self.options = self.measure.filled(options)
        machine = get_executor(executor) if not isinstance(executor, Executor) else executor
        self.reason = None
        if strategy == "auto":
            strategy = "cpu" if machine is None else "swarm"
            self.reason = "no GPU answers: all cores" if machine is None else "the fastest on a GPU, whatever the sizes"
        self.strategy = STRATEGIES[strategy]
        if measure not in self.strategy.measures:
            raise ValueError(
                f"strategy {strategy!r} does not compute {measure}; it computes {', '.join(self.strategy.measures)}"
            )
        if machine is None and self.strategy.gpu:
            machine = get_executor("host")
        self.executor = machine if self.strategy.gpu else None
        allowed.check(allowed.KNOBS.get(strategy, {}), knobs or {}, f"strategy {strategy!r}")
        self.method = self.strategy.plan(self.measure, self.executor, self.options, **(knobs or {}))
        self.planning = threading.Lock()

    @property
    def xp(self):
        """NumPy or CuPy: what a pack's arrays must be."""
        return np if self.executor is None else self.executor.xp

    @property
    def lengths(self):
        """Whether weights of arcs are lengths."""
        return self.measure.weights and self.options.get("weighted") is not False

    @property
    def most_vertices(self):
        """Of the largest graph whose values fit into memory."""
        return measures.most_vertices(self.measure, self.options)

    def to_device(self, pack):
        """The pack with its arrays where the engine computes."""
        return pack.to(self.xp)

    def prepare(self, pack):
        """A Task for the pack: planned, allocated, bound; `run()` it as often as you like.

        Threads plan one after the other: planning is Python, and several would only take the interpreter's lock from
        each other.
        """
        weighted = measures.check_batch(self.measure, self.options, pack.weights is not None)
        if weighted:
            if self.measure.name not in self.strategy.plan.weighted:
                raise ValueError(
                    f"strategy {self.strategy.name!r} takes no weights; use swarm or cpu, or weighted=False"
                )
            measures.check_weights(pack.host.weights)
        if self.options.get("form") == "harmonic" and np.max(pack.host.n, initial=0) > measures.HARMONIC:
            raise ValueError(
                f"a graph of the batch has {np.max(pack.host.n):,} vertices; harmonic closeness takes at most "
                f"{measures.HARMONIC:,}: leave it out (max_vertices), or use form='networkx'"
            )
        there = self.to_device(pack)
        with self.planning:
            return self.method.prepare(there, weighted)

    def run(self, pack):
        """The Values of a pack; on the device, perhaps not computed yet."""
        return self.prepare(pack).run()


def engine_from(measure, executor=None, strategy="auto", options=None):
    """An `Engine` on this machine from names alone, as the workers of a cluster are sent them (`functools.partial`)."""
    return Engine(measure, get_executor(executor), strategy, **(options or {}))


class Results:
    """One array for each graph of a batch, in its order; those of graphs that could not be used are None.

    Attributes
    ----------
    measure, strategy : str
    problems : list
        Of graphs that could not be used (see `GraphBatch`).
    stats : dict
        "reason" if the strategy was chosen, "launches" of kernels and of graphs, on what machine.
    """

    def __init__(self, parts, numbers, count, measure, strategy, problems, stats):
        self.measure, self.strategy, self.problems, self.stats = measure, strategy, problems, stats
        self._where = [None] * count
        for part, found in enumerate(numbers):
            for place, number in enumerate(found):
                self._where[int(number)] = (part, place)
        self._parts = parts

    def __len__(self):
        return len(self._where)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        where = self._where[index]
        return None if where is None else self._parts[where[0]][where[1]]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<{self.measure} of {len(self):,} graphs, by {self.strategy}>"


def analyze(batch, measure="betweenness", executor=None, strategy="auto", knobs=None, **options):
    """Compute a measure of every graph of a batch.

    Parameters
    ----------
    batch : GraphBatch, or what makes one
        A sequence of Graphs, NetworkX graphs or SciPy matrices; a Pack; a path. For batches larger than memory use
        `lockstep swarm`, which writes results out piece by piece.
    measure : str
        A name in MEASURES.
    executor : "cuda", "host", Executor or None
        None: the GPU if one answers, else the CPU for `auto`, and the hypothetical GPU for a strategy of the GPU.
    strategy : str
        A name in STRATEGIES, or `auto`.
    knobs : mapping
        Options of the strategy itself, which must be named then.
    **options
        Of the measure: ``endpoints``, ``precision`` ("double", "single") for betweenness (NaN where there are more
        shortest paths than 1e300, with single 1e37, which fewer than 240 vertices never have); ``form`` ("networkx",
        "plain": the paper's first equation, "harmonic": its second), ``wf_improved``, ``weighted`` for closeness;
        ``reduce`` ("matrix", "total", "eccentricity", "average"), ``weighted`` for apsp; ``damping``, ``tolerance``,
        ``limit`` for pagerank; ``length``, ``walks``, ``seed`` for walks.

    Returns
    -------
    Results
        ``result[k]`` is graph k's array: shape (n,), for ``apsp`` (n, n) with inf where there is no path, for walks
        (n, walks, length + 1).

    Raises
    ------
    ValueError
        No such measure, strategy or option, or a value that it cannot have.
    GraphError
        The batch holds something that is no graph.
    NoGpuError
        ``executor="cuda"`` and no GPU answers.

    Examples
    --------
    >>> import networkx as nx
    >>> result = analyze([nx.path_graph(3), nx.cycle_graph(5)], "apsp", reduce="eccentricity", strategy="cpu")
    >>> [values.tolist() for values in result]
    [[2.0, 1.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.0]]
    """
    from lockstep.batch.batch import GraphBatch

    engine = Engine(measure, executor, strategy, knobs, **options)
    batch = GraphBatch.of(batch).suited(engine)
    single = strategy == "auto" and engine.executor is not None and len(batch) == 1
    single = single and measure in STRATEGIES["alone"].measures
    parts, numbers, problems = [], [], []
    machine = engine.executor
    if machine is not None:
        machine.reset_counts()
    for piece in batch.pieces:
        loaded = batch.load_piece(piece)
        problems += loaded.problems
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
    return Results(parts, numbers, len(batch), measure, engine.strategy.name, problems, stats)


def _for_one(engine, pack, options):
    """The engine of `alone` for a batch of one graph, if that is a graph that it is for; else the one that is there."""
    found = Engine(engine.measure.name, engine.executor, "alone", **options)
    if shares(found.method, pack) is None:
        return engine
    found.reason = "one graph: all multiprocessors take its sources"
    return found
