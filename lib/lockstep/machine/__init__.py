"""Executors of kernels: the GPU (`cuda`) and the CPU emulator (`host`), built by the system's C++ compiler.

>>> from lockstep.machine import get_executor
>>> executor = get_executor("host", seed=1)
>>> executor.name
'host'
"""

from typing import Any

from .cuda import CudaExecutor, why_no_gpu
from .errors import (
    CompileError,
    DataRaceError,
    DeadlockError,
    DivergentBarrierError,
    KernelError,
    LaunchError,
    LivelockError,
    MachineError,
    MemoryFaultError,
    NoGpuError,
)
from .executor import Executor
from .host import HostExecutor

_cuda = None


def gpu_available() -> bool:
    """Whether a CUDA device is usable; `why_no_gpu()` returns the reason if not."""
    return why_no_gpu() is None


def get_executor(executor: Executor | str | None = None, **options: Any) -> Executor | None:
    """The machine to run kernels on.

    Parameters
    ----------
    executor : "cuda", "host", None or an Executor
        None: the GPU if one is usable, else None. An Executor is returned unchanged.
    **options
        For "host": seed, fuzz, multiprocessors, permille, trace, budget (see `HostExecutor`).

    Raises
    ------
    NoGpuError
        "cuda" is requested and no device is usable; the message gives the reason.
    """
    global _cuda
    if isinstance(executor, Executor):
        return executor
    if executor is None:
        if not gpu_available():
            return None
        executor = "cuda"
    if executor == "host":
        return HostExecutor(**options)
    if executor == "cuda":
        if options:
            raise ValueError(f"the cuda executor takes no options, got {', '.join(options)}")
        if _cuda is None:  # modules are cached in it
            _cuda = CudaExecutor()
        return _cuda
    raise ValueError(f"executor {executor!r}: choose 'cuda', 'host' or None")


__all__ = [
    "CompileError", "DataRaceError", "DeadlockError", "DivergentBarrierError", "Executor", "HostExecutor",
    "KernelError", "LaunchError", "LivelockError", "MachineError", "MemoryFaultError", "NoGpuError",
    "get_executor", "gpu_available", "why_no_gpu",
]  # fmt: skip
