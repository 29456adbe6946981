"""What one operation costs on this machine, measured (`measure`, `record`) and recorded (`of`).

Study 0 records these figures; the other studies take their floors, predictions and choices from them.
"""

import csv
import json
import math
import time
import typing
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np

from .. import paths
from .bench import PARTS, SOURCE, Bench, VerificationFailed, digest
from .errors import MachineError

STUDY = "0-machine"


class Cost(typing.NamedTuple):
    """One measured figure.

    `metric` names the operation ("grid-barrier", "dependent-load"...), `parameters` the case (blocks, bytes).
    `verified` is "exact" if the run left a result with one right value and it was found, else
    "not-applicable".
    """

    metric: str
    value: float
    unit: str
    parameters: dict
    verified: str


def warm(executor, seconds=0.5):
    """Keep the device busy until its clock has risen; nothing on the host."""
    if executor.name == "host":
        return
    x = executor.zeros(1 << 24, np.float32)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(20):
            x += 1
        executor.synchronize()


def measure(executor, quick=False, parts=PARTS, samples=5):
    """All figures of this machine as they are measured, each the median of some samples.

    Parameters
    ----------
    executor : Executor
        On "host" the same kernels run small and are checked; values are NaN, since times mean nothing there.
    quick : bool
        Fewer cases: seconds instead of about a minute.
    parts : sequence of str
        Which of PARTS.
    samples : int
        Samples a figure.

    Yields
    ------
    Cost

    Raises
    ------
    VerificationFailed
        An operation left a wrong result.
    """
    bench = Bench(executor, quick)
    warm(executor)
    for part in parts:
        for case in bench.cases(part):
            found = [case.sample() for _ in range(1 if bench.host else samples)]
            value = math.nan if bench.host else median(s.value for s in found)
            yield Cost(case.experiment, value, case.unit, case.parameters, found[0].verified)


class Costs:
    """What one operation costs on a machine, out of its recording.

    Figures between measured sizes are interpolated on logarithmic axes; beyond them the nearest one counts.

    Attributes
    ----------
    machine : str
        Whose costs these are.
    table : dict
        (operation, canonical JSON of the parameters) -> the figure in its recorded unit, the median of all
        rounds.
    """

    def __init__(self, machine, table):
        self.machine, self.table = machine, table

    def __repr__(self):
        return f"<costs of {self.machine}: {len(self.table)} figures>"

    def find(self, operation, **parameters) -> dict:
        """{parameters as JSON: figure} of the cases that have these parameters.

        Raises
        ------
        MachineError
            There is none.
        """
        found = {
            case: value
            for (name, case), value in self.table.items()
            if name == operation and parameters.items() <= json.loads(case).items()
        }
        if not found:
            raise MachineError(f"{self.machine}: no recorded cost of {operation} with {parameters}")
        return found

    def one(self, operation, **parameters) -> float:
        """The figure of the cases that have these parameters; the geometric mean if there are several."""
        return geometric_mean(self.find(operation, **parameters).values())

    def along(self, operation, axis, at, **parameters) -> float:
        """The figure at a size, interpolated along one parameter."""
        cases = self.find(operation, **parameters)
        points = sorted((json.loads(case)[axis], value) for case, value in cases.items())
        places, values = zip(*points, strict=True)
        return float(np.exp(np.interp(math.log(max(at, 1)), np.log(places), np.log(values))))

    @property
    def launch_us(self) -> float:
        """A kernel launched after the one before it, from Python."""
        return self.one("launch")

    @property
    def readback_us(self) -> float:
        """A launch and one number read back by the host."""
        return self.one("launch-readback")

    @property
    def graph_node_us(self) -> float:
        """A node of a CUDA graph, with a kernel that writes one number."""
        return self.one("graph-node", kernel="count_launch")

    @property
    def hop_ns(self) -> float:
        """A release store seen by another block's acquire load."""
        return self.one("hop")

    def grid_barrier_us(self, blocks, threads=256) -> float:
        """A grid barrier of so many blocks; threads is 32, 256 or 1024."""
        return self.along("grid-barrier", "blocks", blocks, threads=threads)

    def block_barrier_ns(self, threads) -> float:
        """A barrier of one block."""
        return self.along("block-barrier", "threads", threads)

    def load_ns(self, memory) -> float:
        """A load that the next step waits for; memory is "L1", "L2", "HBM" or "shared"."""
        return self.one("dependent-load", memory=memory)

    def atomic_ns(self, memory) -> float:
        """An atomic whose result the next step waits for; memory is "L2", "HBM" or "shared"."""
        return self.one("dependent-atomic", memory=memory)

    def atomics_per_second(self, addresses, threads, operation="add_returned") -> float:
        """Atomics that so many threads do on so many addresses."""
        known = {
            json.loads(case)["addresses"] for case in self.find("atomic-throughput", operation=operation)
        }
        nearest = min(known, key=lambda n: abs(math.log(n / addresses)))
        return 1e9 * self.along(
            "atomic-throughput", "threads", threads, operation=operation, addresses=nearest
        )

    def bytes_per_second(self, direction="device") -> float:
        """Copy bandwidth: "device" (bytes read plus written), "to-device", "to-host"."""
        return 1e9 * self.one("copy", direction=direction)


def _read(path) -> dict:
    """Medians of a recording's figures; of a figure recorded with several digests the last one counts."""
    samples = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["metric"] in ("time", "throughput", "bandwidth", "clock"):
                by_digest = samples.setdefault((row["experiment"], row["parameters"]), {})
                by_digest.setdefault(row["kernel"], []).append(float(row["value"]))
    return {case: median(list(by_digest.values())[-1]) for case, by_digest in samples.items()}


def of(machine=None, results=paths.RESULTS, recordings=paths.RECORDINGS) -> Costs:
    """The recorded costs of a machine.

    Parameters
    ----------
    machine : str, optional
        A machine's folder name, or the beginning of one ("nvidia-h200"). None: the machine measured here,
        else the first recorded GPU; `.machine` of the result says which.
    results, recordings : path
        Where this machine's rows are, and the recorded machines'.

    Raises
    ------
    MachineError
        No costs of such a machine are recorded; the text says how to measure them.
    """
    for folder in (Path(results), Path(recordings)):
        for path in sorted(folder.glob(f"{machine or ''}*/{STUDY}.csv")):
            if table := _read(path):
                return Costs(path.parent.name, table)
    name = f"of {machine}" if machine else "of any machine"
    raise MachineError(f"no costs {name} are recorded: `snakemake --cores 1` on a GPU measures them")


__all__ = [
    "PARTS",
    "SOURCE",
    "STUDY",
    "Bench",
    "Cost",
    "Costs",
    "VerificationFailed",
    "digest",
    "measure",
    "of",
    "warm",
]
