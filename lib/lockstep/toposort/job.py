"""What `contest.race` is handed: a record with a graph, settings, launches and the addresses of functions in it."""

import ctypes
import functools

import numpy as np

from .contest import JOB


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

    Whoever keeps it has to keep the graph's arrays too: of those it holds the addresses.
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
