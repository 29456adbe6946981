"""Strategies of the GPU in the CPU/GPU race: a completion flag and a cancellation flag, and the record that
`cpu_gpu_race.race` reads: a graph, settings, launches and the addresses of functions.

A kernel polls its cancellation flag every few levels, so it ends with a latency, which `auto.Costs` holds.
"""

import ctypes
import functools

import numpy as np

from .asynchronous import Asynchronous
from .chains import Chains
from .cpu_gpu_race import RECORD
from .narrow import Narrow


class Race:
    """Two flags in the host's memory: `done`, set by a kernel at its end, and `stop`, which cancels it."""

    def __init__(self, executor):
        self.executor = executor
        words = on_host = executor.zeros(24, np.uint64)  # three cache lines: {done}, {stop}, {0}
        if executor.name == "cuda":
            import cupy
            import cupyx

            on_host = cupyx.zeros_pinned(24, np.uint64)
            memory = cupy.cuda.UnownedMemory(on_host.ctypes.data, on_host.nbytes, on_host)
            words = cupy.ndarray(24, np.uint64, cupy.cuda.MemoryPointer(memory, 0))
        self.done, self.stop = words[:8], words[8:16]
        self.address = on_host.ctypes.data
        self.completion = ctypes.c_uint64.from_address(self.address)
        self.told = ctypes.c_uint64.from_address(self.address + 64)  # the cancellation flag

    def reset(self):
        # The completion flag shows only that one block has ended. A warp of `asynchronous` that still runs and reads a
        # cleared cancellation flag would poll for ever for the vertices that cancelled warps held.
        self.executor.synchronize()
        self.completion.value = self.told.value = 0

    def end(self):
        """Cancel the kernel, and wait for its end."""
        self.told.value = 1
        self.executor.synchronize()


class _Racing:
    """A cancellable GPU strategy that signals completion.

    A run has two parts: the launches of `steps`, and `outcome`, the result object, built while the kernels run.
    """

    @property
    def steps(self):
        return (self.launch,)

    def load(self):
        self.race = Race(self.executor)
        self.stop, self.done = self.race.stop, self.race.done
        super().load()

    def reset(self):
        self.race.reset()
        super().reset()

    def launch_all(self):
        for step in self.steps:
            step()

    def run(self):
        self.launch_all()
        return self.outcome()


class RacingNarrow(_Racing, Narrow):
    """`narrow`."""

    def outcome(self):
        return self.result(self.summary, self.sizes)


class RacingChains(_Racing, Chains):
    """`chains`."""

    steps = None  # three of them, which `load` binds

    def outcome(self):
        return self.result(self.summary, order=self.unfolded)


class RacingAsynchronous(_Racing, Asynchronous):
    """`asynchronous`."""

    def outcome(self):
        return self.result(self.summary)


@functools.cache
def functions(executor):
    """Addresses of the driver's launch function, or 0 if only Python can launch, and of the clock."""
    clock = ctypes.cast(ctypes.CDLL(None).clock_gettime, ctypes.c_void_p).value
    if executor is None or executor.name != "cuda":
        return 0, clock
    launch = ctypes.CDLL("libcuda.so.1").cuLaunchCooperativeKernel
    return ctypes.cast(launch, ctypes.c_void_p).value, clock


def new(executor, graph, in_degrees, order, **settings):
    """A RECORD with the functions, the graph and the settings in it, and no competitors yet.

    It holds addresses of the graph's arrays: keep these as long as the record.
    """
    record = np.zeros((), RECORD)
    record["launch"], record["clock"] = functions(executor)
    record["time"] = record.ctypes.data + RECORD.fields["seconds"][1]
    arrays = {"offsets": graph.offsets, "targets": graph.targets, "in_degrees": in_degrees, "order": order}
    for name, array in arrays.items():
        record[name] = array.ctypes.data
    record["nodes"], record["arcs"], record["wide"] = graph.n, graph.m, graph.targets.itemsize == 8
    for name, value in settings.items():
        record[name] = value
    return record


def enter(record, number, race, launches):
    """Write into the record a competitor's launches and the address of its flags.

    Parameters
    ----------
    race : Race
    launches : list of lists of WORDS ints
        Each as `record` of a launch gives it; none: Python launches.
    """
    competitor = record["entrants"][number]
    competitor["done"] = race.address
    competitor["count"] = len(launches)
    for k, words in enumerate(launches):
        competitor["launches"][k] = words
