"""The cuda executor: one NVIDIA GPU through CuPy."""

import contextlib
import threading
import time
import weakref

import numpy as np

from . import source
from .arguments import named
from .errors import CompileError, LaunchError, NoGpuError
from .executor import Executor, Kernel, Module, Timer
from .launches import Again, CudaStep, CudaStepByPart, Launch

_DEFAULT_SHARED = 48 * 1024  # more dynamic shared memory than this needs the kernel's attribute raised


def why_no_gpu() -> str | None:
    """None if a CUDA device is usable, else the reason in one line."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed (pip install cupy-cuda13x, or cupy-cuda12x for a CUDA 12 driver)"
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            return "the CUDA driver finds no device (see nvidia-smi; CUDA_VISIBLE_DEVICES may hide it)"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if "InsufficientDriver" in str(error):
            return "no CUDA driver, or one older than CuPy's CUDA runtime (nvidia-smi shows its version)"
        return f"the CUDA driver answers {error}"
    return None


class CudaModule(Module):
    def __init__(self, executor, path, defines):
        super().__init__(executor, path, defines)
        options = source.CUDA_OPTIONS + source.define_text(defines)
        self.raw = executor.xp.RawModule(code=self.text, options=options)
        try:
            self.raw.compile()
        except executor.xp.cuda.compiler.CompileException as error:
            raise CompileError(f"{self.path.name} does not compile for the GPU:\n{error}") from None


class CudaExecutor(Executor):
    """One NVIDIA GPU. Launches go to CuPy's current stream.

    Raises
    ------
    NoGpuError
        No device is usable; the message gives the reason.
    """

    name = "cuda"

    def __init__(self, device=0):
        reason = why_no_gpu()
        if reason:
            raise NoGpuError(f"no GPU: {reason}. Without one, executor='host' gives results and counts.")
        import cupy

        super().__init__()
        self.xp, self.array_type = cupy, cupy.ndarray
        cupy.cuda.Device(device).use()
        properties = cupy.cuda.runtime.getDeviceProperties(device)
        self.device = device
        self._counting = 1  # 0 while launches are only captured
        self._captured = None  # arguments of the launches captured so far
        self._home = threading.local()  # attribute `there`: this device is current on the thread
        self._launched_once = weakref.WeakSet()  # launches whose arguments are packed before a timer starts
        self.multiprocessors = int(properties["multiProcessorCount"])
        self.max_shared = int(properties["sharedMemPerBlockOptin"])
        self.l2_bytes = int(properties["l2CacheSize"])

    def __repr__(self):
        return f"<cuda executor, device {self.device}, {self.multiprocessors} multiprocessors>"

    def _module(self, path, defines):
        return CudaModule(self, path, defines)

    def _at_home(self):
        """Make this device current on the calling thread, once: a new thread has none and may reuse a thread id."""
        if not hasattr(self._home, "there"):
            self.xp.cuda.Device(self.device).use()
            self._home.there = True

    def _call(self, kernel, grid, block, args, shared, cooperative):
        if self._captured is not None or not isinstance(block, int):
            super()._call(kernel, grid, block, args, shared, cooperative)
            return
        key = (threading.get_ident(), block, shared, cooperative)  # threads must not share an argument buffer
        again = kernel.again.get(key)
        if again is not None:
            again(grid, args)
            return
        launch = kernel.bind(grid, block, shared=shared, cooperative=cooperative, **named(kernel, args))
        launch()
        kernel.again[key] = Again(kernel, launch)

    def step(self, loop, read, clear=None, then=()):
        return CudaStep(loop, read, clear, then)

    def step_by_part(self, loop, read, size):
        return CudaStepByPart(loop, read, size)

    def _kernel(self, module, name, parameters):
        kernel = Kernel(module, name, parameters)
        kernel.again = {}  # {(thread, threads of a block, shared memory, cooperative): Again}
        kernel.function = module.raw.get_function(name)
        kernel.most_threads = kernel.function.max_threads_per_block
        kernel.raised_shared = _DEFAULT_SHARED
        return kernel

    def _raise_shared(self, kernel, shared):
        # The limit is an attribute of the kernel and only raised. The lock keeps two threads from setting it in the
        # wrong order: a launch above the limit fails.
        with self._making:
            if shared > kernel.raised_shared:
                kernel.function.max_dynamic_shared_size_bytes = shared
                kernel.raised_shared = shared

    def _max_blocks(self, kernel, threads, shared):
        if threads > kernel.most_threads or shared > self.max_shared:
            return 0
        self._raise_shared(kernel, shared)
        from cupy_backends.cuda.api import driver

        per_sm = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.function.kernel.ptr, threads, shared)
        return per_sm * self.multiprocessors

    def _bound(self, kernel, grid, block, args, shared, cooperative):
        threads = block[0] * block[1] * block[2]
        if threads > kernel.most_threads:
            raise LaunchError(
                f"kernel {kernel.name}: its registers allow {kernel.most_threads} threads a block, "
                f"not {threads} (give it __launch_bounds__)"
            )
        self._raise_shared(kernel, shared)
        values = tuple(np.uint64(0) if a is None else a for a in args)
        return Launch(self, kernel.function.kernel, grid, block, shared, values, cooperative)

    def array(self, values):
        return self.xp.array(values, order="C", copy=True)

    def get(self, array):
        self.counts["readbacks"] += 1
        return array.get()

    def copy(self, target, values):
        self._same(target, values)
        if isinstance(values, np.ndarray):
            target.set(values)
        else:
            target.data.copy_from_device_async(values.data, values.nbytes)
            if self._captured is not None:
                self._captured.append((target, values))

    def pinned(self, shape, dtype):
        count, dtype = int(np.prod(shape)), np.dtype(dtype)
        memory = self.xp.cuda.alloc_pinned_memory(max(count * dtype.itemsize, 1))
        return np.frombuffer(memory, dtype, count).reshape(shape)

    def fetch(self, target, array):
        self._same(target, array)
        array.get(out=target, blocking=False)

    def read(self, array, index=0):
        self.counts["readbacks"] += 1
        return array[index].item()

    def synchronize(self):
        self.xp.cuda.get_current_stream().synchronize()

    @contextlib.contextmanager
    def timer(self, events=True):
        cuda = self.xp.cuda
        for launch in list(self._launched_once):
            launch.lay_out()
        self._launched_once.clear()
        t, first, last = Timer(), cuda.Event(), cuda.Event()
        self.synchronize()
        begin = time.perf_counter()
        if not events:
            yield t
            self.synchronize()
            t.wall_ms = (time.perf_counter() - begin) * 1e3
            return
        first.record()
        yield t
        last.record()
        last.synchronize()
        t.wall_ms = (time.perf_counter() - begin) * 1e3
        t.device_ms = cuda.get_elapsed_time(first, last)

    def device_ms(self, run, lead=None):
        cuda = self.xp.cuda
        first, last = cuda.Event(), cuda.Event()
        self.synchronize()
        if lead:
            lead()
        first.record()
        run()
        last.record()
        last.synchronize()
        return cuda.get_elapsed_time(first, last)

    @contextlib.contextmanager
    def capture(self):
        """Record launches and device copies into a CUDA graph; `graph.launch()` runs it in CuPy's current stream.

        Allocate arrays before: the driver refuses to allocate memory during stream capture.
        """
        stream = self.xp.cuda.Stream(non_blocking=True)
        graph = _Graph(self.counts)
        with stream:
            stream.begin_capture()
            self._counting, self._captured = 0, graph.kept
            try:
                yield graph
            except BaseException:
                with contextlib.suppress(Exception):
                    stream.end_capture()
                raise
            finally:
                self._counting, self._captured = 1, None
            graph.graph = stream.end_capture()


class _Graph:
    graph = None

    def __init__(self, counts):
        self.counts = counts
        # A CUDA graph holds addresses only: without these the arrays' memory could be allocated again.
        self.kept = []

    def launch(self):
        if self.graph is None:
            raise LaunchError("a graph can be launched only after its capture has ended")
        self.graph.launch()
        self.counts["graph_launches"] += 1
