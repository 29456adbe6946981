"""Remove Snakemake's lock when no process holds it any more.

Snakemake locks a folder by files without a process id, so after a SIGKILL the next run stops at the lock. A
lock is stale if no other process of this machine runs Snakemake in this folder.
"""

import os
import subprocess
import sys
from pathlib import Path

from lockstep import paths


def holders(folder=None) -> list[int]:
    """Process ids of Snakemake runs in a folder; those with an unreadable working directory are included."""
    folder = Path(folder or paths.ROOT).resolve()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = process.joinpath("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(process.name) == os.getpid() or not _is_snakemake(words):
            continue
        try:
            if Path(os.readlink(process / "cwd")) != folder:
                continue
        except FileNotFoundError:
            continue
        except OSError:
            pass
        found.append(int(process.name))
    return found


def _is_snakemake(words: list[bytes]) -> bool:
    program = words[:3]
    return any(os.path.basename(word) == b"snakemake" for word in program) or program[1:3] == [
        b"-m",
        b"snakemake",
    ]


def unlock() -> int:
    """Unlock the project's folder unless a live Snakemake holds it; returns an exit status."""
    if not any((paths.ROOT / ".snakemake" / "locks").glob("*")):
        return 0
    live = ", ".join(map(str, holders(paths.ROOT)))
    if live:
        print(f"lockstep: Snakemake runs here already (process {live}); wait for it or stop it", file=sys.stderr)
        return 1
    print("lockstep: the last run was killed; its lock is removed, it goes on where it stopped", file=sys.stderr)
    command = [sys.executable, "-m", "snakemake", "--unlock", "--quiet", "all"]
    return subprocess.run(command, cwd=paths.ROOT, check=False, capture_output=True).returncode
