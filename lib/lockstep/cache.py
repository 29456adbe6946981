"""Files that are kept from one run to the next, and may be lost at any time."""

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

MOST = 8  # files of a kind; the oldest go


def name_of(*texts, files=()):
    """A name that tells of some texts, and of files by when and how long they were written."""
    told = sorted(f"{file.resolve()} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files)
    return hashlib.sha256("\n".join([*texts, *told]).encode()).hexdigest()[:16]


def write(file, content):
    """Put bytes into a file of the cache, all or nothing. That a cache cannot be written is no error."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in sorted(file.parent.glob(f"*{file.suffix}"), key=os.path.getmtime)[:-MOST]:
            old.unlink(missing_ok=True)
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_bytes(content)
        scratch.replace(file)
    except OSError:
        pass


def _writable(folder):
    """Whether files can be made in a folder; where it is not there, in the nearest one above it that is."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return True
    except OSError:
        return False


def provide():
    """Give this process, and those that it starts, a scratch folder where neither home nor package can be written.

    Numba refuses to compile what it is to keep, CuPy to be imported, and the emulator has its kernels built in a file.
    What the environment says stands.
    """
    home = Path(os.path.expanduser("~"))
    kept = {
        "LOCKSTEP_CACHE": [home / ".cache" / "lockstep"],
        "CUPY_CACHE_DIR": [home / ".cupy" / "kernel_cache"],
        "NUMBA_CACHE_DIR": [Path(__file__).parent / "__pycache__", home / ".cache" / "numba"],
    }
    lacking = [name for name, places in kept.items() if name not in os.environ and not any(map(_writable, places))]
    if lacking:
        scratch = tempfile.mkdtemp(prefix="lockstep-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        os.environ.update({name: os.path.join(scratch, name) for name in lacking})
