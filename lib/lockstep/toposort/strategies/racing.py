"""Strategies of the GPU that run against the CPU: two words by which kernel and host tell one another, and the record
that `contest.race` is handed: a graph, settings, launches and the addresses of functions.

A kernel reads its word every few levels, so it ends a while after that was set: `auto.Costs.farewell`.
"""

import ctypes
import functools

import numpy as np

from .asynchronous import Asynchronous
from .chains import Chains
from .contest import JOB
from .narrow import Narrow


class Race:
    """Two words of the host's memory: `done`, set by a kernel at its end, and `stop`, set for it."""

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
        self.over = ctypes.c_uint64.from_address(self.address)
        self.told = ctypes.c_uint64.from_address(self.address + 64)

    def reset(self):
        # A kernel's own word says that one block ended. A warp of `asynchronous` that has not, and would find a zero
        # where others found a one and left, would wait for ever for what those had in hand.
        self.executor.synchronize()
        self.over.value = self.told.value = 0

    def end(self):
        """Have the kernel stop, and wait until it has."""
        self.told.value = 1
        self.executor.synchronize()


class _Racing:
    """A strategy of the GPU that tells when it is done, and ends when it is told to.

    Its run has two parts: the launches of `steps`, and `outcome`, the result to be, for which there is time meanwhile.
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
    """Addresses of what launches, or 0 if Python must, and of what tells the time."""
    clock = ctypes.cast(ctypes.CDLL(None).clock_gettime, ctypes.c_void_p).value
    if executor is None or executor.name != "cuda":
        return 0, clock
    launch = ctypes.CDLL("libcuda.so.1").cuLaunchCooperativeKernel
    return ctypes.cast(launch, ctypes.c_void_p).value, clock


def new(executor, graph, in_degrees, order, **settings):
    """A JOB with the functions, the graph and the settings in it, and no entrants yet.

    It holds addresses of the graph's arrays: keep these as long as the job.
    """
    job = np.zeros((), JOB)
    job["launch"], job["clock"] = functions(executor)
    job["time"] = job.ctypes.data + JOB.fields["seconds"][1]
    arrays = {"offsets": graph.offsets, "targets": graph.targets, "in_degrees": in_degrees, "order": order}
    for name, array in arrays.items():
        job[name] = array.ctypes.data
    job["nodes"], job["arcs"], job["wide"] = graph.n, graph.m, graph.targets.itemsize == 8
    for name, value in settings.items():
        job[name] = value
    return job


def enter(job, number, race, launches):
    """Write into the job what an entrant needs to be launched, looked at and told.

    Parameters
    ----------
    race : Race
    launches : list of lists of WORDS ints
        Each as `record` of a launch gives it; none: Python launches.
    """
    entrant = job["entrants"][number]
    entrant["done"] = race.address
    entrant["count"] = len(launches)
    for k, words in enumerate(launches):
        entrant["launches"][k] = words
