"""The race of `auto` between CPU and GPU, as one compiled function: it looks, launches, sorts, and tells the GPU.

A graph that a GPU sorts in 50 us leaves no time for Python: before a launch and after a kernel's end its objects come
from memory, for whatever ran before has pushed them out of the caches. So all that a race needs lies in one array of
8-byte integers, made ready with the plan, and the driver's functions are called by their addresses. Python runs right
after the launch, when it has time to put together the result that there will be. What cannot be done that way (a first
launch, the hypothetical GPU) `race` hands back to Python, with a word that says what to do before it is called again.
"""

import ctypes
import functools

import numpy as np
from numba import carray, njit

from .serial import call, kahn_narrow, kahn_racing, mostly_links, peek, pointer

# Where in a job's array what stands.
BEGUN, TOLD, ENDED, HEAD, TAIL, KIND = range(6)  # how the race goes; zeroes at first
SAMPLE, LOOK, ROOTS, WIDTH, SLACK, REST = range(6, 12)  # whether and how to look at the graph before a launch
OFTEN, LATE, PATIENCE, FAREWELL = range(12, 16)  # vertices between two looks, and from when on it is late; ns, ns
LAUNCH, SEND, CLOCK, TIME = range(16, 20)  # addresses of functions, and of two words for the time
OFFSETS, TARGETS, IN_DEGREES, ORDER, NODES, ARCS, WIDE = range(20, 27)  # addresses, sizes, whether ids take 8 bytes
ENTRANTS, ENTRANT = 27, 36  # the two kinds that may be launched: from where on, and words of each
DONE, STOP, WORD, SIDE, LAUNCHES, FIRST = range(
    6
)  # of an entrant: addresses, stream, number of launches, from where on
WORDS = 10  # of a launch, of which there are up to three, as `record` of a launch gives them
SIZE = ENTRANTS + 2 * ENTRANT

# What `race` answers, beside a number of vertices: who sorted, or what Python is to do.
ALONE, BY_CPU, BY_GPU, LAUNCHED, TO_LAUNCH, TO_TELL = range(6)


@functools.cache
def functions(executor):
    """Addresses of the functions that LAUNCH, SEND and CLOCK mean; 0 for what Python must do."""
    clock = ctypes.cast(ctypes.CDLL(None).clock_gettime, ctypes.c_void_p).value
    if executor is None or executor.name != "cuda":
        return 0, 0, clock
    driver = ctypes.CDLL("libcuda.so.1")
    names = driver.cuLaunchCooperativeKernel, driver.cuMemcpyHtoDAsync_v2
    return *(ctypes.cast(function, ctypes.c_void_p).value for function in names), clock


def new_job(executor, offsets, targets, in_degrees, order):
    """A job's array with the functions and the graph in it, and a place for the time; all else is zero.

    Whoever keeps it has to keep the graph's arrays too: of those it holds the addresses.
    """
    job = np.zeros(SIZE + 2, np.int64)
    job[[LAUNCH, SEND, CLOCK]] = functions(executor)
    job[TIME] = job.ctypes.data + 8 * SIZE
    job[[OFFSETS, TARGETS, IN_DEGREES, ORDER]] = [a.ctypes.data for a in (offsets, targets, in_degrees, order)]
    job[[NODES, ARCS, WIDE]] = in_degrees.size, targets.size, targets.itemsize == 8
    return job


def enter(job, kind, race, launches):
    """Write into the job what a kind needs to be launched, looked at and told.

    Parameters
    ----------
    race : Race
    launches : list of lists of WORDS ints
        Each as `record` of a launch gives it; none: Python launches.
    """
    entrant = job[ENTRANTS + kind * ENTRANT :][:ENTRANT]
    entrant[[DONE, STOP, WORD, SIDE]] = race.address, race.stop_address, race.address + 128, race.side_address
    entrant[LAUNCHES] = len(launches)
    for k, words in enumerate(launches):
        entrant[FIRST + k * WORDS :][:WORDS] = words


@njit(cache=True, nogil=True)
def _now(job):
    """Nanoseconds of the clock that only goes forward."""
    call(job[CLOCK], (np.int64(1), job[TIME]))
    return peek(job[TIME]) * 1_000_000_000 + peek(job[TIME] + 8)


