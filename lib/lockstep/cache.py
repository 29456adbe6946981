"""Files that are kept from one run to the next, and may be lost at any time."""

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

MOST = 8  # files of a suffix kept beside a new one; older ones are deleted


def name_of(*texts, files=()):
    """A name hashed from texts and from each file's path, modification time and size (64 bits of SHA-256)."""
    told = sorted(f"{file.resolve()} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files)
    return hashlib.sha256("\n".join([*texts, *told]).encode()).hexdigest()[:16]


def write(file, content):
    """Write bytes to a file of the cache atomically; OSError is ignored, since the cache is optional."""
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
    """Whether files can be created in a folder or, if it does not exist, in its nearest existing parent."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return True
    except OSError:
        return False


def provide():
    """Give this process, and those that it starts, a scratch folder where neither home nor package can be written.

    Without one, Numba cannot compile cached functions, CuPy cannot be imported and the emulator cannot build kernels.
    Variables that are already set are not changed.
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
