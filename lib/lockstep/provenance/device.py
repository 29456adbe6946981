"""Digests of device code: canonical PTX, independent of names and numbering in the source.

A kernel's digest covers all that it calls and refers to, and nothing else of its file. Comments, compiler directives,
names of functions and variables, numbers of registers and labels, and strings of ``printf`` are dropped or numbered in
order of appearance; parameters are replaced by their byte offsets. A renamed variable, an inlined helper function, or
another kernel in the file thus leaves a digest unchanged; a changed constant, barrier, atomic, type or launch bound
changes it.

PTX is compared, not machine code, since the assembler depends on PTX alone. Digests are made by a pinned version of
NVRTC and stored in a tracked lock, keyed by the digest of the text, so that reading them needs no compiler;
``python -m lockstep provenance lock --prove`` compiles all again. NVRTC is not deterministic: for one long kernel, one
to two of four compilations differ. A digest is therefore accepted if it is in the lock or was obtained twice, and the
lock is proven only by its own digests.
"""

import functools
import hashlib
import json
import re
from pathlib import Path

from lockstep.machine import MachineError, source
from lockstep.machine import compile as compiler

LOCK = Path(__file__).with_name("kernels.lock.json")
NVRTC, ARCHITECTURE = (13, 0), "compute_90"
ATTEMPTS = 16
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}  # bytes of a parameter's type, by its bits

_FUNCTION = re.compile(
    r"^(?:\.visible |\.weak )*\.(entry|func)[^{;]*?([A-Za-z_$][\w$]*)\s*\(([^)]*)\)([^{;]*)\{(.*?)^\}", re.M | re.S
)
_VARIABLE = re.compile(
    r"^(?:\.visible |\.extern |\.weak )*(\.(?:global|const|shared)[^;=]*?)([A-Za-z_$][\w$]*)(\[\d*\])?(\s*=[^;]*)?;",
    re.M,
)
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.[a-z]+(\d+)(?:\s+\.ptr[^,\n]*?)?\s+([\w$]+)(?:\[(\d+)\])?")
_DROPPED = re.compile(r"//[^\n]*|^\s*\.(?:version|target|address_size|loc|file|reg)\b[^\n;]*;?", re.M)
_WORD = re.compile(r"\$L__BB\d+_\d+|__local_depot\d+|%[a-z]+\d+\b|(?<![.\w$%])[$A-Za-z_][\w$]*")
_OWN = re.compile(r"\$L__BB|__local_depot|%(?:p|rs|r|rd|f|fd|h|hh|b|SP)")  # numbered; %tid and the like stay


def digest(*texts) -> str:
    """SHA-256 of some texts, 16 hexadecimal digits."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def canonical(ptx) -> dict:
    """{kernel: digest} of a module's PTX."""
    text = _DROPPED.sub("", ptx.decode() if isinstance(ptx, bytes) else ptx).rstrip("\0")
    functions = {name: (kind, *parts) for kind, name, *parts in _FUNCTION.findall(text)}
    variables = {
        # the strings of printf, named $str by the compiler, are ignored
        name: "" if name.startswith("$str") else " ".join(f"{kind} {size} {value}".split())
        for kind, name, size, value in _VARIABLE.findall(text)
    }
    entries = [name for name, (kind, *_) in functions.items() if kind == "entry"]
    return {name: digest(*_Canonical(functions, variables).texts(name)) for name in entries}


class _Canonical:
    """The texts of a kernel and of all that it refers to, in the order of their appearance."""

    def __init__(self, functions, variables):
        self.functions, self.variables, self.places = functions, variables, {}

    def texts(self, name):
        self.places[name] = 0
        waiting, found = [name], []
        for own in waiting:  # grows while it is walked
            text, named = self._text(own)
            found.append(text)
            waiting += named
        return found

    def _text(self, name):
        if name in self.variables:
            return self.variables[name], []
        _, parameters, bounds, body = self.functions[name]
        offsets, numbers, named = _offsets(parameters), {}, []

        def word(match):
            own = match[0]
            if _OWN.match(own):
                kind = re.match(r"[^\d]+", own)[0]
                return f"{kind}{numbers.setdefault(own, len(numbers))}"
            if own in offsets:
                return f"parameter+{offsets[own]}"
            if own in self.functions or own in self.variables:
                if own not in self.places:
                    self.places[own] = len(self.places)
                    named.append(own)
                return f"#{self.places[own]}"
            return own  # part of an instruction, or a name in inline assembly, which the compiler keeps

        body = re.sub(r"parameter\+(\d+)\+(\d+)", lambda sum: f"parameter+{int(sum[1]) + int(sum[2])}",
                      _WORD.sub(word, body))  # fmt: skip
        return " ".join(f"{bounds} {body}".split()), named