@njit(cache=True, nogil=True)
def _launch(job, at):
    """Launch the kernels of the entrant at `at`; False if there is nothing to launch here, or the driver refuses."""
    if job[LAUNCH] == 0 or job[at + LAUNCHES] == 0:
        return False
    for k in range(job[at + LAUNCHES]):
        w = at + FIRST + k * WORDS
        grid, block = (job[w + 1], job[w + 2], job[w + 3]), (job[w + 4], job[w + 5], job[w + 6])
        if call(job[LAUNCH], (job[w],) + grid + block + (job[w + 7], job[w + 8], job[w + 9])) & 0xFFFFFFFF:
            return False
    return True


@njit(cache=True, nogil=True)
def _tell(job, at):
    """Send the kernel the word that stops it."""
    if job[SEND] == 0 or call(job[SEND], (job[at + STOP], job[at + WORD], np.int64(8), job[at + SIDE])) & 0xFFFFFFFF:
        return False
    job[TOLD] = 1
    return True


@njit(cache=True, nogil=True)
def _race(offsets, targets, in_degrees, order, job):
    n = in_degrees.size
    if job[BEGUN] == 0:
        if job[SAMPLE] and mostly_links(offsets, in_degrees):
            job[KIND] = 1
        elif job[LOOK]:
            job[HEAD], job[TAIL] = kahn_narrow(
                offsets, targets, in_degrees, order, job[ROOTS], job[WIDTH], job[SLACK], job[REST]
            )
            if job[HEAD] == job[TAIL] and job[TAIL] > 0:
                return ALONE
        job[BEGUN] = 1
        return LAUNCHED if _launch(job, ENTRANTS + job[KIND] * ENTRANT) else TO_LAUNCH
    at = ENTRANTS + job[KIND] * ENTRANT
    done = job[at + DONE]
    if job[TOLD] == 0:
        if job[PATIENCE]:
            until = _now(job) + job[PATIENCE]
            while not peek(done) and _now(job) < until:
                pass
        if peek(done):
            return BY_GPU
        head, tail = kahn_racing(offsets, targets, in_degrees, order, job[HEAD], job[TAIL], done, job[OFTEN], job[LATE])
        job[HEAD], job[TAIL] = head, tail
        if head != tail:
            if peek(done):
                return BY_GPU
            # From here on `done` says nothing: who is stopped sets it, too.
            if not _tell(job, at):
                return TO_TELL
    if job[HEAD] != job[TAIL]:
        never = done + 64
        job[HEAD], job[TAIL] = kahn_racing(
            offsets, targets, in_degrees, order, job[HEAD], job[TAIL], never, np.int64(n), np.int64(n)
        )
    if job[TOLD] and job[SEND]:  # the kernel ends soon: its word says so sooner than the driver does
        until = _now(job) + job[FAREWELL]
        while not peek(done) and _now(job) < until:
            pass
        job[ENDED] = peek(done) != 0
    return BY_CPU


@njit(cache=True, nogil=True)
def race(address):
    """Sort on the CPU against a kernel, until one of them is done.

    Parameters
    ----------
    address : int
        Of a job's array: to take five arrays from Python costs as much again as all else before the launch.

    Returns
    -------
    int
        8 times the number of vertices that the CPU has sorted, and ALONE, BY_CPU or BY_GPU: who sorted. Or LAUNCHED,
        TO_LAUNCH or TO_TELL: to be called again.
    """
    job = carray(pointer(address), SIZE, np.int64)
    n, m = job[NODES], job[ARCS]
    offsets, in_degrees = carray(pointer(job[OFFSETS]), n + 1, np.int64), carray(pointer(job[IN_DEGREES]), n, np.int32)
    if job[WIDE]:
        targets, order = carray(pointer(job[TARGETS]), m, np.int64), carray(pointer(job[ORDER]), n, np.int64)
        return _race(offsets, targets, in_degrees, order, job) | job[HEAD] << 3
    narrow_targets, narrow_order = carray(pointer(job[TARGETS]), m, np.int32), carray(pointer(job[ORDER]), n, np.int32)
    return _race(offsets, narrow_targets, in_degrees, narrow_order, job) | job[HEAD] << 3
