"""What can go wrong with a machine, by name."""


class MachineError(Exception):
    """Base of all errors of this package."""


class NoGpuError(MachineError):
    """No CUDA device answers; the text says why (no CuPy, no driver, no device)."""


class CompileError(MachineError):
    """A kernel file does not compile, or no compiler is there; the text holds the compiler's own lines."""


class LaunchError(MachineError):
    """A launch that the machine cannot do: grid not co-resident, too much shared memory, wrong arguments."""


class KernelError(MachineError):
    """A kernel went wrong while it ran on the emulator."""


class DivergentBarrierError(KernelError):
    """Some threads of a block wait at a barrier that others never reach."""


class DeadlockError(KernelError):
    """Every thread waits."""


class LivelockError(KernelError):
    """Threads run, but within the budget of turns none finished and no barrier opened."""


class DataRaceError(KernelError):
    """Two threads touch one place, one of them writes, not both by atomics, and nothing orders them."""


class MemoryFaultError(KernelError):
    """A thread touched memory outside its arrays, its shared memory or its stack."""
