"""Launch paths with little Python overhead from a launch's second call on."""

import weakref

import numpy as np

from .arguments import Step, named
from .errors import LaunchError
from .executor import dimensions


class LaidOut:
    """A launch whose arguments are packed in memory as the driver API takes them.

    CuPy packs them at every launch, which for twenty arguments takes longer than the launch. `Launch` packs at its
    second call, or before a timer starts if it has been called once.
    """

    def __init__(self, function, grid, block, shared, values, cooperative):
        from cupy_backends.cuda.api import driver

        self.slots = np.zeros(len(values) + 1, np.uint64)
        for slot, value in enumerate(values):
            if isinstance(value, np.generic):
                self.slots[slot : slot + 1].view(np.uint8)[: value.nbytes] = np.frombuffer(value.tobytes(), np.uint8)
            else:
                self.slots[slot] = value.data.ptr
        self.addresses = self.slots.ctypes.data + 8 * np.arange(self.slots.size, dtype=np.uint64)
        self.begin = (function, *grid, *block, shared)
        self.start, last = (driver.launchCooperativeKernel, ()) if cooperative else (driver.launchKernel, (0,))
        self.end = (self.addresses.ctypes.data, *last)

    def launch(self, stream):
        self.start(*self.begin, stream, *self.end)


class Launch:
    """A launch bound to its arguments; call it to launch."""

    __slots__ = ("__weakref__", "executor", "function", "laid_out", "launches", "stream", "what")

    def __init__(self, executor, function, *what):
        self.executor, self.function = executor, function
        self.what = what  # grid, block, shared, values, cooperative
        self.stream = executor.xp.cuda.get_current_stream
        self.laid_out, self.launches = None, 0

    def lay_out(self):
        self.laid_out = LaidOut(self.function.ptr, *self.what)

    def record(self):
        """The launch as ten integers: the driver's function, grid (3), block (3), shared memory, stream, address of
        the array of argument pointers; valid while the launch exists. For driver calls from compiled code.
        """
        if self.laid_out is None:
            self.lay_out()
        return [*self.laid_out.begin, self.stream().ptr, self.laid_out.end[0]]

    def __call__(self):
        executor = self.executor
        self.launches += 1
        if self.launches == 1:
            grid, block, shared, values, cooperative = self.what
            self.function(grid, block, values, shared_mem=shared, enable_cooperative_groups=cooperative)
            executor._launched_once.add(self)
        else:
            if self.laid_out is None:
                self.lay_out()
            executor._at_home()
            self.laid_out.launch(self.stream().ptr)
        executor.counts["launches"] += executor._counting
        if executor._captured is not None:
            executor._captured.append(self.what[3])


class Again:
    """Later launches of a kernel with the same block: only changed arguments are checked and packed.

    A host-controlled loop launches a kernel repeatedly with a few changed arguments and a changing grid. Checking and
    packing all arguments each time would take longer than the launch and read-back, and bias the strategy's time.
    """

    def __init__(self, kernel, launch):
        grid, block, shared, values, cooperative = launch.what
        self.kernel, self.executor = kernel, launch.executor
        self.laid_out = LaidOut(launch.function.ptr, grid, block, shared, values, cooperative)
        self.rest = (*block, shared)
        self.most = kernel.max_blocks(block, shared) if cooperative else None
        self.slots = self.laid_out.slots
        # The previous arguments as weak references, so that a kernel keeps no plan's arrays alive.
        self.last = [_gone if isinstance(value, np.generic) else weakref.ref(value) for value in values]
        self.scalars = [
            None if p.pointer else self.slots[k : k + 1].view(p.dtype)[:1] for k, p in enumerate(kernel.parameters)
        ]

    def __call__(self, grid, args):
        kernel, executor, last = self.kernel, self.executor, self.last
        if len(args) != len(last):
            kernel._checked(args, f"kernel {kernel.name}")  # raises LaunchError
        for position, (value, scalar) in enumerate(zip(args, self.scalars, strict=True)):
            if scalar is not None:
                if type(value) is not scalar.dtype.type:
                    kernel._check(position, value)
                scalar[0] = value
            elif value is None:
                self.slots[position], last[position] = 0, _gone
            elif last[position]() is not value:
                kernel._check(position, value)
                self.slots[position], last[position] = value.data.ptr, weakref.ref(value)
        x, y, z = (grid, 1, 1) if type(grid) is int and grid > 0 else dimensions(grid, "grid")
        if self.most is not None and x * y * z > self.most:
            # raises LaunchError with the co-resident maximum
            kernel.bind(grid, self.rest[:3], shared=self.rest[3], cooperative=True, **named(kernel, args))
        self.laid_out.begin = (self.laid_out.begin[0], x, y, z, *self.rest)
        executor._at_home()
        self.laid_out.launch(executor.xp.cuda.get_current_stream().ptr)
        executor.counts["launches"] += executor._counting


