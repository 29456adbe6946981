"""The emulator: an implementation of the "hypothetical GPU" on which the first paper explains its schedules.

The same .cu files are compiled by the system's C++ compiler (`host_build`) together with host.hpp and host_runtime.cpp,
which run the threads of a launch as fibers of one OS thread. Results and counts are exact and bit-identical on every
machine; times are not meaningful.
"""

import contextlib
import ctypes
import functools
import threading
import typing

import numpy as np

from . import host_build, source
from .errors import (
    DataRaceError,
    DeadlockError,
    DivergentBarrierError,
    KernelError,
    LaunchError,
    LivelockError,
    MemoryFaultError,
)
from .executor import Executor, Kernel, Module

FUZZ = ("none", "sync", "memory")
RACES = ("none", "plain", "all")
EVENTS = ("read", "write", "atomic", "load", "store", "fence", "barrier", "grid barrier", "warp", "pause",
          "mark")  # fmt: skip
_ERRORS = {1: DivergentBarrierError, 2: DeadlockError, 3: LivelockError, 4: MemoryFaultError, 5: KernelError,
           6: DataRaceError}  # fmt: skip
_launching = threading.Lock()  # the runtime's state is global to a process


class _Stacks(ctypes.Structure):
    _fields_ = [("low", ctypes.c_void_p), ("count", ctypes.c_uint64), ("guarded", ctypes.c_uint64)]


_stacks = _Stacks()  # of the threads of all launches


