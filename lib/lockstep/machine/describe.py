"""What this machine is, in words and numbers, and the name of its folder."""

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from .cuda import why_no_gpu

PACKAGES = ("numpy", "scipy", "numba", "networkx", "pandas", "rustworkx", "igraph", "snakemake", "papermill")
_QUERY = {
    "sm_mhz": "clocks.sm",
    "memory_mhz": "clocks.mem",
    "power_w": "power.draw",
    "temperature_c": "temperature.gpu",
    "throttle": "clocks_throttle_reasons.active",
}


def cores() -> int:
    """Cores this process may run on (the affinity mask, not what the machine has)."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def cpu_model() -> str:
    """The processor's own name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.lower().startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.processor() or platform.machine()


def _memory_gib() -> float:
    import psutil

    return round(psutil.virtual_memory().total / 2**30, 1)


def _system() -> str:
    with contextlib.suppress(OSError, AttributeError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    return platform.system()


def _gpu() -> dict | None:
    """The first GPU: name, multiprocessors, memory, and the versions that drive it; None without one."""
    if why_no_gpu():
        return None
    import cupy

    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(0)
    return {
        "name": properties["name"].decode(),
        "multiprocessors": int(properties["multiProcessorCount"]),
        # Whole GiB: drivers reserve slightly different amounts of the same card's memory.
        "memory_gib": round(int(properties["totalGlobalMem"]) / 2**30),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "l2_bytes": int(properties["l2CacheSize"]),
        "shared_bytes_per_block": int(properties["sharedMemPerBlockOptin"]),
        "max_sm_mhz": round(runtime.deviceGetAttribute(13, 0) / 1000),  # cudaDevAttrClockRate, in kHz
        "driver": _driver(),
        "driver_cuda": _version(runtime.driverGetVersion()),
        "runtime_cuda": _version(runtime.runtimeGetVersion()),
        "count": runtime.getDeviceCount(),
    }


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _nvidia_smi(query: str) -> list | None:
    """One line of nvidia-smi's answer as a list of words; None if it is not there or does not answer."""
    program = shutil.which("nvidia-smi")
    if not program:
        return None
    command = [program, "--id=0", f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode or not done.stdout.strip():
        return None
    return [word.strip() for word in done.stdout.strip().splitlines()[0].split(",")]


def _driver() -> str | None:
    answer = _nvidia_smi("driver_version")
    return answer[0] if answer else None


def clocks() -> dict | None:
    """What the GPU does at this moment: clocks in MHz, power in W, temperature in C, throttle reasons.

    Returns
    -------
    dict or None
        Keys sm_mhz, memory_mhz, power_w, temperature_c (float, None if not told) and throttle (the driver's bit
        mask as text); None where neither pynvml nor nvidia-smi answers.
    """
    with contextlib.suppress(Exception):  # pynvml is optional and has errors of its own
        import pynvml

        pynvml.nvmlInit()
        try:
            device = pynvml.nvmlDeviceGetHandleByIndex(0)
            reasons = pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(device)
            return {
                "sm_mhz": float(pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM)),
                "memory_mhz": float(pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_MEM)),
                "power_w": pynvml.nvmlDeviceGetPowerUsage(device) / 1000,
                "temperature_c": float(pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU)),
                "throttle": f"0x{reasons:016x}",
            }
        finally:
            pynvml.nvmlShutdown()
    answer = _nvidia_smi(",".join(_QUERY.values()))
    if not answer or len(answer) != len(_QUERY):
        return None
    result = {}
    for key, word in zip(_QUERY, answer, strict=True):
        number = re.fullmatch(r"-?\d+(\.\d+)?", word)
        result[key] = word if key == "throttle" else float(word) if number else None
    return result


def describe() -> dict:
    """What this machine is: processor, memory, system, Python, packages, and the GPU (None without one).

    Returns
    -------
    dict
        Ready for JSON. "name" is the folder name of `machine_name`; "no_gpu" says why there is no GPU.
    """
    packages = {}
    for name in (*PACKAGES, "cupy-cuda13x", "cupy-cuda12x"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            packages[name] = importlib.metadata.version(name)
    gpu = _gpu()
    return {
        "name": machine_name(gpu),
        "gpu": gpu,
        "no_gpu": None if gpu else why_no_gpu(),
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_gib": _memory_gib(),
        "system": _system(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": packages,
    }


def machine_name(gpu="ask") -> str:
    """The machine's folder name: what it is, and 8 digits of a digest, as in "nvidia-h200-1a2b3c4d".

    The digest covers the GPU's name, multiprocessors and memory, the processor and the cores in use, so that two
    machines with the same card and different hosts stay apart; not the driver, which changes on the same machine.
    """
    if gpu == "ask":
        gpu = _gpu()
    words = [cpu_model(), str(cores())]
    if gpu:
        words = [gpu["name"], str(gpu["multiprocessors"]), str(gpu["memory_gib"]), *words]
    slug = re.sub(r"\(.*?\)|@.*$|\bCPU\b|\bProcessor\b", " ", gpu["name"] if gpu else "cpu " + cpu_model())
    slug = re.sub(r"[^a-z0-9]+", "-", slug.lower()).strip("-")[:40].strip("-")
    return f"{slug}-{hashlib.sha256('|'.join(words).encode()).hexdigest()[:8]}"
