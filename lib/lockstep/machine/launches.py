"""What a launch costs on the host: as little of Python as possible from its second time on."""

import weakref

import numpy as np

from .arguments import named
from .executor import dimensions


class LaidOut:
    """A launch whose arguments lie in memory as the driver wants them.

    CuPy lays them out anew for every launch; for twenty arguments that takes longer than the launch. Worth it from a
    launch's second time on; before that one is timed, if it is.
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
        """The launch as ten integers: the driver's function, grid, block, shared memory, stream, and where the
        arguments' addresses stand; they hold as long as the launch is kept. For callers of the driver without Python.
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
    """A kernel's next launch with the same block: only arguments that have changed are checked and laid out.

    A loop with the host in it launches a kernel again and again with a few arguments changed and a grid that shrinks.
    Were all of them checked and laid out each time, that would take longer than the launch and the look that the
    loop is about, and a strategy would be judged by it.
    """

    def __init__(self, kernel, launch):
        grid, block, shared, values, cooperative = launch.what
        self.kernel, self.executor = kernel, launch.executor
        self.laid_out = LaidOut(launch.function.ptr, grid, block, shared, values, cooperative)
        self.rest = (*block, shared)
        self.most = kernel.max_blocks(block, shared) if cooperative else None
        self.slots = self.laid_out.slots
        # What an argument was: a weak reference to an array, since the kernel outlives every plan.
        self.last = [_gone if isinstance(value, np.generic) else weakref.ref(value) for value in values]
        self.scalars = [
            None if p.pointer else self.slots[k : k + 1].view(p.dtype)[:1] for k, p in enumerate(kernel.parameters)
        ]

    def __call__(self, grid, args):
        kernel, executor, last = self.kernel, self.executor, self.last
        if len(args) != len(last):
            kernel._checked(args, f"kernel {kernel.name}")  # says what is wanted
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
            # says what is co-resident
            kernel.bind(grid, self.rest[:3], shared=self.rest[3], cooperative=True, **named(kernel, args))
        self.laid_out.begin = (self.laid_out.begin[0], x, y, z, *self.rest)
        executor._at_home()
        self.laid_out.launch(executor.xp.cuda.get_current_stream().ptr)
        executor.counts["launches"] += executor._counting


def _gone():
    return None
