"""Plans for graphs of which nobody knows that they have no cycle: all that `topological_sort` is given.

Where vertices share slots, narrow.cu guesses from steps back to a source when each gets ready (numbering.cuh). From a
cycle no source is reached, the steps run over, and the kernel leaves its memory. So such a graph goes without slots,
by rows; that is slower (up to 3 times by an earlier recording, where a block takes most layers of a graph of more than
some 200,000 vertices). Measured are plans for graphs that were made without cycles.
"""

import functools

from .choice import Auto
from .racing import RacingChains, RacingNarrow
from .resident import Narrow


class _Unnumbered:
    @functools.cached_property
    def code(self):
        code = super().code
        return None if code and code.epoch_bits else code


class UnnumberedNarrow(_Unnumbered, Narrow):
    """`narrow`."""


class UnnumberedRacingNarrow(_Unnumbered, RacingNarrow):
    """`narrow`."""


class UnnumberedAuto(Auto):
    """`auto`."""

    def __init__(self, graph, executor=None):
        super().__init__(graph, executor)
        if self.usual is RacingNarrow:
            self.usual = UnnumberedRacingNarrow

    @property
    def kinds(self):
        return self.usual, RacingChains, UnnumberedRacingNarrow


PLANS = {Narrow: UnnumberedNarrow, Auto: UnnumberedAuto}
