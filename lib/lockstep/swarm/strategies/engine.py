"""One measure, one machine, any number of packs."""

import threading
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.machine import Executor, forks, get_executor
from lockstep.machine.forks import ForkError

from .. import measures
from . import allowed
from .auto import choose
from .table import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockstep.batch import Pack
    from lockstep.typing import ExecutorLike

    from ..result import Values


class Engine:
    """Computes one measure of pack after pack.

    Parameters
    ----------
    measure : str
        A name in MEASURES.
    executor : "cuda", "host", Executor or None
        None: the GPU if available, else the CPU for `auto`, and the emulator for GPU strategies.
    strategy : str
        A name in STRATEGIES; `auto` takes `swarm` on a GPU, `cpu-lanes` or `cpu` without one.
    strategy_options : mapping
        Options of the strategy itself (see its class), which must be named then.
    **options
        Of the measure (see MEASURES).

    Raises
    ------
    ValueError
        No such measure, strategy or option, or a value that it cannot have; a strategy that does not compute the
        measure; options of a strategy that is not named.

    Notes
    -----
    `run` launches and returns; results stay on the device. A pack in host memory is copied there (`to_device`).
    """

    def __init__(
        self, measure: str = "betweenness", executor: "ExecutorLike" = None, strategy: str = "auto",
        strategy_options: "Mapping[str, Any] | None" = None, **options: Any,
    ) -> None:
        if measure not in measures.MEASURES:
            raise ValueError(f"no measure {measure!r}; choose one of {', '.join(measures.MEASURES)}")
        strategy = STRATEGIES.find(strategy).name
        if "knobs" in options:
            warnings.warn("knobs is now called strategy_options", FutureWarning, stacklevel=2)
            strategy_options = options.pop("knobs")
        own = dict(strategy_options or {})
        if own and strategy == "auto":  # which takes another one on another machine
            raise ValueError(
                f"strategy_options ({', '.join(own)}) are of one strategy; name it: strategy='swarm', for example"
            )
        self.measure = measures.MEASURES[measure]
        self.options = self.measure.filled(options)
        machine = get_executor(executor) if not isinstance(executor, Executor) else executor
        self.reason = None
        if strategy == "auto":
            strategy, self.reason = choose(measure, machine)
        self.strategy = STRATEGIES[strategy]
        if measure not in self.strategy.measures:
            raise ValueError(
                f"strategy {strategy!r} does not compute {measure}; it computes {', '.join(self.strategy.measures)}"
            )
        if machine is None and self.strategy.gpu:
            machine = get_executor("host")
        self.executor = machine if self.strategy.gpu else None
        allowed.check(allowed.STRATEGY_OPTIONS.get(strategy, {}), own, f"strategy {strategy!r}")
        self.method = self.strategy.plan.method(self.measure, self.executor, self.options, **own)
        self.planning = threading.Lock()

    @property
    def xp(self) -> ModuleType:
        """NumPy or CuPy: what a pack's arrays must be."""
        return np if self.executor is None else self.executor.xp

    @property
    def checksums(self) -> bool:
        """Whether its results have checksums."""
        return self.strategy.checksums

    @property
    def lengths(self) -> bool:
        """Whether weights of arcs are lengths."""
        return self.measure.weights and self.options.get("weighted") is not False

    @property
    def most_vertices(self) -> int:
        """Vertices of the largest graph with values fitting memory."""
        return measures.most_vertices(self.measure, self.options)

    def to_device(self, pack: "Pack") -> "Pack":
        """The pack with its arrays where the engine computes."""
        return pack.to(self.xp)

    def prepare(self, pack: "Pack") -> Any:
        """A Task for the pack: planned, allocated, bound; `run()` may be repeated.

        A lock serializes planning, which is Python code: concurrent threads would only contend for the
        interpreter lock.
        """
        if forks.forked and not self.strategy.gpu:
            raise ForkError
        weighted = measures.check_batch(self.measure, self.options, pack.weights is not None)
        if weighted:
            if self.measure.name not in self.method.weighted:
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

    def run(self, pack: "Pack") -> "Values":
        """The Values of a pack; on the device, perhaps not computed yet."""
        return self.prepare(pack).run()


def engine_from(measure, executor=None, strategy="auto", options=None):
    """An `Engine` on this machine from names alone, as the workers of a cluster are sent them (`functools.partial`)."""
    return Engine(measure, get_executor(executor), strategy, **(options or {}))
