"""Kernel text: expanding includes, parsing signatures, and a digest of the text without comments and spacing."""

import functools
import hashlib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import CompileError

HERE = Path(__file__).resolve().parent

CUDA_OPTIONS = ("-std=c++17",)  # for NVRTC; CuPy adds -ftz=true by itself

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.M)
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')', re.S)
_KERNEL = re.compile(
    r'extern\s*"C"\s*__global__\s*(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s*'
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:__cluster_dims__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)"
)
_DEFAULT = re.compile(r"^#ifndef (\w+)\n#define \1[ \t]+([^\n]+)", re.M)
_VARIANT = re.compile(r"^//[ \t]*compile:[ \t]*(.*)$", re.M)

_TYPES = {
    "bool": np.bool_, "char": np.int8, "signed char": np.int8, "unsigned char": np.uint8,
    "short": np.int16, "unsigned short": np.uint16, "int": np.int32, "unsigned": np.uint32,
    "unsigned int": np.uint32, "long": np.int64, "unsigned long": np.uint64, "long long": np.int64,
    "unsigned long long": np.uint64, "size_t": np.uint64, "float": np.float32, "double": np.float64,
    "int8_t": np.int8, "uint8_t": np.uint8, "int16_t": np.int16, "uint16_t": np.uint16,
    "int32_t": np.int32, "uint32_t": np.uint32, "int64_t": np.int64, "uint64_t": np.uint64,
}  # fmt: skip
_VECTOR = re.compile(r"(char|uchar|short|ushort|int|uint|long|ulong|longlong|ulonglong|float|double)([234])$")
_VECTOR_OF = {"uchar": "unsigned char", "ushort": "unsigned short", "uint": "unsigned",
              "ulong": "unsigned long", "longlong": "long long",
              "ulonglong": "unsigned long long"}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: its C type, name, whether it is a pointer, and the NumPy dtype it takes.

    dtype is None for a pointer to a type that has no NumPy counterpart; then any array is accepted.
    """

    type: str
    name: str
    pointer: bool
    dtype: np.dtype | None


def strip_comments(text: str) -> str:
    """The text without comments; what stands in quotes is kept, lines keep their numbers."""

    def keep(match):
        return match.group(1) or " " + "\n" * match.group(0).count("\n")

    return _COMMENT.sub(keep, text)


def _paste(path: Path, seen: set, marks: bool, active: tuple) -> str:
    path = path.resolve()
    if path in seen:
        return ""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        chain = " included from " + str(active[-1]) if active else ""
        raise CompileError(f"{path}{chain}: cannot be read ({error.strerror})") from None
    seen.add(path)

    def include(match):
        target = path.parent / match.group(1)
        if not target.is_file() and (HERE / match.group(1)).is_file():
            target = HERE / match.group(1)
        line = text.count("\n", 0, match.start()) + 2
        body = _paste(target, seen, marks, (*active, path))
        return body + (f'\n#line {line} "{path.name}"' if marks else "")

    body = _INCLUDE.sub(include, text).replace("#pragma once", "")
    return (f'#line 1 "{path.name}"\n' if marks else "") + body


def paste(path, marks: bool = True) -> str:
    """The file's text with every `#include "..."` replaced by that file's text, each file once.

    Parameters
    ----------
    path : path-like
        The .cu file. Includes are looked for beside the file that names them, then in this package's folder.
    marks : bool
        Put `#line` directives in, so that a compiler names the right file and line.

    Raises
    ------
    CompileError
        A file cannot be read.
    """
    return _paste(Path(path), set(), marks, ())


def define_text(defines) -> tuple:
    """The macro definitions as compiler options, sorted by name; True stands for 1, False for 0."""

    def value(v):
        return int(v) if isinstance(v, (bool, np.bool_)) else v

    return tuple(f"-D{k}={value(v)}" for k, v in sorted((defines or {}).items()))


@functools.lru_cache(1024)
def _spelling(text: str, options: tuple) -> str:
    words = " ".join(strip_comments(text).split())
    return hashlib.sha256("\0".join((words, *options)).encode()).hexdigest()[:16]


def spelling(path, defines=None) -> str:
    """Digest of a kernel file's text with includes expanded, without comments and spacing.

    Parameters
    ----------
    path : path-like
        The .cu file.
    defines : mapping, optional
        Macro definitions it is compiled with.

    Returns
    -------
    str
        16 hexadecimal digits of a SHA-256. The same on every machine and executor.
    """
    return _spelling(paste(path, marks=False), CUDA_OPTIONS + define_text(defines))


def parameters(declaration: str, defines=None) -> tuple:
    """The parameters of one kernel, out of the text between its parentheses."""
    result = []
    for part in filter(None, (p.strip() for p in declaration.split(","))):
        words = re.sub(r"\b(const|volatile|__restrict__|__grid_constant__)\b", " ", part)
        pointer = "*" in words
        match = re.match(r"^\s*(.+?)[\s*]+(\w+)\s*$", words)
        if not match or words.count("*") > 1 or "&" in words:
            raise CompileError(f"kernel parameter '{part}': write it as `type name` or `type* name`")
        kind = " ".join(match.group(1).replace("*", " ").split())
        for _ in range(4):  # a macro may stand for the type: -DT=float
            if defines and kind in defines:
                kind = str(defines[kind])
        vector = _VECTOR.match(kind)
        base = _VECTOR_OF.get(vector.group(1), vector.group(1)) if vector else kind
        dtype = np.dtype(_TYPES[base]) if base in _TYPES else None
        if not pointer and (dtype is None or vector):
            raise CompileError(
                f"kernel parameter '{part}': a scalar must have a plain type ({', '.join(list(_TYPES)[:16])})"
            )
        result.append(Parameter(kind, match.group(2), pointer, dtype))
    return tuple(result)


def kernels(text: str, defines=None) -> dict:
    """All kernels of a pasted text: name -> tuple of Parameter."""
    return {m.group(1): parameters(m.group(2), defines) for m in _KERNEL.finditer(strip_comments(text))}


def variants(path) -> list:
    """The sets of macro definitions in the file's `// compile: NAME=VALUE ...` lines.

    A line with several values of a name, `WIDTH=8,16,32`, gives a set for each; several names, their product.
    """
    found = []
    for match in _VARIANT.finditer(Path(path).read_text(encoding="utf-8")):
        pairs = [word.partition("=") for word in match.group(1).split()]
        names, values = [name for name, _, _ in pairs], [(value or "1").split(",") for _, _, value in pairs]
        found += [dict(zip(names, chosen, strict=True)) for chosen in itertools.product(*values)]
    return found or [{}]


@functools.lru_cache(1024)
def _settled(text: str, options: tuple) -> tuple:
    given = dict(option[2:].split("=", 1) for option in options)
    found = {name: value.strip() for name, value in _DEFAULT.findall(text)} | given
    settled = {name: found.get(value, value) for name, value in found.items()}  # a default may name another macro
    mentioned = set(re.findall(r"\w+", text))
    return tuple(sorted((name, value) for name, value in settled.items() if name in mentioned))


def settled(path, defines=None) -> tuple:
    """Effective macro definitions of a file: with its defaults, without macros that it does not mention.

    Two sets of definitions with equal results compile to the same code.

    Returns
    -------
    tuple of (name, value)
        Sorted by name, values as text.
    """
    return _settled(strip_comments(paste(path, marks=False)), define_text(defines))
