"""What one case of study 0 is, what a sample of it says, and the check that every sample passes."""

import typing
from collections.abc import Callable
from dataclasses import dataclass

from .errors import MachineError


class VerificationFailed(MachineError):
    """The measured operation left a wrong result; the figure would be worth nothing."""


class Sample(typing.NamedTuple):
    """One figure: its value (None on the emulator), and how many operations stand behind it."""

    value: float | None
    operations: int
    verified: str


@dataclass(frozen=True)
class Case:
    """One thing that is measured.

    `experiment` says which operation (grid-barrier), `metric` what of it (time, throughput, bandwidth,
    clock), `strategy` the kernel that does it, `parameters` for which case; `sample()` measures once.
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
