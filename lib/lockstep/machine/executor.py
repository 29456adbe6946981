"""What the two executors share: modules, kernels, argument checks, graphs, timers, counts."""

import collections
import contextlib
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arguments, source
from .errors import CompileError, LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def dimensions(value, what: str) -> tuple:
    """An int or a tuple of up to three as three positive ints."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(values) <= 3 or any(int(v) != v or v < 1 for v in values):
        raise LaunchError(f"{what} {value!r}: give one to three positive whole numbers")
    return tuple(int(v) for v in values) + (1,) * (3 - len(values))


class Kernel:
    """One kernel of a module; call it to launch it, `bind` it once and launch that often, or launch it in a `loop`.

    Parameters of a launch
    ----------------------
    grid, block : int or tuple of up to three ints
        Blocks, and threads of a block.
    shared : int
        Bytes of dynamic shared memory per block.
    cooperative : bool
        All blocks are co-resident, so that they can synchronize.
    **values
        For each parameter name a device array (or None) for a pointer, a NumPy scalar of the exact dtype for a value.

    Raises
    ------
    LaunchError
        A name that is missing or unknown; an argument of another type than the signature's; a block or its shared
        memory beyond the machine's limits; a cooperative grid that is not co-resident (it is never shrunk).
    """

    def __init__(self, module, name, parameters):
        self.module, self.name, self.parameters = module, name, parameters
        self.executor, self.names = module.executor, [parameter.name for parameter in parameters]

    def __repr__(self):
        return f"<kernel {self.name} of {self.module.path.name} on {self.executor.name}>"

    def max_blocks(self, block, shared: int = 0) -> int:
        """Largest number of co-resident blocks of this size and shared memory."""
        x, y, z = dimensions(block, "block")
        return self.executor._max_blocks(self, x * y * z, int(shared))

    def __call__(self, grid, block, /, *, shared=0, cooperative=False, **values):
        self.executor._call(self, grid, block, arguments.ordered(self, values), shared, cooperative)

    def loop(self, block, /, **values):
        """A repeated launch; parameters not given are passed at each call; see `arguments.Loop`."""
        return arguments.Loop(self, block, **values)

    def bind(self, grid, block, /, *, shared=0, cooperative=False, **values):
        """The launch as a function without arguments, which are checked once, here."""
        grid, block, shared = dimensions(grid, "grid"), dimensions(block, "block"), int(shared)
        threads, blocks = block[0] * block[1] * block[2], grid[0] * grid[1] * grid[2]
        where = f"kernel {self.name}"
        if threads > 1024:
            raise LaunchError(f"{where}: a block has at most 1024 threads, not {threads}")
        if not 0 <= shared <= self.executor.max_shared:
            raise LaunchError(
                f"{where}: {shared} bytes of shared memory asked for, a block has at most {self.executor.max_shared}"
            )
        args = self._checked(arguments.ordered(self, values), where)
        if cooperative:
            most = self.max_blocks(block, shared)
            if blocks > most:
                raise LaunchError(
                    f"{where}: a cooperative launch of {blocks} blocks of {threads} threads with "
                    f"{shared} bytes of shared memory is not co-resident here; at most {most} are "
                    "(see max_blocks)"
                )
        return self.executor._bound(self, grid, block, args, shared, cooperative)

    def _checked(self, args, where):
        args = tuple(args)
        if len(args) != len(self.parameters):
            wanted = ", ".join(f"{p.type}{'*' * p.pointer} {p.name}" for p in self.parameters)
            raise LaunchError(f"{where} takes {len(self.parameters)} arguments ({wanted}), not {len(args)}")
        for position, value in enumerate(args):
            self._check(position, value)
        return args

    def _check(self, position, value):
        parameter = self.parameters[position]
        where = f"kernel {self.name}, argument {position + 1} ({parameter.name})"
        if not parameter.pointer:
            if not isinstance(value, np.generic) or value.dtype != parameter.dtype:
                found = f"{value.dtype} scalar" if isinstance(value, np.generic) else type(value).__name__
                wanted = f"np.{parameter.dtype.name}(...)"
                raise LaunchError(f"{where}: needs a NumPy scalar, {wanted}, not {found}")
            return
        if value is None:
            return
        if not isinstance(value, self.executor.array_type):
            raise LaunchError(
                f"{where}: needs a device array of {parameter.dtype or parameter.type}, as "
                f"executor.array(...) makes, not {type(value).__module__}.{type(value).__name__}"
            )
        if parameter.dtype is not None and value.dtype != parameter.dtype:
            raise LaunchError(f"{where}: needs an array of {parameter.dtype}, not {value.dtype}")
        if not value.flags.c_contiguous:
            raise LaunchError(f"{where}: the array is not contiguous")


class Module:
    """A compiled .cu file; `module["name"]` is a kernel."""

    def __init__(self, executor, path, defines):
        self.executor, self.path, self.defines = executor, Path(path), dict(defines)
        self.text = source.paste(self.path)
        self.signatures = source.kernels(self.text, self.defines)
        if not self.signatures:
            raise CompileError(f'{self.path.name}: no `extern "C" __global__ void name(...)` in it')
        self._kernels = {}

    def __getitem__(self, name) -> Kernel:
        with self.executor._making:
            if name not in self._kernels:
                if name not in self.signatures:
                    raise KeyError(f"{self.path.name} has no kernel {name!r}, only {', '.join(self.signatures)}")
                self._kernels[name] = self.executor._kernel(self, name, self.signatures[name])
            return self._kernels[name]

    def __iter__(self):
        return iter(self.signatures)


class Timer:
    """What `executor.timer()` gives: wall_ms (synchronized at both ends) and device_ms (None on the host)."""

    wall_ms: float | None = None
    device_ms: float | None = None


class Executor:
    """A machine that runs kernels; see `get_executor`.

    Attributes
    ----------
    name : "cuda" or "host"
    multiprocessors : int
    max_shared : int
        Bytes of shared memory one block may use.
    l2_bytes : int
    xp : module
        cupy or numpy, for vector steps outside kernels.
    counts : collections.Counter
        "launches", "graph_launches" and "readbacks" since `reset_counts()`; on the host also "barriers"
        (block barriers opened), "grid_barriers", "atomics" and "switches".
    """

    name = ""
    xp = np
    array_type: type = np.ndarray
    multiprocessors = 0
    max_shared = 0
    l2_bytes = 0

    def __init__(self):
        self.counts = collections.Counter()
        self._modules = {}
        self._making = threading.RLock()  # guards modules, kernels and shared-memory limits against concurrent plans

    @property
    def modules(self) -> list:
        """The modules compiled so far."""
        return list(self._modules.values())

    def reset_counts(self) -> None:
        """Set all counts to zero."""
        self.counts.clear()

    def load(self, path: "str | Path", defines: "dict[str, Any] | None" = None) -> Module:
        """The compiled module of a .cu file; compiled once for each text and set of macro definitions.

        Raises
        ------
        CompileError
            The file cannot be read or compiled; the text holds the compiler's message.
        """
        defines = dict(defines or {})
        key = (Path(path).resolve(), source.spelling(path, defines))
        with self._making:
            if key not in self._modules:
                self._modules[key] = self._module(path, defines)
            return self._modules[key]

    def _call(self, kernel, grid, block, args, shared, cooperative):
        """A launch that is not bound; an executor may cache its argument layout."""
        kernel.bind(grid, block, shared=shared, cooperative=cooperative, **arguments.named(kernel, args))()

    def step(self, loop: Any, read: Any, clear: Any = None, then: Any = ()) -> "Callable":
        """Launches and a read-back in one call (compiled code on the GPU); see `arguments.Step`."""
        return arguments.Step(loop, read, clear, then)

    def step_by_part(self, loop: Any, read: Any, size: int) -> "Callable":
        """Steps that read back `size` words of an array each; see `arguments.StepByPart`."""
        return arguments.StepByPart(loop, read, size)

    def array(self, values: Any) -> Any:
        """A device copy of a NumPy array (or of an array that is on the device already)."""
        raise NotImplementedError

    def empty(self, shape: Any, dtype: Any) -> Any:
        """An uninitialized device array."""
        return self.xp.empty(shape, dtype)

    def zeros(self, shape: Any, dtype: Any) -> Any:
        """A device array of zeros."""
        return self.xp.zeros(shape, dtype)

    def full(self, shape: Any, value: Any, dtype: Any) -> Any:
        """A device array filled with one value."""
        return self.xp.full(shape, value, dtype)

    def get(self, array: Any) -> np.ndarray:
        """A NumPy copy of a device array; synchronizes."""
        raise NotImplementedError

    def copy(self, target: Any, values: Any) -> None:
        """Copy an array of the same shape and dtype, device to device or NumPy to device, into `target`."""
        raise NotImplementedError

    def pinned(self, shape: Any, dtype: Any) -> np.ndarray:
        """A NumPy array in page-locked memory, which copies to and from the device at full speed."""
        return np.empty(shape, dtype)

    def fetch(self, target: np.ndarray, array: Any) -> None:
        """Copy a device array into a NumPy array made by `pinned`, asynchronously on a GPU."""
        raise NotImplementedError

    def read(self, array: Any, index: int = 0) -> int | float:
        """One element as a Python number; synchronizes, as each iteration of a host-controlled loop does."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Wait until everything launched is done."""

    def device_ms(self, run: "Callable[[], Any]", lead: "Callable[[], Any] | None" = None) -> float | None:
        """Milliseconds that the device spends on what `run()` launches; None on the emulator.

        `lead()` first launches a kernel that occupies the device until `run()` has issued its launches, so that
        idle gaps between them are not counted.
        """
        run()

    def _same(self, target, values):
        if target.shape != values.shape or target.dtype != values.dtype:
            raise LaunchError(f"copy: {values.dtype} {values.shape} into {target.dtype} {target.shape}")

    @contextlib.contextmanager
    def timer(self, events: bool = True) -> "Iterator[Timer]":
        """`with executor.timer() as t: ...` then t.wall_ms and t.device_ms; synchronized before and after.

        Without `events` only the host clock is read and device_ms stays None: recording two events and waiting for
        the second costs a few microseconds more than a synchronization.
        """
        t = Timer()
        self.synchronize()
        begin = time.perf_counter()
        yield t
        self.synchronize()
        t.wall_ms = (time.perf_counter() - begin) * 1e3
