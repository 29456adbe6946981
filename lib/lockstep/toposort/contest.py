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
from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# Where in a job's array what stands.
BEGUN, TOLD, ENDED, HEAD, TAIL, KIND = range(6)  # how the race goes; zeroes at first
SAMPLE, LOOK, ROOTS, WIDTH, SLACK, REST = range(6, 12)  # whether and how to look at the graph before a launch
OFTEN, LATE, PATIENCE, FAREWELL = range(12, 16)  # vertices between two looks, and from when on it is late; ns, ns
LAUNCH, SEND, CLOCK, TIME = range(16, 20)  # addresses of functions, and of two words for the time
OFFSETS, TARGETS, IN_DEGREES, ORDER, NODES, ARCS, WIDE = range(20, 27)  # addresses, sizes, whether ids take 8 bytes
ENTRANTS, ENTRANT = 27, 36  # the two kinds that may be launched: from where on, and words of each
DONE, STOP, WORD, SIDE, LAUNCHES, FIRST = range(6)  # of an entrant: addresses, stream, launches, from where on
WORDS = 10  # of a launch, of which there are up to three, as `record` of a launch gives them
SIZE = ENTRANTS + 2 * ENTRANT

# What `race` answers, beside a number of vertices: who sorted, or what Python is to do.
ALONE, BY_CPU, BY_GPU, LAUNCHED, TO_LAUNCH, TO_TELL = range(6)

SAMPLES = 64  # vertices looked at for 1-1 runs
OTHERS = 8  # of them that lie within no run are too many: of runs of fewer than 16 vertices others are as fast


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


# All that `race` is compiled from stands in this file: Numba's cache does not notice when another one changes.


@intrinsic
def peek(typing, address):
    """The 8-byte integer at an address that somebody else may write to: loaded whenever asked for, never kept."""

    def code(context, builder, signature, arguments):
        return builder.load_atomic(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), "monotonic", 8)

    return types.int64(types.int64), code


@intrinsic
def pointer(typing, address):
    """An address as what `carray` takes."""

    def code(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), code


@intrinsic
def call(typing, address, arguments):
    """Call the C function at an address with a tuple of 8-byte integers; its answer's upper half may be anything.

    Parameters of 4 bytes take an 8-byte integer's lower half: so the calling conventions of 64-bit Linux have it.
    """
    eight = ir.IntType(64)

    def code(context, builder, signature, values):
        function = ir.FunctionType(eight, [eight] * signature.args[1].count).as_pointer()
        given = cgutils.unpack_tuple(builder, values[1], signature.args[1].count)
        return builder.call(builder.inttoptr(values[0], function), given)

    return types.int64(types.int64, arguments), code


@njit(cache=True, nogil=True)
def mostly_links(offsets, in_degrees):
    """Whether of some vertices drawn by a hash nearly all lie within a run: one arc enters, one leaves."""
    others = 0
    for i in range(SAMPLES):
        v = (i * 0x9E3779B1 + 0x7F4A7C15) % in_degrees.size
        others += in_degrees[v] != 1 or offsets[v + 1] - offsets[v] != 1
        if others == OTHERS:
            return False
    return True


@njit(cache=True, nogil=True)
def kahn_narrow(offsets, targets, in_degrees, order, roots, width, slack, rest):
    """Kahn's algorithm for as long as there is little for a GPU to do.

    Does not begin where more than about `roots` vertices have arcs that leave and none that enter. Ends before the
    level with which more than `width` vertices to a level, and `slack` besides, would have been sorted behind the
    sources, unless no more than `rest` are left by then. Returns how many were sorted, and how many were queued.
    """
    one = np.uint64(1)
    n, lanes, drawn = np.uint64(in_degrees.size), np.uint64(16), np.uint64(64)
    head = tail = v = found = np.uint64(0)
    for i in range(drawn):
        u = (i * np.uint64(0x9E3779B1) + np.uint64(0x7F4A7C15)) % n
        if in_degrees[u] == 0 and offsets[u + one] != offsets[u]:
            found += one
            if found * n > np.uint64(roots) * drawn:
                return 0, 0
    while v < n:  # few are sources, so sixteen are looked at together
        until = min(v + lanes, n)
        some = True
        if until == v + lanes:
            least = np.int32(1)
            for lane in range(lanes):
                least = min(least, in_degrees[v + lane])
            some = least == 0
        if some:
            for u in range(v, until):
                if in_degrees[u] == 0:
                    order[tail] = u
                    tail += one
        v = until
    end, most = tail, tail + np.uint64(slack)
    while head < tail:
        if head == end:
            end, most = tail, most + np.uint64(width)
            if tail > most and n - head > np.uint64(rest):
                break
        u = np.uint64(order[head])
        head += one
        for k in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
            x = np.uint64(targets[k])
            left = in_degrees[x] - 1
            in_degrees[x] = left
            if left == 0:
                order[tail] = x
                tail += one
    return np.int64(head), np.int64(tail)


@njit(cache=True, nogil=True)
def kahn_racing(offsets, targets, in_degrees, order, head, tail, done, often, until):
    """Kahn's algorithm while somebody else sorts too; gives up when it finds the 8-byte word at address `done` set.

    It looks every `often` vertices, and then ends too if `until` vertices are sorted. `head` vertices are sorted
    already, and `tail` queued; if none is, sources are looked for. Returns the same two numbers: equal ones, if that
    was all.

    Indices are unsigned: an index that may be negative is looked at for that, and the loop runs out of registers. So it
    looks at `done` and is still no slower than `kahn`.
    """
    one, often, until = np.uint64(1), np.uint64(often), np.uint64(until)
    head, tail, look = np.uint64(head), np.uint64(tail), np.uint64(0)
    if tail == 0:
        for u in range(np.uint64(in_degrees.size)):
            if u >= look:
                if peek(done):
                    return 0, 1
                look = u + np.uint64(1024)
            if in_degrees[u] == 0:
                order[tail] = u
                tail += one
    look = head
    while head < tail:
        if head >= look:
            if head >= until or peek(done):
                break
            look = head + often
        u = np.uint64(order[head])
        head += one
        for k in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
            x = np.uint64(targets[k])
            left = in_degrees[x] - 1
            in_degrees[x] = left
            if left == 0:
                order[tail] = x
                tail += one
    return np.int64(head), np.int64(tail)


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
        Of a job's array: where nothing is in the caches, five arrays make a call from Python half as dear again.

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
