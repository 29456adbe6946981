"""What one operation costs on a machine, out of its recording (`of`).

Study 0 records these figures (`record_costs`); the other studies take their floors, predictions and choices from them.
"""

import csv
import json
import math
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np

from .. import paths
from .bench import SOURCE, Bench, VerificationFailed
from .errors import MachineError
from .record_costs import DATASET, PARTS, STUDY, Cost, measure, record, warm


class Costs:
    """Costs of operations on a machine, from its recording.

    Between measured sizes costs are interpolated on logarithmic axes; outside them the nearest one is used.

    Attributes
    ----------
    machine : str
        Name of the machine.
    table : dict
        (operation, canonical JSON of the parameters) -> the figure in its recorded unit, the median of all
        rounds.
    """

    def __init__(self, machine, table):
        self.machine, self.table = machine, table

    def __repr__(self):
        return f"<costs of {self.machine}: {len(self.table)} figures>"

    def find(self, operation, /, **parameters) -> dict:
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

    def one(self, operation, /, **parameters) -> float:
        """The figure of the cases that have these parameters; the geometric mean if there are several."""
        return geometric_mean(self.find(operation, **parameters).values())

    def along(self, operation, axis, at, /, **parameters) -> float:
        """The figure at a size, interpolated along one parameter."""
        cases = self.find(operation, **parameters)
        points = sorted((json.loads(case)[axis], value) for case, value in cases.items())
        places, values = zip(*points, strict=True)
        return float(np.exp(np.interp(math.log(max(at, 1)), np.log(places), np.log(values))))

    @property
    def launch_us(self) -> float:
        """Time per launch of back-to-back launches from Python, in us (geometric mean over grid sizes)."""
        return self.one("launch")

    @property
    def readback_us(self) -> float:
        """A launch and one number read back by the host, from Python."""
        return self.one("launch-readback")

    @property
    def step_us(self) -> float:
        """The same in compiled code (`executor.step`); `readback_us` if no step is recorded."""
        return self.one("step" if any(name == "step" for name, _ in self.table) else "launch-readback")

    @property
    def graph_node_us(self) -> float:
        """A node of a CUDA graph, with a kernel that writes one number."""
        return self.one("graph-node", kernel="count_launch")

    @property
    def multiprocessors(self) -> int:
        """Number of multiprocessors, taken from the grid size of the recorded graph nodes."""
        return max(json.loads(case)["blocks"] for case in self.find("graph-node"))

    @property
    def hop_ns(self) -> float:
        """Latency from a block's release store to another block's acquire load of it."""
        return self.one("hop")

    def grid_barrier_us(self, blocks=None, threads=256) -> float:
        """A grid barrier of `blocks` blocks (default: one per SM), at the recorded block size nearest `threads`."""
        blocks = self.multiprocessors if blocks is None else blocks
        known = {json.loads(case)["threads"] for case in self.find("grid-barrier")}
        nearest = min(known, key=lambda n: abs(math.log(n / threads)))
        return self.along("grid-barrier", "blocks", blocks, threads=nearest)

    def block_barrier_ns(self, threads) -> float:
        """A barrier of one block."""
        return self.along("block-barrier", "threads", threads)

    def load_ns(self, memory) -> float:
        """Latency of a dependent load; memory is "L1", "L2", "HBM" or "shared"."""
        return self.one("dependent-load", memory=memory)

    def atomic_ns(self, memory) -> float:
        """Latency of a dependent atomic; memory is "L2", "HBM" or "shared"."""
        return self.one("dependent-atomic", memory=memory)

    def atomics_per_second(self, addresses, threads, operation="add_returned") -> float:
        """Throughput of atomics of `threads` threads on the recorded number of addresses nearest `addresses`."""
        known = {json.loads(case)["addresses"] for case in self.find("atomic-throughput", operation=operation)}
        nearest = min(known, key=lambda n: abs(math.log(n / addresses)))
        return 1e9 * self.along("atomic-throughput", "threads", threads, operation=operation, addresses=nearest)

    def block_atomics_per_second(self, memory, threads=1024) -> float:
        """Throughput of one block's atomics on random counters; memory is "shared" or "L2"."""
        return 1e9 * self.along("block-atomics", "threads", threads, memory=memory)

    def bytes_per_second(self, direction="device") -> float:
        """Copy bandwidth: "device" (bytes read plus written), "to-device", "to-host"."""
        return 1e9 * self.one("copy", direction=direction)


METRICS = ("time", "throughput", "bandwidth", "clock")


def from_rows(machine, rows) -> Costs:
    """The costs in a recording's rows (mappings or a DataFrame).

    A cost is the median of its rounds; if builds of a kernel differ, only the last recorded build is used.
    """
    samples = {}
    for row in rows.to_dict("records") if hasattr(rows, "to_dict") else rows:
        if row["metric"] in METRICS:
            by_digest = samples.setdefault((row["experiment"], row["parameters"]), {})
            by_digest.setdefault(row["kernel"], []).append(float(row["value"]))
    return Costs(machine, {case: median(list(by_digest.values())[-1]) for case, by_digest in samples.items()})


def of(machine=None, results=paths.RESULTS, recordings=paths.RECORDINGS, first=False) -> Costs:
    """The recorded costs of a machine.

    Parameters
    ----------
    machine : str, optional
        A machine's folder name, or the beginning of one ("nvidia-h200"). None: the machine measured here,
        else the first recorded GPU; `.machine` of the result says which.
    results, recordings : path
        Where this machine's rows are, and the recorded machines'.
    first : bool
        By the first recording alone, whatever later ones say.

    Raises
    ------
    MachineError
        No costs of such a machine are recorded; the message gives the command that measures them.
    """
    for folder in (Path(results), Path(recordings)):
        for path in sorted(folder.glob(f"{machine or ''}*/{STUDY}.csv")):
            rows = []
            for each in [path] if first else paths.recordings_of(path.parent, STUDY):  # the last one counts
                with open(each, newline="", encoding="utf-8") as file:
                    rows += csv.DictReader(file)
            found = from_rows(path.parent.name, rows)
            if found.table:
                return found
    name = f"of {machine}" if machine else "of any machine"
    raise MachineError(f"no costs {name} are recorded: `snakemake --cores 1` on a GPU measures them")


__all__ = [
    "DATASET", "PARTS", "SOURCE", "STUDY", "Bench", "Cost", "Costs", "VerificationFailed",
    "measure", "of", "record", "warm",
]  # fmt: skip
