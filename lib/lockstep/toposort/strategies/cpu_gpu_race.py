"""The CPU/GPU race of `auto`, as one compiled function: it polls, launches, sorts and cancels.

On a graph that a GPU sorts in 50 us, Python's overhead exceeds the sort: before a launch and after a kernel's end its
objects are loaded from memory, since earlier work has evicted them from the caches. So the race's data is one record,
which `competitors.new` fills with the plan, and the driver's functions are called by their addresses. Python runs only
after the launch, while the kernel sorts, and builds the result object. For steps that need Python (a first launch, an
error of the driver, the emulator) `race` returns a code of the step to take before it is called again.

All functions that `race` is compiled from are in this file, but for `pointer` and `call`, whose code does not change:
Numba's cache does not detect changes of other files.
"""

import numpy as np
from llvmlite import ir
from numba import carray, njit, types
from numba.extending import intrinsic

from lockstep.machine.native import call, pointer

WORDS = 10  # of a launch: the driver's function, grid, block, shared memory, stream, arguments


def _fields(*names):
    return [(name, np.int64) for name in names]


# A competitor, i.e. a strategy of the GPU: the address of its flags, which are LINE bytes apart; up to three launches.
COMPETITOR = np.dtype([*_fields("done", "count"), ("launches", np.int64, (3, WORDS))])
LINE = 64
# State of the race. `told`: vertices sorted when the CPU set the cancellation flag; `chosen`: the competitor launched.
STATE = ["begun", "told", "ended", "head", "tail", "chosen"]
RECORD = np.dtype(
    [
        *_fields(*STATE),
        *_fields("sample", "spread", "look", "roots", "width", "slack", "rest"),  # checks before a launch, limits
        *_fields("patience", "often"),  # ns without sorting; vertices between polls, initially
        *_fields("span", "farewell"),  # ns between polls; cancellation latency in ns
        *_fields("alone"),  # ns: remaining CPU time above which the GPU is launched
        *_fields("launch", "clock"),  # addresses of functions
        *_fields("time", "seconds", "nanoseconds", "never"),  # the first is the address of the second; the last is 0
        *_fields("offsets", "targets", "in_degrees", "order"),  # addresses
        *_fields("nodes", "arcs", "wide"),  # `wide`: ids take 8 bytes
        ("entrants", COMPETITOR, 3),
    ]
)

# Codes that `race` returns, beside a number of vertices: which side sorted, or Python's next step.
ALONE, BY_CPU, BY_GPU, LAUNCHED, TO_LAUNCH = range(5)

SAMPLES = 64  # vertices sampled to estimate the share of a kind
OTHERS = 8  # of them outside runs exclude `chains`: on runs of fewer than 16 vertices other strategies are as fast
FEW = 16  # vertices sampled to check that hardly any is a source
PROBE = 128  # vertices by which the CPU's rate is measured before a launch, after half as many that warm the caches
EARLY = 16  # the CPU's rate is first measured after 1/EARLY of the vertices
LAST = 5  # at most 1/LAST of the vertices are left at the cancellation flag
WAIT = 1_000_000  # nanoseconds for which the completion flag is polled; then the driver is called


@intrinsic
def peek(typing, address):
    """The 8-byte integer at an address that others may write: a relaxed atomic load."""

    def code(context, builder, signature, arguments):
        return builder.load_atomic(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), "monotonic", 8)

    return types.int64(types.int64), code


