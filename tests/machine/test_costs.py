"""Study 0: operations are checked before their cost counts, and costs are read from recordings."""

import csv
import json

import numpy as np
import pytest

from lockstep.machine import MachineError, bench, costs, get_executor, oneblock
from lockstep.provenance import build, builds

COLUMNS = ["study", "experiment", "dataset", "strategy", "parameters", "metric", "unit", "round", "value",
           "verified", "kernel"]  # fmt: skip


@pytest.mark.parametrize("fuzz", ["none", "sync"])
def test_every_operation_is_done_and_found_right_on_the_host(fuzz):
    found = list(costs.measure(get_executor("host", fuzz=fuzz)))
    assert {c.metric for c in found} >= {
        "launch",
        "grid-barrier",
        "hop",
        "dependent-load",
        "atomic-throughput",
        "block-atomics",
    }
    assert all(np.isnan(c.value) for c in found), "the emulator has no times"
    assert {(c.metric, c.verified) for c in found if c.verified != "exact"} == {("graph-node", "not-applicable")}


@pytest.mark.parametrize("wrong", ["count_launch", "walk_l2", "walk_atomic", "add_returned", "cas", "hops"])
def test_a_wrong_result_is_not_a_cost(monkeypatch, wrong):
    """Every check can fail: whatever a kernel leaves, it must be what was left."""
    executor = get_executor("host")
    kernel = executor.load(costs.SOURCE)[wrong]
    monkeypatch.setattr(kernel, "bind", lambda *args, **how: lambda: None)  # the kernel does nothing
    with pytest.raises(costs.VerificationFailed, match="right is"):
        list(costs.measure(executor))


@pytest.mark.parametrize("wrong", ["add_in_block", "add_from_block"])
def test_atomics_of_one_block_are_checked(monkeypatch, wrong):
    executor = get_executor("host")
    kernel = executor.load(oneblock.SOURCE)[wrong]
    monkeypatch.setattr(kernel, "bind", lambda *args, **how: lambda: None)
    with pytest.raises(costs.VerificationFailed, match=f"{wrong} of 32 threads: the run left 0, right is"):
        list(costs.measure(executor, parts=["block"]))


def test_kernels_go_stale_on_their_own():
    """What one block is asked was added later: the figures that stood before must not go stale with it."""
    parts = {name: builds.present(costs.STUDY, name, "machine")[0] for name in ("add_in_block", "cas", "walk_l2")}
    assert parts["cas"].host == parts["walk_l2"].host != parts["add_in_block"].host
    assert parts["cas"].device != parts["walk_l2"].device


def test_a_sample_of_a_walk_goes_on_where_the_last_one_ended():
    executor = get_executor("host")
    case = next(c for c in bench.Bench(executor).cases("accesses") if c.strategy == "walk_l2")
    assert [case.sample().operations for _ in range(3)] == [43, 43, 43]


class Journal:
    """What `record` needs of a study: it keeps rows as a recording would."""

    def __init__(self):
        self.kept = []

    def selected(self, part):
        return part == "costs"

    def rows(self):
        import pandas as pd

        return pd.DataFrame(self.kept, columns=COLUMNS)

    def count(self, part, experiment, dataset, strategy, values, *, kernel="", parameters=None,
              verified="not-applicable", round=0):  # fmt: skip
        for metric, (value, unit) in values.items():
            canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
            row = [
                "0-machine",
                experiment,
                dataset,
                strategy,
                canonical,
                metric,
                unit,
                round,
                value,
                verified,
                kernel,
            ]
            self.kept.append(row)


def test_recording_takes_only_what_is_lacking():
    journal, executor = Journal(), get_executor("host")
    taken = costs.record(journal, executor, "costs", ["barriers"], build=build)
    assert taken == len(journal.kept) > 10
    assert {row[6] for row in journal.kept} == {"1"}, "operations, no times"
    assert costs.record(journal, executor, "costs", ["barriers"], build=build) == 0
    del journal.kept[3:5]
    assert costs.record(journal, executor, "costs", ["barriers"], build=build) == 2
    assert costs.record(journal, executor, "other", ["barriers"], build=build) == 0