class _Launch(ctypes.Structure):
    _fields_ = [
        ("stacks", ctypes.c_void_p), ("entry", ctypes.c_void_p), ("arguments", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("shared", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("budget", ctypes.c_uint64), ("trace_limit", ctypes.c_uint64), ("cooperative", ctypes.c_int32),
        ("fuzz", ctypes.c_int32), ("permille", ctypes.c_int32), ("window", ctypes.c_int32),
        ("barriers", ctypes.c_uint64), ("grid_barriers", ctypes.c_uint64), ("atomics", ctypes.c_uint64),
        ("switches", ctypes.c_uint64), ("steps", ctypes.c_uint64), ("error", ctypes.c_int32),
        ("trace_full", ctypes.c_int32), ("races", ctypes.c_int32), ("address", ctypes.c_uint64),
        ("message", ctypes.c_char * 1024),
    ]  # fmt: skip


_RECORD = np.dtype([("step", "i8"), ("address", "i8"), ("before", "i8"), ("after", "i8"), ("block", "i4"),
                    ("thread", "i4"), ("event", "i4"), ("bytes", "i4")])  # fmt: skip


class TraceEvent(typing.NamedTuple):
    """One step of an interleaving: a thread's operation, its location ("dist[3]"), the value before and after."""

    step: int
    block: int
    thread: int
    event: str
    where: str
    before: int | float
    after: int | float


@functools.lru_cache(maxsize=256)
def _library(*how):
    """A module's library, loaded: see `host_build.library`."""
    loaded = ctypes.CDLL(str(host_build.library(*how)))
    loaded.lockstep_run.argtypes = [ctypes.POINTER(_Launch)]
    loaded.lockstep_trace.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
    loaded.lockstep_trace.restype = ctypes.c_uint64
    return loaded


class HostModule(Module):
    def __init__(self, executor, path, defines):
        super().__init__(executor, path, defines)
        self.library = _library(self.path.stem, self.text, host_build.entries(self.signatures),
                                source.define_text(self.defines), executor.fuzz == "memory")  # fmt: skip


def _named(kernel, args):
    """The array arguments of a kernel, as (parameter name, array)."""
    return [(p.name, a) for p, a in zip(kernel.parameters, args, strict=True) if p.pointer and a is not None]


def _place(address, size, arrays):
    """The name of an address and the dtype to read its value with."""
    for name, array in arrays:
        offset = address - array.ctypes.data
        if 0 <= offset < array.nbytes:
            return f"{name}[{offset // array.dtype.itemsize}]", array.dtype
    plain = np.dtype(f"i{size}") if size in (1, 2, 4, 8) else np.dtype("i8")
    return "shared" if address else "", plain


def _value(word, kind):
    """A trace's 8 bytes as a value of the array's dtype."""
    return np.frombuffer(np.int64(word).tobytes(), kind)[0].item() if kind.itemsize <= 8 else word


class _Graph:
    def __init__(self, counts):
        self.steps, self.counts, self.ended = [], counts, False

    def launch(self):
        if not self.ended:
            raise LaunchError("a graph can be launched only after its capture has ended")
        before = self.counts["launches"]
        for step in self.steps:
            step()
        self.counts["launches"] = before  # one launch of a graph, however many kernels it holds
        self.counts["graph_launches"] += 1


class HostExecutor(Executor):
    """The emulator.

    Parameters
    ----------
    seed : int
        Seed of all random choices; the same seed gives the same interleaving and the same bits.
    fuzz : "none", "sync" or "memory"
        none: a thread runs until it blocks or yields. sync: it may also be preempted at every atomic, fence and
        barrier. memory: also at every plain load and store of a kernel.
    permille : int
        Probability, per mille, of preemption at such a point; None: 300 for sync, 100 for memory.
    multiprocessors : int
        Each holds up to 2,048 threads, 32 blocks and 228 KB of shared memory, which limits cooperative launches.
    trace : bool or int
        Record the threads' operations in order, up to a million (or this many) events a launch; see `trace`.
    budget : int
        Turns without a thread finishing, a barrier opening or an atomic or a store that other threads see changing a
        value, after which a launch is a livelock; it also is after 20 times as many in which only values change.
    races : "none", "plain" or "all"
        all: stop at a data race: two threads access an address, one of them writes, not both atomically, and no
        barrier, fence or release-acquire pair orders them. plain: only if the write is not atomic, for kernels with
        intended plain reads of concurrently changed values. Needs fuzz="memory"; at most 4,096 threads a launch.
    processors : 1
        OS threads; more would not be deterministic and is refused.
    """

    name = "host"
    max_shared = 227 * 1024
    l2_bytes = 4 << 20

    def __init__(
        self, seed: int = 0, fuzz: typing.Literal["none", "sync", "memory"] = "none", multiprocessors: int = 4,
        processors: int = 1, permille: int | None = None, trace: bool | int = False, budget: int = 200_000_000,
        races: typing.Literal["none", "plain", "all"] = "none",
    ) -> None:
        super().__init__()
        if fuzz not in FUZZ:
            raise ValueError(f"fuzz {fuzz!r}: choose one of {', '.join(FUZZ)}")
        if processors != 1:
            raise ValueError("processors: the emulator is deterministic on one OS thread only; give 1")
        if races not in RACES:
            raise ValueError(f"races {races!r}: choose one of {', '.join(RACES)}")
        if races != "none" and fuzz != "memory":
            raise ValueError('races are seen where plain loads and stores are: give fuzz="memory"')
        self.seed, self.fuzz, self.budget, self.races = int(seed), fuzz, int(budget), races
        self.multiprocessors = int(multiprocessors)
        self.permille = {"none": 0, "sync": 300, "memory": 100}[fuzz] if permille is None else int(permille)
        self.trace_limit = 1_000_000 if trace is True else int(trace)
        self._launches = 0
        self._records = []
        self._recording = None

    def __repr__(self):
        return f"<emulator, seed {self.seed}, fuzz {self.fuzz}, {self.multiprocessors} multiprocessors>"

    def _module(self, path, defines):
        return HostModule(self, path, defines)

    def _kernel(self, module, name, parameters):
        kernel = Kernel(module, name, parameters)
        kernel.entry = ctypes.cast(getattr(module.library, f"lockstep_entry_{name}"), ctypes.c_void_p).value
        return kernel

    def _max_blocks(self, kernel, threads, shared):
        if threads > 1024 or shared > self.max_shared:
            return 0
        warps = -(-threads // 32)
        return self.multiprocessors * min(64 // warps, 32, (228 * 1024) // (shared + 1024))

    def _bound(self, kernel, grid, block, args, shared, cooperative):
        def launch():
            if self._recording is None:
                self._run(kernel, grid, block, args, shared, cooperative)
            else:
                self._recording.append(launch)

        return launch

    def _run(self, kernel, grid, block, args, shared, cooperative):
        values = (ctypes.c_void_p * max(len(args), 1))()
        keep = []
        for i, (parameter, value) in enumerate(zip(kernel.parameters, args, strict=True)):
            if parameter.pointer:
                cell = ctypes.c_void_p(None if value is None else value.ctypes.data)
                keep.append(cell)
                values[i] = ctypes.addressof(cell)
            else:
                cell = np.array(value)
                keep.append(cell)
                values[i] = cell.ctypes.data
        threads = block[0] * block[1] * block[2]
        blocks = grid[0] * grid[1] * grid[2]
        resident = max(self._max_blocks(kernel, threads, shared), 1)
        window = blocks if cooperative else min(blocks, resident) if self.fuzz != "none" else 1
        self._launches += 1
        launch = _Launch(
            stacks=ctypes.addressof(_stacks), entry=kernel.entry, arguments=ctypes.addressof(values), grid=grid,
            block=block, shared=shared,
            seed=(self.seed * 0x9E3779B97F4A7C15 + self._launches * 0xD1B54A32D192ED03) % 2**64,
            budget=self.budget, trace_limit=self.trace_limit, cooperative=bool(cooperative),
            fuzz=FUZZ.index(self.fuzz), permille=self.permille, window=window, races=RACES.index(self.races),
        )  # fmt: skip
        with _launching:
            error = kernel.module.library.lockstep_run(ctypes.byref(launch))
            if self.trace_limit:
                self._keep_trace(kernel, args)
        self.counts["launches"] += 1
        for name in ("barriers", "grid_barriers", "atomics", "switches"):
            self.counts[name] += getattr(launch, name)
        if error:
            text = launch.message.decode(errors="replace")
            if launch.address:
                text = text.replace("@", _place(launch.address, 8, _named(kernel, args))[0], 1)
            raise _ERRORS[error](f"kernel {kernel.name}: {text}")

    def _keep_trace(self, kernel, args):
        records = ctypes.c_void_p()
        count = kernel.module.library.lockstep_trace(ctypes.byref(records))
        raw = np.frombuffer(ctypes.string_at(records.value, count * _RECORD.itemsize) if count else b"", _RECORD)
        self._records.append((raw, _named(kernel, args)))

    def trace(self, clear: bool = True) -> list:
        """Operations of the threads since the last cleared call, in order: a list of TraceEvent. Needs `trace`.

        Addresses inside an array argument are named by the kernel's parameter and the index ("dist[3]"),
        others "shared" (a block's shared memory, or a thread's own variables that the compiler keeps in
        memory). Plain loads and stores are recorded only under fuzz "memory".
        """
        events = []
        for raw, arrays in self._records:
            for r in raw:
                event = EVENTS[r["event"]]
                if event == "mark":
                    where, kind = f"mark {r['address']}", np.dtype("i8")
                else:
                    where, kind = _place(int(r["address"]), int(r["bytes"]), arrays)
                before, after = (_value(int(r[key]), kind) for key in ("before", "after"))
                events.append(TraceEvent(int(r["step"]), int(r["block"]), int(r["thread"]), event, where,
                before,
                                         after))  # fmt: skip
        if clear:
            self._records = []
        return events

    def array(self, values: typing.Any) -> np.ndarray:
        return np.array(values, order="C", copy=True)

    def get(self, array: np.ndarray) -> np.ndarray:
        self.counts["readbacks"] += 1
        return np.array(array, copy=True)

    def copy(self, target: np.ndarray, values: np.ndarray) -> None:
        self._same(target, values)

        def do():
            target[...] = values

        if self._recording is not None:
            self._recording.append(do)
        else:
            do()

    def fetch(self, target: np.ndarray, array: np.ndarray) -> None:
        self.copy(target, array)

    def read(self, array: np.ndarray, index: int = 0) -> int | float:
        self.counts["readbacks"] += 1
        return array[index].item()

    @contextlib.contextmanager
    def capture(self) -> typing.Iterator[typing.Any]:
        """Record launches and copies instead of executing them; `graph.launch()` executes them in order."""
        if self._recording is not None:
            raise LaunchError("capture: one is under way already")
        graph = _Graph(self.counts)
        self._recording = graph.steps
        try:
            yield graph
        finally:
            self._recording = None
            graph.ended = True