def _offsets(parameters):
    """{parameter: offset in bytes}, aligned as in the kernel's parameter space."""
    found, at = {}, 0
    for align, bits, name, count in _PARAMETER.findall(parameters):
        size = SIZES[bits]
        step = int(align or size)
        at = -(-at // step) * step
        found[name] = at
        at += size * int(count or 1)
    return found


# -- the lock


def key(path, defines=None) -> str:
    """Key of a compiled text: `toposort/strategies/narrow.cu -DRECORDS=4`."""
    file = Path(path).resolve()
    file = file.relative_to(compiler.PACKAGE).as_posix() if file.is_relative_to(compiler.PACKAGE) else file.name
    return " ".join((file, *source.define_text(dict(defines or {}))))


@functools.cache
def lock() -> dict:
    """{key: {"text": digest of the text, "kernels": {kernel: digest}}}."""
    return json.loads(LOCK.read_text(encoding="utf-8")) if LOCK.is_file() else {}


@functools.cache
def variants(path) -> tuple:
    """The sets of macro definitions that a file's `// compile:` lines list, as tuples of (name, value)."""
    listed = [{name: value for name, value in one.items() if name != compiler.SINCE} for one in source.variants(path)]
    return tuple(tuple(sorted(one.items())) for one in listed)


@functools.cache
def _settled(path) -> frozenset:
    return frozenset(source.settled(path, dict(one)) for one in variants(path))


@functools.cache
def _listed(module) -> bool:
    """Whether a `// compile:` line lists a module's macro definitions; asked before each row, so once per module."""
    return source.settled(module.path, module.defines) in _settled(module.path)


def unlisted(modules) -> list:
    """Keys of compiled modules of this package whose macro definitions match no `// compile:` line.

    Rows measured with one could not be compared with the lock: `builds` refuses to record them.
    """
    own = [one for one in modules if one.path.resolve().is_relative_to(compiler.PACKAGE)]
    return [key(one.path, one.defines) for one in own if not _listed(one)]


def kernels(path, defines=()) -> dict:
    """{kernel: digest} of a file with a set of macro definitions, as the lock has it.

    If the lock does not hold this text, it is compiled with the pinned NVRTC; without that, the digest of the text is
    used for each kernel, which matches no build: rows compared with it are stale.
    """
    defines = dict(defines)
    spelled, known = source.spelling(path, defines), lock().get(key(path, defines))
    if known and known["text"] == spelled:
        return known["kernels"]
    return _compiled_once(path, tuple(sorted(defines.items())), spelled)


@functools.lru_cache(1024)
def _compiled_once(path, defines, spelled):
    try:
        known = lock().get(key(path, dict(defines)), {}).get("kernels", {})
        return compiled(path, dict(defines), known)
    except MachineError:
        names = source.kernels(source.paste(path, marks=False), dict(defines))
        return {name: f"text-{spelled}" for name in names}


def _compiled_now(path, defines):
    here, wanted = compiler.nvrtc().getVersion(), ".".join(map(str, NVRTC))
    if tuple(here) != NVRTC:
        raise MachineError(f"kernels are told apart by NVRTC {wanted}; here is {'.'.join(map(str, here))}")
    return canonical(compiler.build(path, defines, ARCHITECTURE)[0])


def compiled(path, defines=None, known=None) -> dict:
    """{kernel: digest} of a file, compiled until each kernel's digest is in `known` or was obtained twice.

    Raises
    ------
    CompileError
        With the compiler's own lines.
    MachineError
        NVRTC is missing, or is of another version than the lock is made with; or no two compilations agree.
    """
    seen, found = set((known or {}).items()), {}
    for _ in range(ATTEMPTS):
        now = _compiled_now(path, defines)
        found |= {name: what for name, what in now.items() if name not in found and (name, what) in seen}
        seen |= set(now.items())
        if found.keys() == now.keys():
            return found
    raise MachineError(f"{key(path, defines)}: no two of {ATTEMPTS} compilations agree")


def proven(path, defines) -> list:
    """Compile a text that the lock should hold; what differs, in words."""
    name = key(path, defines)
    known = lock().get(name)
    if known is None or known["text"] != source.spelling(path, defines):
        return [f"{name}: {'not in the lock' if known is None else 'another text than the lock has'}"]
    # The text matches the lock: one compilation per kernel with the recorded digest proves it.
    missing = dict(known["kernels"])
    for _ in range(ATTEMPTS):
        now = _compiled_now(path, defines)
        if now.keys() != known["kernels"].keys():
            return [f"{name}: {one} is in one of them alone" for one in sorted(now.keys() ^ known["kernels"].keys())]
        missing = {one: what for one, what in missing.items() if now[one] != what}
        if not missing:
            return []
    return [f"{name}: {one} differs in {ATTEMPTS} compilations" for one in sorted(missing)]


def prove() -> list:
    """Compile all kernels of the package; what differs from the lock, in words."""
    return [word for path in compiler.files() for one in variants(path) for word in proven(path, dict(one))]


def renew(say=print) -> dict:
    """Compile all kernels of the package whose text the lock does not hold, and write the lock.

    Returns
    -------
    dict
        {key: kernels whose digest is new}, of what changed.
    """
    before, after, changed = lock(), {}, {}
    for path in compiler.files():
        for defines in map(dict, variants(path)):
            name, spelled = key(path, defines), source.spelling(path, defines)
            known = before.get(name, {"kernels": {}})
            if known.get("text") != spelled:
                known = {"text": spelled, "kernels": compiled(path, defines, known["kernels"])}
                old = before.get(name, {"kernels": {}})["kernels"]
                changed[name] = [one for one, what in known["kernels"].items() if old.get(one) != what]
                say(f"{name}: {', '.join(changed[name]) or 'same machine code'}")
            after[name] = known
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(after[name], sort_keys=True)}" for name in sorted(after))
    LOCK.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    lock.cache_clear()
    return changed
