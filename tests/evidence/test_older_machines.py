"""No published form is slower in our recordings than on its paper's own, older machine; where one is, rows say why."""

import pytest

from lockstep import paths
from lockstep.evidence import reading
from lockstep.sgd.results import views as sgd
from lockstep.toposort.results import views as toposort


@pytest.fixture(scope="module")
def machines():
    return reading.machines(paths.RECORDINGS, paths.RECORDINGS)


def of(machines, study):
    found = {name: rows[rows["study"] == study] for name, rows in machines.items()}
    return {name: rows for name, rows in found.items() if (rows["metric"] == "device").any()}


@pytest.mark.parametrize("number", ["4.1", "4.2", "4.3", "4.4"])
def test_the_naive_sort_against_the_thesis_times(machines, number):
    """A graph of ours that is deeper than the thesis's may take longer, but not layer by layer."""
    for name, rows in of(machines, "3-toposort-depth").items():
        table = toposort.table(rows, number)
        deeper = (table["depth"] / table["depth, published"]).clip(lower=1) if "depth, published" in table else 1
        for ours, theirs in (("naive", "GPU, published"), ("serial", "CPU, published")):
            printed = table[theirs].where(table[theirs] > 0)  # in whole milliseconds
            slower = table[table[ours] > printed * deeper]
            assert slower.empty, f"{name}: {ours} is slower than the thesis's: {slower.to_string()}"


def test_the_locks_against_the_k40(machines):
    """Where a sweep takes longer than the K40's whole run, the same locks with all passes in one launch do not: what
    takes the time is the passes' way through the host, hundreds to tens of thousands of times.
    """
    for name, rows in of(machines, "1-sgd-schedules").items():
        table = sgd.locks(rows)
        if len(table):
            slower = table[table["over K40"] > 1]
            inside = slower["in one launch (ms)"] < slower["K40, whole run (ms)"]
            assert (inside & (slower["last: passes"] > 400)).all(), f"{name}: {slower.to_string()}"
