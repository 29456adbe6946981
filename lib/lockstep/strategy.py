"""Entries of the tables of studies whose plans are not on the contract of `lockstep.plan` yet."""

from dataclasses import dataclass

from lockstep import plan

WITHOUT_KERNELS = ("cpu", "choice")  # families


@dataclass(frozen=True)
class Strategy:
    """What a strategy is.

    Attributes
    ----------
    name, what : str
        Its name and, in a line, what it does.
    family : str
        `cpu`: a baseline without kernels. `choice`: picks one of the others by the graph and the machine. The rest
        run kernels: `published` as a paper has them, `control` for comparison alone, `ladder` of this compendium's
        own, or, in the first study, the kinds of schedule that its paper tells apart.
    published : str
        Where it comes from.
    plan : type
        What makes ready and runs it.
    exact : bool
        False where results may be wrong by design.
    """

    name: str
    what: str
    family: str
    published: str
    plan: type
    exact: bool = True

    @property
    def gpu(self):
        """Whether it runs kernels, on a GPU or on the hypothetical one."""
        return self.family not in WITHOUT_KERNELS


def table(*entries):
    """Strategies by name, in the order in which tables and figures show them."""
    return {entry.name: entry for entry in entries}


def adapted(entries, base):
    """Such entries as strategies of `lockstep.plan`, each with a subclass of ``base``, which knows its `entry`."""
    for name, entry in entries.items():
        kind = type(name, (base,), {"entry": entry, "gpu": entry.gpu})
        yield plan.Strategy(name, entry.what, entry.family, entry.published, kind, entry.exact)
