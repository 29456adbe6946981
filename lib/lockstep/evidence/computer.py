"""Identity of the machine, the commit and the time of a recording."""

import hashlib
import json
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lockstep import paths
from lockstep.evidence import nvml


def _cpu_model():
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()


def _package(*names):
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def cores():
    """Cores in this process's CPU affinity mask; thread-count environment variables are not considered."""
    return len(os.sched_getaffinity(0))


@cache
def describe_machine():
    """Describe this machine.

    Returns
    -------
    dict
        `name` (folder name of its recordings: GPU or CPU, and a digest of GPU, number of GPUs, CPU model and
        cores, so that machines differing in these have different folders), `gpu`, `gpus`, `driver`, `cpu`, `cores`
        (usable by this process), `memory_gib`, `system`, `python`, `cuda` (supported by the driver), `nvrtc`,
        `cupy`. Missing items are None.
    """
    device = nvml.gpu()
    gpu = device.identity() if device else {"gpu": None, "driver": None, "cuda": None}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = {
        **gpu,
        "gpus": device.count() if device else 0,
        "cpu": _cpu_model(),
        "cores": cores(),
        "memory_gib": round(memory),
    }
    # The driver is left out of the digest: a new driver on the same machine is the same machine, and is
    # recorded per run.
    identity = json.dumps([machine[key] for key in ("gpu", "gpus", "cpu", "cores")])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
    label = re.sub(r"\((r|tm)\)|@.*$|\b(cpu|processor)\b", " ", (gpu["gpu"] or machine["cpu"]).lower())
    slug = re.sub(r"[^a-z0-9]+", "-", label).strip("-") or "machine"
    return {
        "name": f"{slug}-{digest}",
        **machine,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "nvrtc": _package("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"),
        "cupy": _package("cupy-cuda13x", "cupy-cuda12x", "cupy"),
    }


def gpu_words(machine):
    """A machine's GPUs in words (`2 × NVIDIA H200`); None without any."""
    several = machine.get("gpus") or 1
    return f"{several} × {machine['gpu']}" if machine.get("gpu") and several > 1 else machine.get("gpu")


def machine_name():
    """Folder name of this machine's results and recordings, for example `nvidia-h200-1a2b3c4d`."""
    return describe_machine()["name"]


def commit():
    """The checkout's commit, with `+` where tracked files differ from it; None outside a git checkout.

    The variable LOCKSTEP_COMMIT overrides it, for copies without a .git folder.
    """
    if os.environ.get("LOCKSTEP_COMMIT"):
        return os.environ["LOCKSTEP_COMMIT"]

    def git(*words):
        command = ["git", "-C", str(paths.ROOT), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=10)

    try:
        head = git("rev-parse", "--short=12", "HEAD")
        if head.returncode != 0:
            return None
        changed = git("status", "--porcelain", "--untracked-files=no").stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return head.stdout.strip() + ("+" if changed else "")


def now():
    """The time in UTC, to the second, as ISO 8601 text."""
    return datetime.now(UTC).replace(microsecond=0).isoformat()
