"""What this machine is, as far as running kernels is concerned.

The name of its folder, and the GPU's clocks while it works, are the recordings' affair: `lockstep.evidence`.
"""

import contextlib
import importlib.metadata
import os
import platform
from pathlib import Path

from .cuda import why_no_gpu
from .errors import CompileError

PACKAGES = ("numpy", "scipy", "numba", "networkx", "pandas", "rustworkx", "igraph", "cupy-cuda13x",
            "cupy-cuda12x", "nvidia-cuda-nvrtc", "ziglang")  # fmt: skip


def cores() -> int:
    """Cores this process may run on: the affinity mask, not what the machine has."""
    return len(os.sched_getaffinity(0))


def cpu_model() -> str:
    """The processor's own name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.lower().startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.processor() or platform.machine()


def _system() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return platform.system()


def _gpu() -> dict | None:
    """The first GPU and the CUDA versions that drive it; None without one."""
    if why_no_gpu():
        return None
    import cupy

    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(0)
    return {
        "name": properties["name"].decode(),
        "multiprocessors": int(properties["multiProcessorCount"]),
        "memory_gib": round(int(properties["totalGlobalMem"]) / 2**30),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "l2_bytes": int(properties["l2CacheSize"]),
        "shared_bytes_of_a_block": int(properties["sharedMemPerBlockOptin"]),
        "driver_cuda": _version(runtime.driverGetVersion()),
        "runtime_cuda": _version(runtime.runtimeGetVersion()),
        "count": runtime.getDeviceCount(),
    }


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _compiler() -> str:
    from . import host

    try:
        return host._compiler_version().splitlines()[0]
    except (CompileError, OSError, IndexError) as error:
        return f"none: {error}"


def describe() -> dict:
    """Processor, memory, system, Python, packages, host compiler, and the GPU.

    Returns
    -------
    dict
        Ready for JSON. "gpu" is None without one, and "no_gpu" then says why.
    """
    packages = {}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.version(name)
    gpu = _gpu()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "gpu": gpu,
        "no_gpu": None if gpu else why_no_gpu(),
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_gib": round(memory / 2**30, 1),
        "system": _system(),
        "python": platform.python_version(),
        "host_compiler": _compiler(),
        "packages": packages,
    }