@intrinsic
def poke(typing, address, value):
    """Store an 8-byte integer that another thread polls: an atomic store with release order."""

    def code(context, builder, signature, arguments):
        address = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store_atomic(arguments[1], address, "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@njit(inline="always")
def drawn(i, n):
    """One of n vertices, by a hash."""
    return (np.uint64(i) * np.uint64(0x9E3779B1) + np.uint64(0x7F4A7C15)) % np.uint64(n)


@njit(cache=True, nogil=True)
def mostly_links(offsets, in_degrees):
    """Whether nearly all sampled vertices lie within a run: one arc enters, one leaves."""
    others = 0
    for i in range(SAMPLES):
        v = drawn(i, in_degrees.size)
        others += in_degrees[v] != 1 or offsets[v + np.uint64(1)] - offsets[v] != 1
        if others == OTHERS:
            return False
    return True


@njit(cache=True, nogil=True)
def hardly_sources(in_degrees):
    """Whether none of FEW sampled vertices is a source, as in sparse trees with few sources."""
    for i in range(FEW):
        if in_degrees[drawn(i, in_degrees.size)] == 0:
            return False
    return True


@njit(inline="always")  # a call costs as much as the body
def follow(u, offsets, targets, in_degrees, order, tail):
    """Kahn's algorithm for one vertex: decrements its successors' in-degrees and queues those that become 0.

    Returns the queue's new end. Indices are unsigned here and below: Numba checks an index that may be negative, and
    the loop would then spill registers.
    """
    one = np.uint64(1)
    for k in range(np.uint64(offsets[u]), np.uint64(offsets[u + one])):
        x = np.uint64(targets[k])
        left = in_degrees[x] - 1
        in_degrees[x] = left
        if left == 0:
            order[tail] = x
            tail += one
    return tail


@njit(cache=True, nogil=True)
def kahn_narrow(offsets, targets, in_degrees, order, roots, width, slack, rest):
    """Kahn's algorithm while levels are too narrow to occupy a GPU.

    Returns (0, 0) if more than about `roots` sources have arcs; a sample detects far larger numbers before the
    count. Ends before the level with which the vertices after the sources exceed `slack` plus `width` per
    level, unless at most `rest` vertices are left. Returns the numbers of
    vertices sorted and queued.
    """
    one, lanes, n = np.uint64(1), np.uint64(16), np.uint64(in_degrees.size)
    head = tail = v = begin = np.uint64(0)
    for i in range(SAMPLES):
        u = drawn(i, n)
        begin += np.uint64(in_degrees[u] == 0 and offsets[u] != offsets[u + one])
        if begin * n > np.uint64(roots * SAMPLES):
            return 0, 0
    begin = np.uint64(0)
    while v < n:  # few are sources, so sixteen in-degrees are tested at once
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
                    begin += np.uint64(offsets[u + one] != offsets[u])
            if begin > np.uint64(roots):
                return 0, 0
        v = until
    end, most = tail, tail + np.uint64(slack)
    while head < tail:
        if head == end:
            end, most = tail, most + np.uint64(width)
            if tail > most and n - head > np.uint64(rest):
                break
        u = np.uint64(order[head])
        head += one
        tail = follow(u, offsets, targets, in_degrees, order, tail)
    return np.int64(head), np.int64(tail)


@njit(cache=True, nogil=True)
def kahn_racing(offsets, targets, in_degrees, order, head, tail, done, often, until):
    """Kahn's algorithm against a competitor; ends when the 8-byte completion flag at address `done` is set.

    It polls the flag every `often` vertices, and also ends at a poll if `until` vertices are sorted. `head` vertices
    are sorted already, and `tail` queued; if `tail` is 0, the sources are queued first. Returns both numbers, which
    are equal if all that can be sorted is.
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
        tail = follow(u, offsets, targets, in_degrees, order, tail)
    return np.int64(head), np.int64(tail)


@njit(cache=True, nogil=True)
def _now(record):
    """Nanoseconds of the monotonic clock."""
    call(record.clock, (np.int64(1), record.time))
    return peek(record.time) * 1_000_000_000 + peek(record.time + 8)


@njit(cache=True, nogil=True)
def _wait(record, done, nanoseconds):
    """Poll a flag for at most `nanoseconds`; returns whether it is set."""
    if nanoseconds:
        until = _now(record) + nanoseconds
        while not peek(done) and _now(record) < until:
            pass
    return peek(done) != 0


@njit(cache=True, nogil=True)
def _launch(record, competitor):
    """Launch its kernels; False if only Python can launch them, or the driver returns an error."""
    if record.launch == 0 or competitor.count == 0:
        return False
    for k in range(competitor.count):
        w = competitor.launches[k]
        if call(record.launch, (w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9])) & 0xFFFFFFFF:
            return False
    return True


@njit(cache=True, nogil=True)
def _soon_done(graph, record):
    """Sort the rest on the CPU if, at the rate of a probe of some vertices, it takes less time than a few launches.

    Returns whether it did. Called only with few sources: then the probe's vertices have made others ready, as all later
    ones do; with many sources, the first vertices make few others ready, and take less time than later ones.
    """
    n, never = record.nodes, record.time + 16  # the address of a flag that is never set
    record.head, record.tail = kahn_racing(
        *graph, record.head, record.tail, never, PROBE // 2, min(record.head + PROBE // 2, n)
    )
    begin, start = _now(record), record.head
    record.head, record.tail = kahn_racing(*graph, record.head, record.tail, never, PROBE, min(start + PROBE, n))
    took, some = _now(record) - begin, max(record.head - start, 1)
    if (n - record.head) * took // some > record.alone:
        return False
    record.head, record.tail = kahn_racing(*graph, record.head, record.tail, never, n, n)
    return True


@njit(cache=True, nogil=True)
def _begin(graph, record):
    """Sample the graph, sort narrow levels, and launch."""
    record.begun = 1
    if record.sample and mostly_links(graph[0], graph[2]):
        record.chosen = 1
    elif record.spread and hardly_sources(graph[2]):
        record.chosen = 2
    elif record.look:
        record.head, record.tail = kahn_narrow(*graph, record.roots, record.width, record.slack, record.rest)
        if record.tail > 0 and (record.head == record.tail or _soon_done(graph, record)):
            return ALONE
    return LAUNCHED if _launch(record, record.entrants[record.chosen]) else TO_LAUNCH


@njit(cache=True, nogil=True)
def _until_late(graph, record, done):
    """Sort until all is sorted, `done` is set, or the remaining CPU time equals the cancellation latency.

    The remaining time is predicted at the measured rate, since the time of a vertex differs tenfold between graphs, and
    a kernel cancelled late ends long after the CPU. At most a fifth of the vertices may be left, so a kernel cancelled
    just before its end costs at most a quarter more time.

    The clock is read where a fifth is left, and then again at half of the predicted distance to the end, since the rate
    may rise; and once early, to set the interval between polls of `done`.
    """
    n, often = record.nodes, record.often
    begin, start = _now(record), record.head
    earliest = n - n // LAST
    until = max(min(start + n // EARLY, earliest), start + often)
    while True:
        record.head, record.tail = kahn_racing(*graph, record.head, record.tail, done, often, until)
        if record.head == record.tail or peek(done):
            return
        took, some = max(_now(record) - begin, 1), record.head - start
        late = max(n - some * record.farewell // took, earliest)
        if record.head >= late:
            return
        often = min(max(some * record.span // took, 4), 1024)  # vertices
        until = earliest if record.head < earliest else record.head + (late - record.head + 1) // 2


@njit(cache=True, nogil=True)
def _go_on(graph, record):
    """Sort against the kernel, cancel it if the CPU finishes first, and wait for its end."""
    n, done = record.nodes, record.entrants[record.chosen].done
    if _wait(record, done, record.patience):
        return BY_GPU
    _until_late(graph, record, done)
    if record.head != record.tail:
        if peek(done):
            return BY_GPU
        # From here on `done` does not imply a sorted graph: a cancelled kernel sets it, too.
        poke(done + LINE, np.int64(1))
        record.told = record.head
        never = done + 2 * LINE  # the address of a flag that is never set
        record.head, record.tail = kahn_racing(*graph, record.head, record.tail, never, n, n)
        if record.launch:  # the kernel ends soon: its completion flag is faster than the driver's synchronization
            record.ended = _wait(record, done, WAIT)
    return BY_CPU


@njit(cache=True, nogil=True)
def _race(graph, record):
    answer = _go_on(graph, record) if record.begun else _begin(graph, record)
    return answer | record.head << 3


@njit(cache=True, nogil=True)
def race(address):
    """Sort on the CPU against a kernel, until one of them is done.

    Parameters
    ----------
    address : int
        Of a RECORD. One pointer: with cold caches, five arrays make a call from Python cost 50 % more.

    Returns
    -------
    int
        8 times the number of vertices that the CPU has sorted, plus the side that sorted: ALONE, BY_CPU or BY_GPU. Or
        plus LAUNCHED or TO_LAUNCH: to be called again.
    """
    record = carray(pointer(address), 1, RECORD)[0]
    n, m = record.nodes, record.arcs
    offsets, in_degrees = (
        carray(pointer(record.offsets), n + 1, np.int64), carray(pointer(record.in_degrees), n, np.int32)
    )  # fmt: skip
    if record.wide:
        targets, order = carray(pointer(record.targets), m, np.int64), carray(pointer(record.order), n, np.int64)
        return _race((offsets, targets, in_degrees, order), record)
    narrow_targets, narrow_order = (
        carray(pointer(record.targets), m, np.int32), carray(pointer(record.order), n, np.int32)
    )  # fmt: skip
    return _race((offsets, narrow_targets, in_degrees, narrow_order), record)
