"""Kernels for the emulator: the same .cu text, compiled by the system's C++ compiler and kept.

Libraries are cached under a digest of text, flags and compiler version. Neither -march=native nor FMA contraction is
used, so that results are bit-identical on every machine.
"""

import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..paths import CACHE
from . import source
from .errors import CompileError

# -fstack-clash-protection: a large frame touches each of its pages, so it cannot jump over the guard page.
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-ffp-contract=off", "-fvisibility=hidden", "-fno-strict-aliasing",
         "-fstack-clash-protection", "-Wno-unknown-pragmas", "-Wno-attributes")  # fmt: skip


@functools.lru_cache(maxsize=1)
def compiler() -> tuple:
    """The C++ compiler's command: $CXX, else c++, g++ or clang++, else that of the ziglang wheel.

    Raises
    ------
    CompileError
        None of them is found.
    """
    if os.environ.get("CXX"):
        return tuple(os.environ["CXX"].split())
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return (name,)
    if importlib.util.find_spec("ziglang"):
        return (sys.executable, "-m", "ziglang", "c++")
    raise CompileError(
        "no C++ compiler for the emulator: install g++, or set CXX, or `pip install ziglang` (411 MB)"
    )


@functools.lru_cache(maxsize=1)
def _compiler_version() -> str:
    done = subprocess.run([*compiler(), "--version"], capture_output=True, text=True)
    return done.stdout


def _run_compiler(options, what):
    try:
        done = subprocess.run([*compiler(), *options], capture_output=True, text=True)
    except OSError as error:
        raise CompileError(f"{what}: cannot run {compiler()[0]} ({error.strerror}); set CXX") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise CompileError(f"{what} does not compile for the host:\n" + "\n".join(lines[:40]))


def _built(name: str, digest: str, suffix: str, build) -> Path:
    """A file of the cache folder, built in a scratch folder and renamed into place (atomic)."""
    folder = CACHE / "host"
    target = folder / f"{name}-{digest}{suffix}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / target.name
            build(made, Path(scratch))
            if not made.exists():
                raise CompileError(f"{name}: {compiler()[0]} ended without an error and without a result")
            os.replace(made, target)
    return target


def _hash(*parts) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _runtime() -> Path:
    texts = [file.read_text() for file in sorted(source.HERE.glob("host*.?pp"))]
    digest = _hash(*texts, *FLAGS, _compiler_version())

    def build(made, _):
        unit = source.HERE / "host_runtime.cpp"
        _run_compiler([*FLAGS, "-c", str(unit), "-o", str(made)], unit.name)

    return _built("runtime", digest, ".o", build)


def entries(signatures) -> str:
    """A function for each kernel that takes its arguments by address, as a CUDA launch does."""
    lines = []
    for name, parameters in signatures.items():
        args = ", ".join(f"*static_cast<{p.type}{'*' * p.pointer}*>(a[{i}])" for i, p in enumerate(parameters))
        lines.append(
            'extern "C" __attribute__((no_sanitize("thread"), visibility("default"))) '
            f"void lockstep_entry_{name}(void** a) {{ (void)a; {name}({args}); }}"
        )
    return "\n".join(lines)


def library(name: str, text: str, entries: str, defines: tuple, memory: bool) -> Path:
    """The module's shared library; one per text, options and instrumentation."""
    runtime = _runtime()
    full = f'#include "host.hpp"\n{text}\n#line 1 "entries"\n{entries}\n'
    flags = [*FLAGS, *defines, *(["-fsanitize=thread"] if memory else [])]
    digest = _hash(full, runtime.name, *flags)

    def build(made, scratch):
        unit, object_file = scratch / f"{name}.cpp", scratch / "kernels.o"
        unit.write_text(full)
        compile_it = [*flags, "-I", str(source.HERE), "-c", str(unit), "-o", str(object_file)]
        _run_compiler(compile_it, f"{name}.cu")
        link_it = ["-shared", "-o", str(made), str(object_file), str(runtime), "-Wl,-z,defs", "-lpthread", "-lm"]
        _run_compiler(link_it, f"{name}.cu (link)")

    return _built(name, digest, ".so", build)
