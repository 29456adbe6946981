"""The table of strategies."""

from dataclasses import dataclass

from .cpu import Cpu
from .swarm import Swarm


@dataclass(frozen=True)
class Strategy:
    """What a strategy is.

    Attributes
    ----------
    name, what : str
        Its name and, in a sentence, what it does.
    family : {'cpu', 'published', 'control', 'ladder'}
    published : str
        Where it comes from.
    method : type
    exact : bool
        Always right. True for all of this study.
    """

    name: str
    what: str
    family: str
    published: str
    method: type
    exact: bool = True

    @property
    def gpu(self):
        return self.method.gpu

    @property
    def measures(self):
        """Names of the measures it computes."""
        return tuple(self.method.tasks)


# fmt: off
STRATEGIES = {
    name: Strategy(name, what, family, published, method)
    for name, method, family, published, what in (
        ("cpu", Cpu, "cpu", "Brandes 2001", "a graph a core, Numba on all cores"),
        ("swarm", Swarm, "ladder", "this study",
         "a launch for each bin of a whole batch; a lane or a bit for each source"),
    )
}
# fmt: on
