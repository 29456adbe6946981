"""Traces of host decisions: the launches of a strategy on small fixed graphs on the emulator, in order.

An emulator with the recorded GPU's shared memory and L2 size, but 6 multiprocessors, runs the strategy; recorded are
each launch with the digest of the kernel's PTX, grid, block, dynamic shared memory, scalars and sizes of its arrays,
each copy and read-back with its size, and the result. Equal traces mean equal launches on these graphs. This is
necessary for equivalence, not sufficient: some plans branch differently on a GPU, and larger graphs take other code
paths. So a confirmation also compares the code's literals and operators (`Code.words`) and records a reason.
"""

import functools
from importlib import import_module

import numpy as np

from lockstep.graphs import Graph
from lockstep.machine import HostExecutor, source
from lockstep.studies import PACKAGES

from . import device
from .device import digest

# Shared memory and L2 of an H200; fewer multiprocessors, since the emulator runs every thread serially.
MULTIPROCESSORS, SHARED, L2 = 6, 232_448, 60 << 20


class Tracer(HostExecutor):
    """The emulator; `lines` records launches, copies and read-backs."""

    max_shared, l2_bytes = SHARED, L2

    def __init__(self):
        super().__init__(multiprocessors=MULTIPROCESSORS)
        self.lines = []

    def _run(self, kernel, grid, block, args, shared, cooperative):
        known = machine_code(kernel.module.path, tuple(sorted(source.define_text(kernel.module.defines))))
        told = [str(value.dtype) + str(value) if isinstance(value, np.generic) else "" if value is None else
                f"{value.dtype}[{value.size}]" for value in args]  # fmt: skip
        self.lines.append(f"{known[kernel.name]} {grid} {block} {shared} {cooperative} {' '.join(told)}")
        super()._run(kernel, grid, block, args, shared, cooperative)

    def get(self, array):
        self.lines.append(f"get {array.dtype}[{array.size}]")
        return super().get(array)

    def copy(self, target, values):
        self.lines.append(f"copy {values.dtype}[{values.size}]")
        super().copy(target, values)

    def read(self, array, index=0):
        self.lines.append(f"read {array.dtype}")
        return super().read(array, index)


@functools.cache
def machine_code(path, options):
    """{kernel: digest} of a file with compiler options; for unlisted ones, the digests of the first listed variant."""
    pairs = [option.removeprefix("-D").partition("=") for option in options]
    defines = tuple((name, value) for name, _, value in pairs)
    if defines in device.variants(path):
        return device.kernels(path, defines)
    # macro definitions that only the emulator's smaller size produces
    names = source.kernels(source.paste(path, marks=False), dict(defines))
    return dict.fromkeys(names, "text of " + " ".join(sorted(device.kernels(path, device.variants(path)[0]).values())))


def band(n, degree, hub=0, weights=None, both=False):
    """Vertex v has arcs to v + 1, ..., v + degree, if below n; vertex 0 has `hub` further arcs."""
    v = np.arange(n, dtype=np.int64)
    sources = np.concatenate([np.repeat(v, degree), np.zeros(hub, np.int64)])
    targets = np.concatenate([(v[:, None] + np.arange(1, degree + 1)).ravel(), np.arange(degree + 1, degree + 1 + hub)])
    there = targets < n
    sources, targets = sources[there], targets[there]
    drawn = None if weights is None else (np.arange(targets.size) % 100 + 1).astype(weights)
    return Graph.from_edges(sources, targets, n=n, weights=drawn, directed=not both, name=f"band-{n}-{degree}-{hub}")


@functools.cache
def trace(study, label):
    """Digest of a label's traces on the emulator; "" where the study defines no trial."""
    trial = getattr(import_module(f"lockstep.{PACKAGES[study]}.origins"), "trial", None) if study[0] != "0" else None
    if trial is None:
        return ""
    found = []
    for run in trial(label):
        tracer = Tracer()
        try:
            results = run(tracer)
        except (ValueError, ArithmeticError) as error:
            results = [f"refuses: {type(error).__name__}"]
        told = [np.asarray(result) for result in results]
        found += [*tracer.lines, *(digest(str(one.dtype), one.tobytes().hex()) for one in told)]
    return digest(*found) if found else ""
