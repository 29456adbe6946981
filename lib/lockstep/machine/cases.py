"""Cases and samples of study 0, and the check of a sample's result."""

import typing
from collections.abc import Callable
from dataclasses import dataclass

from .errors import MachineError


class VerificationFailed(MachineError):
    """The measured operation left a wrong result; the sample is not recorded."""


class Sample(typing.NamedTuple):
    """One sample: its value (None on the emulator) and the number of operations checked."""

    value: float | None
    operations: int
    verified: str


@dataclass(frozen=True)
class Case:
    """One measured case.

    `experiment` names the operation (grid-barrier), `metric` the quantity (time, throughput, bandwidth,
    clock), `strategy` the kernel, `parameters` the configuration; `sample()` measures once.
    """

    experiment: str
    metric: str
    unit: str
    strategy: str
    parameters: dict
    sample: Callable[[], Sample]


def expect(found, wanted, what):
    """Raise VerificationFailed unless the two are equal."""
    if found != wanted:
        raise VerificationFailed(f"{what}: the run left {found}, right is {wanted}")
