"""Compile every kernel file for the GPU architectures that matter, on a machine without a GPU.

`python -m lockstep.machine.compile [FILE.cu ...]` builds all .cu files of the package (or those named) with
NVRTC for sm_80, sm_90 and sm_100, once for each `// compile:` line, and prints registers, shared memory and
spills of each kernel. Exit code 1 if something does not compile, 2 if NVRTC cannot be found.
"""

import argparse
import concurrent.futures
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from . import source
from .errors import CompileError, MachineError

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
PACKAGE = Path(__file__).resolve().parents[1]

SINCE = "ARCH>"  # `ARCH>=90` on a compile line: a variant for architectures from sm_90 on
_KERNEL = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class Resources:
    """What one kernel takes on one architecture; bytes, and registers a thread."""

    file: str
    defines: str
    kernel: str
    architecture: str
    registers: int
    shared: int
    stack: int
    spills: int


def nvrtc():
    """CuPy's binding to NVRTC, which works without a driver.

    Raises
    ------
    MachineError
        CuPy or the NVRTC library is not installed; the text says what to install.
    """
    try:
        from cupy_backends.cuda.libs import nvrtc as library

        library.getVersion()
    except Exception as error:  # CuPy names several errors of its own here
        raise MachineError(
            f"NVRTC cannot be loaded ({type(error).__name__}): install CuPy and cuda-toolkit[nvrtc,cudart]"
        ) from None
    return library


def compile_file(path, defines=None, architecture="sm_90") -> list:
    """Compile one file for one architecture.

    Parameters
    ----------
    path : path-like
    defines : mapping
        Macro definitions.
    architecture : str
        "sm_90" and the like.

    Returns
    -------
    list of Resources
        One for each kernel of the file.

    Raises
    ------
    CompileError
        See `build`.
    """
    path = Path(path)
    log = build(path, defines, architecture)[1]
    inside = path.resolve().is_relative_to(PACKAGE)
    shown = str(path.resolve().relative_to(PACKAGE)) if inside else path.name
    return list(_parse(log, shown, " ".join(source.define_text(defines)), architecture))


def build(path, defines=None, architecture="sm_90"):
    """(PTX or machine code, log) of one file: PTX for a virtual architecture, such as "compute_90".

    Raises
    ------
    CompileError
        With the compiler's own lines.
    """
    library, path, virtual = nvrtc(), Path(path), architecture.startswith("compute")
    options = (*source.CUDA_OPTIONS, "-ftz=true", *source.define_text(defines), f"--gpu-architecture={architecture}",
               "-default-device", *(() if virtual else ("--ptxas-options=-v",)))  # fmt: skip
    # #line directives locate errors; compared PTX omits them.
    program = library.createProgram(source.paste(path, marks=not virtual), path.name, (), ())
    try:
        library.compileProgram(program, options)
        made = library.getPTX if virtual else library.getCUBIN
        return made(program), library.getProgramLog(program)
    except library.NVRTCError:
        log = library.getProgramLog(program)
        raise CompileError(f"{path.name} does not compile for {architecture}:\n{log.strip()}") from None
    finally:
        library.destroyProgram(program)


def _parse(log, file, defines, architecture):
    """Resources out of ptxas' lines: a kernel's name, its stack and spills, its registers and memory."""
    kernel, stack, spills = None, 0, 0
    for line in log.splitlines():
        if match := _KERNEL.search(line):
            kernel, stack, spills = match.group(1), 0, 0
        elif match := _SPILLS.search(line):
            stack, spills = int(match.group(1)), int(match.group(2)) + int(match.group(3))
        elif (match := _REGISTERS.search(line)) and kernel:
            shared = _SHARED.search(line)
            yield Resources(file, defines, kernel, architecture, int(match.group(1)),
                            int(shared.group(1)) if shared else 0, stack, spills)  # fmt: skip
            kernel = None


def files() -> list:
    """All .cu files of the package."""
    return sorted(PACKAGE.rglob("*.cu"))


def _tasks(paths, architectures):
    """(path, macro definitions, architecture) of all that is to be compiled."""
    for path in paths:
        for defines in source.variants(path) if path.is_file() else [{}]:
            least = int(defines.pop(SINCE, 0))
            for architecture in architectures:
                if int(architecture.removeprefix("sm_").rstrip("af")) >= least:
                    yield path, defines, architecture


def _tried(task):
    """Resources of a compiled task, or the compiler's error as str."""
    try:
        return compile_file(*task)
    except CompileError as error:
        return str(error)


def main(arguments=None) -> int:
    """The command line; returns the exit code."""
    name, what = "python -m lockstep.machine.compile", __doc__.splitlines()[0]
    parser = argparse.ArgumentParser(prog=name, description=what)
    parser.add_argument("files", nargs="*", type=Path, help="kernel files; default: all of the package")
    parser.add_argument("--arch", nargs="+", default=ARCHITECTURES, help="architectures, such as sm_90")
    options = parser.parse_args(arguments)
    try:
        nvrtc()
    except MachineError as error:
        print(error, file=sys.stderr)
        return 2
    failed, spilled = 0, 0
    print(f"{'file':32} {'kernel':40} {'arch':7} {'registers':>9} {'shared':>7} {'stack':>6} {'spills':>6}")
    with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for found in pool.map(_tried, _tasks(options.files or files(), options.arch)):
            if isinstance(found, str):
                print(found, file=sys.stderr)
                failed += 1
                continue
            for r in found:
                name = f"{r.kernel} {r.defines}".strip()
                mark = "  <- spills" if r.spills else ""
                print(f"{r.file:32} {name:40} {r.architecture:7} {r.registers:9} {r.shared:7} "
                      f"{r.stack:6} {r.spills:6}{mark}")  # fmt: skip
                spilled += r.spills > 0
    print(f"{failed} failed, {spilled} kernels spill registers")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