@pytest.fixture
def recorded(tmp_path):
    """A made-up machine: barriers of 1 us and 4 us, in two rounds, and figures of an older kernel text."""
    rows = [
        ("grid-barrier", {"blocks": b, "threads": 256}, "time", "us", v, k)
        for b, v, k in ((1, 9.0, "old"), (1, 1.0, "new"), (1, 1.2, "new"), (16, 4.0, "new"), (1, 1.1, "new"))
    ]
    rows += [("dependent-load", {"memory": "HBM", "bytes": b}, "time", "ns", 500, "new") for b in (1 << 28, 1 << 31)]
    rows += [
        (
            "atomic-throughput",
            {"operation": "add_returned", "addresses": a, "threads": 1024},
            "throughput",
            "G/s",
            r,
            "new",
        )
        for a, r in ((1, 1.5), (1024, 12.0))
    ]
    rows += [("copy", {"direction": "device", "bytes": 1 << 30}, "bandwidth", "GB/s", 4000, "new"),
             ("clocks", {"part": "costs"}, "power", "W", 120, ""),
             ("graph-node", {"blocks": 8, "kernel": "count_launch"}, "time", "us", 0.8, "new"),
             ("block-atomics", {"addresses": 16384, "memory": "shared", "threads": 512}, "throughput", "G/s", 7, "new"),
             ("hop", {}, "time", "ns", 450, "new")]  # fmt: skip
    (tmp_path / "nvidia-h200-0123").mkdir()
    with open(tmp_path / "nvidia-h200-0123" / "0-machine.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for turn, (experiment, parameters, metric, unit, value, kernel) in enumerate(rows):
            text = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
            row = [
                "0-machine",
                experiment,
                "machine",
                "kernel",
                text,
                metric,
                unit,
                turn,
                value,
                "exact",
                kernel,
            ]
            writer.writerow(row)
    return tmp_path


def test_costs_of_a_recorded_machine(recorded, tmp_path):
    found = costs.of("nvidia-h200", results=tmp_path / "none", recordings=recorded)
    assert found.machine == "nvidia-h200-0123"
    assert found.grid_barrier_us(1) == pytest.approx(1.1), "the median of the newest text's rounds"
    assert found.grid_barrier_us(4) == pytest.approx((1.1 * 4.0) ** 0.5), "interpolated on logarithmic axes"
    assert found.grid_barrier_us(1000) == pytest.approx(4.0)
    assert found.multiprocessors == 8, "what study 0 launched a node with"
    assert found.grid_barrier_us() == found.grid_barrier_us(8) == pytest.approx((1.1 * 4.0**3) ** 0.25)
    assert found.load_ns("HBM") == pytest.approx(500)
    assert found.atomics_per_second(1000, 1024) == pytest.approx(12e9)
    assert found.bytes_per_second() == pytest.approx(4e12)
    assert found.hop_ns == pytest.approx(450)
    assert found.block_atomics_per_second("shared", 512) == pytest.approx(7e9)
    with pytest.raises(MachineError, match="nvidia-h200-0123: no recorded cost of launch"):
        _ = found.launch_us
    with pytest.raises(MachineError, match="no recorded cost of graph-node"):
        _ = costs.Costs("nothing", {}).multiprocessors


def test_later_recordings_change_the_costs_but_not_those_by_the_first_one_alone(recorded):
    file = next(recorded.glob("nvidia-h200*/0-machine.csv"))
    rows = list(csv.DictReader(file.open()))
    (file.parent / "2").mkdir()
    with (file.parent / "2" / file.name).open("w", newline="") as later:
        writer = csv.DictWriter(later, rows[0])
        writer.writeheader()
        writer.writerows({**row, "value": 100 * float(row["value"]), "kernel": "another"} for row in rows)
    assert costs.of("nvidia-h200", recorded, recorded).bytes_per_second() == pytest.approx(4e14)
    assert costs.of("nvidia-h200", recorded, recorded, first=True).bytes_per_second() == pytest.approx(4e12)


def test_a_machine_without_a_recording_is_told_how_to_measure(tmp_path):
    with pytest.raises(MachineError, match="no costs of nvidia-b200 are recorded: `snakemake --cores 1`"):
        costs.of("nvidia-b200", results=tmp_path, recordings=tmp_path)


@pytest.mark.gpu
def test_figures_of_a_gpu_are_plausible(cuda):
    found = {}
    for cost in costs.measure(cuda, quick=True, samples=3):
        found.setdefault(cost.metric, []).append(cost)
    assert all(cost.value > 0 for group in found.values() for cost in group)
    load = {cost.parameters["memory"]: cost.value for cost in found["dependent-load"]}
    assert load["shared"] < load["L2"] < load["HBM"]
    assert 500 < found["clocks"][0].value < 4000
    one = [c.value for c in found["atomic-throughput"]
           if c.parameters["operation"] == "add_returned" and c.parameters["addresses"] == 1]  # fmt: skip
    assert max(one) < found["clocks"][0].value / 1e3 * 2, "one address cannot take many atomics a clock"