def _gone():
    return None


class CudaStep(Step):
    """A step in compiled code: no Python runs between its launches and its read-back."""

    def __init__(self, loop, read, clear=None, then=()):
        from . import native

        super().__init__(loop, read, clear, then)
        kernel, (shared, cooperative) = loop.kernel, loop.how
        if cooperative:
            raise LaunchError(f"kernel {kernel.name}: a step launches no cooperative kernels")
        for position, value in enumerate(loop.args):
            if position not in loop.changing:
                kernel._check(position, value)
        values = [np.uint64(0) if value is None else value for value in loop.args]
        kernel.executor._raise_shared(kernel, shared)
        block = dimensions(loop.block, "block")
        self.laid_out = LaidOut(kernel.function.kernel.ptr, (1, 1, 1), block, shared, values, False)
        self.scalars = [self._scalar(position) for position in loop.changing]
        self.last = [_gone] * len(loop.changing)
        self.host, self.go = self.executor.pinned(read.size, read.dtype), native.go
        cleared = (0, 0) if clear is None else (clear.data.ptr, clear.nbytes // 4)
        launches = [self.laid_out, *(LaidOut(launch.function.ptr, *launch.what) for launch in then)]
        words = [[*one.begin, one.addresses.ctypes.data] for one in launches]
        head = [*native.functions(), 0, *cleared, read.data.ptr, self.host.ctypes.data, read.nbytes, len(launches)]
        self.job = np.array([*head, *sum(words, [])], np.int64)
        self.kept, self.address = launches, self.job.ctypes.data
        self.grid = self.job[native.FIRST + 1 : native.FIRST + 2]
        self.stream = self.job[native.STREAM : native.STREAM + 1]

    def _scalar(self, position):
        """View of the packed argument at a position; None for a pointer."""
        parameter = self.loop.kernel.parameters[position]
        slot = self.laid_out.slots[position : position + 1]
        return None if parameter.pointer else slot.view(parameter.dtype)[:1]

    def __call__(self, grid, *changing):
        kernel, executor, last = self.loop.kernel, self.executor, self.last
        self.loop.match(changing)
        for k, (value, scalar) in enumerate(zip(changing, self.scalars, strict=True)):
            position = self.loop.changing[k]
            if scalar is not None:
                if type(value) is not scalar.dtype.type:
                    kernel._check(position, value)
                scalar[0] = value
            elif last[k]() is not value:
                kernel._check(position, value)
                self.laid_out.slots[position] = 0 if value is None else value.data.ptr
                last[k] = _gone if value is None else weakref.ref(value)
        self.grid[0], self.stream[0] = grid, executor.xp.cuda.get_current_stream().ptr
        executor._at_home()
        if error := self.go(self.address):
            raise LaunchError(f"kernel {kernel.name}: the driver answers with error {error}")
        executor.counts["launches"] += len(self.kept)
        executor.counts["readbacks"] += 1
        return self.host


class CudaStepByPart(CudaStep):
    """As `arguments.StepByPart`."""

    def __init__(self, loop, read, size):
        from .native import READ

        super().__init__(loop, read[:size])
        self.first, self.where = read.data.ptr, self.job[READ : READ + 1]

    def __call__(self, grid, *changing, part):
        self.where[0] = self.first + part * self.host.nbytes
        return super().__call__(grid, *changing)
