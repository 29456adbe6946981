"""A kernel's arguments by the names of its parameters.

This module is not part of a build's identity: traces of launches record the order of a kernel's arguments.
"""

from .errors import LaunchError


def ordered(kernel, values) -> tuple:
    """The values, given by name, in the order of the kernel's signature.

    Raises
    ------
    LaunchError
        A name is missing, or is none of the signature's.
    """
    if len(values) == len(kernel.names):
        try:
            return tuple(map(values.__getitem__, kernel.names))
        except KeyError:
            pass
    missing = [name for name in kernel.names if name not in values]
    unknown = [name for name in values if name not in kernel.names]
    told = [f"{what}: {', '.join(names)}" for what, names in (("missing", missing), ("unknown", unknown)) if names]
    raise LaunchError(f"kernel {kernel.name} takes ({', '.join(kernel.names)}); {'; '.join(told)}")


def named(kernel, args) -> dict:
    """{parameter name: value} of arguments in the order of the kernel's signature."""
    return dict(zip(kernel.names, args, strict=True))


class Loop:
    """A kernel that is launched repeatedly with most arguments unchanged.

    Names are resolved once. `loop(grid, *changing)` launches it; `changing` are the parameters that were not given, in
    the order of the signature.
    """

    def __init__(self, kernel, block, *, shared=0, cooperative=False, **values):
        self.changing = [k for k, name in enumerate(kernel.names) if name not in values]
        every = {name: None for name in kernel.names} | values
        self.kernel, self.how, self.args = kernel, (shared, cooperative), ordered(kernel, every)
        self.block, self.call = block, kernel.executor._call

    def match(self, changing):
        """Raise LaunchError unless these are as many arguments as a launch takes."""
        if len(changing) != len(self.changing):
            names = ", ".join(self.kernel.names[k] for k in self.changing)
            raise LaunchError(f"kernel {self.kernel.name}: each launch takes ({names}), not {len(changing)} arguments")

    def __call__(self, grid, *changing):
        self.match(changing)
        args = list(self.args)
        for position, value in zip(self.changing, changing, strict=True):
            args[position] = value
        self.call(self.kernel, grid, self.block, args, *self.how)


class Step:
    """An iteration of a host-controlled loop: set words to zero, launch, read words back (synchronizing).

    Parameters
    ----------
    loop : Loop
        The launch; its open parameters change from step to step.
    read : device array
        Contiguous; what is read back.
    clear : device array, optional
        Set to zero first; whole 4-byte words.
    then : sequence of bound launches
        Launched after it in the same stream.
    """

    def __init__(self, loop, read, clear=None, then=()):
        self.loop, self.read, self.clear, self.then = loop, read, clear, then
        self.executor = loop.kernel.executor

    def __call__(self, grid, *changing):
        """The words read back, a NumPy array that the next step may overwrite; `changing` as for `Loop`."""
        if self.clear is not None:
            self.clear.fill(0)
        self.loop(grid, *changing)
        for launch in self.then:
            launch()
        return self.executor.get(self.read)


class StepByPart(Step):
    """Steps with separate result slots: each call reads back `read[size * part : size * (part + 1)]`."""

    def __init__(self, loop, read, size):
        super().__init__(loop, read[:size])
        self.all, self.size = read, size

    def __call__(self, grid, *changing, part):
        self.read = self.all[part * self.size : (part + 1) * self.size]
        return super().__call__(grid, *changing)
