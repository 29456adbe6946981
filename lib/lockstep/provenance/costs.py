"""The `Origin` of study 0's rows; here, since the package `machine` must not depend on provenance."""

from lockstep.machine import bench, oneblock, record_costs, stepping

from .origin import Origin

PROTOCOL = (record_costs.record, bench.expect)


def origin(label, dataset):
    """The `Origin` of recorded rows: a label is a kernel; None if nothing in them can go stale."""
    if label in stepping.KERNELS:
        return Origin((stepping.Stepping,), kernels=("count_launch",), entry=("cases", *stepping.PARTS))
    alone = label in {kernel for kernel, _ in oneblock.KERNELS.values()}
    kind, entry = (oneblock.OneBlock, oneblock.PARTS) if alone else (bench.Bench, bench.PARTS)
    return Origin((kind,), kernels=(label,), entry=("cases", *entry))
